//! What rules see that judge a cluster or the fleet as a whole, and what their findings are about.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::input::{now_value, object, team};
use super::level::Effect;
use super::plan::Plan;
use super::sites::{Located, Site};
use super::{Request, budgets, identity};
use crate::accelerators::{Assessed, Queued, Three, class};
use crate::model::{Context, Finding, Identity, ObjectId, Place, Problem, Route, Standing, Subject, Value};
use crate::policy::{EvaluationError, Hit, Rule};

/// `input` for rules of target `cluster` in a site, or of target `fleet`.
pub(super) fn input(request: &Request<'_>, plan: &Plan, site: Option<usize>) -> Value {
    let Some(site) = site.and_then(|site| plan.sites.get(site)) else {
        let clusters = request.fleet.into_iter().flat_map(|fleet| fleet.clusters.values());
        let clusters: Vec<_> = clusters.map(|cluster| cluster.facts.clone()).collect();
        return object([
            ("budgets", budgets::to_value(request, &plan.sites)),
            ("clusters", Value::from(clusters)),
            ("now", now_value(request.now)),
            ("target", Value::from("fleet")),
        ]);
    };
    let Context { cluster, environment } = &*site.context;
    let quotas: Vec<_> = site.assessment.quotas.iter().map(crate::accelerators::Quota::to_value).collect();
    object([
        ("cluster", cluster.as_ref().map_or(Value::Null, |cluster| cluster.facts.clone())),
        ("complete", Value::from(request.complete_clusters())),
        ("demand", Value::from(demand(request, site))),
        ("environment", environment.clone().map_or(Value::Null, Value::String)),
        ("now", now_value(request.now)),
        ("quotas", Value::from(quotas)),
        ("target", Value::from("cluster")),
    ])
}

/// What a row of a cluster's demand is the sum of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    namespace: Option<Arc<str>>,
    team: Option<Arc<str>>,
    queue: Option<Arc<str>>,
    unit: &'static str,
    resource: Arc<str>,
    family: Option<Arc<str>>,
    model: Option<Arc<str>>,
    capacity_type: Option<Arc<str>>,
}

fn demand(request: &Request<'_>, site: &Site) -> Vec<Value> {
    let mut sums: BTreeMap<Key, Three> = BTreeMap::new();
    for assessed in &site.assessment.objects {
        let Some(counted) = assessed.demand.counted() else { continue };
        let Some(resource) = site.located(assessed).and_then(|located| located.resource(request.corpus))
        else {
            continue;
        };
        let key = Key {
            namespace: resource.id.namespace.clone(),
            team: team(&resource.id, request.fleet),
            queue: queue(assessed),
            unit: "thousandth",
            resource: "".into(),
            family: None,
            model: None,
            capacity_type: None,
        };
        let mut add = |key: Key, three: &Three| {
            let sum = sums.entry(key).or_insert(Three::ZERO);
            *sum = sum.add(three);
        };
        for (resource, three) in counted {
            add(Key { unit: class(resource).as_str(), resource: resource.clone(), ..key.clone() }, three);
        }
        for row in &assessed.families {
            let key = Key {
                resource: row.resource.clone(),
                family: row.family.clone(),
                model: row.model.clone(),
                capacity_type: row.capacity_type.clone(),
                ..key.clone()
            };
            add(key, &row.three);
        }
    }
    sums.into_iter().map(row).collect()
}

fn row((key, three): (Key, Three)) -> Value {
    let text = |text: Option<Arc<str>>| text.map_or(Value::Null, Value::String);
    object([
        ("namespace", text(key.namespace)),
        ("team", text(key.team)),
        ("queue", text(key.queue)),
        ("unit", Value::from(key.unit)),
        ("resource", Value::String(key.resource)),
        ("family", text(key.family)),
        ("model", text(key.model)),
        ("capacityType", text(key.capacity_type)),
        ("steady", three.steady.to_value()),
        ("rollout", three.rollout.to_value()),
        ("autoscaled", three.autoscaled.to_value()),
    ])
}

/// The queue that an object names.
fn queue(assessed: &Assessed) -> Option<Arc<str>> {
    match &assessed.queue {
        Queued::No => None,
        Queued::Unresolved { queue, .. } | Queued::Through { queue, .. } => Some(queue.clone()),
    }
}

/// What findings of one evaluation are about: a site, or the fleet.
pub(super) struct Sums<'r> {
    request: &'r Request<'r>,
    plan: &'r Plan,
    site: Option<&'r Site>,
    context: Arc<Context>,
}

/// An object that a finding names, found again.
struct Named<'r> {
    context: Arc<Context>,
    id: ObjectId,
    located: Option<Located>,
    /// Where it stands, if it is no object of the corpus.
    place: Option<Place>,
    object: Option<&'r Value>,
}

impl<'r> Sums<'r> {
    pub(super) fn of(request: &'r Request<'_>, plan: &'r Plan, site: Option<usize>) -> Self {
        let site = site.and_then(|site| plan.sites.get(site));
        let context = site.map(|site| site.context.clone()).unwrap_or_default();
        Self { request, plan, site, context }
    }

    /// A finding. Its identity is that of what it is about; its place is that of the object in which
    /// the route stands.
    pub(super) fn finding(&self, rule: &Rule, hit: &Hit) -> Finding {
        let subject = hit.subject.as_ref().map(|reference| self.find(reference));
        let at = hit.at.as_ref().map(|reference| self.find(reference));
        let context = subject.as_ref().map_or(&self.context, |subject| &subject.context).clone();
        let effect = Effect::of(&rule.id, &context, self.request.face, self.request.fleet);
        // Where something else is shown than what it is about, the route says nothing about that.
        let route = hit.route.as_ref().filter(|_| at.is_none());
        let identity = match &subject {
            Some(subject) => {
                let nothing = Value::Null;
                identity::of(&rule.id, &subject.id, subject.object.unwrap_or(&nothing), route)
            }
            None => Identity {
                rule: rule.id.clone(),
                cluster: "-".into(),
                object: "-/-/-/-".into(),
                route: hit.message.as_str().into(),
            },
        };
        let shown = at.as_ref().or(subject.as_ref());
        let located = shown.and_then(|shown| shown.located);
        let document = located.and_then(|located| located.document(self.request.corpus));
        let resource = located.and_then(|located| located.resource(self.request.corpus));
        Finding {
            rule: rule.id.clone(),
            level: effect.level(rule.level, hit.level),
            subject: Subject {
                cluster: context.cluster.as_ref().map(|cluster| cluster.name.clone()),
                environment: context.environment.clone(),
                object: subject.as_ref().map(|subject| subject.id.clone()),
            },
            message: hit.message.as_str().into(),
            at: at.as_ref().map(|at| at.id.clone()),
            route: hit.route.clone(),
            details: hit.details.clone(),
            remediation: hit.remediation.as_deref().map(Into::into),
            place: shown.and_then(|shown| shown.place.clone()),
            text: document.map(|document| document.text.clone()),
            item: resource.map_or_else(Route::root, |resource| resource.item.clone()),
            identity: identity::in_context(&identity, &context),
            standing: Standing::New,
        }
    }

    pub(super) fn problem(&self, rule: usize, error: &EvaluationError) -> Problem {
        let mut problem = error.problem(self.request.policies, rule, None);
        let what = match &self.context.cluster {
            Some(cluster) => format!("cluster {}", cluster.name),
            None if self.site.is_some() => "what belongs to no known cluster".to_owned(),
            None => "the fleet".to_owned(),
        };
        problem.message = format!("could not judge {what}: {}", problem.message);
        problem.cluster = self.context.cluster.as_ref().map(|cluster| cluster.name.clone());
        problem
    }

    /// What a `ref` names: `{cluster?, environment?, group, kind, namespace, name}`.
    fn find(&self, reference: &Value) -> Named<'r> {
        let text = |key: &str| {
            let fields = reference.as_object().ok()?;
            fields.get(&Value::from(key))?.as_string().ok().cloned()
        };
        let id = ObjectId {
            group: text("group").unwrap_or_default(),
            version: "".into(),
            kind: text("kind").unwrap_or_default(),
            namespace: text("namespace"),
            name: text("name").unwrap_or_default(),
            generated: false,
        };
        let named = text("cluster");
        let in_cluster =
            |site: &&Site| site.context.cluster.as_ref().map(|cluster| &cluster.name) == named.as_ref();
        let site = match &named {
            Some(_) => self.plan.sites.iter().find(in_cluster),
            None => self.site,
        };
        let corpus = self.request.corpus;
        let same = |located: &&Located| {
            located.resource(corpus).is_some_and(|resource| {
                let other = &resource.id;
                (&*other.group, &*other.kind, &other.namespace, &*other.name)
                    == (&*id.group, &*id.kind, &id.namespace, &*id.name)
            })
        };
        let located = site.and_then(|site| site.objects.iter().find(same)).copied();
        let resource = located.and_then(|located| located.resource(corpus));
        let context = match (site, text("environment")) {
            (Some(site), _) => site.context.clone(),
            (None, environment) => Arc::new(Context { cluster: None, environment }),
        };
        Named {
            context,
            place: match located {
                Some(located) => located.place(corpus).cloned(),
                None => budgets::place(self.request, &id),
            },
            id: resource.map_or(id, |resource| resource.id.clone()),
            located,
            object: resource.map(|resource| &resource.object),
        }
    }
}
