//! What becomes of workloads where they run: for each context all of its objects, assessed together.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::contexts::Contexts;
use crate::accelerators::{Assessed, Assessment, Queued, Registry, Tree, assess};
use crate::manifest::Resource;
use crate::manifest::corpus::{Corpus, Document, Occurrence};
use crate::model::{Cluster, Context, Place, Value};

/// A context with its objects.
#[derive(Debug)]
pub struct Site {
    /// The context.
    pub context: Arc<Context>,
    /// Its objects, in the order of their places; `index` of a demand is a position in here.
    pub objects: Vec<Located>,
    /// What they ask for, and what limits it.
    pub assessment: Assessment,
    /// What rules see of the workloads that are not the same everywhere.
    placed: HashMap<(usize, usize), Placed>,
}

/// An object in the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Located {
    /// Index into the corpus' documents.
    pub document: usize,
    /// Index into the document's resources.
    pub resource: usize,
    /// Index into the document's occurrences.
    pub occurrence: usize,
}

/// `input.workload` of an object in a context.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) value: Value,
    /// Equal values have equal digests.
    pub(super) digest: [u8; 32],
    /// Whether the object asks for accelerators, or may.
    pub(super) asks: bool,
}

impl Located {
    /// The object's document.
    pub fn document(self, corpus: &Corpus) -> Option<&Document> {
        corpus.documents.get(self.document)
    }

    /// The object.
    pub fn resource(self, corpus: &Corpus) -> Option<&Resource> {
        self.document(corpus)?.resources.get(self.resource)
    }

    /// Where it stands.
    pub fn place(self, corpus: &Corpus) -> Option<&Place> {
        self.occurrence(corpus).map(|occurrence| &occurrence.place)
    }

    fn occurrence(self, corpus: &Corpus) -> Option<&Occurrence> {
        self.document(corpus)?.occurrences.get(self.occurrence)
    }
}

/// All contexts with what is asked for in them, in the order of their names. `complete` says whether
/// everything that the clusters get was read.
pub fn sites(corpus: &Corpus, registry: &Registry, complete: bool) -> Vec<Site> {
    let mut sites = assessed(corpus, &Contexts::of(corpus), registry, complete);
    let name = |site: &Site| {
        let Context { cluster, environment } = &*site.context;
        (cluster.as_ref().map(|cluster| cluster.name.clone()), environment.clone())
    };
    sites.sort_by_cached_key(name);
    sites
}

/// The same for known contexts, in their order, with what rules see of the workloads.
pub(super) fn of_contexts(
    corpus: &Corpus,
    contexts: &Contexts,
    registry: &Registry,
    complete: bool,
) -> Vec<Site> {
    let mut sites = assessed(corpus, contexts, registry, complete);
    sites.par_iter_mut().for_each(Site::place);
    sites
}

fn assessed(corpus: &Corpus, contexts: &Contexts, registry: &Registry, complete: bool) -> Vec<Site> {
    let mut objects: Vec<Vec<Located>> = vec![Vec::new(); contexts.all.len()];
    for (document, occurrences) in contexts.standing.iter().enumerate() {
        let resources = corpus.documents.get(document).map_or(0, |document| document.resources.len());
        for (occurrence, places) in occurrences.iter().enumerate() {
            for &context in &**places {
                if let Some(objects) = objects.get_mut(context) {
                    objects.extend((0..resources).map(|resource| Located { document, resource, occurrence }));
                }
            }
        }
    }
    (objects.into_par_iter().zip(&contexts.all))
        .map(|(objects, context)| Site::of(corpus, context, objects, registry, complete))
        .collect()
}

impl Site {
    fn of(
        corpus: &Corpus,
        context: &Arc<Context>,
        mut objects: Vec<Located>,
        registry: &Registry,
        complete: bool,
    ) -> Self {
        // In the order of files, which are numbered, for to compare their paths takes far longer.
        objects.sort_by_key(|object| {
            let occurrence = object.occurrence(corpus);
            (occurrence.map(|occurrence| (occurrence.file, occurrence.place.document)), object.resource)
        });
        let values: Vec<&Value> =
            objects.iter().filter_map(|object| Some(&object.resource(corpus)?.object)).collect();
        let tree = Tree::new(registry, values);
        let cluster = context.cluster.as_deref();
        let assessment = assess(&tree, cluster, complete);
        Self { context: context.clone(), objects, assessment, placed: HashMap::new() }
    }

    /// Works out what rules see of the workloads that are not the same everywhere.
    fn place(&mut self) {
        let cluster = self.context.cluster.as_deref();
        for assessed in self.assessment.objects.iter().filter(|assessed| differs(assessed, cluster)) {
            let Some(object) = self.objects.get(assessed.demand.index) else { continue };
            // Of two that are the same, the first one speaks.
            self.placed.entry((object.document, object.resource)).or_insert_with(|| {
                let value = assessed.workload_value(cluster);
                let digest = *blake3::hash(value.to_string().as_bytes()).as_bytes();
                Placed { value, digest, asks: assessed.asks() }
            });
        }
    }

    /// What rules see of a workload here, if it is not the same everywhere.
    pub(super) fn placed(&self, document: usize, resource: usize) -> Option<&Placed> {
        self.placed.get(&(document, resource))
    }

    /// Where an assessed object is in the corpus.
    pub fn located(&self, assessed: &Assessed) -> Option<Located> {
        self.objects.get(assessed.demand.index).copied()
    }
}

/// Whether rules see more of an object than its manifest alone shows.
fn differs(assessed: &Assessed, cluster: Option<&Cluster>) -> bool {
    let added = cluster.is_some_and(|cluster| {
        !cluster.injects.tolerations.is_empty() || !cluster.injects.node_selector.is_empty()
    });
    assessed.asks() || added || assessed.queue != Queued::No
}
