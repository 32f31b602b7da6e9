//! What the workloads of each cluster ask for.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::accelerators::{ObjectDemand, Registry, Totals, Tree, totals};
use crate::manifest::corpus::Corpus;
use crate::model::{ObjectId, Place, Value};

/// The demand of one cluster.
#[derive(Debug)]
pub struct ClusterDemand {
    /// The cluster; none for files that belong to no known cluster.
    pub cluster: Option<Arc<str>>,
    /// Objects that ask for devices, or may, in the order of their places.
    pub workloads: Vec<WorkloadDemand>,
    /// Their sum, each device counted once.
    pub totals: Totals,
}

/// The demand of one object.
#[derive(Debug)]
pub struct WorkloadDemand {
    /// The object.
    pub id: ObjectId,
    /// Where its document stands.
    pub place: Place,
    /// What it asks for.
    pub demand: ObjectDemand,
    /// The object through which it is counted, if it is counted through another.
    pub through: Option<ObjectId>,
}

/// An object and where it stands.
type Placed<'a> = (&'a ObjectId, &'a Place, &'a Value);

/// Demand by cluster, sorted by name.
pub fn demand(corpus: &Corpus, registry: &Registry) -> Vec<ClusterDemand> {
    let mut clusters: BTreeMap<Option<Arc<str>>, Vec<Placed<'_>>> = BTreeMap::new();
    for document in &corpus.documents {
        for occurrence in &document.occurrences {
            let contexts = corpus.files.get(occurrence.file).map(|file| file.contexts.as_slice());
            for context in contexts.unwrap_or_default() {
                let cluster = context.cluster.as_ref().map(|cluster| cluster.name.clone());
                let objects = clusters.entry(cluster).or_default();
                let resources = document.resources.iter();
                objects.extend(resources.map(|resource| (&resource.id, &occurrence.place, &resource.object)));
            }
        }
    }
    let clusters: Vec<_> = clusters.into_iter().collect();
    (clusters.into_par_iter()).map(|(cluster, objects)| of_cluster(cluster, objects, registry)).collect()
}

fn of_cluster(cluster: Option<Arc<str>>, mut objects: Vec<Placed<'_>>, registry: &Registry) -> ClusterDemand {
    objects.sort_by_key(|(id, place, _)| (*place, *id));
    let tree = Tree::new(registry, objects.iter().map(|(_, _, object)| *object));
    let demands = tree.demand();
    let totals = totals(&demands);
    let id = |index: usize| objects.get(index).map(|(id, _, _)| (*id).clone());
    let workloads = demands.into_iter().filter(asks).filter_map(|demand| {
        let (id_here, place, _) = objects.get(demand.index)?;
        let through = demand.through.and_then(id);
        Some(WorkloadDemand { id: (*id_here).clone(), place: (*place).clone(), demand, through })
    });
    ClusterDemand { cluster, workloads: workloads.collect(), totals }
}

/// Whether an object asks for devices, may ask for some, or is something to be told about.
fn asks(demand: &ObjectDemand) -> bool {
    !demand.demand.is_empty() || !demand.unknown.is_empty() || !demand.notes.is_empty()
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;
    use crate::accelerators::Three;
    use crate::manifest::corpus::{self, Content, InputFile};
    use crate::model::{Cluster, Context};

    const JOB: &str = "apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  parallelism: 4
  completions: 4
  template:
    spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 8}}}]}
";

    fn file(path: &str, text: &str, clusters: &[&str]) -> InputFile {
        let context = |name: &&str| {
            let cluster = Cluster {
                name: (*name).into(),
                environment: "prod".into(),
                provider: None,
                region: None,
                labels: BTreeMap::new(),
                pools: None,
                injects: crate::model::Injects::default(),
                facts: Value::new_object(),
            };
            Arc::new(Context { cluster: Some(Arc::new(cluster)), environment: Some("prod".into()) })
        };
        InputFile {
            path: Arc::new(Utf8PathBuf::from(path)),
            content: Content::Memory(text.as_bytes().into()),
            contexts: clusters.iter().map(context).collect(),
            strict: true,
        }
    }

    #[test]
    fn a_document_counts_in_each_cluster_that_runs_it() {
        // Four pods of eight devices are 32, in each of two clusters; the file that both share counts
        // in both.
        let files = vec![file("a.yaml", JOB, &["one", "two"]), file("b.yaml", JOB, &["two"])];
        let corpus = corpus::read(files, &corpus::Limits::default());
        let demand = demand(&corpus, Registry::builtin());
        let of = |index: usize| (demand[index].cluster.as_deref(), &demand[index].totals["nvidia.com/gpu"]);
        assert_eq!(of(0), (Some("one"), &Three::known(32)));
        assert_eq!(of(1), (Some("two"), &Three::known(64)));
        assert_eq!(demand[1].workloads.len(), 2);
        assert_eq!(demand[1].workloads[1].place.file.as_str(), "b.yaml");
    }
}
