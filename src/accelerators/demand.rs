//! The demand of a cluster's objects: three numbers for each resource.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::amount::{Amount, Three};
use super::claims::{ClaimRef, NO_CLASS, claim_devices, pod_claims};
use super::pod::{Resources, add, misshapen, pod_resources, raise};
use super::registry::KindName;
use super::resources::class;
use super::tree::{Note, Tree, namespace};
use super::value::{field, items, path, text};
use super::workload::{Workload, kind_of};
use crate::model::{Route, Value};

/// Demand by resource name; resources of which none is asked for are left out.
pub type Totals = BTreeMap<Arc<str>, Three>;

/// What one object asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectDemand {
    /// Position of the object in the tree.
    pub index: usize,
    /// Its pods; `None` for a claim, which asks for devices without running anything.
    pub workload: Option<Workload>,
    /// What one pod of each group asks for, in the order of the workload's groups.
    pub pods: Vec<Resources>,
    /// What it asks for, if it is not counted through another object.
    pub demand: Totals,
    /// The object through which it is counted.
    pub through: Option<usize>,
    /// Why it may ask for more; empty if all is known.
    pub unknown: BTreeSet<Arc<str>>,
    /// What else is to be said.
    pub notes: Vec<Note>,
}

impl ObjectDemand {
    /// Whether it asks for devices, or may, or somebody should know something about it.
    pub fn asks(&self) -> bool {
        !self.demand.is_empty()
            || !self.unknown.is_empty()
            || !self.notes.is_empty()
            || self.pods.iter().any(|pod| !pod.is_empty())
    }

    /// What it adds to the cluster's demand.
    pub fn counted(&self) -> Option<&Totals> {
        self.through.is_none().then_some(&self.demand)
    }
}

/// The sum of what objects ask for, each counted once.
pub fn totals<'a>(objects: impl IntoIterator<Item = &'a ObjectDemand>) -> Totals {
    let mut sum = Totals::new();
    for (resource, three) in objects.into_iter().filter_map(ObjectDemand::counted).flatten() {
        let entry = sum.entry(resource.clone()).or_insert(Three::ZERO);
        *entry = entry.add(three);
    }
    sum
}

impl Tree<'_> {
    /// What each object asks for, in the order of the tree; objects that ask for nothing and run
    /// nothing are left out.
    pub fn demand(&self) -> Vec<ObjectDemand> {
        let mut lent = BTreeMap::new();
        let mut demands: BTreeMap<usize, ObjectDemand> = BTreeMap::new();
        for index in 0..self.objects.len() {
            if let Some(demand) = self.object_demand(index, &mut lent) {
                demands.insert(index, demand);
            }
        }
        for (lender, borrower) in lent {
            if let Some(demand) = demands.get_mut(&lender) {
                demand.through = Some(borrower);
            }
        }
        self.derive(&mut demands);
        demands.into_values().collect()
    }

    fn object_demand(&self, index: usize, lent: &mut BTreeMap<usize, usize>) -> Option<ObjectDemand> {
        let object = *self.objects.get(index)?;
        let mut demand = ObjectDemand {
            index,
            workload: None,
            pods: Vec::new(),
            demand: Totals::new(),
            through: None,
            unknown: BTreeSet::new(),
            notes: self.notes.get(&index).cloned().unwrap_or_default(),
        };
        if matches!(kind_of(object), Some(("resource.k8s.io", _, "ResourceClaim"))) {
            let spec = field(object, "spec")?;
            demand.add(&claim_devices(spec, &Route::root().key("spec")), &Three::ONE);
            return Some(demand);
        }
        let (workload, borrowed) = self.registry.workload_in(object, self, self.bounds(index))?;
        lent.extend(borrowed.into_iter().map(|lender| (lender, index)));
        demand.unknown.extend(workload.unknown.iter().cloned());
        for group in &workload.pods {
            let count = group.count();
            let mut pod = pod_resources(&group.spec, &group.path);
            raise(&mut pod, &group.devices.iter().cloned().collect());
            // A template that runs nothing may name claims that are made where it runs.
            let mut unresolved: BTreeSet<Arc<str>> =
                misshapen(&group.spec, &group.path).into_iter().map(Into::into).collect();
            self.add_claims(&mut pod, &group.spec, &group.path, namespace(object), &mut unresolved);
            if !count.autoscaled.is_zero() {
                demand.unknown.append(&mut unresolved);
            }
            pod.retain(|resource, amount| counts(resource) && !amount.is_zero());
            demand.add(&pod, &count);
            demand.pods.push(pod);
        }
        demand.workload = Some(workload);
        Some(demand)
    }

    /// Adds to a pod's resources the claims that it gets for itself. Claims that exist once count as
    /// objects of their own.
    fn add_claims(
        &self,
        pod: &mut Resources,
        spec: &Value,
        at: &Route,
        namespace: Option<&str>,
        unknown: &mut BTreeSet<Arc<str>>,
    ) {
        for claim in pod_claims(spec, at) {
            match claim {
                ClaimRef::Template(name) => {
                    let found = self
                        .find("resource.k8s.io", "ResourceClaimTemplate", &name, namespace)
                        .and_then(|index| path(self.objects.get(index).copied()?, &["spec", "spec"]));
                    match found {
                        Some(spec) => {
                            let template = Route::root().key("spec").key("spec");
                            add(pod, &claim_devices(spec, &template));
                        }
                        None if self.channels.contains(&*name) => {}
                        None => {
                            unknown.insert(
                                format!("ResourceClaimTemplate `{name}` is not in this cluster's manifests")
                                    .into(),
                            );
                        }
                    }
                }
                ClaimRef::Shared(name) => {
                    if self.find("resource.k8s.io", "ResourceClaim", &name, namespace).is_none() {
                        unknown.insert(
                            format!("ResourceClaim `{name}` is not in this cluster's manifests").into(),
                        );
                    }
                }
                ClaimRef::Unreadable(why) => {
                    unknown.insert(why.into());
                }
            }
        }
    }

    /// Finds objects that are counted through their owner: the owner is in the tree, its kind makes
    /// this kind, and it accounts for all that its dependents ask for. An invented owner hides
    /// nothing.
    fn derive(&self, demands: &mut BTreeMap<usize, ObjectDemand>) {
        let mut dependents: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut notes = BTreeMap::new();
        for index in demands.keys() {
            match self.owner(*index) {
                Owner::None => {}
                Owner::Maker(owner) => dependents.entry(owner).or_default().push(*index),
                Owner::Unfit(why) => {
                    notes.insert(*index, why);
                }
            }
        }
        let mut through = BTreeMap::new();
        for (owner, children) in dependents {
            let sum = totals(children.iter().filter_map(|index| demands.get(index)));
            let unknown =
                children.iter().filter_map(|index| demands.get(index)).any(|d| !d.unknown.is_empty());
            let covers = demands.get(&owner).is_some_and(|owner| !unknown && owner.covers(&sum));
            for child in children {
                if !covers {
                    notes.insert(child, "its owner does not account for what it asks for".to_owned());
                } else if self.is_in_cycle(child) {
                    notes.insert(child, "its owners own each other".to_owned());
                } else {
                    through.insert(child, owner);
                }
            }
        }
        for demand in demands.values_mut() {
            if let Some(owner) = through.remove(&demand.index) {
                demand.through = Some(owner);
            }
            if let (Some(message), false) = (notes.remove(&demand.index), demand.demand.is_empty()) {
                demand.notes.push(Note { code: "owner-does-not-count", message });
            }
        }
    }

    fn owner(&self, index: usize) -> Owner {
        let Some(object) = self.objects.get(index).copied() else { return Owner::None };
        let references: Vec<_> =
            path(object, &["metadata", "ownerReferences"]).into_iter().flat_map(items).collect();
        let controls =
            |reference: &&&Value| matches!(field(reference, "controller"), Some(Value::Bool(true)));
        let Some(reference) = references.iter().find(controls).or(references.first()).copied() else {
            return Owner::None;
        };
        let Some(owner) = self.follow(reference, ("", ""), namespace(object)) else {
            return Owner::Unfit("its owner is not in this cluster's manifests".into());
        };
        let uid = |value: Option<&Value>| value.and_then(|value| text(value, &["uid"])).cloned();
        let metadata = self.objects.get(owner).and_then(|owner| field(owner, "metadata"));
        if let (Some(stated), Some(real)) = (uid(Some(reference)), uid(metadata))
            && stated != real
        {
            return Owner::Unfit("its owner has another uid".into());
        }
        let Some((group, _, kind)) = kind_of(object) else { return Owner::None };
        let name = KindName { group: group.into(), kind: kind.into() };
        let any = self.entry(index).is_some_and(|kind| kind.derived);
        match self.entry(owner) {
            Some(maker) if any || maker.creates.contains(&name) => Owner::Maker(owner),
            _ => Owner::Unfit(format!("its owner is of a kind that makes no `{name}`")),
        }
    }

    fn is_in_cycle(&self, start: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut index = start;
        while let Owner::Maker(owner) = self.owner(index) {
            // No controllers make each other that deep.
            if !seen.insert(owner) || seen.len() > 16 {
                return true;
            }
            index = owner;
        }
        false
    }
}

/// Whether units of a resource are demanded.
fn counts(resource: &str) -> bool {
    class(resource).counts() || resource == NO_CLASS
}

enum Owner {
    None,
    Maker(usize),
    Unfit(String),
}

impl ObjectDemand {
    /// Adds so many pods that each ask for this.
    fn add(&mut self, pod: &Resources, count: &Three) {
        for (resource, amount) in pod {
            let three = count.mul(&Three::same(amount));
            if three.steady.is_zero() && three.autoscaled.is_zero() || !counts(resource) {
                continue;
            }
            let entry = self.demand.entry(resource.clone()).or_insert(Three::ZERO);
            *entry = entry.add(&three);
        }
    }

    /// Whether it accounts for what its dependents ask for, in the number that budgets and quotas count:
    /// what an autoscaler may add one day covers nothing that runs now.
    fn covers(&self, dependents: &Totals) -> bool {
        dependents.iter().all(|(resource, asked)| {
            let own = self.demand.get(resource).map_or(Amount::ZERO, |three| three.rollout.clone());
            match (asked.steady.known(), own) {
                (Some(n), Amount::Unbounded { .. }) => n < u64::MAX,
                (Some(n), own) => own.at_least() >= n,
                (None, Amount::Unbounded { .. }) => true,
                (None, _) => false,
            }
        })
    }
}
