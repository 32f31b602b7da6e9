//! Why a text could not be read.

use crate::model::Span;

/// Why a text could not be read. Spans are in the text that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// A stable kebab-case word, such as `duplicate-key`.
    pub code: &'static str,
    /// What was wrong: lower case, no full stop.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// Where.
    pub span: Option<Span>,
    /// Further places, each with what stands there (the first of two equal keys).
    pub related: Vec<(String, Span)>,
}

impl SyntaxError {
    /// An error with a code and a message and nothing else yet.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None, span: None, related: Vec::new() }
    }

    /// The same error with help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same error at a place.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }
}
