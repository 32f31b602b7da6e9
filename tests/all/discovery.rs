//! Which file goes where: each folder in `testdata/cases/discovery` is a tree with an `expected` list
//! of what is to become of its files, worked out by hand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use fleetgate::fleet::{self, Discovery, Loaded, Loose, Unrendered};
use fleetgate::model::Problem;
use jiff::civil::{Date, date};

const TODAY: Date = date(2026, 12, 1);

fn load(root: &Utf8Path) -> Option<Loaded> {
    let file = root.join("fleetgate.yaml");
    file.exists().then(|| fleet::load(&file).unwrap_or_else(|error| panic!("{file}: {error:#?}")))
}

fn discover(root: &Utf8Path) -> Discovery {
    let fleet = load(root);
    let paths = if fleet.is_some() { vec![] } else { vec![root.to_owned()] };
    fleet::discover(fleet.as_ref(), &paths, &Loose::default(), TODAY)
}

/// One line a fact, sorted, paths relative to the tree.
fn listing(found: &Discovery, root: &Utf8Path) -> Vec<String> {
    let short = |path: &Utf8Path| path.strip_prefix(root).unwrap_or(path).to_string();
    let mut lines = Vec::new();
    for file in &found.files {
        let clusters: Vec<&str> =
            file.contexts.iter().filter_map(|c| c.cluster.as_ref()).map(|c| c.name.as_ref()).collect();
        let clusters =
            if clusters.is_empty() { String::new() } else { format!(" on {}", clusters.join(", ")) };
        let strict = if file.strict { "" } else { " if a manifest" };
        lines.push(format!("judged {}{clusters}{strict}", short(&file.path)));
    }
    for seen in &found.seen_through {
        lines.push(format!("seen {} through {}", short(&seen.file), short(&seen.by)));
    }
    for unrendered in &found.unrendered {
        let Unrendered { root, kind, files, reason } = unrendered;
        lines.push(format!("unrendered {} {} with {files} files: {reason}", kind.as_str(), short(root)));
    }
    lines.extend(found.excluded.iter().map(|e| format!("excluded {}: {}", short(&e.file), e.reason)));
    for deployed in &found.excluded_deployed {
        let cluster = deployed.context.cluster.as_ref().map(|c| c.name.to_string()).unwrap_or_default();
        lines.push(format!("excluded-deployed {} on {cluster}", short(&deployed.file)));
    }
    lines.extend(found.skipped.iter().map(|s| format!("skipped {}: {}", short(&s.file), s.reason)));
    lines.extend(found.problems.iter().map(|problem| one_line(problem, root)));
    lines.extend(found.notes.iter().map(|note| format!("note {}", note.replace(&format!("{root}/"), ""))));
    lines.sort();
    lines
}

fn one_line(problem: &Problem, root: &Utf8Path) -> String {
    let file = problem.file.as_deref().map_or("-", |file| file.strip_prefix(root).unwrap_or(file).as_str());
    let place = problem.span.map(|span| format!(":{}:{}", span.line, span.column)).unwrap_or_default();
    format!("problem {file}{place} {}: {}", problem.code, problem.message.replace(&format!("{root}/"), ""))
}

#[test]
fn every_case_comes_out_as_worked_out() {
    let cases = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases/discovery");
    let mut count = 0;
    let mut wrong = String::new();
    for case in cases.read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path()) {
        let expected = fs::read_to_string(case.join("expected")).unwrap_or_else(|e| panic!("{case}: {e}"));
        let mut expected: Vec<&str> =
            expected.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        expected.sort_unstable();
        let found = discover(&case);
        let lines = listing(&found, &case);
        if lines != expected {
            writeln!(wrong, "{case}\n  found:\n{}\n  expected:\n{}", lines.join("\n"), expected.join("\n"))
                .unwrap();
        }
        every_file_has_one_place(&case, &found);
        count += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 10, "{count} cases");
}

/// Every YAML and JSON file is in exactly one of the lists, or a problem speaks of it.
fn every_file_has_one_place(root: &Utf8Path, found: &Discovery) {
    let mut places: BTreeMap<Utf8PathBuf, Vec<&str>> = BTreeMap::new();
    let mut put = |path: &Utf8Path, place| places.entry(path.to_owned()).or_default().push(place);
    found.files.iter().for_each(|file| put(&file.path, "judged"));
    found.seen_through.iter().for_each(|seen| put(&seen.file, "seen"));
    found.excluded.iter().for_each(|excluded| put(&excluded.file, "excluded"));
    found.skipped.iter().for_each(|skipped| put(&skipped.file, "skipped"));
    for entry in walkdir::WalkDir::new(root).into_iter().filter_entry(|e| e.file_name() != ".git") {
        let Ok(entry) = entry else { continue };
        let path = Utf8Path::from_path(entry.path()).unwrap();
        if !entry.file_type().is_file() || !matches!(path.extension(), Some("yaml" | "yml" | "json")) {
            continue;
        }
        match places.get(path).map(Vec::as_slice) {
            Some([_]) => {}
            Some(several) => panic!("{path} is in {several:?}"),
            None => {
                let spoken_of =
                    found.problems.iter().any(|problem| problem.file.as_deref() == Some(&path.to_owned()));
                assert!(spoken_of, "{path} is nowhere");
            }
        }
    }
}
