//! What the cluster's own quota says, row by row, as rules see it.

use std::sync::Arc;

use super::queue_name::Named;
use super::seen::Seen;
use crate::accelerators::amount::{Amount, Fits, Three};
use crate::accelerators::pod::Resources;
use crate::accelerators::tree::{Tree, namespace};
use crate::accelerators::value::{object as mapping, text};
use crate::accelerators::workload::kind_of;
use crate::model::{Route, Step, Value};

/// A row about the quota of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quota {
    /// A limit, and what counts against it.
    Limit(Limit),
    /// Whether a workload can be started by its queue at all.
    Admission(Admission),
    /// Something about a quota object itself.
    Problem(Problem),
}

/// An object of the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ref {
    /// Position in the tree; the largest number for what is no object, such as the nodes of a cluster.
    pub index: usize,
    /// API group; empty for the core group.
    pub group: Arc<str>,
    /// Kind.
    pub kind: Arc<str>,
    /// Namespace that the object states.
    pub namespace: Option<Arc<str>>,
    /// Name, or the start of it that the API server completes (`metadata.generateName`).
    pub name: Arc<str>,
}

/// How much a limit allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Most {
    /// So much.
    Known(u64),
    /// As much as there is.
    Unlimited,
    /// The manifests do not say; the reason, for people.
    Unknown(Arc<str>),
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// `resource-quota`, `kueue`, `volcano`, `kai`, `elastic-quota`, `karpenter` or `pools`.
    pub system: &'static str,
    /// The object that sets it.
    pub at: Ref,
    /// Where in that object.
    pub path: Route,
    /// The key under which the object states it, such as `requests.nvidia.com/gpu`.
    pub key: Arc<str>,
    /// The resource or device class that it limits.
    pub resource: Arc<str>,
    /// The flavour, for a limit of one.
    pub flavor: Option<Arc<str>>,
    /// Whether amounts are thousandths of a device instead of units of the resource.
    pub thousandths: bool,
    /// How much.
    pub most: Most,
    /// What counts against it from the moment that it is applied. `rollout` is the steady sum and the
    /// largest surge of one contributor: rollouts are taken to happen one at a time.
    pub used: Three,
    /// What must fit at once: all that goes on, and the largest of what runs to an end, for the others
    /// can run after it.
    pub needed: Amount,
    /// What a queue starts only when there is room; the sum.
    pub queued: Amount,
    /// What counts, in the order of the tree.
    pub contributors: Vec<Contributor>,
    /// Who may raise it, if the object says so.
    pub owner: Option<Arc<str>>,
    /// What else a system says of it.
    pub facts: Vec<(&'static str, Value)>,
}

/// An object that counts against a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contributor {
    /// The object.
    pub at: Ref,
    /// How much of the limited resource.
    pub amount: Three,
    /// Whether a queue starts it when there is room.
    pub queued: bool,
    /// Whether it runs to an end.
    pub ends: bool,
    /// Whether its rollout stands still without room for the surge; unknown for kinds whose
    /// controllers are not modelled.
    pub needs_surge: Fits,
}

/// Whether a queue can ever start a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// `kueue`, `volcano` or `kai`.
    pub system: &'static str,
    /// The workload.
    pub workload: Ref,
    /// Where it names the queue; where it would, if a default queue takes it.
    pub path: Route,
    /// The queue that it names.
    pub queue: Arc<str>,
    /// The object that sets the limit.
    pub at: Option<Ref>,
    /// `yes`: it can be; `no`: never.
    pub possible: Fits,
    /// Why not, or why that is not known, one line each.
    pub reasons: Vec<Reason>,
    /// Whether its pods are started one by one.
    pub by_pod: bool,
    /// The least that must be started at once, by resource.
    pub asks: Vec<(Arc<str>, Amount)>,
    /// Who may raise the limit, if its object says so.
    pub owner: Option<Arc<str>>,
    /// What people should know about how it is counted.
    pub notes: Vec<Arc<str>>,
}

/// Why a queue does not start a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// `too-large`, `not-covered`, `flavors`, `namespace`, `stopped`, `not-a-leaf`, `cohort-cycle`,
    /// or `unknown`.
    pub code: &'static str,
    /// For people.
    pub message: String,
    /// The resource, if it is about one.
    pub resource: Option<Arc<str>>,
    /// How much is asked for, if it is about an amount.
    pub asked: Option<Amount>,
    /// The most that there can be.
    pub most: Option<u64>,
}

/// A fault of a quota object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The system, as [`Limit::system`].
    pub system: &'static str,
    /// The object.
    pub at: Ref,
    /// Where in it.
    pub path: Route,
    /// A stable kebab-case word.
    pub code: &'static str,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What to write.
    pub remediation: String,
    /// Whether it is wrong whatever other manifests of the cluster say.
    pub certain: bool,
}

impl Ref {
    /// The object at a position.
    pub(super) fn of(tree: &Tree<'_>, index: usize) -> Option<Self> {
        let object = *tree.objects.get(index)?;
        let (group, _, kind) = kind_of(object)?;
        Some(Self {
            index,
            group: group.into(),
            kind: kind.into(),
            namespace: namespace(object).map(Arc::from),
            // As the identity of an object is read: the start of a name that the API server makes counts.
            name: text(object, &["metadata", "name"])
                .or_else(|| text(object, &["metadata", "generateName"]))
                .cloned()
                .unwrap_or_else(|| "".into()),
        })
    }

    fn to_value(&self) -> Value {
        mapping([
            ("group", Value::String(self.group.clone())),
            ("kind", Value::String(self.kind.clone())),
            ("namespace", option(self.namespace.as_ref())),
            ("name", Value::String(self.name.clone())),
        ])
    }
}

impl Most {
    /// Whether an amount is within it.
    pub(super) fn fits(&self, amount: &Amount) -> Fits {
        match self {
            Self::Known(n) => amount.fits(*n),
            Self::Unlimited => Fits::Yes,
            Self::Unknown(_) => Fits::Unknown,
        }
    }
}

impl Quota {
    /// The object that the row is about: a quota object, or the workload of an admission.
    pub const fn object(&self) -> &Ref {
        match self {
            Self::Limit(limit) => &limit.at,
            Self::Admission(admission) => &admission.workload,
            Self::Problem(problem) => &problem.at,
        }
    }

    /// As an element of `input.quotas`; the module's documentation has the shape.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Limit(limit) => limit.to_value(),
            Self::Admission(admission) => admission.to_value(),
            Self::Problem(problem) => problem.to_value(),
        }
    }
}

impl Limit {
    fn to_value(&self) -> Value {
        let (limit, why) = match &self.most {
            Most::Known(n) => (Value::from(*n), ""),
            Most::Unlimited => (Value::Null, ""),
            Most::Unknown(why) => (Value::Null, &**why),
        };
        let fits = |amount: &Amount| Value::from(self.most.fits(amount).as_str());
        let used = &self.used;
        let mut fields = vec![
            ("row", Value::from("limit")),
            ("system", Value::from(self.system)),
            ("ref", self.at.to_value()),
            ("path", route_value(&self.path)),
            ("key", Value::String(self.key.clone())),
            ("resource", Value::String(self.resource.clone())),
            ("flavor", option(self.flavor.as_ref())),
            ("unit", Value::from(if self.thousandths { "thousandth" } else { "unit" })),
            ("limit", limit),
            ("why", Value::from(why)),
            ("used", three(used)),
            (
                "fits",
                mapping([
                    ("steady", fits(&used.steady)),
                    ("rollout", fits(&used.rollout)),
                    ("autoscaled", fits(&used.autoscaled)),
                ]),
            ),
            ("needed", self.needed.to_value()),
            ("queued", self.queued.to_value()),
            (
                "contributors",
                Value::from(self.contributors.iter().map(Contributor::to_value).collect::<Vec<_>>()),
            ),
            ("owner", option(self.owner.as_ref())),
        ];
        fields.extend(self.facts.iter().cloned());
        mapping(fields)
    }
}

impl Contributor {
    fn to_value(&self) -> Value {
        mapping([
            ("ref", self.at.to_value()),
            ("steady", self.amount.steady.to_value()),
            ("rollout", self.amount.rollout.to_value()),
            ("autoscaled", self.amount.autoscaled.to_value()),
            ("queued", Value::from(self.queued)),
            ("ends", Value::from(self.ends)),
            ("needsSurge", Value::from(self.needs_surge.as_str())),
        ])
    }
}

impl Admission {
    fn to_value(&self) -> Value {
        let asks = self.asks.iter().map(|(resource, amount)| {
            mapping([("resource", Value::String(resource.clone())), ("amount", amount.to_value())])
        });
        let notes = self.notes.iter().map(|note| Value::String(note.clone()));
        mapping([
            ("row", Value::from("admission")),
            ("system", Value::from(self.system)),
            ("workload", self.workload.to_value()),
            ("path", route_value(&self.path)),
            ("queue", Value::String(self.queue.clone())),
            ("ref", self.at.as_ref().map_or(Value::Null, Ref::to_value)),
            ("possible", Value::from(self.possible.as_str())),
            ("reasons", Value::from(self.reasons.iter().map(Reason::to_value).collect::<Vec<_>>())),
            ("byPod", Value::from(self.by_pod)),
            ("asks", Value::from(asks.collect::<Vec<_>>())),
            ("owner", option(self.owner.as_ref())),
            ("notes", Value::from(notes.collect::<Vec<_>>())),
        ])
    }
}

impl Admission {
    #[expect(clippy::too_many_arguments, reason = "the parts of a row")]
    pub(super) fn new(
        system: &'static str,
        seen: &Seen<'_>,
        named: &Named,
        at: Option<Ref>,
        reasons: Vec<Reason>,
        by_pod: bool,
        asks: Resources,
        owner: Option<Arc<str>>,
    ) -> Self {
        let possible = if reasons.iter().any(|reason| reason.code != "unknown") {
            Fits::No
        } else if reasons.is_empty() {
            Fits::Yes
        } else {
            Fits::Unknown
        };
        Self {
            system,
            workload: seen.at.clone(),
            path: named.path.clone(),
            queue: named.queue.clone(),
            at,
            possible,
            reasons,
            by_pod,
            asks: asks.into_iter().collect(),
            owner,
            notes: Vec::new(),
        }
    }
}

impl Reason {
    fn to_value(&self) -> Value {
        mapping([
            ("code", Value::from(self.code)),
            ("message", Value::from(self.message.as_str())),
            ("resource", option(self.resource.as_ref())),
            ("asked", self.asked.as_ref().map_or(Value::Null, Amount::to_value)),
            ("most", self.most.map_or(Value::Null, Value::from)),
        ])
    }
}

impl Problem {
    fn to_value(&self) -> Value {
        mapping([
            ("row", Value::from("problem")),
            ("system", Value::from(self.system)),
            ("ref", self.at.to_value()),
            ("path", route_value(&self.path)),
            ("code", Value::from(self.code)),
            ("message", Value::from(self.message.as_str())),
            ("remediation", Value::from(self.remediation.as_str())),
            ("certain", Value::from(self.certain)),
        ])
    }
}

fn three(three: &Three) -> Value {
    mapping([
        ("steady", three.steady.to_value()),
        ("rollout", three.rollout.to_value()),
        ("autoscaled", three.autoscaled.to_value()),
    ])
}

fn option(text: Option<&Arc<str>>) -> Value {
    text.map_or(Value::Null, |text| Value::String(text.clone()))
}

fn route_value(route: &Route) -> Value {
    let steps = route.0.iter().map(|step| match step {
        Step::Key(key) => Value::String(key.clone()),
        Step::Index(index) => Value::from(*index),
    });
    Value::from(steps.collect::<Vec<_>>())
}
