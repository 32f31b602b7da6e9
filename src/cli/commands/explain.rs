//! `fleetgate explain`

use std::fmt::Write as _;

use crate::cli::args::Explain;
use crate::cli::pipeline::Rulebook;
use crate::cli::term::Term;
use crate::error::Error;
use crate::model::Problem;
use crate::policy::Rule;

pub(in crate::cli) fn run(args: &Explain, term: &Term) -> Result<u8, Error> {
    let rulebook = Rulebook::load(&args.rulebook, &[])?;
    let rules = &rulebook.policies.rules;
    let Some(rule) = rules.iter().find(|rule| *rule.id == *args.rule) else {
        return Err(unknown(&args.rule, rules).into());
    };
    term.out(page(rule).as_bytes())?;
    Ok(0)
}

fn page(rule: &Rule) -> String {
    let mut text = match &rule.page {
        Some(page) => format!("{}\n", page.trim_end()),
        None => format!("# {}\n\n{}\n\n{}\n", rule.id, rule.title, rule.description),
    };
    let _ = writeln!(text, "\nLevel: {}. File: {}", rule.level.as_str(), rule.file);
    if let Some(url) = &rule.url {
        let _ = writeln!(text, "More: {url}");
    }
    text
}

fn unknown(id: &str, rules: &[Rule]) -> Problem {
    let problem = Problem::new("unknown-rule", format!("there is no rule `{id}`"));
    let nearest = rules
        .iter()
        .map(|rule| (strsim::jaro_winkler(id, &rule.id), &rule.id))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    match nearest {
        Some((_, nearest)) => problem.help(format!("did you mean `{nearest}`?")),
        None => problem.help("`fleetgate rules` lists them"),
    }
}
