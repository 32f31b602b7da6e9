//! A route names a place inside a value by keys and indexes.

use std::fmt;
use std::sync::Arc;

/// One step of a [`Route`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A key of a mapping.
    Key(Arc<str>),
    /// A position in a sequence, from 0.
    Index(usize),
}

/// Keys and indexes from the root of a value to a place in it, such as
/// `spec.containers[0].image`. The empty route is the root.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Route(pub Vec<Step>);

impl Route {
    /// The root.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The same route with a key appended.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.into()));
        Self(steps)
    }

    /// The same route with an index appended.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        Self(steps)
    }

    /// This route followed by `rest`.
    #[must_use]
    pub fn join(&self, rest: &Self) -> Self {
        Self(self.0.iter().chain(&rest.0).cloned().collect())
    }
}

/// `spec.containers[0].image`; keys that are no plain words are quoted:
/// `metadata.annotations["example.org/a"]`.
impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_plain(key) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(key)?;
                }
                Step::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_reads_as_people_write_it() {
        let route = Route::root().key("spec").key("containers").index(0).key("image");
        assert_eq!(route.to_string(), "spec.containers[0].image");
        let quoted = Route::root().key("metadata").key("annotations").key("example.org/a");
        assert_eq!(quoted.to_string(), "metadata.annotations[\"example.org/a\"]");
        assert_eq!(Route::root().to_string(), "");
    }
}
