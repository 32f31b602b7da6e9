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
        // The path of an unknown key ends at the key, or at its mapping.
        let last = matches!(route.0.last(), Some(Step::Key(key)) if **key == *unknown.name);
        let whole = if last { route.clone() } else { route.key(unknown.name) };
        if let Some(key) = tree.as_ref().and_then(|tree| tree.key(&whole)) {
            span = Some(key);
        }
        unknown.error(&whole)
    } else {
        let place = if route.is_root() { "the document".to_owned() } else { format!("`{route}`") };
        SyntaxError::new("wrong-type", format!("{place}: {message}"))
    };
    error.span = span;
    error
}

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
            ("key", rest)
        } else {
            ("word", message.strip_prefix("unknown variant `")?)
        };
        let (name, rest) = rest.split_once('`')?;
        let expected = rest.split('`').skip(1).step_by(2).collect();
        Some(Self { what, name, expected })
    }

    fn error(&self, route: &Route) -> SyntaxError {
        let code = if self.what == "key" { "unknown-key" } else { "unknown-word" };
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
