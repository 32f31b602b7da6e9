use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::fleet::file::{Approval, Document};
use crate::model::{ActorKind, Answer, ApprovalKind, Decision, Requester};
use crate::promotion::codeowners::{CodeOwners, Dialect};

const HEAD: &str = "a1b9f3c0";

/// `ann`, `bob` and `cyd` are mapped, `cyd` without a login on GitHub; `dan` and `eve` are logins only.
fn identities() -> Identities {
    let text = r#"{"apiVersion": "fleetgate.dev/v1alpha1", "kind": "Fleet",
        "people": {"ann": {"github": ["ann", "ann2"], "email": ["ann@example.org"], "signer": ["ann"]},
                   "bob": {"github": ["bob"], "email": ["bob@example.org"]},
                   "cyd": {"email": ["cyd@example.org"], "signer": ["cyd"]}},
        "teams": {"sre": {"namespaces": [], "members": ["ann", "bob", "cyd", "@dan"]},
                  "search": {"namespaces": [], "members": ["@eve"]}}}"#;
    let document: Document = serde_json::from_str(text).unwrap();
    Identities::new(&document)
}

fn requirement(text: &str) -> Approval {
    serde_json::from_str(text).unwrap()
}

/// `github:ann`, then words: `stale`, `changes`, `dismissed`, `unverified`, `late`.
fn review(text: &str) -> Review {
    let has = |word| text.split(' ').any(|it| it == word);
    Review {
        raw: text.split(' ').next().unwrap().into(),
        bot: false,
        kind: Some(if has("changes") {
            ApprovalKind::ChangesRequested
        } else if has("dismissed") {
            ApprovalKind::Dismissed
        } else {
            ApprovalKind::Approved
        }),
        at: Timestamp::from_second(if has("late") { 2000 } else { 500 }).unwrap(),
        revision: Some(if has("stale") { "0ldc0mm17" } else { HEAD }.into()),
        verified: !has("unverified"),
    }
}

/// Written, committed, pushed and asked for by one.
fn parts(raw: &str) -> Parts {
    let one: Arc<str> = raw.into();
    Parts {
        authors: Some(vec![one.clone()]),
        committers: Some(vec![one.clone()]),
        last_pusher: Some(one.clone()),
        requester: Some(Requester {
            person: None,
            raw: one,
            kind: ActorKind::Human,
            trusted: true,
            via: "".into(),
        }),
    }
}

fn judge(requirement: &Approval, reviews: &[&str], parts: &Parts, owners: Option<&Owners<'_>>) -> Answer {
    let identities = identities();
    let reviews: Vec<Review> = reviews.iter().map(|text| review(text)).collect();
    let given = effective(&reviews, HEAD, &identities);
    let now = Timestamp::from_second(1000).unwrap();
    approvals(requirement, &Evidence { approvals: &given, identities: &identities, parts, owners, now })
}

#[test]
fn who_counts() {
    use Decision::{Allow, CannotTell, Deny};
    let two = r#"{"count": 2, "from": ["sre"], "not": ["author", "requester", "lastPusher"]}"#;
    let one = r#"{"count": 1, "not": ["author", "lastPusher"]}"#;
    let any_two = r#"{"count": 2}"#;
    // Requirement, who had a part, reviews, decision, how many counted.
    let cases: [(&str, &str, &[&str], Decision, &str); 25] = [
        (two, "github:eve", &["github:ann", "github:bob"], Allow, "2/2"),
        (two, "github:eve", &["github:ann"], Deny, "1/2"),
        (two, "github:eve", &[], Deny, "0/2"),
        // The same person twice: in one spelling, in another, under another login, by a signature.
        (two, "github:eve", &["github:ann", "github:ann"], Deny, "1/2"),
        (two, "github:eve", &["github:ann", "github:Ann"], Deny, "1/2"),
        (two, "github:eve", &["github:ann", "github:ann2"], Deny, "1/2"),
        (two, "email:bob@example.org", &["github:ann", "signer:ann"], Deny, "1/2"),
        // Mapped, so another person.
        (two, "email:bob@example.org", &["github:ann", "signer:cyd"], Allow, "2/2"),
        // Those who had a part.
        (two, "github:bob", &["github:ann", "github:bob"], Deny, "1/2"),
        (two, "Bob <bob@example.org>", &["github:ann", "github:bob"], Deny, "1/2"),
        (one, "github:bob", &["github:bob"], Deny, "0/1"),
        (any_two, "github:bob", &["github:ann", "github:bob"], Allow, "2/2"),
        // Stale, dismissed, not certain, dated later than now, or by a program.
        (two, "github:eve", &["github:ann", "github:bob stale"], Deny, "1/2"),
        (two, "github:eve", &["github:ann", "github:bob dismissed"], Deny, "1/2"),
        (two, "github:eve", &["github:ann", "github:bob unverified"], Deny, "1/2"),
        (two, "github:eve", &["github:ann", "github:bob late"], Deny, "1/2"),
        (any_two, "github:eve", &["github:ann", "github:helper[bot]"], Deny, "1/2"),
        // Asking for changes holds it up if one counts at all.
        (two, "github:eve", &["github:ann", "github:bob", "github:dan changes"], Deny, "2/2"),
        (two, "github:eve", &["github:ann", "github:bob", "github:fay changes"], Allow, "2/2"),
        // Not in the group, and in it by login.
        (two, "github:gus", &["github:ann", "github:eve"], Deny, "1/2"),
        (two, "github:eve", &["github:ann", "github:dan"], Allow, "2/2"),
        // Nobody says whether `dan` is that address: it cannot be told.
        (one, "email:dan@example.org", &["github:dan"], CannotTell, "0/1"),
        (one, "email:dan@example.org", &["github:dan", "github:ann"], CannotTell, "0/1"),
        (one, "email:bob@example.org", &["github:ann"], Allow, "1/1"),
        // Two who may be one.
        (any_two, "github:eve", &["github:dan", "signer:dan"], CannotTell, "1/2"),
    ];
    for (needs, part, reviews, decision, reached) in cases {
        let answer = judge(&requirement(needs), reviews, &parts(part), None);
        assert_eq!(answer.decision, decision, "{part} {reviews:?}: {}", answer.reason);
        assert!(answer.reason.starts_with(reached), "{part} {reviews:?}: {}", answer.reason);
    }
}

#[test]
fn whoever_contributed_cannot_approve() {
    // Written by ann, pushed last by bob, approved by bob.
    let parts = Parts { last_pusher: Some("github:bob".into()), ..parts("github:ann") };
    let needs = requirement(r#"{"count": 1, "not": ["author", "lastPusher"]}"#);
    let answer = judge(&needs, &["github:bob"], &parts, None);
    assert_eq!(answer.decision, Decision::Deny);
    assert_eq!(&*answer.reason, "0/1; @bob is the last pusher; ask anybody but the author, the last pusher");
}

#[test]
fn what_is_not_known_is_no_yes() {
    let needs = requirement(r#"{"count": 1, "not": ["lastPusher", "requester"]}"#);
    let nobody = Parts { last_pusher: None, ..parts("github:eve") };
    let answer = judge(&needs, &["github:ann"], &nobody, None);
    assert_eq!(answer.decision, Decision::CannotTell);
    assert_eq!(&*answer.reason, "1/1; @ann ok; who pushed last is not known");

    let mut doubtful = parts("github:eve");
    doubtful.requester.as_mut().unwrap().trusted = false;
    assert_eq!(judge(&needs, &["github:ann"], &doubtful, None).decision, Decision::CannotTell);

    // A program asks: there is nobody to rule out.
    let mut program = parts("controller:kargo");
    program.last_pusher = Some("github:eve".into());
    program.requester.as_mut().unwrap().kind = ActorKind::Controller;
    assert_eq!(judge(&needs, &["github:ann"], &program, None).decision, Decision::Allow);

    let group = requirement(r#"{"count": 1, "from": ["sres"]}"#);
    let answer = judge(&group, &["github:ann"], &parts("github:eve"), None);
    assert_eq!(answer.decision, Decision::CannotTell);
    let owners = requirement(r#"{"count": 1, "from": ["codeowners"]}"#);
    assert_eq!(judge(&owners, &["github:ann"], &parts("github:eve"), None).decision, Decision::CannotTell);
}

#[test]
fn the_words_say_who_can_act() {
    let needs = requirement(r#"{"count": 2, "from": ["sre"], "not": ["requester"]}"#);
    let answer = judge(&needs, &["github:ann", "github:bob stale"], &parts("github:eve"), None);
    assert_eq!(
        &*answer.reason,
        "1/2; @ann ok; @bob stale (pushed after 0ldc0mm); ask any @sre but the requester"
    );
    assert_eq!(answer.who.as_deref(), Some("any @sre but the requester"));

    let needs = requirement(r#"{"count": 1, "not": ["author"]}"#);
    let answer = judge(&needs, &["github:ann"], &parts("email:ann@home.example.org"), None);
    assert_eq!(
        &*answer.reason,
        "0/1; @ann may be the author `email:ann@home.example.org`: say in the fleet file whose that is, \
         such as `people: {ann: {email: [\"ann@home.example.org\"]}}`; ask anybody but the author"
    );
}

#[test]
fn owners_of_the_changed_files() {
    use Decision::{Allow, Deny};
    let github =
        CodeOwners::parse("/a/ @ann\n/b/ @org/search bob@example.org\n/c/ @fay", "", Dialect::GitHub)
            .unwrap();
    let only = r#"{"count": 1, "from": ["codeowners"]}"#;
    let two = r#"{"count": 2, "from": ["codeowners"]}"#;
    let sre = r#"{"count": 1, "from": ["sre", "codeowners"]}"#;
    let cases: [(&str, &[&str], &[&str], Decision); 10] = [
        (only, &["a/x"], &["github:ann"], Allow),
        (only, &["a/x"], &["github:bob"], Deny),
        (only, &["b/x"], &["github:eve"], Allow),
        (only, &["b/x"], &["github:bob"], Allow),
        // Each file needs one of its owners.
        (two, &["a/x", "b/x"], &["github:ann", "github:bob"], Allow),
        (only, &["a/x", "b/x"], &["github:ann"], Deny),
        (two, &["b/x", "c/x"], &["github:eve", "github:bob"], Deny),
        // Nobody's file asks nobody, and lets nobody count.
        (only, &["a/x", "README"], &["github:ann"], Allow),
        (only, &["README"], &["github:ann"], Deny),
        // Somebody of the group is enough for all.
        (sre, &["a/x", "c/x"], &["github:bob"], Allow),
    ];
    for (needs, files, reviews, decision) in cases {
        let files = files.iter().map(|path| (*path, github.owners(path))).collect();
        let owners = Owners { provider: "github", files };
        let answer = judge(&requirement(needs), reviews, &parts("github:gus"), Some(&owners));
        assert_eq!(answer.decision, decision, "{needs} {reviews:?}: {}", answer.reason);
    }

    let gitlab =
        CodeOwners::parse("[Prod][2]\n/a/ @ann @eve @fay\n^[Docs]\n* @zoe", "", Dialect::GitLab).unwrap();
    let owners = Owners { provider: "gitlab", files: vec![("a/x", gitlab.owners("a/x"))] };
    let one = judge(&requirement(only), &["gitlab:eve"], &parts("gitlab:gus"), Some(&owners));
    assert_eq!(one.decision, Deny);
    assert_eq!(
        &*one.reason,
        "1/1; @eve ok; `a/x` needs 2 of @ann, @eve, @fay, section Prod; ask any code owner"
    );
    let both = judge(&requirement(only), &["gitlab:eve", "gitlab:fay"], &parts("gitlab:gus"), Some(&owners));
    assert_eq!(both.decision, Allow);
}

fn reviews() -> impl Strategy<Value = Vec<String>> {
    let names = [
        "github:ann",
        "github:ann2",
        "signer:ann",
        "github:bob",
        "signer:cyd",
        "github:dan",
        "gitlab:dan",
        "signer:dan",
        "email:x",
        "github:eve",
        "h[bot]",
        "",
    ];
    let words = ["", " stale", " changes", " dismissed", " unverified", " late"];
    let one = (prop::sample::select(names.to_vec()), prop::sample::select(words.to_vec()));
    prop::collection::vec(one.prop_map(|(name, word)| format!("{name}{word}")), 0..6)
}

proptest! {
    /// An approval by somebody who has said nothing yet takes no yes away.
    #[test]
    fn more_approvals_are_never_worse(
        reviews in reviews(), more in prop::sample::select(vec!["github:ann", "signer:ann", "github:dan", "gitlab:dan", "signer:eve", "github:zoe"]),
        part in prop::sample::select(vec!["github:ann", "email:ann@example.org", "email:x@example.org", "github:gus", ""]),
        count in 1..4, from in prop::sample::select(vec!["[]", r#"["sre"]"#, r#"["codeowners"]"#, r#"["sre", "codeowners"]"#, r#"["none"]"#]),
        not in prop::sample::select(vec!["[]", r#"["author"]"#, r#"["author", "requester"]"#]),
    ) {
        prop_assume!(!reviews.iter().any(|review| review.split(' ').next() == Some(more)));
        let needs = requirement(&format!(r#"{{"count": {count}, "from": {from}, "not": {not}}}"#));
        let file = CodeOwners::parse("/a/ @ann @dan\n/b/ @zoe @org/sre", "", Dialect::GitHub).unwrap();
        let files = ["a/x", "b/x"].map(|path| (path, file.owners(path))).to_vec();
        let owners = Owners { provider: "github", files };
        let mut given: Vec<&str> = reviews.iter().map(String::as_str).collect();
        let before = judge(&needs, &given, &parts(part), Some(&owners)).decision;
        given.push(more);
        let after = judge(&needs, &given, &parts(part), Some(&owners)).decision;
        prop_assert!(before != Decision::Allow || after == Decision::Allow, "{:?} {:?}", before, after);
    }

    #[test]
    fn no_identity_panics(a in r"\PC{0,20}", b in r"(email:|github:)?[a@<>+\[\]: ]{0,12}") {
        let identities = identities();
        prop_assert_eq!(identities.relation(&a, &b), identities.relation(&b, &a));
        prop_assert_eq!(identities.relation(&a, &a), Relation::Same);
        identities.entry(&a, &b);
        identities.groups(&b);
    }
}
