//! Keys repeat in every object of a fleet, so each thread keeps one copy of the short ones.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

/// Longer keys are rare, and mostly different from each other.
const LONGEST: usize = 64;
/// Bounds what a hostile file can make a thread keep: at most 256 KiB of text.
const MOST: usize = 4096;

thread_local! {
    static KEYS: RefCell<HashSet<Arc<str>>> = RefCell::new(HashSet::new());
}

/// The text as a shared string.
pub(super) fn intern(text: &str) -> Arc<str> {
    if text.len() > LONGEST {
        return Arc::from(text);
    }
    KEYS.with_borrow_mut(|keys| {
        if let Some(key) = keys.get(text) {
            return Arc::clone(key);
        }
        let key = Arc::from(text);
        if keys.len() < MOST {
            keys.insert(Arc::clone(&key));
        }
        key
    })
}
