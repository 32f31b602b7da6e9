//! A document into a type of our own.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;

use super::{SyntaxError, locate::Tree, reader};
use crate::model::{Route, Step, Value};

/// Reads one document into a typed value; an unknown key or a wrong type is an error with its
/// place.
pub fn typed<T: DeserializeOwned>(text: &str) -> Result<T, SyntaxError> {
    from_value(&reader::value(text)?, text, &Route::root())
}

/// Turns a value that was read from `text` at `route` into a typed one; the text serves to name the
/// place of an error.
pub fn from_value<T: DeserializeOwned>(value: &Value, text: &str, route: &Route) -> Result<T, SyntaxError> {
    let failed = |message: String| SyntaxError::new("wrong-type", message);
    let json = serde_json::to_value(value).map_err(|error| failed(error.to_string()))?;
    serde_path_to_error::deserialize(json).map_err(|error| {
        let inside = Route(error.path().iter().filter_map(step).collect());
        locate_error(&error.inner().to_string(), text, &route.join(&inside))
    })
}

fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } => Some(Step::Key(Arc::from(key.as_str()))),
        // A variant is the key of a mapping, or the text itself, where locating stops before it.
        Segment::Enum { variant } => Some(Step::Key(Arc::from(variant.as_str()))),
        Segment::Unknown => None,
    }
}

/// Words serde's message with the route, and finds the place.
fn locate_error(message: &str, text: &str, route: &Route) -> SyntaxError {
    let tree = Tree::parse(text).ok();
    let nearest = tree.as_ref().map(|tree| tree.nearest(route));
    let mut span = nearest.map(|nearest| nearest.span);
    let mut error = if let Some(unknown) = Unknown::parse(message) {
        // serde names the unknown key or word as the last step, or leaves it out.
        let named = matches!(route.0.last(), Some(Step::Key(last)) if **last == *unknown.name);
        let mut whole = route.clone();
        match (unknown.what, named) {
            (KEY, false) => whole = whole.key(unknown.name),
            (WORD, true) => drop(whole.0.pop()),
            _ => {}
        }
        if unknown.what == KEY {
            span = tree.as_ref().and_then(|tree| tree.key(&whole)).or(span);
        }
        unknown.error(&whole)
    } else {
        let place = if route.is_root() { "the document".to_owned() } else { format!("`{route}`") };
        SyntaxError::new("wrong-type", format!("{place}: {message}"))
    };
    error.span = span;
    error
}

const KEY: &str = "key";
const WORD: &str = "word";

/// What serde says about a key or word that it does not know: ``unknown field `x`, expected one of
/// `a`, `b` ``.
struct Unknown<'m> {
    what: &'static str,
    name: &'m str,
    expected: Vec<&'m str>,
}

impl<'m> Unknown<'m> {
    fn parse(message: &'m str) -> Option<Self> {
        let (what, rest) = if let Some(rest) = message.strip_prefix("unknown field `") {
            (KEY, rest)
        } else {
            (WORD, message.strip_prefix("unknown variant `")?)
        };
        let (name, rest) = rest.split_once('`')?;
        let expected = rest.split('`').skip(1).step_by(2).collect();
        Some(Self { what, name, expected })
    }

    fn error(&self, route: &Route) -> SyntaxError {
        let code = if self.what == KEY { "unknown-key" } else { "unknown-word" };
        let error = SyntaxError::new(code, format!("unknown {} `{}` at `{route}`", self.what, self.name));
        match nearest_word(self.name, self.expected.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if self.expected.is_empty() => error.help("remove it: nothing may stand here"),
            None => error.help(format!("one of `{}` may stand here", self.expected.join("`, `"))),
        }
    }
}

/// The word that was probably meant, if one is near enough.
pub fn nearest_word<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(&word.to_lowercase(), &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= 1 + known.len() / 4)
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Fleet {
        clusters: Vec<Cluster>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[expect(dead_code, reason = "read only")]
    struct Cluster {
        name: String,
        #[serde(default)]
        environment: Option<Environment>,
        #[serde(default)]
        nodes: u32,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Environment {
        Dev,
        Prod,
    }

    fn error(text: &str) -> (String, Option<String>, usize, usize) {
        let error = typed::<Fleet>(text).unwrap_err();
        let span = error.span.unwrap();
        (error.message, error.help, span.line, span.column)
    }

    #[test]
    fn an_unknown_key_is_an_error_at_the_key_with_what_was_meant() {
        let (message, help, line, column) = error("clusters:\n- name: a\n  enviroment: dev\n");
        assert_eq!(message, "unknown key `enviroment` at `clusters[0].enviroment`");
        assert_eq!(help.unwrap(), "did you mean `environment`?");
        assert_eq!((line, column), (3, 3));
    }

    #[test]
    fn a_wrong_word_and_a_wrong_type_are_errors_at_the_value() {
        let (message, help, line, column) = error("clusters:\n- name: a\n  environment: prd\n");
        assert_eq!(message, "unknown word `prd` at `clusters[0].environment`");
        assert_eq!(help.unwrap(), "did you mean `prod`?");
        assert_eq!((line, column), (3, 16));
        let (message, _, line, column) = error("clusters: [{name: a, nodes: many}]\n");
        assert_eq!(message, "`clusters[0].nodes`: invalid type: string \"many\", expected u32");
        assert_eq!((line, column), (1, 29));
        let (message, _, line, _) = error("# nothing else\nclusters:\n- environment: dev\n");
        assert_eq!((message.as_str(), line), ("`clusters[0]`: missing field `name`", 3));
    }

    #[test]
    fn what_reads_well_is_read() {
        let fleet: Fleet = typed("clusters: [{name: \"a\", environment: dev, nodes: 010}]").unwrap();
        assert_eq!(fleet.clusters[0].nodes, 8);
    }
}
