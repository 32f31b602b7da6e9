//! `fleetgate init`
use crate::cli::args::Init;
use crate::cli::term::Term;
use crate::error::Error;
pub(in crate::cli) fn run(args: Init, term: &Term, threads: usize) -> Result<u8, Error> {
    let _ = (args, term, threads);
    Ok(2)
}
