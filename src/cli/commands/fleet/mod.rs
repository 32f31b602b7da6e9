//! `fleetgate fleet`

mod sync;
mod what_if;

use crate::cli::args::Fleet;
use crate::cli::term::Term;
use crate::error::Error;

pub(in crate::cli) fn run(command: Fleet, term: &Term) -> Result<u8, Error> {
    match command {
        Fleet::Sync(args) => sync::run(&args, term),
        Fleet::WhatIf(args) => what_if::run(&args, term),
    }
}
