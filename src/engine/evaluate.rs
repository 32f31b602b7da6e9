//! Runs the plan on all cores and turns what rules say into findings.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::level::Effect;
use super::plan::{Plan, Unit};
use super::{Request, identity, sums};
use crate::model::{Finding, Problem, Standing, Subject};
use crate::policy::{EvaluationError, Evaluators, Hit, Outcome, Rule, Style};

/// What came of the plan. Not sorted.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub(super) findings: Vec<Finding>,
    pub(super) problems: Vec<Problem>,
    /// For each rule, on how many subjects it was evaluated.
    pub(super) evaluations: Vec<usize>,
}

/// Failures of one rule that read the same are told once, with the first place and the number.
type Failures = BTreeMap<(Arc<str>, String), (Problem, usize)>;

pub(super) fn run(request: &Request<'_>, plan: &Plan) -> Results {
    let mut results = Results { evaluations: vec![0; request.policies.rules.len()], ..Results::default() };
    if plan.units.is_empty() && plan.sums.is_empty() {
        return results;
    }
    let evaluators = Evaluators::new(request.policies, &plan.groups, &request.limits, request.isolation);
    let evaluators = match evaluators {
        Ok(evaluators) => evaluators,
        Err(problems) => {
            results.problems = problems;
            return results;
        }
    };
    let outcomes: Vec<Vec<Outcome>> = (plan.units.par_iter())
        .map(|unit| match input(request, plan, unit) {
            Some(input) => evaluators.evaluate(unit.group, input),
            None => nothing_planned(plan, unit),
        })
        .collect();

    let summed: Vec<Vec<Outcome>> = (plan.sums.par_iter())
        .map(|&(site, group)| evaluators.evaluate(group, sums::input(request, plan, site)))
        .collect();

    let mut failures = Failures::new();
    for (&(site, _), outcomes) in plan.sums.iter().zip(summed) {
        let subject = sums::Sums::of(request, plan, site);
        for Outcome { rule: index, result } in outcomes {
            let Some(rule) = request.policies.rules.get(index) else { continue };
            if let Some(count) = results.evaluations.get_mut(index) {
                *count += 1;
            }
            match result {
                Ok(hits) => results.findings.extend(hits.iter().map(|hit| subject.finding(rule, hit))),
                Err(error) => {
                    let key = (rule.id.clone(), error.to_string());
                    failures.entry(key).or_insert_with(|| (subject.problem(index, &error), 0)).1 += 1;
                }
            }
        }
    }
    for (unit, outcomes) in plan.units.iter().zip(outcomes) {
        let subjects = Subjects::of(request, plan, unit);
        for Outcome { rule: index, result } in outcomes {
            let Some(rule) = request.policies.rules.get(index) else { continue };
            if let Some(count) = results.evaluations.get_mut(index) {
                *count += subjects.len();
            }
            match result {
                Ok(hits) => {
                    for hit in hits {
                        subjects.findings(request, rule, &hit, &mut results.findings);
                    }
                }
                Err(error) => {
                    let (_, count) = failures
                        .entry((rule.id.clone(), error.to_string()))
                        .or_insert_with(|| (subjects.problem(request, index, &error), 0));
                    *count += subjects.len();
                }
            }
        }
    }
    results.problems.extend(failures.into_values().map(|(mut problem, count)| {
        if count > 1 {
            problem.message = format!("{} (and the same for {} more)", problem.message, count - 1);
        }
        problem
    }));
    results
}

/// Cannot happen, as a plan is made from the very corpus; if it does, nothing passes by it.
fn nothing_planned(plan: &Plan, unit: &Unit) -> Vec<Outcome> {
    let rules = plan.groups.get(unit.group).map(Vec::as_slice).unwrap_or_default();
    rules.iter().map(|&rule| Outcome::failed(rule, "the plan names no resource")).collect()
}

fn input(request: &Request<'_>, plan: &Plan, unit: &Unit) -> Option<crate::model::Value> {
    let facts = plan.facts.get(unit.document)?.get(unit.resource)?;
    let rule = request.policies.rules.get(*plan.groups.get(unit.group)?.first()?)?;
    match request.policies.sets.get(rule.set)?.style {
        Style::Native => {
            let context = plan.contexts.all.get(*unit.contexts.first()?)?;
            let site = unit.contexts.first().and_then(|context| plan.sites.get(*context));
            let placed = site.and_then(|site| site.placed(unit.document, unit.resource));
            Some(facts.input(context, placed.map(|placed| &placed.value), request.now))
        }
        Style::Conftest => Some(facts.object().clone()),
    }
}

/// All the places for which one evaluation speaks.
struct Subjects<'r> {
    plan: &'r Plan,
    document: &'r crate::manifest::corpus::Document,
    resource: &'r crate::manifest::Resource,
    /// Index of an occurrence and of a context.
    places: Vec<(usize, usize)>,
}

impl<'r> Subjects<'r> {
    #[expect(clippy::expect_used, reason = "a plan is made from this very corpus; its indexes are in range")]
    fn of(request: &'r Request<'_>, plan: &'r Plan, unit: &Unit) -> Self {
        let document = request.corpus.documents.get(unit.document).expect("planned document");
        let resource = document.resources.get(unit.resource).expect("planned resource");
        let standing = plan.contexts.standing.get(unit.document).map(Vec::as_slice).unwrap_or_default();
        let concerned = |occurrence: &usize| unit.occurrence.is_none_or(|only| only == *occurrence);
        let occurrences = standing.iter().enumerate().filter(|(occurrence, _)| concerned(occurrence));
        let places = occurrences.flat_map(|(occurrence, contexts)| {
            let mine = contexts.iter().filter(|context| unit.contexts.binary_search(context).is_ok());
            mine.map(move |&context| (occurrence, context))
        });
        Self { plan, document, resource, places: places.collect() }
    }

    fn len(&self) -> usize {
        self.places.len()
    }

    fn findings(&self, request: &Request<'_>, rule: &Rule, hit: &Hit, findings: &mut Vec<Finding>) {
        let message: Arc<str> = hit.message.as_str().into();
        let remediation: Option<Arc<str>> = hit.remediation.as_deref().map(Into::into);
        let identity = identity::of(&rule.id, &self.resource.id, &self.resource.object, hit.route.as_ref());
        for &(occurrence, context) in &self.places {
            let (Some(context), Some(occurrence)) =
                (self.plan.contexts.all.get(context), self.document.occurrences.get(occurrence))
            else {
                continue;
            };
            let effect = Effect::of(&rule.id, context, request.face, request.fleet);
            findings.push(Finding {
                rule: rule.id.clone(),
                level: effect.level(rule.level, hit.level),
                subject: Subject {
                    cluster: context.cluster.as_ref().map(|cluster| cluster.name.clone()),
                    environment: context.environment.clone(),
                    object: Some(self.resource.id.clone()),
                },
                message: message.clone(),
                at: None,
                route: hit.route.clone(),
                details: hit.details.clone(),
                remediation: remediation.clone(),
                place: Some(occurrence.place.clone()),
                text: Some(self.document.text.clone()),
                item: self.resource.item.clone(),
                identity: identity::in_context(&identity, context),
                standing: Standing::New,
            });
        }
    }

    fn problem(&self, request: &Request<'_>, rule: usize, error: &EvaluationError) -> Problem {
        let first = self.places.first();
        let occurrence = first.and_then(|(occurrence, _)| self.document.occurrences.get(*occurrence));
        let context = first.and_then(|(_, context)| self.plan.contexts.all.get(*context));
        let mut problem =
            error.problem(request.policies, rule, occurrence.map(|occurrence| &occurrence.place));
        problem.message = format!("could not judge {}: {}", self.resource.id, problem.message);
        problem.cluster = context.and_then(|context| Some(context.cluster.as_ref()?.name.clone()));
        problem
    }
}
