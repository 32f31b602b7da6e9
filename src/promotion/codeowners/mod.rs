//! `CODEOWNERS`: whose a file is, in the dialects of GitHub (`docs.github.com`, about code owners) and
//! GitLab (`docs.gitlab.com`, Code Owners syntax).
//!
//! Strict: the hosts skip a line that they do not understand, which leaves a file without its owner and
//! nobody knows. Here any such line makes the whole file unusable, and every one is reported.

mod pattern;

use std::sync::Arc;

use pattern::Pattern;

use crate::model::{Problem, Span};

/// GitHub ignores larger files.
const LARGEST: usize = 3_000_000;

/// Whose syntax a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// GitHub.
    GitHub,
    /// GitLab.
    GitLab,
}

/// A file that was understood as a whole.
#[derive(Debug, Clone)]
pub struct CodeOwners {
    /// The first one is that of the lines before any heading; GitHub has no other.
    sections: Vec<Section>,
}

/// Owners that stand together under a heading, each with an approval of its own.
#[derive(Debug, Clone)]
struct Section {
    name: Option<String>,
    count: u32,
    optional: bool,
    defaults: Vec<Owner>,
    lines: Vec<Line>,
}

#[derive(Debug, Clone)]
struct Line {
    number: u32,
    pattern: Pattern,
    exclusion: bool,
    /// None: those of the section.
    owners: Option<Vec<Owner>>,
}

/// An owner as written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// `@name`: a login, or on GitLab a group.
    Name(String),
    /// `@organisation/team`, or a group within a group.
    Team(String),
    /// An address.
    Email(String),
}

/// The line that says whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owned<'a> {
    /// The section, if it stands in one.
    pub section: Option<&'a str>,
    /// Any of them; never empty.
    pub owners: &'a [Owner],
    /// How many of them have to agree.
    pub count: u32,
    /// Whether their approval is asked for but not needed.
    pub optional: bool,
    /// The line, from 1.
    pub line: u32,
}

impl CodeOwners {
    /// Reads a file; `name` is its name in reports. Everything that is wrong with it is in the error.
    pub fn parse(text: &str, name: &str, dialect: Dialect) -> Result<Self, Vec<Problem>> {
        let mut reader = Reader { dialect, sections: vec![Section::new(None)], current: 0, problems: vec![] };
        if text.len() > LARGEST {
            reader.problem(1, "it is larger than 3 MB, and GitHub ignores it", "use fewer, wider patterns");
        } else {
            for (line, number) in text.lines().zip(1..) {
                reader.line(line.trim().trim_start_matches('\u{feff}'), number);
            }
        }
        if reader.problems.is_empty() {
            return Ok(Self { sections: reader.sections });
        }
        let (offsets, shown) = (line_offsets(text), Arc::<str>::from(text));
        let problem = |(line, message, help): (u32, String, String)| {
            let (offset, length) = offsets.get(line.saturating_sub(1) as usize).copied().unwrap_or_default();
            let span = Span { offset, length, line: line as usize, column: 1 };
            Problem { source: Some(shown.clone()), ..Problem::new("codeowners", message) }
                .help(help)
                .in_file(name)
                .at(span)
        };
        Err(reader.problems.into_iter().map(problem).collect())
    }

    /// Whose a file is: in each section the last line that matches it. Empty: nobody's.
    pub fn owners(&self, path: &str) -> Vec<Owned<'_>> {
        self.sections.iter().filter_map(|section| section.owned(path)).collect()
    }
}

impl Section {
    fn new(name: Option<String>) -> Self {
        Self { name, count: 1, optional: false, defaults: vec![], lines: vec![] }
    }

    fn owned(&self, path: &str) -> Option<Owned<'_>> {
        // What is excluded from a section cannot come back in it.
        if self.lines.iter().any(|line| line.exclusion && line.pattern.matches(path)) {
            return None;
        }
        let line = self.lines.iter().rev().find(|line| line.pattern.matches(path))?;
        let owners = line.owners.as_ref().unwrap_or(&self.defaults);
        (!owners.is_empty()).then_some(Owned {
            section: self.name.as_deref(),
            owners,
            count: self.count,
            optional: self.optional,
            line: line.number,
        })
    }
}

struct Reader {
    dialect: Dialect,
    sections: Vec<Section>,
    current: usize,
    problems: Vec<(u32, String, String)>,
}

impl Reader {
    fn problem(&mut self, line: u32, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push((line, message.into(), help.into()));
    }

    fn line(&mut self, text: &str, number: u32) {
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        let result = match (self.dialect, text.starts_with('[') || text.starts_with("^[")) {
            (Dialect::GitLab, true) => self.heading(text),
            _ => self.entry(text, number),
        };
        if let Err((message, help)) = result {
            self.problem(number, message, help);
        }
    }

    /// `[Name]`, `^[Name]`, `[Name][2]`, each with default owners after it.
    fn heading(&mut self, text: &str) -> Result<(), (String, String)> {
        let bad = || (format!("`{text}` is no heading"), "write such as `[Name][2] @owner`".to_owned());
        let (optional, rest) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (name, rest) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or_else(bad)?;
        let name = name.trim();
        if name.is_empty() || name.contains('[') {
            return Err(bad());
        }
        let (count, rest) = match rest.strip_prefix('[') {
            None => (1, rest),
            Some(rest) => {
                let (count, rest) = rest.split_once(']').ok_or_else(bad)?;
                let count = count.parse().ok().filter(|count| *count > 0).ok_or_else(bad)?;
                (count, rest)
            }
        };
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return Err(bad());
        }
        let defaults = self.read_owners(rest.split_whitespace())?;
        // The same heading again goes on with that section, whatever its case. GitLab takes the
        // strictest of the two.
        let same = |section: &Section| {
            section.name.as_ref().is_some_and(|known| known.to_lowercase() == name.to_lowercase())
        };
        if let Some(position) = self.sections.iter().position(same) {
            let differs = self.sections.get(position).is_some_and(|section| {
                section.optional != optional || section.count != count || section.defaults != defaults
            });
            if differs {
                let help = "write one heading with everything under it".to_owned();
                return Err((format!("section `{name}` stands already with another heading"), help));
            }
            self.current = position;
            return Ok(());
        }
        self.current = self.sections.len();
        self.sections.push(Section { count, optional, defaults, ..Section::new(Some(name.to_owned())) });
        Ok(())
    }

    fn entry(&mut self, text: &str, number: u32) -> Result<(), (String, String)> {
        let (exclusion, text) = match text.strip_prefix('!') {
            Some(_) if self.dialect == Dialect::GitHub => {
                let help = "write a later line with a narrower pattern and its owners, or none".to_owned();
                return Err(("GitHub has no exclusions with `!`".to_owned(), help));
            }
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (pattern, rest) = split_pattern(text);
        self.check(pattern)?;
        let compiled = Pattern::parse(pattern, self.dialect)
            .map_err(|message| (message, "correct the pattern".to_owned()))?;
        let mut words: Vec<&str> = rest.split_whitespace().collect();
        if let Some(comment) = words.iter().position(|word| word.starts_with('#')) {
            if self.dialect == Dialect::GitLab {
                let help = "put the comment on a line of its own".to_owned();
                return Err(("GitLab has no comments after owners".to_owned(), help));
            }
            words.truncate(comment);
        }
        let owners = self.read_owners(words.into_iter())?;
        if exclusion && !owners.is_empty() {
            let help = "remove the owners, or the `!`".to_owned();
            return Err((format!("`!{pattern}` excludes files and names owners of them"), help));
        }
        // Without owners GitHub takes the ownership away; in GitLab those of the section stand in.
        let inherits = self.dialect == Dialect::GitLab && owners.is_empty();
        let owners = if inherits { None } else { Some(owners) };
        if let Some(section) = self.sections.get_mut(self.current) {
            section.lines.push(Line { number, pattern: compiled, exclusion, owners });
        }
        Ok(())
    }

    /// What a dialect does not have.
    fn check(&self, pattern: &str) -> Result<(), (String, String)> {
        let mut letters = pattern.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '[' | ']' => {
                    let help = "write `*` or `?`, or a line for each".to_owned();
                    return Err((
                        format!("`{pattern}` has `[` or `]`, which stand for no letters here"),
                        help,
                    ));
                }
                '\\' => match (letters.next(), self.dialect) {
                    (Some(' '), _) | (Some('#'), Dialect::GitLab) => {}
                    _ => {
                        let help = "only a blank can be written with `\\` before it; use `?` for one letter";
                        return Err((
                            format!("`{pattern}` has a `\\` that is not understood"),
                            help.to_owned(),
                        ));
                    }
                },
                _ => {}
            }
        }
        Ok(())
    }

    fn read_owners<'a>(&self, words: impl Iterator<Item = &'a str>) -> Result<Vec<Owner>, (String, String)> {
        words.map(|word| self.owner(word)).collect()
    }

    fn owner(&self, word: &str) -> Result<Owner, (String, String)> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let help = "write `@login`, `@organisation/team` or an address".to_owned();
        if word.starts_with("@@") {
            return Err((format!("who has the role `{word}` is not known here"), help));
        }
        let bad = || (format!("`{word}` is no owner"), help.clone());
        if let Some(name) = word.strip_prefix('@') {
            let parts: Vec<&str> = name.split('/').collect();
            let deepest = if self.dialect == Dialect::GitHub { 2 } else { 20 };
            if parts.len() > deepest || parts.iter().any(|part| part.is_empty() || !part.chars().all(plain)) {
                return Err(bad());
            }
            let name = name.to_owned();
            return Ok(if parts.len() > 1 { Owner::Team(name) } else { Owner::Name(name) });
        }
        match word.split_once('@') {
            Some((local, domain)) if !local.is_empty() && domain.contains('.') && !domain.contains('@') => {
                Ok(Owner::Email(word.to_owned()))
            }
            _ => Err(bad()),
        }
    }
}

/// Where each line begins, and its length.
fn line_offsets(text: &str) -> Vec<(usize, usize)> {
    let mut offset = 0;
    let lines = text.split_inclusive('\n');
    lines
        .map(|line| {
            let begin = offset;
            offset += line.len();
            (begin, line.trim_end().len())
        })
        .collect()
}

/// The pattern up to the first blank without a backslash before it, and the rest.
fn split_pattern(text: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = text.char_indices().find(|(_, letter)| {
        let here = !escaped && letter.is_whitespace();
        escaped = !escaped && *letter == '\\';
        here
    });
    end.and_then(|(end, _)| text.split_at_checked(end)).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests;
