//! The only place that writes to standard output and standard error.

use std::io::{self, IsTerminal as _, Write};

use anstream::ColorChoice;
use camino::Utf8PathBuf;

use super::args::{Colour, Global};
use crate::error::Error;
use crate::model::Problem;
use crate::report::{self, Options};

/// The terminal, or whatever stands in its place.
#[derive(Debug, Clone)]
pub(super) struct Term {
    colour: Colour,
    pub(super) quiet: bool,
    pub(super) verbose: bool,
}

/// Width for output that goes to no terminal.
const DEFAULT_WIDTH: u16 = 100;

impl Term {
    pub(super) fn new(global: &Global) -> Self {
        Self { colour: global.color, quiet: global.quiet, verbose: global.verbose > 0 }
    }

    fn colours(&self, choice: ColorChoice) -> bool {
        match self.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => choice != ColorChoice::Never,
        }
    }

    /// How to render for standard output.
    pub(super) fn stdout_options(&self) -> Options {
        let stdout = io::stdout();
        let colour = self.colours(anstream::AutoStream::choice(&stdout));
        self.options(colour, stdout.is_terminal())
    }

    /// How to render into a file.
    pub(super) fn file_options(&self) -> Options {
        self.options(false, false)
    }

    fn stderr_options(&self) -> Options {
        let stderr = io::stderr();
        let colour = self.colours(anstream::AutoStream::choice(&stderr));
        self.options(colour, stderr.is_terminal())
    }

    fn options(&self, colour: bool, terminal: bool) -> Options {
        Options {
            colour,
            unicode: !terminal || is_utf8_locale(),
            links: colour && terminal,
            width: if terminal { terminal_width() } else { DEFAULT_WIDTH },
            quiet: self.quiet,
            verbose: self.verbose,
            elapsed: None,
            threads: None,
            prefix: repository_prefix(),
            ..Options::default()
        }
    }

    /// Writes to standard output. A reader that went away is no error: the exit status still tells.
    #[expect(clippy::unused_self, reason = "the terminal is where output goes")]
    pub(super) fn out(&self, bytes: &[u8]) -> Result<(), Error> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::Write { what: "standard output".to_owned(), source: error })
            }
            _ => Ok(()),
        }
    }

    /// One line of talk on standard error.
    #[expect(clippy::unused_self, reason = "the terminal is where output goes")]
    pub(super) fn say(&self, line: &str) {
        // There is nowhere left to complain if this fails.
        let _ = writeln!(io::stderr(), "{line}");
    }

    /// Shows why a command could not do its work.
    pub(super) fn error(&self, error: &Error) {
        match error {
            Error::Problems(problems) => self.problems(problems),
            other @ Error::Write { .. } => {
                let mut text = format!("error: {other}");
                let mut source = std::error::Error::source(other);
                while let Some(cause) = source {
                    text.push_str(": ");
                    text.push_str(&cause.to_string());
                    source = cause.source();
                }
                self.say(&text);
            }
        }
    }

    fn problems(&self, problems: &[Problem]) {
        let mut bytes = Vec::new();
        // Writing into memory does not fail.
        let _ = report::problems_text(problems, &self.stderr_options(), &mut bytes);
        let _ = io::stderr().write_all(&bytes);
    }
}

fn is_utf8_locale() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_some_and(|value| value.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

fn terminal_width() -> u16 {
    terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| width.0)
}

/// Path of the working directory from the Git root above it; empty if there is none.
fn repository_prefix() -> Utf8PathBuf {
    let Some(here) = std::env::current_dir().ok().and_then(|dir| Utf8PathBuf::try_from(dir).ok()) else {
        return Utf8PathBuf::new();
    };
    let root = here.ancestors().find(|dir| dir.join(".git").exists());
    root.and_then(|root| here.strip_prefix(root).ok()).map(camino::Utf8Path::to_owned).unwrap_or_default()
}
