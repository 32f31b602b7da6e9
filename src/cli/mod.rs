//! Arguments, settings and commands. Everything that reads the command line, the environment or the
//! clock, and everything that prints, is here.

#![allow(clippy::disallowed_methods, reason = "the command line is where the outside comes in")]

mod args;
mod baselines;
mod change;
mod commands;
mod counts;
mod pipeline;
mod progress;
mod settings;
mod term;

use std::process::ExitCode;

use clap::Parser as _;

use crate::error::Error;
use crate::model::{Problem, Verdict};
use args::{Cli, Command};
use term::Term;

/// Exit status for whatever could not be done.
const COULD_NOT: u8 = 2;

/// Runs the program: reads the arguments, carries out the command, and says how it went.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; clap knows which stream and which colours.
            let status = if error.use_stderr() { COULD_NOT } else { 0 };
            let _ = error.print();
            return ExitCode::from(status);
        }
    };
    let term = Term::new(&cli.global);
    match run(cli, &term) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            term.error(&error);
            ExitCode::from(COULD_NOT)
        }
    }
}

fn run(cli: Cli, term: &Term) -> Result<u8, Error> {
    if matches!(cli.command, Command::Isolated) {
        // Before any thread is started: the child may not have more than one.
        return commands::isolated::run();
    }
    let threads = threads(cli.global.jobs)?;
    match cli.command {
        Command::Check(args) => commands::check::run(&args, term, threads),
        Command::Demand(args) => commands::demand::run(&args, term),
        Command::Test(args) => commands::test::run(args, term),
        Command::Rules(args) => commands::rules::run(&args, term),
        Command::Explain(args) => commands::explain::run(&args, term),
        Command::Baseline(args) => commands::baseline::run(args, term),
        Command::Fleet(args) => commands::fleet::run(args, term),
        Command::Init(args) => commands::init::run(&args, term, threads),
        Command::Config(args) => commands::config::run(args, term),
        Command::Schema(args) => commands::schema::run(&args, term),
        Command::Completions(args) => commands::completions::run(&args, term),
        Command::Isolated => commands::isolated::run(),
    }
}

/// Sets the number of worker threads; 0 is no number of threads.
fn threads(jobs: Option<usize>) -> Result<usize, Error> {
    if jobs == Some(0) {
        return Err(Problem::new("usage", "`--jobs 0` leaves nobody to do the work")
            .help("write 1 or more, or leave the option out to use every processor")
            .into());
    }
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).stack_size(crate::policy::STACK_SIZE);
    pool.build_global().map_err(|error| {
        Problem::new("threads", format!("worker threads could not be started: {error}"))
            .help("try `--jobs 1`")
    })?;
    Ok(rayon::current_num_threads())
}

/// The status for a verdict, with `--exit-zero` applied: it turns a denial into success, nothing
/// else.
fn status(verdict: Verdict, exit_zero: bool) -> u8 {
    if exit_zero && verdict == Verdict::Deny { 0 } else { verdict.exit_status() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_zero_forgives_a_denial_and_nothing_else() {
        assert_eq!(status(Verdict::Deny, true), 0);
        assert_eq!(status(Verdict::Deny, false), 1);
        assert_eq!(status(Verdict::Error, true), 2);
        assert_eq!(status(Verdict::Nothing, true), 3);
        assert_eq!(status(Verdict::Pass, true), 0);
    }
}
