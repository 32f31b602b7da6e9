//! People: the members of organisations and groups, as GitHub and GitLab list them.

use std::collections::BTreeMap;

use super::input::{Input, Item, Log, Source, documents};
use super::teams::Teams;
use crate::fleet::file::{Person, Words};
use crate::fleet::peek::text;

/// Reads the members. `GET /orgs/{org}/members` and `GET /orgs/{org}/teams/{team}/members` of GitHub
/// give `login` and `type`; `GET /groups/{id}/members/all` of GitLab gives `username`, `state` and, to
/// administrators, `email`. Two logins are one person only if both sides state the same address.
pub(super) fn read(inputs: &[Input], teams: &mut Teams, log: &mut Log) -> BTreeMap<String, Person> {
    let mut people = People::default();
    for input in inputs.iter().filter(|i| matches!(i.source, Source::GitHub | Source::GitLab)) {
        let mut logins = Vec::new();
        for item in documents(input, log).iter().flat_map(Item::items) {
            if let Some(login) = people.member(input, &item, log) {
                logins.push(format!("@{login}"));
            }
        }
        if let Some(team) = &input.of {
            teams.members(input, team, &logins, log);
        }
    }
    people.people
}

#[derive(Default)]
struct People {
    people: BTreeMap<String, Person>,
    /// Names of persons by what identifies them: system and login, or address.
    names: BTreeMap<(&'static str, String), String>,
}

impl People {
    fn member(&mut self, input: &Input, item: &Item, log: &mut Log) -> Option<String> {
        let word = |key| text(&item.value, &[key]).filter(|word| !word.is_empty());
        let github = input.source == Source::GitHub;
        let (key, system) = if github { ("login", "GitHub") } else { ("username", "GitLab") };
        let Some(login) = word(key) else {
            let message = format!("a member has no `{key}`");
            let help = format!("`{}` reads members as the API lists them", input.source.option());
            log.problem(input, &item.at, "no-login", message, help);
            return None;
        };
        let inactive = word("state").is_some_and(|state| state != "active");
        if inactive || word("type").is_some_and(|kind| kind != "User") {
            log.remark(format!("`{login}` on {system} is no active person, and is left out"));
            return None;
        }
        let email = word("email").or_else(|| word("public_email")).map(str::to_ascii_lowercase);
        let by_login = (system, login.to_owned());
        let by_email = email.clone().map(|email| ("address", email));
        let known = self.names.get(&by_login).or_else(|| self.names.get(by_email.as_ref()?)).cloned();
        // The same login on another system is somebody else until an address says otherwise.
        let name = known.unwrap_or_else(|| {
            let taken = self.people.contains_key(login);
            if taken { format!("{login}-{}", system.to_ascii_lowercase()) } else { login.to_owned() }
        });
        self.names.insert(by_login, name.clone());
        self.names.extend(by_email.map(|key| (key, name.clone())));
        let person = self.people.entry(name).or_default();
        add(if github { &mut person.github } else { &mut person.gitlab }, login);
        if let Some(email) = email {
            add(&mut person.email, &email);
        }
        Some(login.to_owned())
    }
}

fn add(words: &mut Words, word: &str) {
    if !words.0.iter().any(|other| other == word) {
        words.0.push(word.to_owned());
        words.0.sort();
    }
}
