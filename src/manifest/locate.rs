//! Places inside a document: where the value at a route is written.
//!
//! Reading keeps no positions, so that it stays fast; a finding has the document's text parsed again.

use std::collections::HashMap;

use libyaml_safer::{EventData, Mark};

use super::events::Events;
use super::scalar::{self, Scalar};
use super::{SyntaxError, resource};
use crate::model::{Route, Span, Step};

/// The place of the value at a route; through an alias or a merge, the place where it is written.
pub fn locate(text: &str, route: &Route) -> Option<Span> {
    let nearest = Tree::parse(text).ok()?.nearest(route);
    (nearest.steps == route.0.len()).then_some(nearest.span)
}

/// The place of the key at the end of a route; for an item of a list, of the item.
pub fn locate_key(text: &str, route: &Route) -> Option<Span> {
    Tree::parse(text).ok()?.key(route)
}

/// The place of the longest part of a route that exists.
pub fn locate_nearest(text: &str, route: &Route) -> Option<Nearest> {
    Tree::parse(text).ok().map(|tree| tree.nearest(route))
}

/// The place of the longest part of a route that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nearest {
    /// The value's place.
    pub span: Span,
    /// The place of the key that it is written under, unless it is the root or an item of a list.
    pub key: Option<Span>,
    /// How many steps of the route exist.
    pub steps: usize,
}

/// A document's nodes with their places. Parse it once to locate many routes.
#[derive(Debug)]
pub struct Tree<'t> {
    text: &'t str,
    nodes: Vec<Node>,
    root: usize,
}

#[derive(Debug)]
struct Node {
    start: Mark,
    end: Mark,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// With its text as a key.
    Scalar(String),
    Sequence(Vec<usize>),
    Mapping(Vec<(Key, usize)>),
}

#[derive(Debug)]
enum Key {
    /// The node of the key, by which its text and place are known.
    Node(usize),
    Merge,
}
