//! The reader against Kubernetes' own, `sigs.k8s.io/yaml`.
//!
//! With `FLEETGATE_E2E=1` a small Go program (`e2e/tools/yamloracle`) reads the same documents: a
//! seeded stream of generated ones, the files of the folder named by `FLEETGATE_YAML_SUITE` (inputs
//! of the YAML test suite, one a file), and the manifests below the folders named by
//! `FLEETGATE_YAML_REPOS` (separated by `:`). Without Go, its recorded answers are compared.

mod generate;
mod oracle;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleetgate::manifest::{self, SyntaxError};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What the reference makes of a document: a value, or a refusal with its reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Json(Json),
    Error(String),
}

/// How our reader stands to the reference on one document.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Same,
    BothRefuse,
    /// A difference that is kept on purpose, with its reason.
    Kept(&'static str),
    /// What each made of it.
    Differs(String),
}

/// Why we refuse what the reference reads, by the code of our error.
const REFUSED_ON_PURPOSE: &[(&str, &str)] = &[
    ("duplicate-key", "the reference takes the last of two equal keys; readers disagree, so we refuse"),
    ("integer-too-large", "the reference turns the integer into a float and loses digits"),
    ("too-deep", "the reference goes 10,000 levels deep"),
    ("too-many-aliases", "the reference counts aliases by another rule"),
    ("several-documents", "the reference reads the first document and drops the others"),
    (
        "bad-key",
        "the reference forgets the key where a later equal one replaces its mapping, or a bare `[]` is before it",
    ),
    ("not-finite", "the reference forgets the number where a later equal key replaces it"),
    ("trailing-text", "the reference drops what follows the first document"),
    ("directive", "manifests need no directives"),
    ("byte-order-mark", "the reference takes an inner byte order mark for a part of the key"),
];

/// Why we refuse what the reference reads, by a part of our message.
const REFUSED_BY_MESSAGE: &[(&str, &str)] = &[
    ("the tag `!!binary`", "no manifest has it: `data` of a Secret is base64 text"),
    ("the tag `!!timestamp`", "no manifest has it"),
    ("found unexpected ':'", "the reference reads `{a:}` as the key `a:`, which nobody means"),
    ("a comma directly behind a tag", "the reference takes `,`, `[` and `]` for a part of a tag"),
    ("while scanning a tag", "the reference takes `,`, `[` and `]` for a part of a tag"),
    ("while parsing a tag", "the reference takes `,`, `[` and `]` for a part of a tag"),
    ("while scanning a directive", "manifests need no directives"),
];

fn compare(text: &str, reference: &Answer) -> Outcome {
    let ours = manifest::value(text).map(|value| serde_json::to_value(value).unwrap());
    match (ours, reference) {
        (Ok(ours), Answer::Json(theirs)) if equal(&ours, theirs) => Outcome::Same,
        (Err(_), Answer::Error(_)) => Outcome::BothRefuse,
        (Err(error), Answer::Json(theirs)) => match kept(text, &error) {
            Some(reason) => Outcome::Kept(reason),
            None => {
                Outcome::Differs(format!("we refuse ({}: {}), they read {theirs}", error.code, error.message))
            }
        },
        (Ok(_), Answer::Error(error)) if read_on_purpose(text, error).is_some() => {
            Outcome::Kept(read_on_purpose(text, error).unwrap_or_default())
        }
        (Ok(ours), Answer::Error(error)) => Outcome::Differs(format!("we read {ours}, they refuse: {error}")),
        (Ok(ours), Answer::Json(theirs)) => Outcome::Differs(format!("we read {ours}, they read {theirs}")),
    }
}

/// Why we read what the reference refuses. It never comes to a cluster, so this can hide nothing.
fn read_on_purpose(text: &str, error: &str) -> Option<&'static str> {
    if serde_json::from_str::<Json>(text).is_ok() {
        return Some("kubectl reads JSON as JSON first; the reference reads it as YAML");
    }
    (error.contains("found unknown escape character") && text.contains("\\/"))
        .then_some("`\\/` is an escape in JSON and in YAML 1.2")
}

fn kept(text: &str, error: &SyntaxError) -> Option<&'static str> {
    let by_code = REFUSED_ON_PURPOSE.iter().find(|(code, _)| *code == error.code);
    let by_message = || REFUSED_BY_MESSAGE.iter().find(|(part, _)| error.message.contains(part));
    if let Some((_, reason)) = by_code.or_else(by_message) {
        return Some(reason);
    }
    let before = text.get(..error.span?.offset)?;
    if before.lines().any(|line| ["---", "...", "[]", "{}"].iter().any(|start| line.starts_with(start))) {
        return Some("the reference drops what follows the first document");
    }
    let odd_tag = |word: &str| word.starts_with('!') && word.contains([',', '[', ']']);
    if text.split_whitespace().any(odd_tag) {
        return Some("the reference takes `,`, `[` and `]` for a part of a tag");
    }
    (error.message.contains("unknown escape character") && text.contains("\\'"))
        .then_some("`\\'` is an escape to the reference alone")
}

/// Equal as values: numbers by what they are worth, not by how they are written.
fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => {
            a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// Compares all documents; prints what was kept and how often, and fails on any other difference.
fn check(what: &str, texts: &[String], answers: &[Answer]) {
    assert_eq!(texts.len(), answers.len());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut differences = Vec::new();
    for (text, answer) in texts.iter().zip(answers) {
        let key = match compare(text, answer) {
            Outcome::Same => "same value".to_owned(),
            Outcome::BothRefuse => "both refuse".to_owned(),
            Outcome::Kept(reason) => format!("kept: {reason}"),
            Outcome::Differs(how) => {
                differences.push(format!("{text:?}\n    {how}"));
                "different".to_owned()
            }
        };
        *counts.entry(key).or_default() += 1;
    }
    println!("{what}: {} documents", texts.len());
    for (what, count) in &counts {
        println!("  {count:>6}  {what}");
    }
    let shown: Vec<_> = differences.iter().take(40).map(String::as_str).collect();
    assert!(differences.is_empty(), "{what}: {} differences\n{}", differences.len(), shown.join("\n"));
}

fn e2e() -> bool {
    let wanted = std::env::var_os("FLEETGATE_E2E").is_some_and(|value| value == "1");
    if !wanted {
        println!("skipped: needs Go; set FLEETGATE_E2E=1");
    }
    wanted
}

/// Documents written by us: the hand-written ones, and some of the generated.
fn recorded_documents() -> Vec<String> {
    let mut documents: Vec<String> = generate::WRITTEN.iter().map(|text| (*text).to_owned()).collect();
    documents.extend(generate::scalars());
    documents.extend(generate::documents(1).take(300));
    documents
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    text: String,
    #[serde(flatten)]
    answer: Answer,
}

fn recording() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/yaml/recorded.json")
}

#[test]
fn the_reader_agrees_with_the_recorded_answers() {
    let records: Vec<Record> = serde_json::from_str(&std::fs::read_to_string(recording()).unwrap()).unwrap();
    assert!(records.len() >= 300);
    let (texts, answers): (Vec<_>, Vec<_>) =
        records.into_iter().map(|record| (record.text, record.answer)).unzip();
    check("recorded", &texts, &answers);
}

/// With `FLEETGATE_RECORD=1` the recording is written anew.
#[test]
fn the_recording_is_current() {
    if !e2e() {
        return;
    }
    let texts = recorded_documents();
    let answers = oracle::ask(&texts);
    let records: Vec<Record> =
        texts.into_iter().zip(answers).map(|(text, answer)| Record { text, answer }).collect();
    // One record a line, so that a change of one is a change of one line.
    let lines: Vec<_> = records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    let current = format!("[\n{}\n]\n", lines.join(",\n"));
    if std::env::var_os("FLEETGATE_RECORD").is_some() {
        std::fs::create_dir_all(recording().parent().unwrap()).unwrap();
        std::fs::write(recording(), &current).unwrap();
    }
    assert!(
        std::fs::read_to_string(recording()).unwrap() == current,
        "run again with FLEETGATE_RECORD=1 and review the changes"
    );
}

#[test]
fn the_reader_agrees_with_the_reference_on_generated_documents() {
    if !e2e() {
        return;
    }
    // Another seed looks for new differences.
    let seed = std::env::var("FLEETGATE_YAML_SEED").map_or(2026, |seed| seed.parse().unwrap());
    let texts: Vec<_> = generate::documents(seed).take(20_000).collect();
    check("generated", &texts, &oracle::ask(&texts));
}

#[test]
fn the_reader_agrees_with_the_reference_on_the_yaml_test_suite() {
    if !e2e() {
        return;
    }
    let folder = std::env::var_os("FLEETGATE_YAML_SUITE")
        .expect("FLEETGATE_YAML_SUITE names the folder that `.ci/run` fills from `e2e/tools/yaml-suite`");
    let texts = texts_below(Path::new(&folder));
    assert!(texts.len() > 100, "no suite in {}", folder.display());
    check("YAML test suite", &texts, &oracle::ask(&texts));
}

#[test]
fn the_reader_agrees_with_the_reference_on_public_manifests() {
    if !e2e() {
        return;
    }
    let Some(folders) = std::env::var_os("FLEETGATE_YAML_REPOS") else {
        println!("skipped: FLEETGATE_YAML_REPOS names no folder");
        return;
    };
    for folder in std::env::split_paths(&folders) {
        let files = texts_below(&folder);
        let texts: Vec<_> = files
            .iter()
            .flat_map(|text| manifest::split(text).documents)
            .map(|slice| slice.text.to_owned())
            .collect();
        assert!(!texts.is_empty(), "no manifests in {}", folder.display());
        check(&folder.display().to_string(), &texts, &oracle::ask(&texts));
    }
}

/// The YAML and JSON files of a folder that are text, in a fixed order.
fn texts_below(folder: &Path) -> Vec<String> {
    walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json"))
        .filter_map(|entry| String::from_utf8(std::fs::read(entry.path()).unwrap()).ok())
        .collect()
}
