//! Places inside a document: where the value at a route is written.
//!
//! Reading keeps no positions, so that it stays fast; for a finding the document's text is parsed
//! again.

use std::collections::HashMap;

use libyaml_safer::EventData;

use super::events::Events;
use super::scalar::{self, Scalar};
use super::{SyntaxError, positions};
use crate::model::{Route, Span, Step};

/// The place of the value at a route; through an alias or a merge, the place where it is written.
pub fn locate(text: &str, route: &Route) -> Option<Span> {
    Tree::parse(text).ok()?.value(route)
}

/// The place of the key at the end of a route; for an item of a list, of the item.
pub fn locate_key(text: &str, route: &Route) -> Option<Span> {
    Tree::parse(text).ok()?.key(route)
}

/// The place of the longest part of a route that exists; none if the text cannot be parsed.
pub fn locate_nearest(text: &str, route: &Route) -> Option<Nearest> {
    Some(Tree::parse(text).ok()?.nearest(route))
}

/// The place of the longest part of a route that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nearest {
    /// The value's place.
    pub span: Span,
    /// The place of the key that it is written under; none for the root and for items of lists.
    pub key: Option<Span>,
    /// How many steps of the route exist.
    pub steps: usize,
    /// The first line of the value.
    first_line: Span,
}

impl Nearest {
    /// A short place that names the value: its key, or its first line.
    pub fn head(&self) -> Span {
        self.key.unwrap_or(self.first_line)
    }
}

/// A document's nodes with their places. Parse it once to locate many routes.
#[derive(Debug)]
pub struct Tree<'t> {
    text: &'t str,
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    start: usize,
    end: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// With its text as a key.
    Scalar(String),
    Sequence(Vec<usize>),
    Mapping(Vec<Entry>),
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The key's node; none for a merge.
    key: Option<usize>,
    value: usize,
}

/// A collection that is being read.
struct Open {
    anchor: Option<String>,
    node: usize,
    /// For a mapping, what its next node is.
    expects: Expects,
}

enum Expects {
    Key,
    ValueOf(usize),
    ValueOfMerge,
}

impl<'t> Tree<'t> {
    /// Parses a document. It does not refuse all that [`super::value`] refuses.
    pub fn parse(text: &'t str) -> Result<Self, SyntaxError> {
        let mut tree = Self { text, nodes: Vec::new() };
        let Some(mut events) = Events::open(text)? else {
            tree.add(0, text.len(), Kind::Scalar(String::new()));
            return Ok(tree);
        };
        let mut anchors: HashMap<String, usize> = HashMap::new();
        let mut open: Vec<Open> = Vec::new();
        loop {
            let event = events.next()?;
            let (start, end) = (events.offset(event.start_mark), events.offset(event.end_mark));
            let node = match event.data {
                EventData::Scalar { anchor, tag, value, plain_implicit, .. } => {
                    if let Some(Open { expects: expects @ Expects::Key, node, .. }) = open.last_mut() {
                        let mapping =
                            matches!(tree.nodes.get(*node), Some(Node { kind: Kind::Mapping(_), .. }));
                        if mapping && scalar::is_merge(&value, tag.as_deref(), plain_implicit) {
                            *expects = Expects::ValueOfMerge;
                            continue;
                        }
                    }
                    let text = match scalar::resolve(&value, tag.as_deref(), plain_implicit) {
                        Ok(scalar) if scalar != Scalar::Text => scalar::key(&scalar).unwrap_or(value),
                        _ => value,
                    };
                    let node = tree.add(start, end, Kind::Scalar(text));
                    if let Some(anchor) = anchor {
                        anchors.insert(anchor, node);
                    }
                    node
                }
                EventData::Alias { anchor } => match anchors.get(&anchor) {
                    Some(node) => *node,
                    None => return Err(SyntaxError::new("unknown-anchor", format!("no anchor `&{anchor}`"))),
                },
                EventData::SequenceStart { anchor, .. } => {
                    let node = tree.add(start, end, Kind::Sequence(Vec::new()));
                    open.push(Open { anchor, node, expects: Expects::Key });
                    continue;
                }
                EventData::MappingStart { anchor, .. } => {
                    let node = tree.add(start, end, Kind::Mapping(Vec::new()));
                    open.push(Open { anchor, node, expects: Expects::Key });
                    continue;
                }
                EventData::SequenceEnd | EventData::MappingEnd => {
                    let Some(done) = open.pop() else { continue };
                    if let Some(node) = tree.nodes.get_mut(done.node) {
                        node.end = end;
                    }
                    // A node inside it may have taken the name, and keeps it.
                    if let Some(anchor) = done.anchor {
                        let name = anchors.entry(anchor).or_insert(done.node);
                        *name = (*name).max(done.node);
                    }
                    done.node
                }
                _ => continue,
            };
            let Some(parent) = open.last_mut() else {
                events.close()?;
                return Ok(tree);
            };
            match tree.nodes.get_mut(parent.node).map(|node| &mut node.kind) {
                Some(Kind::Sequence(items)) => items.push(node),
                Some(Kind::Mapping(entries)) => {
                    let key = match parent.expects {
                        Expects::Key => {
                            parent.expects = Expects::ValueOf(node);
                            continue;
                        }
                        Expects::ValueOf(key) => Some(key),
                        Expects::ValueOfMerge => None,
                    };
                    parent.expects = Expects::Key;
                    entries.push(Entry { key, value: node });
                }
                _ => {}
            }
        }
    }

    /// The place of the value at a route.
    pub fn value(&self, route: &Route) -> Option<Span> {
        let nearest = self.nearest(route);
        (nearest.steps == route.0.len()).then_some(nearest.span)
    }

    /// The place of the key at the end of a route; for an item of a list, of the item.
    pub fn key(&self, route: &Route) -> Option<Span> {
        let nearest = self.nearest(route);
        (nearest.steps == route.0.len()).then(|| nearest.key.unwrap_or(nearest.span))
    }

    /// The place of the longest part of a route that exists.
    pub fn nearest(&self, route: &Route) -> Nearest {
        // The root is the first node.
        let (mut node, mut key, mut steps) = (0, None, 0);
        for step in &route.0 {
            let Some(next) = self.step(node, step) else { break };
            (key, node) = (next.key, next.value);
            steps += 1;
        }
        let span = self.span(node);
        Nearest {
            span,
            key: key.map(|key| self.span(key)),
            steps,
            first_line: Span {
                length: span.length.min(positions::line_span(self.text, span.offset).length),
                ..span
            },
        }
    }

    fn step(&self, node: usize, step: &Step) -> Option<Entry> {
        match (&self.nodes.get(node)?.kind, step) {
            (Kind::Sequence(items), Step::Index(index)) => {
                items.get(*index).map(|value| Entry { key: None, value: *value })
            }
            (Kind::Mapping(entries), Step::Key(key)) => self.entry(entries, key),
            _ => None,
        }
    }

    /// The entry that counts: the later one, merged or written; of a list of merges, the earlier one.
    fn entry(&self, entries: &[Entry], key: &str) -> Option<Entry> {
        entries.iter().rev().find_map(|entry| match entry.key {
            Some(node) => match &self.nodes.get(node)?.kind {
                Kind::Scalar(text) if text == key => Some(*entry),
                _ => None,
            },
            None => match &self.nodes.get(entry.value)?.kind {
                Kind::Mapping(merged) => self.entry(merged, key),
                Kind::Sequence(items) => items.iter().find_map(|item| match &self.nodes.get(*item)?.kind {
                    Kind::Mapping(merged) => self.entry(merged, key),
                    _ => None,
                }),
                Kind::Scalar(_) => None,
            },
        })
    }

    fn add(&mut self, start: usize, end: usize, kind: Kind) -> usize {
        self.nodes.push(Node { start, end, kind });
        self.nodes.len() - 1
    }

    fn span(&self, node: usize) -> Span {
        let (start, end) = self.nodes.get(node).map_or((0, 0), |node| (node.start, node.end));
        let written = self.text.get(start..end.min(self.text.len())).unwrap_or_default();
        positions::span(self.text, start, written.trim_end().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text, line and column that stand at a route, written as `spec.items[0]`.
    fn at<'t>(text: &'t str, route: &Route) -> Option<(&'t str, usize, usize)> {
        let span = locate(text, route)?;
        Some((text.get(span.offset..span.offset + span.length)?, span.line, span.column))
    }

    const TEXT: &str = "\
apiVersion: v1
kind: List
items:
- &pod
  metadata: {name: 'p', labels: {\"a/b\": yes}}
  spec:
    containers:
    - name: c
      args: [x,
        \"é\", z]
- <<: *pod
  spec: *nothing
";

    #[test]
    fn values_are_found_in_every_style() {
        let text = TEXT.replace("*nothing", "{on: |\n    }");
        let text = text.replace("{on: |\n    }", "{on: 1}");
        let item = Route::root().key("items").index(0);
        let container = item.key("spec").key("containers").index(0);
        assert_eq!(at(&text, &item.key("metadata").key("name")), Some(("'p'", 5, 20)));
        assert_eq!(at(&text, &item.key("metadata").key("labels").key("a/b")), Some(("yes", 5, 41)));
        assert_eq!(at(&text, &container.key("args").index(2)), Some(("z", 10, 14)));
        assert_eq!(at(&text, &container.key("args").index(1)), Some(("\"é\"", 10, 9)));
        assert_eq!(at(&text, &container.key("args").index(3)), None);
        // Through the merge, where it is written; and a key by the name that Kubernetes gives it.
        let second = Route::root().key("items").index(1);
        assert_eq!(at(&text, &second.key("metadata").key("name")), Some(("'p'", 5, 20)));
        assert_eq!(at(&text, &second.key("spec").key("true")), Some(("1", 12, 14)));
        let key = locate_key(&text, &container.key("args")).unwrap();
        assert_eq!((key.line, key.column, key.length), (9, 7, 4));
    }

    #[test]
    fn of_a_missing_value_the_nearest_parent_is_found() {
        let text = "a:\n  b:\n    c: 1\n";
        let nearest = locate_nearest(text, &Route::root().key("a").key("b").key("x").key("y")).unwrap();
        assert_eq!((nearest.steps, nearest.key.unwrap().line, nearest.span.line), (2, 2, 3));
        let root = locate_nearest(text, &Route::root().key("z")).unwrap();
        assert_eq!((root.steps, root.head().line, root.head().length), (0, 1, 2));
    }

    #[test]
    fn json_and_empty_texts_have_places_too() {
        let text = "{\n\t\"a\": [1, {\"b\": 2}]\n}";
        assert_eq!(at(text, &Route::root().key("a").index(1).key("b")), Some(("2", 2, 17)));
        assert_eq!(locate_nearest("# no\n", &Route::root().key("a")).unwrap().steps, 0);
    }
}
