//! The patterns of `CODEOWNERS`, in the dialects of GitHub and GitLab.
//!
//! GitHub's are those of `.gitignore` but for `dir/*`, which is one level only, and a few things that
//! it leaves out; one with a slash inside is anchored at the root. GitLab's are anchored only by a
//! leading slash, and name a directory only by a slash at the end.

use regex::Regex;

use super::Dialect;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct Pattern(Regex);

impl Pattern {
    pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Self, String> {
        let directory = text.ends_with('/');
        let body = text.trim_end_matches('/');
        let anchored = body.starts_with('/')
            || (dialect == Dialect::GitHub && body.contains('/') && !body.starts_with("**/"));
        let body = body.trim_start_matches('/');
        if body.is_empty() {
            return Err(format!("`{text}` names no file; write `*` for all of them"));
        }
        let segments: Vec<&str> = body.split('/').collect();
        if segments.iter().any(|segment| segment.is_empty() || matches!(*segment, "." | "..")) {
            return Err(format!("`{text}` has an empty part, `.` or `..`; no path has those"));
        }
        let mut regex = String::from(if anchored { r"\A" } else { r"\A(?:.*/)?" });
        let last = segments.len() - 1;
        for (position, segment) in segments.iter().enumerate() {
            if *segment == "**" {
                regex.push_str(if position == last { ".+" } else { "(?:.*/)?" });
                continue;
            }
            segment_regex(segment, &mut regex)?;
            if position != last {
                regex.push('/');
            }
        }
        let tail = match (dialect, segments.last()) {
            (_, Some(&"**")) => "",
            _ if directory => "/.+",
            // One level only, except that a lone `*` is every file anyway.
            (_, Some(&"*")) | (Dialect::GitLab, _) => "",
            (Dialect::GitHub, _) => "(?:/.+)?",
        };
        regex.push_str(tail);
        regex.push_str(r"\z");
        let regex = regex::RegexBuilder::new(&regex).dot_matches_new_line(true).build();
        regex.map(Self).map_err(|_| format!("`{text}` is too long for a pattern"))
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

fn segment_regex(segment: &str, regex: &mut String) -> Result<(), String> {
    if segment.contains("**") {
        return Err(format!("`{segment}`: `**` has to stand alone between slashes"));
    }
    let mut letters = segment.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '*' if segment == "*" => regex.push_str("[^/]+"),
            '*' => regex.push_str("[^/]*"),
            '?' => regex.push_str("[^/]"),
            '\\' => {
                let escaped = letters.next().unwrap_or('\\');
                regex.push_str(&regex::escape(escaped.encode_utf8(&mut [0; 4])));
            }
            other => regex.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    Ok(())
}
