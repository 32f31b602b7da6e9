//! Where something stands: a file, a document in it, a line and a column.

use std::sync::Arc;

use camino::Utf8PathBuf;

/// A stretch of text. Lines and columns count from 1, columns in characters; offsets in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Byte offset of the first byte.
    pub offset: usize,
    /// Length in bytes.
    pub length: usize,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first byte, from 1, in characters.
    pub column: usize,
}

/// The text of one file or stream, kept so that a finding can show the line it is about.
/// `text` is the text as read, without a byte order mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Path as shown to people: relative to where the run was started, `/` as separator, `-` for
    /// standard input.
    pub path: Utf8PathBuf,
    /// The text.
    pub text: Arc<str>,
}

/// One occurrence of a document: the same text can stand in many files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Path as shown to people.
    pub file: Arc<Utf8PathBuf>,
    /// Position of the document in the file, from 0, empty documents counted.
    pub document: usize,
    /// Line in the file, from 1, on which the document's text starts.
    pub line: usize,
    /// Byte offset in the file at which the document's text starts.
    pub offset: usize,
}
