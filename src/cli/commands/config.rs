//! `fleetgate config`

use std::fmt::Write as _;

use crate::cli::args::Config;
use crate::cli::pipeline::load_fleet;
use crate::cli::term::Term;
use crate::error::Error;
use crate::manifest;
use crate::model::{Problem, Value};

pub(in crate::cli) fn run(command: Config, term: &Term) -> Result<u8, Error> {
    let Config::Show(args) = command;
    let Some(fleet) = load_fleet(&args.rulebook, &[])? else {
        return Err(Problem::new(
            "no-config",
            "there is no `fleetgate.yaml` here or above, up to the Git root",
        )
        .help("`fleetgate init` writes one; `--config FILE` names one")
        .into());
    };
    let (document, origins) = fleet.effective();
    let json = serde_json::to_string(&document)
        .map_err(|error| Problem::new("config", format!("the fleet file cannot be shown: {error}")))?;
    let value = Value::from_json_str(&json)
        .map_err(|error| Problem::new("config", format!("the fleet file cannot be shown: {error}")))?;
    let mut text = String::from("# The fleet file as it is understood, with what it includes.\n");
    text.push_str(&manifest::emit(&value));
    text.push_str("\n# Where each entry comes from:\n");
    for origin in &origins {
        let _ = writeln!(text, "#   {:40} {}:{}", origin.entry, origin.file, origin.line);
    }
    term.out(text.as_bytes())?;
    Ok(0)
}
