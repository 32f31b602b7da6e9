//! The places of a run: clusters, or environments without a known cluster, and what stands in each.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::manifest::corpus::Corpus;
use crate::model::Context;

/// Distinct contexts, and what stands where.
#[derive(Debug)]
pub(super) struct Contexts {
    /// In the order in which files name them.
    pub(super) all: Vec<Arc<Context>>,
    /// For each document: for each occurrence, indexes of its contexts.
    pub(super) standing: Vec<Vec<Arc<[usize]>>>,
}

impl Contexts {
    pub(super) fn of(corpus: &Corpus) -> Self {
        let mut all: Vec<Arc<Context>> = Vec::new();
        // By cluster and environment.
        let mut known: BTreeMap<[Option<Arc<str>>; 2], usize> = BTreeMap::new();
        let mut of_file: Vec<Arc<[usize]>> = Vec::with_capacity(corpus.files.len());
        for file in &corpus.files {
            let indexes = file.contexts.iter().map(|context| {
                let cluster = context.cluster.as_ref().map(|cluster| cluster.name.clone());
                *known.entry([cluster, context.environment.clone()]).or_insert_with(|| {
                    all.push(context.clone());
                    all.len() - 1
                })
            });
            of_file.push(indexes.collect());
        }
        let standing = (corpus.documents.iter())
            .map(|document| {
                (document.occurrences.iter())
                    .map(|occurrence| of_file.get(occurrence.file).cloned().unwrap_or_default())
                    .collect()
            })
            .collect();
        Self { all, standing }
    }
}
