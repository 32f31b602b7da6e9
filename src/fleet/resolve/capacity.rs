//! What clusters have, and how much of it teams may use.

use std::sync::Arc;

use super::Resolver;
use crate::fleet::file::{self, Batch};
use crate::model::{Budget, Injects, Pool, Route, Taint, Value};

/// The pools of a cluster.
pub(super) fn pools(accelerators: &[file::Accelerator]) -> Vec<Pool> {
    accelerators.iter().map(pool).collect()
}

fn pool(entry: &file::Accelerator) -> Pool {
    let taint = |taint: &file::Taint| Taint {
        key: taint.key.as_str().into(),
        value: taint.value.as_deref().unwrap_or_default().into(),
        effect: taint.effect.as_str().into(),
    };
    Pool {
        family: entry.family.as_str().into(),
        resource: entry.resource.as_str().into(),
        per_node: entry.per_node.into(),
        nodes: entry.nodes.map(Into::into),
        capacity_type: entry.capacity_type.as_deref().map(Into::into),
        labels: entry.node_labels.iter().map(|(k, v)| (k.as_str().into(), v.as_str().into())).collect(),
        taints: entry.taints.iter().map(taint).collect(),
        fabric: entry.fabric.as_deref().map(Into::into),
        sharing: entry.sharing.as_deref().map(Into::into),
    }
}

/// What a cluster adds to pods.
pub(super) fn injects(entry: &file::Injects) -> Injects {
    let toleration =
        |toleration: &file::Toleration| Value::from(serde_json::to_value(toleration).unwrap_or_default());
    Injects {
        tolerations: entry.tolerations.iter().map(toleration).collect(),
        node_selector: entry
            .node_selector
            .iter()
            .map(|(k, v)| (k.as_str().into(), v.as_str().into()))
            .collect(),
        resources: entry.resources.iter().map(|name| name.as_str().into()).collect(),
    }
}

impl Resolver<'_> {
    /// The budgets, in the order of the file and its parts.
    pub(super) fn budgets(&mut self) -> Vec<Budget> {
        let mut budgets = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            for (position, budget) in part.document.budgets.iter().enumerate() {
                let route = Route::root().key("budgets").index(position);
                let patterns: Vec<Arc<str>> =
                    budget.clusters.0.iter().map(|word| word.as_str().into()).collect();
                let globs: Vec<_> = (patterns.iter())
                    .filter_map(|pattern| self.name(index, &route.key("clusters"), pattern))
                    .collect();
                budgets.push(Budget {
                    team: budget.team.as_str().into(),
                    family: budget.family.as_str().into(),
                    environment: budget.environment.as_deref().map(Into::into),
                    clusters: globs,
                    cluster_patterns: patterns,
                    capacity_type: budget.capacity_type.as_deref().map(Into::into),
                    limit: budget.limit,
                    owner: budget.owner.as_str().into(),
                    batch_queued: budget.batch == Some(Batch::Queued),
                    rollout_concurrency: budget.rollout_concurrency.unwrap_or(1),
                    file: Arc::clone(&part.file),
                    line: part.line(&route),
                });
            }
        }
        budgets
    }
}
