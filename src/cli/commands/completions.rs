//! `fleetgate completions`

use clap::CommandFactory as _;

use crate::cli::args::{Cli, Completions};
use crate::cli::term::Term;
use crate::error::Error;

pub(in crate::cli) fn run(args: &Completions, term: &Term) -> Result<u8, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "fleetgate", &mut script);
    term.out(&script)?;
    Ok(0)
}
