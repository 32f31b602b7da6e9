//! `fleetgate fleet`

mod sync;

use crate::cli::args::Fleet;
use crate::cli::term::Term;
use crate::error::Error;

pub(in crate::cli) fn run(command: Fleet, term: &Term) -> Result<u8, Error> {
    match command {
        Fleet::Sync(args) => sync::run(&args, term),
    }
}
