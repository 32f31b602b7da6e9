//! Writes a generated fleet to disk:
//! `cargo run --release --example generate-fleet -- --clusters 100 --objects 1000 --repeated 0.9 --seed 1 --out DIR`

#![allow(clippy::disallowed_methods, reason = "it makes files and runs programs")]

mod generator;

use std::io;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser};
use generator::Shape;

/// Writes a large fleet, the same bytes for the same arguments.
#[derive(Debug, Parser)]
struct Args {
    /// Clusters
    #[arg(long, default_value_t = 100)]
    clusters: usize,
    /// Objects in each cluster
    #[arg(long, default_value_t = 1000)]
    objects: usize,
    /// Share of each cluster's objects that are the same in every cluster, to three places
    #[arg(long, default_value = "0.9", value_parser = per_mille)]
    repeated: usize,
    /// Another seed gives another fleet of the same shape
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Directory to write to; it must be empty if it exists
    #[arg(long)]
    out: PathBuf,
}

fn main() {
    let Args { clusters, objects, repeated: repeated_per_mille, seed, out } = Args::parse();
    let shape = Shape { clusters, objects, repeated_per_mille, seed };
    if let Err(error) = must_be_empty(&out).and_then(|()| shape.write(&out)) {
        let message = format!("cannot write to `{}`: {error}", out.display());
        Args::command().error(ErrorKind::Io, message).exit();
    }
}

/// Files of an older run would be counted with the new ones.
fn must_be_empty(directory: &Path) -> io::Result<()> {
    match std::fs::read_dir(directory).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(io::Error::other("it is not empty")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(false) | Err(_) => Ok(()),
    }
}

/// `0.9` → 900.
fn per_mille(text: &str) -> Result<usize, String> {
    let (whole, places) = text.split_once('.').unwrap_or((text, ""));
    let digits = places.len() <= 3 && places.bytes().all(|b| b.is_ascii_digit());
    match format!("{whole}{places:0<3}").parse() {
        Ok(share @ 0..=1000) if digits && matches!(whole, "0" | "1") => Ok(share),
        _ => Err("write a number from 0 to 1 with three places at most, such as `0.9`".to_owned()),
    }
}
