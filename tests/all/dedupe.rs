//! What saves work must not show: neither sharing evaluations nor the number of threads changes a
//! byte of any report.

use std::collections::BTreeMap;
use std::path::Path;

use crate::generated_fleet::generator::Shape;
use crate::support::{root, run};

/// An instant before the dates in the example fleet.
const NOW: &str = "2026-01-15T12:00:00Z";

/// The bytes of a check in every format, by format, and its exit status. One run writes them all.
fn reports(fleet: &Path, options: &[&str]) -> (i32, BTreeMap<&'static str, String>) {
    const FORMATS: [&str; 8] = ["text", "concise", "json", "sarif", "junit", "gitlab", "markdown", "table"];
    let directory = tempfile::tempdir().unwrap();
    let file = |format: &str| directory.path().join(format);
    let outputs = FORMATS.map(|format| format!("-o{format}={}", file(format).display()));
    let arguments: Vec<&str> = ["check", "--now", NOW]
        .into_iter()
        .chain(outputs.iter().map(String::as_str))
        .chain(options.iter().copied())
        .collect();
    let run = run(fleet, &arguments, None);
    let reports = FORMATS.map(|format| {
        let text = std::fs::read_to_string(file(format)).unwrap_or_else(|error| {
            panic!("{format}: {error}: {}", run.stderr);
        });
        (format, text)
    });
    (run.status, reports.into())
}

#[test]
fn without_sharing_the_example_fleet_gives_the_same_bytes() {
    let fleet = root().join("testdata/fleet");
    let shared = reports(&fleet, &[]);
    assert_eq!(shared.0, 1);
    assert_eq!(reports(&fleet, &["--no-dedupe"]), shared);
}

#[test]
fn without_sharing_a_generated_fleet_gives_the_same_bytes() {
    for repeated_per_mille in [900, 1000] {
        let directory = tempfile::tempdir().unwrap();
        let shape = Shape { clusters: 3, objects: 200, repeated_per_mille, seed: 5 };
        shape.write(directory.path()).unwrap();
        // Two of the three clusters become production, where images are asked to have digests.
        let config = directory.path().join("fleetgate.yaml");
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(config, text.replace("environment: dev", "environment: prod")).unwrap();
        let shared = reports(directory.path(), &[]);
        assert!(shared.1["concise"].contains("in 2 clusters"), "{}", shared.1["concise"]);
        assert_eq!(reports(directory.path(), &["--no-dedupe"]), shared);
        assert_eq!(reports(directory.path(), &["--no-dedupe", "-j", "1"]), shared);
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    let fleet = root().join("testdata/fleet");
    let json = |jobs| run(&fleet, &["check", "--now", NOW, "-o", "json", "-j", jobs], None).exits(1).stdout;
    let one = json("1");
    for _ in 0..20 {
        assert_eq!(json("8"), one);
    }
}
