//! Shows a [`Report`](crate::model::Report), one file a format.
//!
//! Findings are resolved once ([`resolve()`]), then each format is a function from what was resolved
//! to bytes. Nothing here reads a file, the network or the clock, and no format has a say in the exit
//! status: that is [`Verdict::exit_status`](crate::model::Verdict::exit_status).
//!
//! Text that others wrote is neutralised by each format in its own way.

mod clean;
mod concise;
mod facts;
mod frame;
mod github;
mod gitlab;
mod json;
mod json_text;
mod junit;
mod markdown;
mod resolve;
#[cfg(test)]
mod samples;
mod sarif;
mod secret;
mod summary;
mod table;
mod tap;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

pub use json::json_schema;
pub use resolve::{Entry, Position, Resolved, Site, resolve};
pub use text::problems_text;

/// The formats of `-o`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// For people: code frames, what to write instead, counts.
    Text,
    /// One line a finding.
    Concise,
    /// Everything, versioned; the schema is [`json_schema()`].
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// `JUnit` XML, for test reports.
    Junit,
    /// Workflow commands of GitHub Actions: annotations on the lines.
    Github,
    /// GitLab Code Quality.
    Gitlab,
    /// A comment on a pull request.
    Markdown,
    /// Test Anything Protocol, version 13.
    Tap,
    /// A table for wide terminals.
    Table,
}

impl Format {
    /// All of them, in the order in which they are listed to people.
    pub const ALL: [Self; 10] = [
        Self::Text,
        Self::Concise,
        Self::Json,
        Self::Sarif,
        Self::Junit,
        Self::Github,
        Self::Gitlab,
        Self::Markdown,
        Self::Tap,
        Self::Table,
    ];

    /// The name used on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Concise => "concise",
            Self::Json => "json",
            Self::Sarif => "sarif",
            Self::Junit => "junit",
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Markdown => "markdown",
            Self::Tap => "tap",
            Self::Table => "table",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{name}`{}; the formats are {}", suggestion(.name), Format::ALL.map(Format::as_str).join(", "))]
pub struct UnknownFormat {
    name: String,
}

fn suggestion(name: &str) -> String {
    let near = Format::ALL
        .into_iter()
        .map(|format| (strsim::jaro_winkler(&name.to_lowercase(), format.as_str()), format))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    near.map(|(_, format)| format!(", did you mean `{format}`?")).unwrap_or_default()
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == name)
            .ok_or_else(|| UnknownFormat { name: clean::line(name) })
    }
}

/// How to show a report. None of it changes what is shown as judged.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line, independent of the others"
)]
pub struct Options {
    /// Colours and other terminal styles (`text`, `concise`).
    pub colour: bool,
    /// Drawing characters beyond ASCII (`text`, `table`).
    pub unicode: bool,
    /// Terminal hyperlinks: rule ids lead to their page (`text`).
    pub links: bool,
    /// Width in columns (`table`).
    pub width: u16,
    /// Findings and problems only, no summary (`text`, `concise`).
    pub quiet: bool,
    /// Also what was left out for brevity: every entry, every reason for files not judged.
    pub verbose: bool,
    /// Time taken, for the last line of `text`; none keeps the bytes reproducible.
    pub elapsed: Option<Duration>,
    /// Threads used, beside `elapsed`.
    pub threads: Option<usize>,
    /// Path of the working directory from the root of the repository; formats that other systems
    /// read name files from that root.
    pub prefix: Utf8PathBuf,
    /// The fleet file, from the working directory: where formats that demand a file (`sarif`,
    /// `gitlab`) put what stands in none.
    pub fleet_file: Utf8PathBuf,
}

impl Default for Options {
    /// For a pipe: no colour, no link, Unicode, 100 columns.
    fn default() -> Self {
        Self {
            colour: false,
            unicode: true,
            links: false,
            width: 100,
            quiet: false,
            verbose: false,
            elapsed: None,
            threads: None,
            prefix: Utf8PathBuf::new(),
            fleet_file: "fleetgate.yaml".into(),
        }
    }
}

impl Options {
    /// A path as the repository knows it: from its root, `.` and `..` resolved.
    fn repository_path(&self, file: &Utf8Path) -> String {
        let joined = self.prefix.join(file);
        let mut parts: Vec<&str> = Vec::new();
        for part in joined.as_str().split('/') {
            match part {
                "." | "" => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        format!("{}{}", if joined.is_absolute() { "/" } else { "" }, parts.join("/"))
    }
}

/// Writes a report in a format.
pub fn render(
    resolved: &Resolved<'_>,
    format: Format,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::render(resolved, options, out),
        Format::Concise => concise::render(resolved, options, out),
        Format::Json => json::render(resolved, out),
        Format::Sarif => sarif::render(resolved, options, out),
        Format::Junit => junit::render(resolved, out),
        Format::Github => github::render(resolved, options, out),
        Format::Gitlab => gitlab::render(resolved, options, out),
        Format::Markdown => markdown::render(resolved, out),
        Format::Tap => tap::render(resolved, out),
        Format::Table => table::render(resolved, options, out),
    }
}
