//! What a fleet file can say that makes no sense: names that nothing has, entries that contradict
//! each other. Everything is collected; nothing here changes the fleet.

use std::collections::{BTreeMap, BTreeSet};

use super::file::{Document, Duration, Rule, Words, time_zone};
use super::load::{Part, name_glob};
use super::resolve::is_glob;
use super::suggest;
use crate::accelerators::{known_families, same_family};
use crate::model::{Problem, Route};

/// The longest emergency.
const LONGEST_EMERGENCY: u64 = 4 * 3600;

/// Adds what is wrong with the parts to `problems`; `whole` is the merged document.
pub(super) fn check(parts: &[Part], whole: &Document, problems: &mut Vec<Problem>) {
    for part in parts {
        let mut checker = Checker { part, whole, problems };
        checker.environments();
        checker.clusters();
        checker.teams_and_people();
        checker.budgets();
        checker.promotions();
        checker.gates();
        checker.rules();
        checker.exceptions();
    }
    duplicates(parts, problems);
}

struct Checker<'a> {
    part: &'a Part,
    whole: &'a Document,
    problems: &'a mut Vec<Problem>,
}

impl Checker<'_> {
    fn report(&mut self, code: &'static str, route: &Route, message: String, help: impl Into<String>) {
        self.problems.push(self.part.problem(code, route, message).help(help));
    }

    fn environments(&mut self) {
        let document = &self.part.document;
        for (position, name) in document.environments.iter().enumerate() {
            let route = Route::root().key("environments").index(position);
            self.plain_name("environment", &route, name);
            if document.environments.iter().take(position).any(|earlier| earlier == name) {
                self.report(
                    "set-twice",
                    &route,
                    format!("environment `{name}` is listed twice"),
                    "list it once",
                );
            }
        }
        if !document.clusters.is_empty() && self.whole.environments.is_empty() {
            let message = "there are clusters but no `environments`".to_owned();
            let help = "list the environments in promotion order, such as `environments: [dev, uat, prod]`";
            self.report("no-environments", &Route::root().key("clusters"), message, help);
        }
    }

    fn clusters(&mut self) {
        for (name, entry) in &self.part.document.clusters {
            let route = Route::root().key("clusters").key(name);
            self.plain_name("cluster", &route, name);
            if !self.whole.environments.is_empty() {
                let what = format!("cluster `{name}`");
                self.environment(&route, &what, &entry.0.environment);
            }
            for (position, accelerator) in entry.0.accelerators.iter().flatten().enumerate() {
                let route = route.key("accelerators").index(position);
                self.filled(&route, "family", &accelerator.family);
                self.filled(&route, "resource", &accelerator.resource);
                if accelerator.per_node == 0 {
                    let message = format!("a node with `{}` has none of it", accelerator.resource);
                    self.report("empty-value", &route.key("perNode"), message, "write how many one node has");
                }
            }
            if let Some(prometheus) = &entry.0.prometheus {
                self.url(&route.key("prometheus"), &prometheus.url);
            }
        }
        if let Some(prometheus) = &self.part.document.prometheus {
            self.url(&Route::root().key("prometheus"), &prometheus.url);
        }
        for (project, clusters) in self.part.document.argocd.iter().flat_map(|argocd| &argocd.projects) {
            let route = Route::root().key("argocd").key("projects").key(project);
            self.cluster_globs(&route, clusters);
        }
    }

    fn teams_and_people(&mut self) {
        for (name, entry) in &self.part.document.teams {
            let route = Route::root().key("teams").key(name);
            self.plain_name("team", &route, name);
            for member in entry.0.members.iter().filter(|member| !member.starts_with('@')) {
                if !self.whole.people.contains_key(member) {
                    let known = self.whole.people.keys().map(String::as_str).collect::<Vec<_>>();
                    let help = format!(
                        "add it to `people` or write a login as `@login`; {}",
                        suggest::help(member, known)
                    );
                    let message =
                        format!("team `{name}` has the member `{member}`, whom `people` does not list");
                    self.report("unknown-person", &route.key("members"), message, help);
                }
            }
        }
    }

    fn budgets(&mut self) {
        for (position, budget) in self.part.document.budgets.iter().enumerate() {
            let route = Route::root().key("budgets").index(position);
            self.filled(&route, "owner", &budget.owner);
            self.filled(&route, "family", &budget.family);
            // A team without namespaces uses nothing, so that every limit would be kept.
            if !self.whole.teams.contains_key(&budget.team) {
                let help = if self.whole.teams.is_empty() {
                    format!("write its namespaces: `teams: {{{}: [namespace]}}`", budget.team)
                } else {
                    suggest::help(&budget.team, self.whole.teams.keys().map(String::as_str))
                };
                let message = format!("`teams` has no team `{}`", budget.team);
                self.report("unknown-team", &route.key("team"), message, help);
            }
            let pools =
                self.whole.clusters.values().flat_map(|cluster| cluster.0.accelerators.iter().flatten());
            let families: BTreeSet<&str> =
                pools.map(|pool| pool.family.as_str()).chain(known_families()).collect();
            if !families.iter().any(|family| same_family(family, &budget.family)) {
                let help = suggest::help(&budget.family, families.iter().copied());
                let message = format!("no cluster has accelerators of the family `{}`", budget.family);
                self.report("unknown-family", &route.key("family"), message, help);
            }
            if let Some(environment) = &budget.environment {
                self.environment(&route.key("environment"), "the budget", environment);
            }
            self.cluster_globs(&route.key("clusters"), &budget.clusters);
            if budget.environment.is_some() != budget.clusters.is_empty() {
                let message =
                    format!("the budget of `{}` needs either `environment` or `clusters`", budget.team);
                self.report(
                    "budget-place",
                    &route,
                    message,
                    "write where the budget holds, in one of the two ways",
                );
            }
        }
    }

    fn promotions(&mut self) {
        for environment in self.part.document.approvals.keys() {
            self.environment(&Route::root().key("approvals").key(environment), "`approvals`", environment);
        }
        for (position, window) in self.part.document.windows.iter().enumerate() {
            let route = Route::root().key("windows").index(position);
            self.filled(&route, "name", &window.name);
            if window.allow.is_some() == window.deny.is_some() {
                let message = format!("window `{}` needs either `allow` or `deny`", window.name);
                self.report("window-kind", &route, message, "write two windows if it needs both");
            }
            for environment in &window.environments.0 {
                self.environment(
                    &route.key("environments"),
                    &format!("window `{}`", window.name),
                    environment,
                );
            }
            self.cluster_globs(&route.key("clusters"), &window.clusters);
            if let Some(zone) = window.zone.as_ref().filter(|zone| time_zone(zone).is_none()) {
                let message = format!("`{zone}` is no time zone");
                self.report(
                    "unknown-zone",
                    &route.key("zone"),
                    message,
                    "write such as `Europe/Berlin` or `UTC`",
                );
            }
        }
        if let Some(emergency) = &self.part.document.break_glass {
            let route = Route::root().key("breakGlass");
            if emergency.by.is_empty() {
                let message = "nobody may call an emergency".to_owned();
                self.report("empty-value", &route.key("by"), message, "name a group, or remove `breakGlass`");
            }
            let Duration { text, seconds } = &emergency.max;
            if *seconds > LONGEST_EMERGENCY {
                let message = format!("an emergency of `{text}` is too long");
                self.report("too-long", &route.key("max"), message, "write `4h` or less");
            }
        }
    }

    fn gates(&mut self) {
        for (name, gate) in &self.part.document.gates {
            let route = Route::root().key("gates").key(name);
            if gate.preset.is_some() == gate.query.is_some() {
                let message = format!("gate `{name}` needs either a `preset` or a `query`");
                self.report(
                    "gate-metric",
                    &route,
                    message,
                    "name one metric, such as `preset: envoy/error-ratio`",
                );
            }
            if gate.below.is_none() && gate.above.is_none() {
                let message = format!("gate `{name}` has no bound and would always hold");
                self.report("gate-bound", &route, message, "write `below` or `above`");
            }
        }
    }

    fn rules(&mut self) {
        let document = &self.part.document;
        for (pattern, rule) in &document.rules {
            self.rule(&Route::root().key("rules").key(pattern), rule);
        }
        for (position, set) in document.policies.iter().enumerate() {
            let route = Route::root().key("policies").index(position);
            if set.path.is_empty() == set.bundle.is_none() {
                let message = "a set of policies needs either `path` or `bundle`".to_owned();
                self.report(
                    "policy-source",
                    &route,
                    message,
                    "name where the policies are, in one of the two ways",
                );
            }
            for (pattern, rule) in &set.overrides {
                self.rule(&route.key("overrides").key(pattern), rule);
            }
        }
    }

    fn rule(&mut self, route: &Route, rule: &Rule) {
        for setting in &rule.0 {
            for environment in &setting.environments.0 {
                self.environment(route, "the setting", environment);
            }
            self.cluster_globs(route, &setting.clusters);
        }
    }

    fn exceptions(&mut self) {
        for (position, waiver) in self.part.document.waivers.iter().enumerate() {
            let route = Route::root().key("waivers").index(position);
            let texts = [("rule", &waiver.rule), ("reason", &waiver.reason), ("owner", &waiver.owner)];
            for (key, text) in texts {
                self.filled(&route, key, text);
            }
            if let Some(cluster) = &waiver.cluster {
                self.cluster_globs(&route.key("cluster"), &Words(vec![cluster.clone()]));
            }
            if !waiver.subject.trim().contains(' ') && waiver.subject != "*" {
                let message = format!("`{}` names no object", waiver.subject);
                let help = "write `Kind namespace/name`, `Kind name` for an object without a namespace, or `*` for all";
                self.report("waiver-subject", &route.key("subject"), message, help);
            }
        }
        for (position, exclude) in self.part.document.exclude.iter().enumerate() {
            let route = Route::root().key("exclude").index(position);
            self.filled(&route, "reason", &exclude.reason);
            self.filled(&route, "owner", &exclude.owner);
        }
    }

    fn environment(&mut self, route: &Route, what: &str, name: &str) {
        if !self.whole.environments.iter().any(|known| known == name) {
            let help = suggest::help(name, self.whole.environments.iter().map(String::as_str));
            let message =
                format!("{what} names the environment `{name}`, which `environments` does not list");
            self.report("unknown-environment", route, message, help);
        }
    }

    fn cluster_globs(&mut self, route: &Route, patterns: &Words) {
        for pattern in &patterns.0 {
            match name_glob(pattern) {
                Ok(glob) if self.whole.clusters.keys().any(|name| glob.is_match(name)) => {}
                Ok(_) => {
                    let known = self.whole.clusters.keys().map(String::as_str);
                    let help = if is_glob(pattern) {
                        "correct the glob: it is matched against the names of `clusters`".to_owned()
                    } else {
                        suggest::help(pattern, known)
                    };
                    self.report("unknown-cluster", route, format!("`{pattern}` matches no cluster"), help);
                }
                Err(message) => self.report("glob", route, message, "correct the glob"),
            }
        }
    }

    /// Names stand in reports, file names and baselines, one blank between them.
    fn plain_name(&mut self, what: &str, route: &Route, name: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(plain) {
            let message =
                format!("`{name}` is no name for a {what}").replace("a environment", "an environment");
            self.report("name", route, message, "use letters, digits, `-`, `_` and `.`");
        }
    }

    fn filled(&mut self, route: &Route, key: &str, text: &str) {
        if text.trim().is_empty() {
            self.report(
                "empty-value",
                &route.key(key),
                format!("`{key}` is empty"),
                format!("write a {key}"),
            );
        }
    }

    fn url(&mut self, route: &Route, url: &str) {
        if !url.starts_with("https://") && !url.starts_with("http://") {
            let message = format!("`{url}` is no address");
            self.report(
                "url",
                &route.key("url"),
                message,
                "write such as `https://prom.{cluster}.example.org`",
            );
        }
    }
}

/// Entries of lists and identities that stand twice, wherever the two are.
fn duplicates(parts: &[Part], problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<String, (&Part, Route)> = BTreeMap::new();
    let mut once = |part, route: Route, name: String| {
        if let Some((first, place)) = seen.get(&name) {
            let message = format!("{name} stands already in `{}:{}`", first.file, first.line(place));
            problems.push(Part::problem(part, "set-twice", &route, message).help("keep one of the two"));
        } else {
            seen.insert(name, (part, route));
        }
    };
    for part in parts {
        for (position, window) in part.document.windows.iter().enumerate() {
            let route = Route::root().key("windows").index(position);
            once(part, route, format!("window `{}`", window.name));
        }
        for (name, team) in &part.document.teams {
            for pattern in &team.0.namespaces {
                let route = Route::root().key("teams").key(name);
                once(part, route, format!("namespace `{pattern}` of a team"));
            }
        }
        for (name, person) in &part.document.people {
            let identities = [
                ("github", &person.github),
                ("gitlab", &person.gitlab),
                ("email", &person.email),
                ("kubernetes", &person.kubernetes),
                ("signer", &person.signer),
            ];
            for (system, words) in identities {
                for identity in &words.0 {
                    let route = Route::root().key("people").key(name).key(system);
                    // Logins and addresses that differ by case are the same.
                    let folded = matches!(system, "github" | "gitlab" | "email");
                    let identity = if folded { identity.to_lowercase() } else { identity.clone() };
                    once(part, route, format!("`{identity}` on {system} of a person"));
                }
            }
        }
    }
}
