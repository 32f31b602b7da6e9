//! `fleetgate schema`

use crate::cli::args::{Schema, SchemaOf};
use crate::cli::term::Term;
use crate::error::Error;
use crate::{engine, fleet, report};

pub(in crate::cli) fn run(args: &Schema, term: &Term) -> Result<u8, Error> {
    let schema = match args.format {
        SchemaOf::Fleet => fleet::schema(),
        SchemaOf::Baseline => engine::Baseline::schema(),
        SchemaOf::Report => report::json_schema(),
    };
    term.out(format!("{:#}\n", schema.as_value()).as_bytes())?;
    Ok(0)
}
