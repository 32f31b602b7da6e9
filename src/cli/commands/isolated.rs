//! The child side of `--untrusted-policies`.

use crate::error::Error;
use crate::policy::isolate;

pub(in crate::cli) fn run() -> Result<u8, Error> {
    match isolate::run_child(std::io::stdin(), std::io::stdout()) {
        Ok(()) => Ok(0),
        Err(source) => Err(Error::Write { what: "answers to the parent process".to_owned(), source }),
    }
}
