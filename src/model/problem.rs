//! What could not be judged. A problem is never a denial; both block.

use std::sync::Arc;

use super::{Place, Span};

/// Something that kept us from judging: an unreadable file, a failing rule, a missing fact.
///
/// `message` names what was wrong, `help` what to write instead. Messages begin in lower case and
/// have no full stop; names stand in backticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A stable kebab-case word for the kind of problem, such as `duplicate-key`.
    pub code: &'static str,
    /// What was wrong.
    pub message: String,
    /// What to write or do instead.
    pub help: Option<String>,
    /// The file it is about, if any, as shown to people.
    pub file: Option<Arc<camino::Utf8PathBuf>>,
    /// The document in that file, if the problem is inside one.
    pub place: Option<Place>,
    /// The stretch of text in the file, in lines of that file.
    pub span: Option<Span>,
    /// Further stretches of the same file, each with what stands there.
    pub related: Vec<(String, Span)>,
    /// The text of the file that `span` and `related` point into, where it can be shown.
    pub source: Option<Arc<str>>,
    /// The rule that failed, for problems of evaluation.
    pub rule: Option<Arc<str>>,
    /// The cluster concerned, if one is.
    pub cluster: Option<Arc<str>>,
}

impl Problem {
    /// A problem with a code and a message and nothing else yet.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: None,
            file: None,
            place: None,
            span: None,
            related: Vec::new(),
            source: None,
            rule: None,
            cluster: None,
        }
    }

    /// The same problem with help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same problem, about a file.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<camino::Utf8PathBuf>) -> Self {
        self.file = Some(Arc::new(file.into()));
        self
    }

    /// The same problem, at a stretch of its file.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }
}
