//! Failures that users of such tools reported, in reading manifests: O01 to O10.

use std::fmt::Write;
use std::sync::Arc;

use fleetgate::manifest::corpus::{Content, Corpus, InputFile, Limits, read};

/// What comes of one file.
fn reading(text: &[u8]) -> Corpus {
    let file = InputFile {
        path: Arc::new("case.yaml".into()),
        content: Content::Memory(text.into()),
        contexts: vec![Arc::default()],
        strict: true,
    };
    read(vec![file], &Limits::default())
}

/// The objects of a file that must be read without a problem.
fn objects(text: &str) -> Vec<(String, serde_json::Value)> {
    let corpus = reading(text.as_bytes());
    assert_eq!(corpus.problems, []);
    corpus
        .documents
        .iter()
        .flat_map(|document| document.resources.iter())
        .map(|resource| (resource.id.to_string(), serde_json::to_value(&resource.object).unwrap()))
        .collect()
}

/// Code and line of the only problem of a file from which nothing may be read.
fn problem(text: &[u8]) -> (&'static str, Option<usize>) {
    let corpus = reading(text);
    assert_eq!(corpus.resource_count, 0);
    let [problem] = corpus.problems.as_slice() else { panic!("{:?}", corpus.problems) };
    assert_eq!(problem.file.as_ref().unwrap().as_str(), "case.yaml");
    (problem.code, problem.span.map(|span| span.line))
}

#[test]
fn o01_empty_documents_are_skipped_and_the_position_is_kept() {
    let text = "# Source: c/a.yaml\n---\n---\n\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let corpus = reading(text.as_bytes());
    assert_eq!(corpus.problems, []);
    assert_eq!((corpus.document_count, corpus.resource_count), (1, 1));
    let place = &corpus.documents[0].occurrences[0].place;
    assert_eq!((place.document, place.line), (2, 6));
}

#[test]
fn o02_a_separator_inside_a_text_is_text() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  x: |\n    one\n    ---\n    kind: Secret\n";
    let objects = objects(text);
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0].0, "ConfigMap c");
    assert_eq!(objects[0].1["data"]["x"], "one\n---\nkind: Secret\n");
}

#[test]
fn o03_items_of_lists_are_objects() {
    let text = "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {hostNetwork: true}}]}";
    let objects = objects(text);
    assert_eq!(objects[0].0, "Pod p");
    assert_eq!(objects[0].1["spec"]["hostNetwork"], true);
}

#[test]
fn o04_equal_keys_are_an_error_that_names_both_lines() {
    let corpus = reading(b"kind: Pod\nkind: Secret\napiVersion: v1\nmetadata: {name: x}");
    let [problem] = corpus.problems.as_slice() else { panic!("{:?}", corpus.problems) };
    assert_eq!(problem.message, "duplicate key `kind`, first on line 1");
    assert_eq!((problem.span.unwrap().line, problem.related[0].1.line), (2, 1));
}

#[test]
fn o05_merged_fields_are_there() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nx-base: &b {hostPID: true}\nspec: {<<: *b, containers: [{name: c, image: i}]}\n";
    assert_eq!(objects(text)[0].1["spec"]["hostPID"], true);
}

#[test]
fn o06_words_and_octal_numbers_are_what_they_are_to_kubectl() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {hostNetwork: yes, defaultMode: 0644, text: \"yes\"}\n";
    let spec = &objects(text)[0].1["spec"];
    assert_eq!(spec["hostNetwork"], true);
    assert_eq!(spec["defaultMode"], 420);
    assert_eq!(spec["text"], "yes");
}

#[test]
fn o07_a_byte_order_mark_is_dropped_and_other_encodings_are_errors() {
    assert_eq!(objects("\u{feff}kind: Pod\napiVersion: v1\nmetadata: {name: p}\n")[0].0, "Pod p");
    let utf16: Vec<u8> = "\u{feff}kind: Pod\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(problem(&utf16), ("encoding", Some(1)));
    assert_eq!(problem(b"kind: Pod\nname: \xE9\n"), ("encoding", Some(2)));
}

#[test]
fn o08_what_cannot_be_decoded_is_an_error() {
    assert_eq!(problem(b"kind: Pod\nmetadata: [\n").0, "syntax");
    assert_eq!(problem(b"kind: Pod\n\x00"), ("control-character", Some(2)));
    assert_eq!(problem(b"replicas: 1\nname: {{ .Values.name }}\n"), ("unrendered-template", Some(2)));
}

#[test]
fn o09_integers_lose_nothing() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {count: 356136738}}\nx: {\"a\":9007199254740993,\"b\":9007199254740992}\n";
    let corpus = reading(text.as_bytes());
    let object = &corpus.documents[0].resources[0].object;
    assert_eq!(object["metadata"]["annotations"]["count"].to_string(), "356136738");
    assert_ne!(object["x"]["a"], object["x"]["b"]);
    assert_eq!(problem(b"kind: Pod\nx: 18446744073709551617\n"), ("integer-too-large", Some(2)));
}

#[test]
fn o10_an_alias_bomb_is_an_error() {
    let mut bomb = "kind: Pod\na0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..=8 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(",");
        writeln!(bomb, "a{level}: &a{level} [{aliases}]").unwrap();
    }
    assert_eq!(problem(bomb.as_bytes()).0, "too-many-aliases");
}
