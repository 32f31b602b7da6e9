//! A YAML document to a value, as Kubernetes reads it.
//!
//! The semantics are those of `sigs.k8s.io/yaml` (`yaml.go`) over `go.yaml.in/yaml/v2`
//! (`decode.go`). Departures, all on the strict side: equal keys in one mapping are refused, and so
//! are integers that lose digits there, `!!binary`, `!!timestamp`, and more nesting or expansion
//! than any manifest needs.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use libyaml_safer::{EventData, Mark};

use super::events::{Events, MAX_DEPTH, too_deep};
use super::intern::intern;
use super::scalar::{self, Scalar, ScalarError};
use super::{SyntaxError, json};
use crate::model::{Span, Value};

/// Nodes that aliases may add to a document. The reference allows about as many.
const MAX_ALIASED_NODES: usize = 400_000;

/// Reads one YAML or JSON document. A text without a document (empty, or nothing but comments) is
/// null. Spans of errors are in `text`.
pub fn value(text: &str) -> Result<Value, SyntaxError> {
    if let Some(value) = json::value(text) {
        return Ok(value);
    }
    let Some(events) = Events::open(text)? else { return Ok(Value::Null) };
    Reader { events, open: Vec::new(), anchors: HashMap::new(), aliased: 0 }.read()
}

/// A value with what it would weigh if its aliases were written out.
#[derive(Clone)]
struct Node {
    value: Value,
    nodes: usize,
    height: usize,
    shape: Shape,
}

#[derive(Clone, PartialEq)]
enum Shape {
    Scalar(Scalar),
    Sequence,
    /// A sequence written as the value of a merge key; it holds mappings only.
    MergeSequence,
    Mapping,
}

/// What an anchor names.
enum Anchor {
    /// The node that was opened at this mark is not finished: an alias to it would contain itself.
    Open(Mark),
    Done(Node),
}

/// A collection that is being read.
struct Open {
    anchor: Option<String>,
    start: Mark,
    nodes: usize,
    height: usize,
    items: Items,
}

enum Items {
    Sequence { items: Vec<Value>, merge: bool },
    Mapping { entries: Vec<Entry>, key: Option<Key>, merges: bool },
}

struct Entry {
    key: Arc<str>,
    value: Value,
    start: Mark,
    end: Mark,
    /// Whether it comes from a merge: then it may be set again.
    merged: bool,
}

enum Key {
    Text(Arc<str>, Mark, Mark),
    Merge,
}

struct Reader<'t> {
    events: Events<'t>,
    open: Vec<Open>,
    anchors: HashMap<String, Anchor>,
    aliased: usize,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Value, SyntaxError> {
        loop {
            let event = self.events.next()?;
            let (start, end) = (event.start_mark, event.end_mark);
            let (node, anchor) = match event.data {
                EventData::Scalar { anchor, tag, value, plain_implicit, .. } => {
                    if self.expects_key() && scalar::is_merge(&value, tag.as_deref(), plain_implicit) {
                        self.set_key(Key::Merge);
                        continue;
                    }
                    (self.scalar(&value, tag.as_deref(), plain_implicit, start, end)?, anchor)
                }
                EventData::Alias { anchor } => (self.alias(&anchor, start, end)?, None),
                EventData::SequenceStart { anchor, .. } => {
                    let merge = self.in_merge();
                    self.start(anchor, Items::Sequence { items: Vec::new(), merge }, start)?;
                    continue;
                }
                EventData::MappingStart { anchor, .. } => {
                    let items = Items::Mapping { entries: Vec::new(), key: None, merges: false };
                    self.start(anchor, items, start)?;
                    continue;
                }
                EventData::SequenceEnd | EventData::MappingEnd => match self.open.pop() {
                    Some(open) => self.finish(open)?,
                    None => continue,
                },
                _ => continue,
            };
            if let Some(anchor) = anchor {
                let mut node = node.clone();
                if node.shape == Shape::MergeSequence {
                    node.shape = Shape::Sequence;
                }
                self.anchors.insert(anchor, Anchor::Done(node));
            }
            if self.expects_key() {
                let key = self.key(&node, start, end)?;
                self.set_key(Key::Text(key, start, end));
            } else if let Some(value) = self.place(node, start, end)? {
                self.events.close()?;
                return Ok(value);
            }
        }
    }

    fn span(&self, start: Mark, end: Mark) -> Span {
        self.events.span(start, end)
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { items: Items::Mapping { key: None, .. }, .. }))
    }

    /// Whether the next node is the value of a merge key.
    fn in_merge(&self) -> bool {
        matches!(self.open.last(), Some(Open { items: Items::Mapping { key: Some(Key::Merge), .. }, .. }))
    }

    fn set_key(&mut self, new: Key) {
        if let Some(Open { items: Items::Mapping { key, .. }, .. }) = self.open.last_mut() {
            *key = Some(new);
        }
    }

    fn start(&mut self, anchor: Option<String>, items: Items, start: Mark) -> Result<(), SyntaxError> {
        if self.expects_key() {
            return Err(SyntaxError::new("bad-key", "a list or mapping as a key")
                .help("a key must be a text; a text that begins with `{` or `[` needs quotes")
                .at(self.span(start, start)));
        }
        if let Some(anchor) = &anchor {
            self.anchors.insert(anchor.clone(), Anchor::Open(start));
        }
        self.open.push(Open { anchor, start, nodes: 1, height: 0, items });
        Ok(())
    }

    fn finish(&self, open: Open) -> Result<(Node, Option<String>), SyntaxError> {
        let (value, shape) = match open.items {
            Items::Sequence { items, merge: false } => (Value::from(items), Shape::Sequence),
            Items::Sequence { items, merge: true } => (Value::from(items), Shape::MergeSequence),
            Items::Mapping { entries, merges, .. } => (self.mapping(entries, merges)?, Shape::Mapping),
        };
        // A node inside it may have taken the name, and keeps it.
        let anchor = open.anchor.filter(
            |anchor| matches!(self.anchors.get(anchor), Some(Anchor::Open(start)) if *start == open.start),
        );
        Ok((Node { value, nodes: open.nodes, height: open.height + 1, shape }, anchor))
    }

    /// Puts a finished node where it belongs; gives it back if it is the root.
    fn place(&mut self, node: Node, start: Mark, end: Mark) -> Result<Option<Value>, SyntaxError> {
        if matches!(node.shape, Shape::Scalar(Scalar::Float(value)) if !value.is_finite()) {
            return Err(SyntaxError::new("not-finite", "an infinite number, or none")
                .help("Kubernetes cannot read this; put it in quotes if a text is meant")
                .at(self.span(start, end)));
        }
        if self.open.len() + node.height > MAX_DEPTH {
            return Err(too_deep(self.span(start, end)));
        }
        let Some(open) = self.open.last_mut() else { return Ok(Some(node.value)) };
        open.nodes = open.nodes.saturating_add(node.nodes);
        open.height = open.height.max(node.height);
        match &mut open.items {
            Items::Sequence { items, merge } => {
                if *merge && node.shape != Shape::Mapping {
                    return Err(self.bad_merge(start, end));
                }
                items.push(node.value);
            }
            Items::Mapping { entries, key, merges } => match key.take() {
                Some(Key::Text(key, start, end)) => {
                    entries.push(Entry { key, value: node.value, start, end, merged: false });
                }
                Some(Key::Merge) => {
                    *merges = true;
                    match (node.shape, &node.value) {
                        (Shape::Mapping, value) => merge(value, entries, start, end),
                        // Earlier mappings of the list win, so they come last.
                        (Shape::MergeSequence, Value::Array(items)) => {
                            items.iter().rev().for_each(|value| merge(value, entries, start, end));
                        }
                        _ => return Err(self.bad_merge(start, end)),
                    }
                }
                None => {}
            },
        }
        Ok(None)
    }

    fn mapping(&self, mut entries: Vec<Entry>, merges: bool) -> Result<Value, SyntaxError> {
        if merges {
            return self.merged_mapping(entries);
        }
        // Stable: of two equal keys the first stays first.
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        for pair in entries.windows(2) {
            if let [first, second] = pair
                && first.key == second.key
            {
                let place = |entry: &Entry| (entry.start, entry.end);
                return Err(self.duplicate(&first.key, place(first), place(second)));
            }
        }
        let fields: BTreeMap<Value, Value> =
            entries.into_iter().map(|entry| (Value::String(entry.key), entry.value)).collect();
        Ok(Value::from(fields))
    }

    /// The reference sets one entry after another, so that of a key written and the same key merged
    /// the later one wins, whichever it is.
    fn merged_mapping(&self, entries: Vec<Entry>) -> Result<Value, SyntaxError> {
        let mut fields = BTreeMap::new();
        let mut written: BTreeMap<Arc<str>, (Mark, Mark)> = BTreeMap::new();
        for entry in entries {
            if !entry.merged {
                let place = (entry.start, entry.end);
                if let Some(first) = written.insert(Arc::clone(&entry.key), place) {
                    return Err(self.duplicate(&entry.key, first, place));
                }
            }
            fields.insert(Value::String(entry.key), entry.value);
        }
        Ok(Value::from(fields))
    }

    fn scalar(
        &self,
        text: &str,
        tag: Option<&str>,
        implicit: bool,
        start: Mark,
        end: Mark,
    ) -> Result<Node, SyntaxError> {
        let scalar = scalar::resolve(text, tag, implicit)
            .map_err(|error| scalar_error(&error).at(self.span(start, end)))?;
        let value = match &scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::from(*value),
            Scalar::Integer(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => Value::from(value),
                (_, Ok(value)) => Value::from(value),
                _ => return Err(scalar_error(&ScalarError::TooLarge).at(self.span(start, end))),
            },
            Scalar::Float(value) => Value::from(*value),
            Scalar::Text if self.expects_key() => Value::String(intern(text)),
            Scalar::Text => Value::String(Arc::from(text)),
        };
        Ok(Node { value, nodes: 1, height: 0, shape: Shape::Scalar(scalar) })
    }

    fn alias(&mut self, anchor: &str, start: Mark, end: Mark) -> Result<Node, SyntaxError> {
        let node = match self.anchors.get(anchor) {
            Some(Anchor::Done(node)) => node.clone(),
            Some(Anchor::Open(_)) => {
                return Err(SyntaxError::new("recursive-anchor", format!("`&{anchor}` contains itself"))
                    .help("write the value out; an alias cannot stand inside what it names")
                    .at(self.span(start, end)));
            }
            None => {
                return Err(SyntaxError::new("unknown-anchor", format!("no anchor `&{anchor}` before `*{anchor}`"))
                    .help("define the anchor earlier in the same document; a text that begins with `*` needs quotes")
                    .at(self.span(start, end)));
            }
        };
        self.aliased = self.aliased.saturating_add(node.nodes);
        if self.aliased > MAX_ALIASED_NODES {
            let message = format!("aliases expand to more than {MAX_ALIASED_NODES} values");
            return Err(SyntaxError::new("too-many-aliases", message)
                .help("write the values out, or split the document")
                .at(self.span(start, end)));
        }
        Ok(node)
    }

    fn key(&self, node: &Node, start: Mark, end: Mark) -> Result<Arc<str>, SyntaxError> {
        let text = match (&node.value, &node.shape) {
            (Value::String(text), _) => return Ok(Arc::clone(text)),
            (_, Shape::Scalar(scalar)) => scalar::key(scalar),
            _ => None,
        };
        text.map(|text| intern(&text)).ok_or_else(|| {
            SyntaxError::new("bad-key", "a key that is no text")
                .help("put the key in quotes; Kubernetes reads text keys only")
                .at(self.span(start, end))
        })
    }

    fn duplicate(&self, key: &str, first: (Mark, Mark), second: (Mark, Mark)) -> SyntaxError {
        let first = self.span(first.0, first.1);
        let mut error =
            SyntaxError::new("duplicate-key", format!("duplicate key `{key}`, first on line {}", first.line))
                .help("remove one of the two: which one counts depends on who reads the file")
                .at(self.span(second.0, second.1));
        error.related.push(("first here".to_owned(), first));
        error
    }

    fn bad_merge(&self, start: Mark, end: Mark) -> SyntaxError {
        SyntaxError::new("bad-merge", "`<<` merges something that is no mapping")
            .help("merge a mapping, an alias to one, or a list of these")
            .at(self.span(start, end))
    }
}

/// Adds the entries of a merged mapping.
fn merge(source: &Value, entries: &mut Vec<Entry>, start: Mark, end: Mark) {
    let Value::Object(fields) = source else { return };
    for (key, value) in fields.iter() {
        if let Value::String(key) = key {
            entries.push(Entry { key: Arc::clone(key), value: value.clone(), start, end, merged: true });
        }
    }
}

fn scalar_error(error: &ScalarError) -> SyntaxError {
    match error {
        ScalarError::TooLarge => {
            SyntaxError::new("integer-too-large", "an integer that does not fit into 64 bits")
                .help("put it in quotes: as a number it would lose digits")
        }
        ScalarError::NotA(tag) => SyntaxError::new("bad-tag", format!("a value that is no `{tag}`"))
            .help("remove the tag, or mend the value"),
        ScalarError::UnsupportedTag(tag) => SyntaxError::new("bad-tag", format!("the tag `{tag}`"))
            .help("remove the tag and put the text in quotes; `data` of a Secret takes base64 text as it is"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        serde_json::to_string(&value(text).unwrap()).unwrap()
    }

    fn error(text: &str) -> SyntaxError {
        value(text).unwrap_err()
    }

    #[test]
    fn o04_equal_keys_are_refused_with_both_lines() {
        let error = error("kind: Pod\nkind: Secret\napiVersion: v1\nmetadata: {name: x}");
        assert_eq!(
            (error.code, error.message.as_str()),
            ("duplicate-key", "duplicate key `kind`, first on line 1")
        );
        assert_eq!(error.span.unwrap().line, 2);
        assert_eq!(error.related[0].1.line, 1);
        assert_eq!(value(r#"{"a": 1, "a": 1}"#).unwrap_err().code, "duplicate-key");
        // `yes` and `true` are one key.
        assert_eq!(value("yes: 1\ntrue: 2\n").unwrap_err().code, "duplicate-key");
    }

    #[test]
    fn o05_merged_keys_are_seen() {
        let text = "apiVersion: v1\nx-base: &b {hostPID: true}\nspec: {<<: *b, containers: [{name: c}]}\n";
        assert_eq!(
            json(text),
            r#"{"apiVersion":"v1","spec":{"containers":[{"name":"c"}],"hostPID":true},"x-base":{"hostPID":true}}"#
        );
        assert_eq!(json("{<<: {a: 1, b: 1}, a: 2}"), r#"{"a":2,"b":1}"#);
        assert_eq!(json("<<: [{a: 1}, {a: 2, b: 2}]\n"), r#"{"a":1,"b":2}"#);
        assert_eq!(error("<<: [1]\n").code, "bad-merge");
        assert_eq!(error("a: &a [{b: 1}]\nc: {<<: *a}\n").code, "bad-merge");
    }

    #[test]
    fn o06_words_and_octal_numbers_as_kubectl_reads_them() {
        assert_eq!(
            json(
                "hostNetwork: yes\ndefaultMode: 0644\nq: \"yes\"\nb: on\nneg: n\no: 0o7\nx: 0b1\nu: 1_000\nf: 08\n"
            ),
            r#"{"b":true,"defaultMode":420,"f":8,"hostNetwork":true,"neg":false,"o":7,"q":"yes","u":1000,"x":1}"#
        );
        assert_eq!(json("y: 1\nno: 2\n"), r#"{"false":2,"true":1}"#);
        assert_eq!(error("a: .inf\n").code, "not-finite");
        assert_eq!(error("~: 1\n").code, "bad-key");
    }

    #[test]
    fn o09_integers_keep_their_digits() {
        assert_eq!(
            json("a: 356136738\nb: 9007199254740993\nc: 18446744073709551615\nd: -9223372036854775808\n"),
            r#"{"a":356136738,"b":9007199254740993,"c":18446744073709551615,"d":-9223372036854775808}"#
        );
        let value = value(r#"{"a":9007199254740993,"b":9007199254740992}"#).unwrap();
        assert_ne!(value["a"], value["b"]);
        assert_eq!(error("a: 18446744073709551617\n").code, "integer-too-large");
        assert_eq!(error(r#"{"a": 18446744073709551617}"#).code, "integer-too-large");
        assert_eq!(error("a: -9223372036854775809\n").code, "integer-too-large");
    }

    #[test]
    fn o10_alias_bombs_are_refused() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..=8 {
            let last = level - 1;
            let aliases = vec![format!("*a{last}"); 9].join(",");
            bomb = format!("{bomb}a{level}: &a{level} [{aliases}]\n");
        }
        assert_eq!(error(&bomb).code, "too-many-aliases");
        // Nor can a chain of them build what plain nesting may not.
        let chain: Vec<_> = (1..2000).map(|n| format!("- &a{n} [*a{}]\n", n - 1)).collect();
        assert_eq!(error(&format!("- &a0 x\n{}", chain.concat())).code, "too-deep");
        assert_eq!(error("a: &a [*a]\n").code, "recursive-anchor");
        assert_eq!(error("a: *b\n").code, "unknown-anchor");
    }

    #[test]
    fn nesting_has_a_limit_and_values_up_to_it_can_be_used() {
        assert_eq!(error(&"{a: ".repeat(100_000)).code, "too-deep");
        assert_eq!(error(&"[".repeat(3000)).code, "too-deep");
        assert_eq!(error(&"- ".repeat(3000)).code, "too-deep");
        std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn(|| {
                let text = format!("{}1{}", "{a: [".repeat(MAX_DEPTH / 2), "]}".repeat(MAX_DEPTH / 2));
                let first = value(&text).unwrap();
                let second = value(&text).unwrap();
                assert_eq!(first, second);
                assert!(serde_json::to_string(&first).unwrap().len() > MAX_DEPTH);
                drop(second);
            })
            .unwrap()
            .join()
            .unwrap();
    }

    #[test]
    fn the_end_of_the_text_is_kept() {
        assert_eq!(json("a: |\n  x"), r#"{"a":"x"}"#);
        assert_eq!(json("a: |\n  x\n"), r#"{"a":"x\n"}"#);
        assert_eq!(json("a: |+\n  x"), r#"{"a":"x"}"#);
        assert_eq!(json("a: |-\n  x"), r#"{"a":"x"}"#);
        assert_eq!(json("a: >\n  x\n  y"), r#"{"a":"x y"}"#);
        assert_eq!(json("a: |+\n  x\n  "), r#"{"a":"x\n"}"#);
        assert_eq!(json("a: |\r\n  x\r\n"), r#"{"a":"x\n"}"#);
    }

    #[test]
    fn what_would_make_the_parser_panic_is_an_error() {
        assert_eq!(error("[!a, b]").code, "syntax");
        assert_eq!(error("[a, &x !<tag:a,b>, b]").code, "syntax");
        assert_eq!(json("a: [\"Hello!,\", b]\n# c!,\n"), r#"{"a":["Hello!,","b"]}"#);
        assert_eq!(json("a: hi!, you\n"), r#"{"a":"hi!, you"}"#);
        assert_eq!(json("a: !<tag:yaml.org,2002:str> 1\n"), r#"{"a":"1"}"#);
        for text in ["a: \"\\", "a: \"\\x4", "&", "*", "!", "a: |", "a: >+", "%", "'", "? ", "- !<", "a: !!"]
        {
            let _ = value(text);
        }
    }

    #[test]
    fn errors_have_a_place() {
        let error = error("a:\n\tb: 1\n");
        assert_eq!(error.span.unwrap().line, 2);
        assert!(error.help.unwrap().contains("tab"));
        let control = value("a: x\u{1}\n").unwrap_err();
        assert_eq!((control.code, control.span.unwrap().column), ("control-character", 5));
        assert_eq!(value("a: 1\n---\nb: 1\n").unwrap_err().span.unwrap().line, 2);
        assert_eq!(value("%YAML 1.1\n---\na: 1\n").unwrap_err().code, "directive");
    }
}
