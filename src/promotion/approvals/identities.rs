//! Who is who: the `people` and `teams` of the fleet file against logins, addresses and signers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::fleet::file::Document;

/// The identities and groups that the fleet file knows.
#[derive(Debug, Clone, Default)]
pub struct Identities {
    people: BTreeMap<String, Arc<str>>,
    /// Providers on which a person is known.
    providers: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// Members as persons or as logins.
    groups: BTreeMap<Arc<str>, BTreeSet<String>>,
}

/// Whether two identities are one person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They are.
    Same,
    /// They are not.
    Distinct,
    /// Nobody has said.
    Unknown,
}

impl Identities {
    /// From the `people` and `teams` of a fleet file.
    pub fn new(document: &Document) -> Self {
        let mut identities = Self::default();
        for (name, person) in &document.people {
            let name: Arc<str> = name.as_str().into();
            let words = [
                ("github", &person.github),
                ("gitlab", &person.gitlab),
                ("email", &person.email),
                ("kubernetes", &person.kubernetes),
                ("signer", &person.signer),
            ];
            for (system, words) in words {
                for word in &words.0 {
                    let identity = normal(&format!("{system}:{word}"));
                    let known = identities.providers.entry(name.clone()).or_default();
                    known.insert(provider(&identity).to_owned());
                    identities.people.insert(identity, name.clone());
                }
            }
        }
        for (name, team) in &document.teams {
            let members = team.0.members.iter().map(|member| match member.strip_prefix('@') {
                Some(login) => format!("@{}", login.to_lowercase()),
                None => member.clone(),
            });
            identities.groups.insert(name.as_str().into(), members.collect());
        }
        identities
    }

    /// The person behind an identity such as `github:ann` or `email:ann@example.org`.
    pub fn person(&self, raw: &str) -> Option<&Arc<str>> {
        self.people.get(&normal(raw))
    }

    /// Whether the fleet file has a group or team of that name.
    pub fn has_group(&self, name: &str) -> bool {
        self.groups.contains_key(name)
    }

    /// The groups that somebody is in, sorted. `@login` among members is a login of either host.
    pub fn groups(&self, raw: &str) -> Vec<Arc<str>> {
        let person = self.person(raw);
        let login = |name: &str| normal(name).split_once(':').map(|(_, login)| format!("@{login}"));
        let mut names: BTreeSet<String> = BTreeSet::new();
        names.extend(person.map(ToString::to_string));
        if is_host(raw) {
            names.extend(login(raw));
        }
        if let Some(person) = person {
            let own = self.people.iter().filter(|(raw, known)| *known == person && is_host(raw));
            names.extend(own.filter_map(|(raw, _)| login(raw)));
        }
        let is_in = |members: &BTreeSet<String>| names.iter().any(|name| members.contains(name));
        self.groups.iter().filter(|(_, members)| is_in(members)).map(|(group, _)| group.clone()).collect()
    }

    /// Whether two identities are one person. Two logins of one provider are two persons unless
    /// `people` says otherwise; anything else has to stand there. An address is no login: anybody has
    /// as many as they like.
    pub fn relation(&self, a: &str, b: &str) -> Relation {
        let (a, b) = (normal(a), normal(b));
        if a == b {
            return Relation::Same;
        }
        if is_bot(&a) || is_bot(&b) {
            return Relation::Distinct;
        }
        let distinct = match (self.people.get(&a), self.people.get(&b)) {
            (Some(a), Some(b)) if a == b => return Relation::Same,
            (Some(_), Some(_)) => true,
            (Some(a), None) => self.known_on(a, provider(&b)),
            (None, Some(b)) => self.known_on(b, provider(&a)),
            (None, None) => provider(&a) == provider(&b) && has_logins(provider(&a)),
        };
        if distinct { Relation::Distinct } else { Relation::Unknown }
    }

    fn known_on(&self, person: &Arc<str>, provider: &str) -> bool {
        has_logins(provider) && self.providers.get(person).is_some_and(|known| known.contains(provider))
    }

    /// How many of them are persons of whom it is certain that no two are one: all those in `people`,
    /// or all who are known on one provider, whichever are more.
    pub(super) fn surely_distinct<'a>(&self, raws: impl Iterator<Item = &'a str>) -> usize {
        let (persons, strangers) = self.sorted(raws);
        let mut best = persons.len();
        for (provider, logins) in strangers {
            let on_it = persons.iter().filter(|person| self.known_on(person, &provider)).count();
            best = best.max(if has_logins(&provider) { logins.len() + on_it } else { 1 });
        }
        best
    }

    /// How many persons they are if nobody is anybody else without `people` saying so.
    pub(super) fn at_most_distinct<'a>(&self, raws: impl Iterator<Item = &'a str>) -> usize {
        let (persons, strangers) = self.sorted(raws);
        persons.len() + strangers.values().map(BTreeSet::len).sum::<usize>()
    }

    /// Persons, and by provider whoever is none that is known.
    fn sorted<'a>(
        &self,
        raws: impl Iterator<Item = &'a str>,
    ) -> (BTreeSet<&Arc<str>>, BTreeMap<String, BTreeSet<String>>) {
        let (mut persons, mut strangers) = (BTreeSet::new(), BTreeMap::<_, BTreeSet<_>>::new());
        for raw in raws {
            let identity = normal(raw);
            if let Some(person) = self.people.get(&identity) {
                persons.insert(person);
            } else {
                strangers.entry(provider(&identity).to_owned()).or_default().insert(identity);
            }
        }
        (persons, strangers)
    }

    /// What to add to the fleet file so that `raw` belongs to somebody. The name is a proposal.
    pub fn entry(&self, raw: &str, other: &str) -> String {
        let raw = if self.person(raw).is_some() { other } else { raw };
        let normal = normal(raw);
        let (system, login) = normal.split_once(':').unwrap_or(("email", &normal));
        let name = login.split('@').next().unwrap_or(login);
        format!("`people: {{{name}: {{{system}: [\"{login}\"]}}}}`")
    }
}

/// Whether an identity is an account that the hosts mark as a program's, or a host itself.
pub(super) fn is_bot(raw: &str) -> bool {
    let raw = normal(raw);
    raw.ends_with("[bot]") || raw == "email:noreply@github.com"
}

/// Whether one person has one name there, as a rule.
fn has_logins(provider: &str) -> bool {
    matches!(provider, "github" | "gitlab" | "kubernetes" | "signer")
}

fn is_host(raw: &str) -> bool {
    matches!(provider(raw), "github" | "gitlab")
}

fn provider(raw: &str) -> &str {
    raw.split_once(':').map_or("", |(provider, _)| provider)
}

/// The same for two spellings of one identity. `Name <address>` of a commit is the address, and the
/// addresses that hosts hand out so that nobody need show their own are logins.
pub(super) fn normal(raw: &str) -> String {
    let address = raw.trim().strip_suffix('>').and_then(|rest| rest.rsplit_once('<'));
    let raw = match address {
        Some((_, address)) => format!("email:{}", address.trim()),
        None => raw.trim().to_owned(),
    };
    let Some((provider, name)) = raw.split_once(':') else { return raw };
    match provider {
        "github" | "gitlab" => format!("{provider}:{}", name.trim_start_matches('@').to_lowercase()),
        "email" => {
            let name = name.to_lowercase();
            let hidden = |suffix: &str, mark| {
                let local = name.strip_suffix(suffix)?;
                match local.split_once(mark) {
                    Some((number, login)) if number.bytes().all(|byte| byte.is_ascii_digit()) => Some(login),
                    _ => Some(local),
                }
            };
            if let Some(login) = hidden("@users.noreply.github.com", '+') {
                return format!("github:{login}");
            }
            if let Some(login) = hidden("@users.noreply.gitlab.com", '-') {
                return format!("gitlab:{login}");
            }
            format!("email:{name}")
        }
        _ => raw,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identities() -> Identities {
        let text = r#"{"apiVersion": "fleetgate.dev/v1alpha1", "kind": "Fleet",
            "people": {"ann": {"github": ["ann", "ann-admin"], "email": ["ann@example.org"]},
                       "bob": {"github": ["bob"]}, "cyd": {"email": ["cyd@example.org"]}},
            "teams": {"sre": {"namespaces": [], "members": ["ann", "@dan"]}}}"#;
        Identities::new(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn who_is_the_same_person() {
        use Relation::{Distinct, Same, Unknown};
        let cases = [
            ("github:ann", "github:Ann", Same),
            ("github:ann", "github:ann-admin", Same),
            ("github:ann", "email:ANN@example.org", Same),
            ("github:ann", "Ann <ann@example.org>", Same),
            ("github:dan", "email:12+dan@users.noreply.github.com", Same),
            ("github:dan", "Dan <12+Dan@users.noreply.github.com>", Same),
            ("gitlab:dan", "Dan <12-dan@users.noreply.gitlab.com>", Same),
            ("github:ann", "github:bob", Distinct),
            ("github:dan", "github:eve", Distinct),
            ("github:ann", "github:eve", Distinct),
            ("github:dan", "gitlab:dan", Unknown),
            ("github:dan", "email:dan@example.org", Unknown),
            // An address that is not listed can be anybody's.
            ("github:ann", "email:ann@home.example.org", Unknown),
            ("email:a@example.org", "email:b@example.org", Unknown),
            ("github:bob", "email:cyd@example.org", Distinct),
            ("github:dan", "email:cyd@example.org", Unknown),
            ("github:dan", "robot <1+dependabot[bot]@users.noreply.github.com>", Distinct),
            ("github:dan", "GitHub <noreply@github.com>", Distinct),
        ];
        for (a, b, expected) in cases {
            assert_eq!(identities().relation(a, b), expected, "{a} {b}");
            assert_eq!(identities().relation(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn groups_by_person_and_by_login() {
        let sre: Vec<Arc<str>> = vec!["sre".into()];
        assert_eq!(identities().groups("email:ann@example.org"), sre);
        assert_eq!(identities().groups("github:Dan"), sre);
        assert_eq!(identities().groups("email:dan"), Vec::<Arc<str>>::new());
        assert_eq!(identities().groups("github:bob"), Vec::<Arc<str>>::new());
    }

    #[test]
    fn the_entry_to_add() {
        let entry = identities().entry("github:ann", "email:ann@home.example.org");
        assert_eq!(entry, r#"`people: {ann: {email: ["ann@home.example.org"]}}`"#);
    }
}
