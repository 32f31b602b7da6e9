//! Entries of the registry as they are written, in `kinds.yaml` and in a fleet file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One entry, as written. Formulas are those of the table in `formula.rs`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct KindEntry {
    /// API group; empty for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Kind.
    pub kind: String,
    /// API versions that have this shape; empty: all that no other entry names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
    /// The replicas of the whole object: what autoscalers of other kinds set.
    #[serde(default, skip_serializing_if = "ScaleEntry::is_empty")]
    pub scale: ScaleEntry,
    /// When it runs no pods. A queue label means that the queue will start it, so it is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspended: Option<String>,
    /// Its pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<PartEntry>,
    /// Kinds that its controller makes, as `Kind.group`: such an object with a fitting owner
    /// reference is counted through this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub creates: Vec<String>,
    /// Whether it only holds templates that other objects run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub template: bool,
    /// Whether any workload's controller may have made it, as a queue makes its own record of a job.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub derived: bool,
    /// Within what bounds it sets the replicas of `spec.scaleTargetRef`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoscales: Option<AutoscalesEntry>,
    /// A rule that no formula can say, by the name it has in the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// The bounds of an autoscaler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AutoscalesEntry {
    /// The least replicas.
    pub min: String,
    /// The most.
    pub max: String,
}

/// Replicas now, at most, and while they are replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ScaleEntry {
    /// How many; 1 if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<String>,
    /// How many an autoscaler can make of it; as many if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
    /// How many there are at the worst moment of replacing `n`; `n` if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<String>,
}

impl ScaleEntry {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Some of the pods of a kind. Exactly one of `template`, `spec`, `container`, `object`, `embeds`
/// with `at`, `runs` and `unseen` says what they are; `devices` may stand alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PartEntry {
    /// A list or mapping: one part for each entry, which formulas call `item`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// What these pods are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// A formula for the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_from: Option<String>,
    /// Whether there are such pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Where a `PodTemplateSpec` (or a pod) is; `.` is the object itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Where a `PodSpec` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// Where a single container is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Where a whole object is, of the kind `embeds` or of the kind it states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The kind whose `spec` is at `at`, as `Kind.group`, or that is at `object`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeds: Option<String>,
    /// A field `{apiVersion, kind, name}` that names another object whose `spec.template` it runs
    /// instead of that object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<String>,
    /// Where the spec of `embeds` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Fields of the pod spec that each hold one more container.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inline: Vec<String>,
    /// Fields of the pod spec that hold lists of further containers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// Devices that a pod asks for outside `resources`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceEntry>,
    /// As in [`ScaleEntry`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<String>,
    /// As in [`ScaleEntry`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
    /// As in [`ScaleEntry`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<String>,
    /// Pods in a replica; 1 if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
    /// By how many per cent more an upgrade runs, each group rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<String>,
    /// Groups elsewhere in the object that multiply the entries of `each` which they list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<TimesEntry>,
    /// Whether the place may be empty: the controller then brings a pod of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// Whether the controller sets the suspension of what is embedded itself, so that what is written
    /// there says nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub starts: bool,
    /// Why there are pods that the object does not show; stands instead of a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
}

/// Groups that multiply parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TimesEntry {
    /// The list of groups.
    pub each: String,
    /// The field of a group that lists the names of its members.
    pub lists: String,
    /// As in [`ScaleEntry`]; `item` is the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<String>,
    /// As in [`ScaleEntry`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
}

/// Devices that are asked for by a field of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DeviceEntry {
    /// Resource name.
    pub resource: String,
    /// A formula for the resource name, where the object states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_from: Option<String>,
    /// How many.
    pub amount: String,
}

/// Rules that no formula can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A Kubeflow `TrainJob`: the pods are those of the runtime it names, changed by it.
    TrainJob,
    /// A `KServe` predictor with `workerSpec`: pods and devices from the two parallel sizes.
    KserveMultiNode,
    /// An Argo workflow: containers of its templates, bounded by `parallelism` only.
    Workflow,
}
