//! Files to text: bounded, and with an error for whatever is no text.

#![allow(clippy::disallowed_methods, reason = "the one place that reads manifests from disk")]

use std::fs::File;
use std::io::Read;

use camino::Utf8Path;

use super::{SyntaxError, positions};
use crate::model::Span;

/// The text of a file's bytes, without a byte order mark.
pub fn text(bytes: &[u8]) -> Result<&str, SyntaxError> {
    if bytes.starts_with(b"\xFE\xFF") || bytes.starts_with(b"\xFF\xFE") || looks_like_utf16(bytes) {
        return Err(SyntaxError::new("encoding", "UTF-16 text").help("store the file as UTF-8").at(START));
    }
    if bytes.starts_with(b"\0GITCRYPT\0") {
        return Err(SyntaxError::new("encoding", "encrypted by git-crypt")
            .help(
                "unlock the repository before the check (`git-crypt unlock`), or name the file in `exclude`",
            )
            .at(START));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        // Valid by what the error says.
        let before = std::str::from_utf8(valid).unwrap_or_default();
        let mut span = positions::span(before, before.len(), 0);
        span.length = 0;
        let wrong = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
        SyntaxError::new("encoding", format!("the byte 0x{wrong:02X} is no UTF-8 text"))
            .help("store the file as UTF-8, or name it in `exclude` if it is no manifest")
            .at(span)
    })
}

const START: Span = Span { offset: 0, length: 0, line: 1, column: 1 };

/// Text of mostly ASCII in UTF-16 without a mark: every other byte is zero.
fn looks_like_utf16(bytes: &[u8]) -> bool {
    let pairs = bytes.get(..bytes.len().min(64)).unwrap_or_default().chunks_exact(2);
    let zeros = |which: usize| pairs.clone().all(|pair| pair.get(which) == Some(&0));
    bytes.len() >= 4 && zeros(0) != zeros(1)
}

/// Reads a regular file of at most `limit` bytes.
pub(super) fn read(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, SyntaxError> {
    let failed = |error: &std::io::Error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => "the file is not there (any more)".to_owned(),
            std::io::ErrorKind::PermissionDenied => "no permission to read the file".to_owned(),
            _ => {
                // The system's words, without the number that Rust adds.
                let words = error.to_string();
                words.split(" (os error").next().unwrap_or_default().to_lowercase()
            }
        };
        SyntaxError::new("unreadable-file", message)
    };
    let regular = |metadata: std::fs::Metadata| {
        if !metadata.is_file() {
            return Err(SyntaxError::new("unreadable-file", "no regular file")
                .help("pipes, devices and directories are not read as manifests; `-` reads standard input"));
        }
        if metadata.len() > limit { Err(too_large(limit)) } else { Ok(()) }
    };
    // Before opening too: to open a pipe would wait for its writer.
    regular(std::fs::metadata(path).map_err(|error| failed(&error))?)?;
    let file = File::open(path).map_err(|error| failed(&error))?;
    let metadata = file.metadata().map_err(|error| failed(&error))?;
    let size = usize::try_from(metadata.len()).unwrap_or_default();
    regular(metadata)?;
    let mut bytes = Vec::with_capacity(size);
    // It may grow while it is read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

/// The error for a file above the size limit, in bytes.
pub(super) fn too_large(limit: u64) -> SyntaxError {
    SyntaxError::new("file-too-large", format!("the file is larger than {} MiB", limit >> 20))
        .help("split the file, or name it in `exclude` if it is no manifest")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o07_a_byte_order_mark_is_no_part_of_the_first_key() {
        assert_eq!(text(b"\xEF\xBB\xBFkind: Pod").unwrap(), "kind: Pod");
    }

    #[test]
    fn o07_o08_what_is_no_utf8_is_an_error_with_its_place() {
        for utf16 in [&b"\xFF\xFEk\0i\0"[..], b"\xFE\xFF\0k\0i", b"k\0i\0n\0d\0", b"\0k\0i\0n\0d"] {
            assert_eq!(text(utf16).unwrap_err().message, "UTF-16 text");
        }
        let error = text("a: 1\né\u{e9}".as_bytes().strip_suffix(b"\xA9").unwrap()).unwrap_err();
        assert_eq!((error.code, error.span.unwrap().line, error.span.unwrap().column), ("encoding", 2, 2));
        assert!(text(b"a\0b\0").is_err());
        assert_eq!(text(b"\0GITCRYPT\0\xB7\x60").unwrap_err().message, "encrypted by git-crypt");
    }
}
