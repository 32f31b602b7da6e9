//! Arguments resolved into what commands work with.

use camino::Utf8PathBuf;
use globset::{Glob, GlobMatcher};

use super::args::FailOn;
use super::term::Term;
use crate::error::Error;
use crate::model::{Level, Problem};
use crate::report::{Format, Options};

impl From<FailOn> for Level {
    fn from(fail_on: FailOn) -> Self {
        match fail_on {
            FailOn::Deny => Self::Deny,
            FailOn::Warn => Self::Warn,
        }
    }
}

/// Where a report goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) format: Format,
    /// None: standard output.
    pub(super) file: Option<Utf8PathBuf>,
}

/// Reads `-o FORMAT[=FILE]`. Without any, text, and annotations beside it under GitHub Actions.
pub(super) fn outputs(arguments: &[String]) -> Result<Vec<Output>, Error> {
    if arguments.is_empty() {
        let actions = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let formats = if actions { vec![Format::Text, Format::Github] } else { vec![Format::Text] };
        return Ok(formats.into_iter().map(|format| Output { format, file: None }).collect());
    }
    let mut outputs = Vec::new();
    let mut problems = Vec::new();
    for argument in arguments {
        let (name, file) = match argument.split_once('=') {
            Some((name, file)) => (name, Some(file)),
            None => (argument.as_str(), None),
        };
        if file == Some("") {
            problems.push(
                Problem::new("usage", format!("`-o {argument}` names no file"))
                    .help(format!("write `-o {name}=FILE`, or `-o {name}` for standard output")),
            );
            continue;
        }
        match name.parse::<Format>() {
            Ok(format) => outputs.push(Output { format, file: file.map(Utf8PathBuf::from) }),
            Err(error) => problems.push(Problem::new("usage", error.to_string())),
        }
    }
    if outputs.iter().filter(|output| output.file.is_none()).count() > 1 {
        problems.push(
            Problem::new("usage", "more than one format for standard output")
                .help("give all but one a file, such as `-o text -o sarif=out.sarif`"),
        );
    }
    let files: Vec<_> = outputs.iter().filter_map(|output| output.file.as_ref()).collect();
    if let Some(twice) = files.iter().enumerate().find(|(i, file)| files.iter().take(*i).any(|f| f == *file))
    {
        problems.push(Problem::new("usage", format!("two formats for the file `{}`", twice.1)));
    }
    if problems.is_empty() { Ok(outputs) } else { Err(Error::Problems(problems)) }
}

/// How an output is rendered.
pub(super) fn options(output: &Output, term: &Term) -> Options {
    if output.file.is_some() { term.file_options() } else { term.stdout_options() }
}

/// Rule ids and globs of the command line.
pub(super) fn rule_globs(option: &str, patterns: &[String]) -> Result<Vec<GlobMatcher>, Error> {
    let mut problems = Vec::new();
    let globs = patterns.iter().filter_map(|pattern| match Glob::new(pattern) {
        Ok(glob) => Some(glob.compile_matcher()),
        Err(error) => {
            problems
                .push(Problem::new("usage", format!("`{option} {pattern}` is no glob: {}", error.kind())));
            None
        }
    });
    let globs = globs.collect();
    if problems.is_empty() { Ok(globs) } else { Err(Error::Problems(problems)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(arguments: &[&str]) -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        match outputs(&arguments) {
            Err(Error::Problems(problems)) => problems.into_iter().map(|problem| problem.message).collect(),
            other => panic!("expected problems, got {other:?}"),
        }
    }

    #[test]
    fn formats_go_to_standard_output_or_to_files() {
        let arguments = ["text".to_owned(), "sarif=out/a.sarif".to_owned()];
        assert_eq!(
            outputs(&arguments).unwrap(),
            [
                Output { format: Format::Text, file: None },
                Output { format: Format::Sarif, file: Some("out/a.sarif".into()) },
            ]
        );
    }

    #[test]
    fn standard_output_takes_one_format() {
        assert_eq!(messages(&["text", "json"]), ["more than one format for standard output"]);
    }

    #[test]
    fn an_empty_or_shared_file_is_refused() {
        assert_eq!(messages(&["json="]), ["`-o json=` names no file"]);
        assert_eq!(messages(&["json=a", "sarif=a"]), ["two formats for the file `a`"]);
    }

    #[test]
    fn an_unknown_format_is_refused_by_name() {
        assert!(messages(&["xml"])[0].starts_with("unknown format `xml`"));
    }
}
