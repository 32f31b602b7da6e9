//! Queues of the whole cluster that stand below each other: Volcano's and KAI's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::row::Ref;
use super::seen::Seen;
use crate::accelerators::tree::Tree;
use crate::accelerators::value::text;
use crate::model::Value;

/// The queues of a system, by name.
pub(super) struct Hierarchy<'s> {
    queues: BTreeMap<Arc<str>, Queue<'s>>,
    parents: BTreeSet<Arc<str>>,
}

/// A queue.
pub(super) struct Queue<'s> {
    pub at: Ref,
    pub object: &'s Value,
    parent: Option<Arc<str>>,
}

impl<'s> Hierarchy<'s> {
    pub(super) fn of(tree: &Tree<'s>, (group, kind): (&str, &str), parent: &str) -> Self {
        let mut queues = BTreeMap::new();
        for (index, object) in tree.of_kind(group, kind) {
            let (Some(at), Some(name)) = (Ref::of(tree, index), super::name(object)) else { continue };
            let parent = text(object, &["spec", parent]).filter(|parent| !parent.is_empty()).cloned();
            queues.entry(name.clone()).or_insert(Queue { at, object, parent });
        }
        let parents = queues.values().filter_map(|queue| queue.parent.clone()).collect();
        Self { queues, parents }
    }

    /// Whether a queue is made of others, so that nothing is scheduled in it.
    pub(super) fn has_children(&self, name: &str) -> bool {
        self.parents.contains(name)
    }

    /// A queue and those above it; each once, whatever their parents say.
    pub(super) fn up(&self, name: &str) -> Vec<(&Arc<str>, &Queue<'s>)> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut next = self.queues.get_key_value(name);
        while let Some((name, queue)) = next {
            if !seen.insert(name) {
                break;
            }
            found.push((name, queue));
            next = queue.parent.as_ref().and_then(|parent| self.queues.get_key_value(parent));
        }
        found
    }

    /// Queues of which some parent is below themselves.
    pub(super) fn cyclic(&self) -> Vec<&Queue<'s>> {
        // What is left when queues without children are taken away until none is left.
        let mut children: BTreeMap<&str, usize> = BTreeMap::new();
        for queue in self.queues.values() {
            if let Some(parent) = &queue.parent {
                *children.entry(parent).or_default() += 1;
            }
        }
        let mut ready: Vec<&str> =
            self.queues.keys().map(|name| &**name).filter(|name| !children.contains_key(name)).collect();
        let mut gone = BTreeSet::new();
        while let Some(name) = ready.pop() {
            gone.insert(name);
            let Some(parent) = self.queues.get(name).and_then(|queue| queue.parent.as_deref()) else {
                continue;
            };
            if let Some(count) = children.get_mut(parent) {
                *count -= 1;
                if *count == 0 {
                    ready.push(parent);
                }
            }
        }
        self.queues.iter().filter(|(name, _)| !gone.contains(&***name)).map(|(_, queue)| queue).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Queue<'s>)> {
        self.queues.iter()
    }

    /// What goes through each queue or one below it.
    pub(super) fn members<'m, 'o>(
        &self,
        seen: impl IntoIterator<Item = &'m Seen<'o>>,
    ) -> BTreeMap<Arc<str>, Vec<&'m Seen<'o>>>
    where
        'o: 'm,
    {
        let mut members: BTreeMap<Arc<str>, Vec<&Seen<'_>>> = BTreeMap::new();
        for seen in seen {
            let Some(named) = &seen.named else { continue };
            for (name, _) in self.up(&named.queue) {
                members.entry(name.clone()).or_default().push(seen);
            }
        }
        members
    }
}
