//! Source lines of a `Secret` are never shown.

use crate::model::{Finding, Problem, Step};

/// Whether the document of a finding may show what a `Secret` holds.
pub(super) fn in_finding(finding: &Finding) -> bool {
    let secret = finding.subject.object.as_ref().is_some_and(|id| &*id.kind == "Secret");
    // Beside an item of a list, other items stand, in JSON on the same line.
    let listed = finding.item.0.first().is_some_and(|step| matches!(step, Step::Key(_)));
    secret || (listed && finding.text.as_ref().is_some_and(|text| holds(text)))
}

/// Whether the source of a problem may show what a `Secret` holds.
pub(super) fn in_problem(problem: &Problem) -> bool {
    let Some(source) = &problem.source else { return false };
    let document = problem.place.as_ref().and_then(|place| source.get(place.offset..));
    let document = document.map(|rest| rest.split("\n---").next().unwrap_or(rest));
    holds(document.unwrap_or(source))
}

/// Whether a text names the kind `Secret` or `SecretList`, and a field that holds values, wherever: a
/// text that cannot be parsed has no structure that could be trusted.
fn holds(text: &str) -> bool {
    let has = |words: [&str; 2]| words.into_iter().any(|word| has_word(text, word));
    has(["Secret", "SecretList"]) && has(["data", "stringData"])
}

fn has_word(text: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.match_indices(word).any(|(at, word)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + word.len()..).unwrap_or_default();
        !before.ends_with(letter) && !after.starts_with(letter)
    })
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn the_kind_is_found_as_a_word() {
        for kind in ["kind: Secret", "{\"kind\":\"Secret\"", "kind: SecretList", "kind: !!str Secret"] {
            assert!(holds(&format!("{kind}, data: {{}}")), "{kind}");
            assert!(holds(&format!("{kind}\n\"stringData\": {{}}")), "{kind}");
            assert!(!holds(&format!("{kind}\nmetadata: {{}}")), "{kind}");
        }
        for kind in ["kind: ExternalSecret", "kind: SecretStore", "secretName: x", "kind: SealedSecret"] {
            assert!(!holds(&format!("{kind}, data: {{}}")), "{kind}");
        }
    }
}
