//! Whether enough of the right people agreed.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::identities::{Identities, Relation, is_bot};
use crate::fleet::file::{Approval, NotBy};
use crate::model::{ActorKind, Answer, ApprovalKind, Decision, GivenApproval, Requester};
use crate::promotion::codeowners::{Owned, Owner};

/// The word in `from` that stands for the owners of the changed files.
const CODEOWNERS: &str = "codeowners";

/// Who had a part in the change, as identities. None: it is not known, and a requirement that rules
/// that part out cannot be met.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// Who wrote its commits.
    pub authors: Option<Vec<Arc<str>>>,
    /// Who committed them.
    pub committers: Option<Vec<Arc<str>>>,
    /// Who pushed last.
    pub last_pusher: Option<Arc<str>>,
    /// Who asks for the promotion.
    pub requester: Option<Requester>,
}

/// The owners of the changed files by the `CODEOWNERS` of the base.
#[derive(Debug, Clone)]
pub struct Owners<'a> {
    /// `github` or `gitlab`: whose logins the file names.
    pub provider: &'a str,
    /// What `CodeOwners::owners` says of each changed file.
    pub files: Vec<(&'a str, Vec<Owned<'a>>)>,
}

/// What an answer rests on.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The last word of everybody, as `effective` gives it.
    pub approvals: &'a [GivenApproval],
    /// Who is who.
    pub identities: &'a Identities,
    /// Who had a part in the change.
    pub parts: &'a Parts,
    /// None: not known.
    pub owners: Option<&'a Owners<'a>>,
    /// Now: nothing counts that is dated later.
    pub now: Timestamp,
}

/// The answer to a requirement of approvals.
///
/// Somebody counts who is in one of the groups of `from`, or owns a changed file if that names
/// `codeowners`. Unless the groups' members are enough by themselves, each changed file that has owners
/// needs one of them, or a member of a group, among those who agreed; on GitLab as many as its section
/// asks for. Whoever counts and asks for changes holds it up.
pub fn approvals(requirement: &Approval, evidence: &Evidence<'_>) -> Answer {
    let judge = Judge { requirement, evidence };
    let count = requirement.count.get() as usize;
    let excluded = judge.excluded();
    let mut missing = judge.missing();
    let mut notes = Vec::new();
    let (mut certain, mut possible) = (Vec::new(), Vec::new());
    let mut objection = false;
    let mut given: Vec<&GivenApproval> = evidence.approvals.iter().collect();
    given.sort_by(|a, b| a.raw.cmp(&b.raw));
    for approval in given {
        let name = shown(&approval.raw);
        match judge.standing(approval, &excluded) {
            Standing::No(why) => notes.push(format!("{name} {why}")),
            Standing::Objects => {
                objection = true;
                notes.push(format!("{name} asks for changes"));
            }
            Standing::Yes => {
                notes.push(format!("{name} ok"));
                certain.push(approval);
                possible.push(approval);
            }
            Standing::Unclear(why) => {
                notes.push(format!("{name} {why}"));
                possible.push(approval);
            }
        }
    }
    let reached = judge.surely(&certain);
    let (met, uncovered) = judge.met(&certain, count, |group| judge.surely(group));
    let may_be = judge.met(&possible, count, |group| judge.at_most(group)).0;
    if !met && may_be && certain.len() == possible.len() {
        notes.extend(judge.doubles(&certain));
    }
    let decision = if objection {
        Decision::Deny
    } else if met {
        if missing.parts.is_empty() { Decision::Allow } else { Decision::CannotTell }
    } else if may_be || !missing.approvers.is_empty() {
        Decision::CannotTell
    } else {
        Decision::Deny
    };
    if !met {
        notes.extend(uncovered);
        missing.parts.append(&mut missing.approvers);
    }
    if decision != Decision::Allow {
        notes.append(&mut missing.parts);
    }
    let who = (decision != Decision::Allow && !met).then(|| judge.who());
    let mut reason = format!("{reached}/{count}");
    for note in notes.into_iter().chain(who.as_ref().map(|who| format!("ask {who}"))) {
        reason.push_str("; ");
        reason.push_str(&note);
    }
    Answer {
        requirement: "approvals".into(),
        cluster: None,
        decision,
        reason: reason.into(),
        not_before: None,
        who: who.map(Into::into),
    }
}

enum Standing {
    Yes,
    Objects,
    No(String),
    Unclear(String),
}

/// Facts that are not known.
struct Missing {
    /// Without which nobody can be ruled out.
    parts: Vec<String>,
    /// Without which somebody might count who does not now.
    approvers: Vec<String>,
}

struct Judge<'a> {
    requirement: &'a Approval,
    evidence: &'a Evidence<'a>,
}

impl Judge<'_> {
    fn excludes(&self, part: NotBy) -> bool {
        self.requirement.not.contains(&part)
    }

    /// Whoever cannot approve, with the word for it.
    fn excluded(&self) -> Vec<(&'static str, &str)> {
        let parts = self.evidence.parts;
        let requester = parts.requester.iter().filter(|requester| !is_program(requester));
        let all = [
            (NotBy::Requester, requester.map(|requester| &requester.raw).collect::<Vec<_>>()),
            (NotBy::LastPusher, parts.last_pusher.iter().collect()),
            (NotBy::Author, parts.authors.iter().flatten().collect()),
            (NotBy::Committer, parts.committers.iter().flatten().collect()),
        ];
        let all = all.into_iter().filter(|(part, _)| self.excludes(*part));
        all.flat_map(|(part, names)| names.into_iter().map(move |name| (word(part), &**name))).collect()
    }

    fn missing(&self) -> Missing {
        let Evidence { parts, identities, owners, .. } = self.evidence;
        let mut missing = Missing { parts: vec![], approvers: vec![] };
        let mut part = |part, known: bool, what: &str| {
            if self.excludes(part) && !known {
                missing.parts.push(format!("{what} is not known"));
            }
        };
        let requester = parts.requester.as_ref();
        part(NotBy::Requester, requester.is_some_and(|requester| requester.trusted), "who asks for it");
        part(NotBy::LastPusher, parts.last_pusher.is_some(), "who pushed last");
        part(NotBy::Author, parts.authors.as_ref().is_some_and(|names| !names.is_empty()), "who wrote it");
        part(
            NotBy::Committer,
            parts.committers.as_ref().is_some_and(|names| !names.is_empty()),
            "who committed it",
        );
        for group in &self.requirement.from {
            if group == CODEOWNERS {
                if owners.is_none() {
                    missing.approvers.push("the owners of the changed files are not known".to_owned());
                }
            } else if !identities.has_group(group) {
                missing
                    .approvers
                    .push(format!("who is in `{group}` is not known: add it to `teams` with its `members`"));
            }
        }
        missing
    }

    fn standing(&self, approval: &GivenApproval, excluded: &[(&str, &str)]) -> Standing {
        if is_bot(&approval.raw) {
            return Standing::No("is a program".to_owned());
        }
        if !approval.verified {
            return Standing::No("is not verified".to_owned());
        }
        if approval.at > self.evidence.now {
            return Standing::No("is dated in the future".to_owned());
        }
        if approval.kind == ApprovalKind::Dismissed {
            return Standing::No("was dismissed".to_owned());
        }
        let mut unclear = None;
        for (part, other) in excluded {
            match self.evidence.identities.relation(&approval.raw, other) {
                Relation::Same => return Standing::No(format!("is the {part}")),
                Relation::Distinct => {}
                Relation::Unknown => {
                    let entry = self.evidence.identities.entry(&approval.raw, other);
                    unclear.get_or_insert_with(|| {
                        format!("may be the {part} `{other}`: say in the fleet file whose that is, such as {entry}")
                    });
                }
            }
        }
        if !self.in_a_group(approval) && !self.owns_any(approval) {
            return Standing::No(format!("is no {}", self.from()));
        }
        // A request for changes holds until it is taken back, whatever was pushed since.
        if approval.kind == ApprovalKind::ChangesRequested {
            return Standing::Objects;
        }
        if approval.stale {
            let since = approval.revision.as_deref().map(|revision| revision.get(..7).unwrap_or(revision));
            return Standing::No(match since {
                Some(revision) => format!("stale (pushed after {revision})"),
                None => "names no revision".to_owned(),
            });
        }
        unclear.map_or(Standing::Yes, Standing::Unclear)
    }

    fn in_a_group(&self, approval: &GivenApproval) -> bool {
        let from = &self.requirement.from;
        from.is_empty()
            || approval
                .groups
                .iter()
                .any(|group| &**group != CODEOWNERS && from.iter().any(|it| **it == **group))
    }

    fn by_owners(&self) -> bool {
        self.requirement.from.iter().any(|group| group == CODEOWNERS)
    }

    fn rules(&self) -> impl Iterator<Item = (&str, &Owned<'_>)> {
        let files = self.evidence.owners.iter().filter(|_| self.by_owners()).flat_map(|owners| &owners.files);
        files.flat_map(|(path, rules)| rules.iter().map(move |rule| (*path, rule)))
    }

    fn owns_any(&self, approval: &GivenApproval) -> bool {
        self.rules().any(|(_, rule)| self.owns(approval, rule))
    }

    fn owns(&self, approval: &GivenApproval, rule: &Owned<'_>) -> bool {
        let provider = self.evidence.owners.map_or("", |owners| owners.provider);
        let same = |other: &str| self.evidence.identities.relation(&approval.raw, other) == Relation::Same;
        let in_group = |name: &str| approval.groups.iter().any(|group| **group == *name);
        rule.owners.iter().any(|owner| match owner {
            Owner::Name(name) => {
                same(&format!("{provider}:{name}")) || (provider == "gitlab" && in_group(name))
            }
            Owner::Team(path) => path.rsplit('/').next().is_some_and(in_group),
            Owner::Email(address) => same(&format!("email:{address}")),
        })
    }

    /// Whether those are enough, by a way of counting persons; and what lacks an owner.
    fn met<'a>(
        &self,
        given: &[&'a GivenApproval],
        count: usize,
        persons: impl Fn(&[&'a GivenApproval]) -> usize,
    ) -> (bool, Option<String>) {
        let enough = persons(given) >= count;
        let members: Vec<_> = given.iter().copied().filter(|approval| self.in_a_group(approval)).collect();
        if !self.by_owners() || persons(&members) >= count {
            return (enough, None);
        }
        let mut lacking = self.rules().filter(|(_, rule)| {
            let able: Vec<_> = given
                .iter()
                .copied()
                .filter(|approval| self.in_a_group(approval) || self.owns(approval, rule))
                .collect();
            !rule.optional && persons(&able) < rule.count as usize
        });
        let first = lacking.next().map(|(path, rule)| {
            let names: Vec<String> = rule.owners.iter().map(owner).collect();
            let section = rule.section.map(|section| format!(", section {section}")).unwrap_or_default();
            format!("`{path}` needs {} of {}{section}", rule.count, names.join(", "))
        });
        (enough && first.is_none(), first)
    }

    fn surely(&self, given: &[&GivenApproval]) -> usize {
        self.evidence.identities.surely_distinct(given.iter().map(|approval| &*approval.raw))
    }

    fn at_most(&self, given: &[&GivenApproval]) -> usize {
        self.evidence.identities.at_most_distinct(given.iter().map(|approval| &*approval.raw))
    }

    /// Two who may be one.
    fn doubles(&self, given: &[&GivenApproval]) -> Option<String> {
        let identities = self.evidence.identities;
        let pairs = given.iter().enumerate().flat_map(|(n, a)| given.iter().skip(n + 1).map(move |b| (a, b)));
        let (a, b) =
            pairs.into_iter().find(|(a, b)| identities.relation(&a.raw, &b.raw) == Relation::Unknown)?;
        let entry = identities.entry(&a.raw, &b.raw);
        Some(format!(
            "`{}` and `{}` may be one person: say in the fleet file whose they are, such as {entry}",
            a.raw, b.raw
        ))
    }

    fn from(&self) -> String {
        let name = |group: &String| {
            if group == CODEOWNERS { "code owner".to_owned() } else { format!("@{group}") }
        };
        self.requirement.from.iter().map(name).collect::<Vec<_>>().join(" or ")
    }

    fn who(&self) -> String {
        let from = self.from();
        let any = if from.is_empty() { "anybody".to_owned() } else { format!("any {from}") };
        let not: BTreeSet<&str> = self.requirement.not.iter().map(|part| word(*part)).collect();
        let not: Vec<&str> = not.into_iter().collect();
        if not.is_empty() { any } else { format!("{any} but the {}", not.join(", the ")) }
    }
}

fn word(part: NotBy) -> &'static str {
    match part {
        NotBy::Author => "author",
        NotBy::Requester => "requester",
        NotBy::LastPusher => "last pusher",
        NotBy::Committer => "committer",
    }
}

/// A program that is known to be one is nobody to rule out.
fn is_program(requester: &Requester) -> bool {
    requester.trusted && requester.kind != ActorKind::Human
}

fn owner(owner: &Owner) -> String {
    match owner {
        Owner::Name(name) | Owner::Team(name) => format!("@{name}"),
        Owner::Email(address) => address.clone(),
    }
}

/// `@login` on the hosts, else as stated.
fn shown(raw: &str) -> String {
    match raw.split_once(':') {
        Some(("github" | "gitlab", login)) => format!("@{login}"),
        _ => raw.to_owned(),
    }
}
