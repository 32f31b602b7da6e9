//! Kueue: `LocalQueue` → `ClusterQueue` → `ResourceFlavor`, in `v1beta1` and `v1beta2`.

mod admit;
mod cohort;
mod limits;
mod pod_sets;
mod problems;
mod quota;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::queue_name::takes_default;
use super::select::{Labels, selects};
use super::{Flavor, Queued, name};
use crate::accelerators::tree::{Tree, namespace};
use crate::accelerators::value::{fields, items, path, text};
use crate::accelerators::workload::kind_of;
use crate::model::Value;
use cohort::{Cohort, Cohorts};
use quota::{Cap, FlavorQuota, FlavorResource};

pub(super) const GROUP: &str = "kueue.x-k8s.io";

/// The queues, flavours and namespaces of a cluster.
#[derive(Debug)]
pub(super) struct Kueue {
    pub complete: bool,
    /// By name, with the namespace that each states.
    pub local: BTreeMap<Arc<str>, Vec<LocalQueue>>,
    pub cluster: BTreeMap<Arc<str>, ClusterQueue>,
    pub flavors: BTreeMap<Arc<str>, Flavor>,
    pub namespaces: BTreeMap<Arc<str>, Labels>,
    cohorts: Cohorts,
}

#[derive(Debug)]
pub(super) struct LocalQueue {
    pub index: usize,
    pub namespace: Option<Arc<str>>,
    pub cluster_queue: Option<Arc<str>>,
}

#[derive(Debug)]
pub(super) struct ClusterQueue {
    pub index: usize,
    pub cohort: Option<Arc<str>>,
    pub groups: Vec<Group>,
    quotas: BTreeMap<FlavorResource, FlavorQuota>,
    /// None: it takes no namespace.
    pub namespaces: Option<Value>,
    pub stopped: bool,
    /// Whether it hands its workloads on to other clusters.
    pub multikueue: bool,
}

/// A group of resources for which one flavour is chosen.
#[derive(Debug)]
pub(super) struct Group {
    pub covered: BTreeSet<Arc<str>>,
    /// Names, in the order in which they are tried.
    pub flavors: Vec<Arc<str>>,
}

impl Kueue {
    pub(super) fn of(tree: &Tree<'_>, complete: bool) -> Self {
        let mut local: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (index, object) in tree.of_kind(GROUP, "LocalQueue") {
            let Some(name) = name(object) else { continue };
            local.entry(name.clone()).or_default().push(LocalQueue {
                index,
                namespace: namespace(object).map(Arc::from),
                cluster_queue: text(object, &["spec", "clusterQueue"]).filter(|q| !q.is_empty()).cloned(),
            });
        }
        let checks: BTreeSet<&str> = (tree.of_kind(GROUP, "AdmissionCheck"))
            .filter(|(_, check)| {
                text(check, &["spec", "controllerName"]).is_some_and(|c| **c == *"kueue.x-k8s.io/multikueue")
            })
            .filter_map(|(_, check)| name(check).map(|name| &**name))
            .collect();
        let mut cluster = BTreeMap::new();
        for (index, object) in tree.of_kind(GROUP, "ClusterQueue") {
            if let Some(name) = name(object) {
                cluster.entry(name.clone()).or_insert_with(|| ClusterQueue::of(index, object, &checks));
            }
        }
        let flavors = (tree.of_kind(GROUP, "ResourceFlavor"))
            .filter_map(|(_, object)| Some((name(object)?.clone(), flavor(object)?)))
            .collect();
        let namespaces = (tree.of_kind("", "Namespace"))
            .filter_map(|(_, object)| {
                let name = name(object)?;
                let mut known = labels(path(object, &["metadata", "labels"]));
                known.insert("kubernetes.io/metadata.name".into(), name.clone());
                Some((name.clone(), Labels { known, all: true }))
            })
            .collect();
        let cohorts = (tree.of_kind(GROUP, "Cohort")).filter_map(|(_, object)| {
            let parent = text(object, &["spec", "parentName"])
                // `parent` in v1alpha1.
                .or_else(|| text(object, &["spec", "parent"]))
                .filter(|parent| !parent.is_empty());
            Some((name(object)?.clone(), Cohort { parent: parent.cloned(), quotas: quota::quotas(object) }))
        });
        let members =
            cluster.values().filter_map(|queue: &ClusterQueue| Some((queue.cohort.as_ref()?, &queue.quotas)));
        let cohorts = Cohorts::of(cohorts.collect(), members);
        Self { complete, local, cluster, flavors, namespaces, cohorts }
    }

    /// The way of an object that names no queue: a `LocalQueue` named `default` takes those of the
    /// kinds that Kueue manages (`ApplyDefaultLocalQueue` of pkg/controller/jobframework/defaults.go).
    pub(super) fn default_queue(&self, object: &Value) -> Queued {
        let namespace = namespace(object);
        if namespace.is_none() || !takes_default(object) || self.find("default", namespace).is_none() {
            return Queued::No;
        }
        self.resolve(&"default".into(), namespace)
    }

    /// The `LocalQueue` of a name. Where one side states no namespace, the only one is meant.
    pub(super) fn find(&self, name: &str, namespace: Option<&str>) -> Option<&LocalQueue> {
        let found = self.local.get(name)?;
        if let Some(queue) = found.iter().find(|queue| queue.namespace.as_deref() == namespace) {
            return Some(queue);
        }
        let mut near = found.iter().filter(|queue| queue.namespace.is_none() || namespace.is_none());
        match (near.next(), near.next()) {
            (Some(queue), None) => Some(queue),
            _ => None,
        }
    }

    /// Namespaces that have a queue.
    pub(super) fn namespaces_with_queues(&self) -> BTreeSet<Option<&str>> {
        self.local.values().flatten().map(|queue| queue.namespace.as_deref()).collect()
    }

    /// The way from a `LocalQueue` to its flavours.
    pub(super) fn resolve(&self, queue: &Arc<str>, namespace: Option<&str>) -> Queued {
        let missing = |why: String, certain: bool| Queued::Unresolved {
            queue: queue.clone(),
            why,
            certain: certain && self.complete,
        };
        let Some(local) = self.find(queue, namespace) else {
            let place = namespace.map_or(String::new(), |namespace| format!(" of namespace `{namespace}`"));
            // Without a namespace, there may be one where the manifest is applied.
            let certain = !self.local.is_empty() && namespace.is_some();
            return missing(
                format!("LocalQueue `{queue}`{place} is not in this cluster's manifests"),
                certain,
            );
        };
        let Some(behind) = &local.cluster_queue else {
            return missing(format!("LocalQueue `{queue}` names no ClusterQueue"), true);
        };
        let Some(cluster) = self.cluster.get(behind) else {
            let why = format!("ClusterQueue `{behind}` is not in this cluster's manifests");
            return missing(why, !self.cluster.is_empty());
        };
        let mut flavors = Vec::new();
        for group in &cluster.groups {
            for name in &group.flavors {
                let Some(flavor) = self.flavors.get(name) else {
                    let why = format!(
                        "ResourceFlavor `{name}` of ClusterQueue `{behind}` is not in this cluster's manifests"
                    );
                    return missing(why, !self.flavors.is_empty());
                };
                flavors.push(Flavor { resources: group.covered.clone(), ..flavor.clone() });
            }
        }
        Queued::Through {
            queue: queue.clone(),
            cluster_queue: behind.clone(),
            flavors,
            elsewhere: cluster.multikueue,
        }
    }

    /// The most of a resource in a flavour that a queue ever gets. With a cohort of which members may
    /// be missing, no more than its own and what it may borrow.
    fn most(&self, queue: &ClusterQueue, key: &FlavorResource) -> Cap {
        let Some(quota) = queue.quotas.get(key) else { return Ok(0) };
        match (&queue.cohort, &quota.borrowing) {
            (None, _) => quota.nominal.clone(),
            (Some(cohort), _) if self.complete => self.cohorts.most(cohort, key, quota),
            (Some(_), Some(borrowing)) => Ok(quota.nominal.clone()?.saturating_add(borrowing.clone()?)),
            (Some(cohort), None) => {
                Err(format!("not all members of the cohort `{cohort}` may have been read").into())
            }
        }
    }

    /// Whether a queue takes workloads of a namespace; `None` if its labels are not known. A queue
    /// without a selector takes none.
    pub(super) fn takes(&self, queue: &ClusterQueue, namespace: Option<&str>) -> Option<bool> {
        let Some(selector) = &queue.namespaces else { return Some(false) };
        let labels = match namespace {
            Some(namespace) => self.namespaces.get(namespace).cloned().unwrap_or_else(|| Labels {
                known: BTreeMap::from([("kubernetes.io/metadata.name".into(), namespace.into())]),
                all: false,
            }),
            None => Labels::default(),
        };
        selects(selector, &labels)
    }
}

impl ClusterQueue {
    fn of(index: usize, object: &Value, multikueue: &BTreeSet<&str>) -> Self {
        let groups = path(object, &["spec", "resourceGroups"]).into_iter().flat_map(items);
        let listed = path(object, &["spec", "admissionChecks"]).into_iter().flat_map(items);
        let strategy = path(object, &["spec", "admissionChecksStrategy", "admissionChecks"]);
        let named = strategy.into_iter().flat_map(items).filter_map(|check| path(check, &["name"]));
        let is_v1beta1 = kind_of(object).is_some_and(|(_, version, _)| version == "v1beta1");
        Self {
            index,
            // In v1beta1 it is `cohort`, which later versions do not read.
            cohort: text(object, &["spec", "cohortName"])
                .or_else(|| text(object, &["spec", "cohort"]).filter(|_| is_v1beta1))
                .filter(|cohort| !cohort.is_empty())
                .cloned(),
            groups: groups.map(Group::of).collect(),
            quotas: quota::quotas(object),
            namespaces: path(object, &["spec", "namespaceSelector"]).cloned(),
            stopped: is_stopped(object),
            multikueue: listed
                .chain(named)
                .any(|check| matches!(check, Value::String(check) if multikueue.contains(&**check))),
        }
    }
}

impl Group {
    fn of(group: &Value) -> Self {
        let covered = path(group, &["coveredResources"]).into_iter().flat_map(items);
        let flavors = path(group, &["flavors"]).into_iter().flat_map(items);
        Self {
            covered: covered.filter_map(|name| name.as_string().ok().cloned()).collect(),
            flavors: flavors.filter_map(|flavor| text(flavor, &["name"]).cloned()).collect(),
        }
    }
}

fn is_stopped(object: &Value) -> bool {
    text(object, &["spec", "stopPolicy"]).is_some_and(|policy| **policy != *"None" && !policy.is_empty())
}

fn labels(value: Option<&Value>) -> BTreeMap<Arc<str>, Arc<str>> {
    value
        .map(fields)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(key, value)| Some((key.clone(), value.as_string().ok()?.clone())))
        .collect()
}

fn flavor(object: &Value) -> Option<Flavor> {
    let list = |key| path(object, &["spec", key]).into_iter().flat_map(items).cloned().collect();
    Some(Flavor {
        name: name(object)?.clone(),
        resources: BTreeSet::new(),
        node_labels: labels(path(object, &["spec", "nodeLabels"])),
        tolerations: list("tolerations"),
        node_taints: list("nodeTaints"),
        topology: text(object, &["spec", "topologyName"]).cloned(),
    })
}
