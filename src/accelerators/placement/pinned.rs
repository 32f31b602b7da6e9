//! What selectors say about devices through the tables alone, whatever the cluster has.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::tables::{self, Model, Named};
use super::super::value::{field, fields, items};
use super::selector::{expressions, required_terms};
use crate::model::{Pool, Value};

/// What node labels say about devices; each part `None` if they say nothing about it.
#[derive(Debug, Clone, Default)]
pub(super) struct Pinned {
    /// The models that it may be; none left if labels contradict each other.
    pub(super) models: Option<Vec<&'static Model>>,
    /// The MIG profile into which devices are divided.
    pub(super) profile: Option<String>,
    /// Whether devices are shared in time, and by how many.
    pub(super) shared: bool,
    pub(super) replicas: Option<u64>,
    /// MiB of a device.
    pub(super) memory: Option<u64>,
    /// The capacity types.
    pub(super) capacity: Option<BTreeSet<Arc<str>>>,
}

/// What the labels of a pool say, or else its family.
pub(super) fn by_pool(pool: &Pool) -> Pinned {
    let mut pinned = Pinned::default();
    for (key, value) in &pool.labels {
        pinned.both(by_label(key, &[&**value]));
    }
    let family: Vec<_> = tables::family(&pool.family).collect();
    // The family is what the owner of the cluster says; labels only narrow it down.
    let narrowed = pinned.models.take().map(|models| common(&models, &family));
    pinned.models = Some(narrowed.filter(|models| !models.is_empty()).unwrap_or(family));
    pinned.shared |= pool.sharing.as_deref().is_some_and(is_shared);
    pinned.capacity = pool.capacity_type.clone().map(|kind| BTreeSet::from([kind])).or(pinned.capacity);
    pinned
}

/// Whether a word for sharing means that a pod gets a share by asking for a device.
fn is_shared(sharing: &str) -> bool {
    const WORDS: [&str; 4] = ["mps", "time-sharing", "time-slicing", "timeslicing"];
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(sharing))
}

/// What a pod spec's node selector and required affinity say.
pub(super) fn by_selectors(spec: &Value) -> Pinned {
    let mut pinned = Pinned::default();
    for (key, value) in field(spec, "nodeSelector").into_iter().flat_map(fields) {
        if let Value::String(value) = value {
            pinned.both(by_label(key, &[value]));
        }
    }
    let terms = required_terms(spec).into_iter().flat_map(items).map(|term| {
        let mut pinned = Pinned::default();
        for (key, operator, values) in expressions(term) {
            if operator == "In" {
                pinned.both(by_label(key, &values));
            }
        }
        pinned
    });
    if let Some(either) = terms.reduce(Pinned::either) {
        pinned.both(either);
    }
    pinned
}

/// What a label says that has one of these values.
fn by_label(key: &str, values: &[&str]) -> Pinned {
    let mut pinned = Pinned::default();
    let named: Vec<Named> = values.iter().filter_map(|value| tables::named(key, value)).collect();
    // A value that the tables do not have may mean anything.
    if !named.is_empty() && named.iter().all(|named| !named.models.is_empty()) {
        let mut models: Vec<&Model> = Vec::new();
        for model in named.iter().flat_map(|named| &named.models) {
            if !models.iter().any(|known| known.model == model.model) {
                models.push(model);
            }
        }
        pinned.models = Some(models);
    }
    if let [value] = values {
        pinned.profile = named.iter().find_map(|named| named.profile.clone());
        pinned.shared = named.iter().any(|named| named.shared);
        if tables::is_slices_key(key) {
            pinned.profile = Some((*value).to_owned());
        }
        if tables::is_shares_key(key) {
            pinned.replicas = value.parse().ok();
            pinned.shared |= pinned.replicas.is_some_and(|replicas| replicas > 1);
        }
        if key == "nvidia.com/gpu.memory" {
            pinned.memory = value.parse().ok();
        }
    }
    let capacity: Option<BTreeSet<_>> =
        values.iter().map(|value| tables::capacity(key, value).cloned()).collect();
    pinned.capacity = capacity.filter(|capacity| !capacity.is_empty());
    pinned
}

impl Pinned {
    /// The families of its models.
    pub(super) fn families(&self) -> BTreeSet<Arc<str>> {
        self.models.iter().flatten().map(|model| model.family.clone()).collect()
    }

    /// Both hold.
    pub(super) fn both(&mut self, other: Self) {
        self.models = match (self.models.take(), other.models) {
            (Some(a), Some(b)) => Some(common(&a, &b)),
            (a, b) => a.or(b),
        };
        self.capacity = match (self.capacity.take(), other.capacity) {
            (Some(a), Some(b)) => Some(a.intersection(&b).cloned().collect()),
            (a, b) => a.or(b),
        };
        self.profile = self.profile.take().or(other.profile);
        self.shared |= other.shared;
        self.replicas = self.replicas.or(other.replicas);
        self.memory = self.memory.or(other.memory);
    }

    /// One of both holds: only what both say is said.
    fn either(self, other: Self) -> Self {
        let models = self.models.zip(other.models).map(|(mut a, b)| {
            a.extend(b);
            a
        });
        Self {
            models,
            profile: self.profile.filter(|profile| Some(profile) == other.profile.as_ref()),
            shared: self.shared && other.shared,
            replicas: self.replicas.filter(|replicas| Some(*replicas) == other.replicas),
            memory: self.memory.filter(|memory| Some(*memory) == other.memory),
            capacity: self.capacity.zip(other.capacity).map(|(a, b)| a.union(&b).cloned().collect()),
        }
    }
}

/// The models that both lists may mean. Where one is precise and the other is not, the precise ones;
/// where they name different models of one family, those of the family.
fn common(a: &[&'static Model], b: &[&'static Model]) -> Vec<&'static Model> {
    let families =
        |models: &[&Model]| models.iter().map(|model| model.family.clone()).collect::<BTreeSet<_>>();
    let shared: BTreeSet<_> = families(a).intersection(&families(b)).cloned().collect();
    let same = a.iter().filter(|model| b.iter().any(|other| other.model == model.model));
    let same: Vec<_> = same.copied().collect();
    if !same.is_empty() {
        return same;
    }
    a.iter().chain(b).filter(|model| shared.contains(&model.family)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest;

    fn pinned(spec: &str) -> Pinned {
        by_selectors(&manifest::value(spec).expect("a pod spec"))
    }

    fn affinity(terms: &str) -> String {
        format!(
            "{{affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{terms}]}}}}}}}}"
        )
    }

    fn families(spec: &str) -> Vec<String> {
        pinned(spec).families().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_cloud_s_selector_pins_a_family() {
        for (selector, family) in [
            ("cloud.google.com/gke-accelerator: nvidia-h100-80gb", "H100"),
            ("cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice", "TPU-v6e"),
            ("karpenter.k8s.aws/instance-gpu-name: h100", "H100"),
            ("karpenter.k8s.aws/instance-accelerator-name: trainium2", "Trainium2"),
            ("eks.amazonaws.com/instance-gpu-name: l4", "L4"),
            ("karpenter.azure.com/sku-gpu-name: T4", "T4"),
            ("nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB", "A100"),
            ("node.kubernetes.io/instance-type: p5.48xlarge", "H100"),
        ] {
            assert_eq!(families(&format!("{{nodeSelector: {{{selector}}}}}")), [family], "{selector}");
        }
        assert_eq!(families("{nodeSelector: {disktype: ssd}}"), <[&str; 0]>::default());
    }

    #[test]
    fn terms_are_alternatives_and_expressions_hold_together() {
        let gpu = |values: &str| {
            format!("{{key: karpenter.k8s.aws/instance-gpu-name, operator: In, values: [{values}]}}")
        };
        let type_ = "{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}";
        let one = |expressions: &str| format!("{{matchExpressions: [{expressions}]}}");
        let both = one(&format!("{}, {type_}", gpu("h100, a100")));
        assert_eq!(families(&affinity(&both)), ["H100"]);
        let either = format!("{}, {}", one(&gpu("h100")), one(&gpu("l4")));
        assert_eq!(families(&affinity(&either)), ["H100", "L4"]);
        // A term that says nothing about models leaves them all.
        let any = format!("{}, {}", one(&gpu("h100")), one("{key: disktype, operator: Exists}"));
        assert_eq!(families(&affinity(&any)), <[&str; 0]>::default());
        // A value that the tables do not have may mean anything.
        assert_eq!(families(&affinity(&one(&gpu("h100, x900")))), <[&str; 0]>::default());
    }

    #[test]
    fn a_selector_may_pin_model_capacity_and_division() {
        let pinned = pinned(
            "{nodeSelector: {cloud.google.com/gke-accelerator: nvidia-a100-80gb, cloud.google.com/gke-spot: 'true',
            cloud.google.com/gke-gpu-partition-size: 1g.10gb, cloud.google.com/gke-max-shared-clients-per-gpu: '3'}}",
        );
        let models: Vec<_> = pinned.models.iter().flatten().map(|model| &*model.model).collect();
        assert_eq!(models, ["NVIDIA-A100-SXM4-80GB"]);
        assert_eq!(pinned.capacity, Some(BTreeSet::from(["spot".into()])));
        assert_eq!(pinned.profile.as_deref(), Some("1g.10gb"));
        assert_eq!((pinned.shared, pinned.replicas), (true, Some(3)));
    }
}
