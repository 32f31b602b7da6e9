//! What holds for all sums.

use proptest::prelude::*;

use super::super::row::{Contributor, Most, Ref};
use super::super::seen::{Sum, sum};
use crate::accelerators::amount::{Amount, Fits, Three};

fn amount() -> impl Strategy<Value = Amount> {
    prop_oneof![
        4 => (0..9_u64).prop_map(Amount::Known),
        1 => (0..9_u64).prop_map(|n| Amount::Unknown { at_least: n, reasons: ["why".into()].into() }),
        1 => (0..9_u64).prop_map(|n| Amount::Unbounded { at_least: n }),
    ]
}

fn contributor() -> impl Strategy<Value = Contributor> {
    (amount(), amount(), amount(), any::<bool>(), any::<bool>()).prop_map(
        |(steady, surge, more, queued, ends)| {
            let rollout = steady.add(&surge);
            let autoscaled = rollout.add(&more);
            let at =
                Ref { index: 0, group: "".into(), kind: "Pod".into(), namespace: None, name: "p".into() };
            Contributor {
                at,
                amount: Three { steady, rollout, autoscaled },
                queued,
                ends,
                needs_surge: Fits::Unknown,
            }
        },
    )
}

/// What is open is larger than any number.
fn size(amount: &Amount) -> (bool, u64) {
    (amount.known().is_none(), amount.at_least())
}

proptest! {
    #[test]
    fn steady_and_queued_are_the_sums_of_their_contributors(all in prop::collection::vec(contributor(), 0..6)) {
        let total = sum(all.clone());
        let of = |queued: bool| {
            all.iter().filter(|c| c.queued == queued).fold(Amount::ZERO, |sum, c| sum.add(&c.amount.steady))
        };
        prop_assert_eq!(total.used.steady, of(false));
        prop_assert_eq!(total.queued, of(true));
    }

    #[test]
    fn more_contributors_never_use_less(all in prop::collection::vec(contributor(), 0..6), more in contributor()) {
        let before = sum(all.clone());
        let after = sum(all.into_iter().chain([more]).collect());
        for pick in [|t: &Three| t.steady.clone(), |t: &Three| t.rollout.clone(), |t: &Three| t.autoscaled.clone()] {
            prop_assert!(pick(&after.used).at_least() >= pick(&before.used).at_least());
            prop_assert!(pick(&after.used).known().is_none() || pick(&before.used).known().is_some());
        }
        prop_assert!(size(&after.queued) >= size(&before.queued));
    }

    #[test]
    fn each_number_is_as_large_as_the_one_before(all in prop::collection::vec(contributor(), 0..6)) {
        let Sum { used, needed, .. } = sum(all);
        prop_assert!(used.rollout.at_least() >= used.steady.at_least());
        prop_assert!(used.steady.at_least() >= needed.at_least());
        prop_assert!(used.autoscaled.at_least() >= used.rollout.at_least());
    }

    #[test]
    fn a_higher_limit_admits_whatever_a_lower_one_does(amount in amount(), limit in 0..30_u64, more in 0..30_u64) {
        if Most::Known(limit).fits(&amount) == Fits::Yes {
            prop_assert_eq!(Most::Known(limit + more).fits(&amount), Fits::Yes);
        }
    }

    #[test]
    fn a_larger_queue_admits_whatever_a_smaller_one_does(
        pods in 1..5_u64, each in 1..5_u64, h100 in 0..20_u64, spot in 0..20_u64, more in 0..20_u64,
    ) {
        let possible = |h100: u64, spot: u64| {
            let text = format!("
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: q, namespace: ml}}
spec: {{clusterQueue: cq}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: cq}}
spec: {{namespaceSelector: {{}}, resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [
  {{name: h100, resources: [{{name: nvidia.com/gpu, nominalQuota: {h100}}}]}}, {{name: spot, resources: [{{name: nvidia.com/gpu, nominalQuota: {spot}}}]}}]}}]}}
---
{{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {{name: h100}}}}
---
{{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {{name: spot}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: j, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: q}}}}
spec: {{parallelism: {pods}, template: {{spec: {{{}}}}}}}
", super::gpus(each));
            super::only("admission", &text).join("").contains(": yes")
        };
        // One flavour for all pods.
        prop_assert_eq!(possible(h100, spot), pods * each <= h100.max(spot));
        if possible(h100, spot) {
            prop_assert!(possible(h100 + more, spot) && possible(h100, spot + more));
        }
    }
}
