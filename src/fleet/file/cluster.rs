//! Clusters of the fleet file, and what they have.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalar::{Shorthand, Words};

/// One cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cluster {
    /// Its environment.
    pub environment: String,
    /// Cloud provider, such as `aws`, `gcp` or `azure`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Region, as the provider names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Free labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Where its rendered manifests are, instead of the fleet's `rendered`.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub rendered: Words,
    /// Where this entry comes from, such as a Terraform module or an Argo CD cluster secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its Prometheus, instead of the fleet's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prometheus: Option<Prometheus>,
    /// Its accelerators. Absent means that nobody said; an empty list, that it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accelerators: Option<Vec<Accelerator>>,
    /// What the cluster's own webhooks and its cloud add to pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub injects: Option<Injects>,
}

impl Shorthand for Cluster {
    const SHORT: &'static str = "the name of an environment";
    fn short_schema() -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }
    fn from_word(word: &str) -> Result<Self, String> {
        Ok(Self { environment: word.to_owned(), ..Self::default() })
    }
}

/// One kind of accelerator node of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Accelerator {
    /// Family, such as `H100` or `TPU-v6e`.
    pub family: String,
    /// Extended resource that a pod asks for, such as `nvidia.com/gpu`.
    pub resource: String,
    /// Units of `resource` on one node.
    pub per_node: u32,
    /// Nodes, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Capacity type, such as `on-demand`, `spot` or `reserved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_type: Option<String>,
    /// Labels of the nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_labels: BTreeMap<String, String>,
    /// Taints of the nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
    /// Resource of the network fabric that a pod on several nodes asks for, such as
    /// `vpc.amazonaws.com/efa`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric: Option<String>,
    /// How one device is shared, such as `time-slicing`, `mps` or `mig`; whole devices if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<String>,
}

/// A taint of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Taint {
    /// Key.
    pub key: String,
    /// Value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Effect.
    pub effect: Effect,
}

impl Effect {
    /// As Kubernetes writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        }
    }
}

/// What a taint does to a pod that does not tolerate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Effect {
    /// Not scheduled there.
    NoSchedule,
    /// Scheduled elsewhere if possible.
    PreferNoSchedule,
    /// Not scheduled there, and evicted.
    NoExecute,
}

/// What the cluster adds to every pod that asks for a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Injects {
    /// Tolerations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// Node selector entries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Only for pods that ask for one of these resources; all pods if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
}

/// A toleration of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Toleration {
    /// Key; all keys if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// `Equal` (the default) or `Exists`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<Operator>,
    /// Value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Effect; all effects if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

/// How a toleration compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Operator {
    /// Key and value are equal.
    Equal,
    /// The key is there.
    Exists,
}

/// How to reach a Prometheus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prometheus {
    /// Base address, with `{cluster}` filled in.
    pub url: String,
    /// File that holds a bearer token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_file: Option<String>,
    /// File with the certificates of the authorities that are trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// Tenant, for Mimir, Cortex and Thanos.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}
