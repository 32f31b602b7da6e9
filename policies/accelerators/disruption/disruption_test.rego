package fleetgate.accelerators.disruption_test

import data.fleetgate.accelerators.disruption as rule

defaults := {
	"annotations": ["cluster-autoscaler.kubernetes.io/safe-to-evict=false", "karpenter.sh/do-not-disrupt=true"],
	"environments": ["prod*"],
	"spot": ["spot", "flex*"],
}

training := {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}

deployment := {"apiVersion": "apps/v1", "kind": "Deployment"}

pod(number, annotations, pools) := {
	"path": ["spec", "x", "template", "spec"], "role": "worker", "count": number, "asks": {"nvidia.com/gpu": 8},
	"metadata": {"annotations": annotations}, "spec": {}, "effective": {}, "pools": pools,
}

paths_with(object, pods, params) := paths_in(object, pods, params, "prod-eu")

paths_in(object, pods, params, environment) := {finding.path | some finding in found} if {
	found := rule.warn with input as {"object": object, "environment": environment, "workload": {"pods": pods, "demand": []}}
		with data.params.accelerators.disruption as object.union(defaults, params)
}

paths(object, pods) := paths_with(object, pods, {})

bad := {["spec", "x", "template", "metadata", "annotations"]}

test_a_training_that_may_be_moved if {
	paths(training, [pod(4, {}, null)]) == bad
	paths(training, [pod(4, {"karpenter.sh/do-not-disrupt": "false"}, null)]) == bad
	paths(training, [object.remove(pod(4, {}, null), ["metadata"])]) == set()
	paths(training, [pod(1, {}, null), pod(1, {"karpenter.sh/do-not-disrupt": "true"}, null)]) == bad
}

test_a_training_that_is_kept if {
	paths(training, [pod(4, {"karpenter.sh/do-not-disrupt": "true"}, null)]) == set()
	paths(training, [pod(4, {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}, null)]) == set()
}

test_one_pod_can_start_again if {
	paths(training, [pod(1, {}, null)]) == set()
	paths(training, [pod({"atLeast": 0, "unknown": ["x"]}, {}, null)]) == set()
	paths(training, [pod(0, {}, null), pod(0, {}, null)]) == set()
}

test_kinds_whose_pods_do_not_end_together if {
	paths(deployment, [pod(4, {}, null)]) == set()
	paths({"apiVersion": "batch/v1", "kind": "Job"}, [pod(4, {}, null)]) == set()
}

test_trainings_that_go_on_with_less if {
	paths(object.union(training, {"spec": {"elasticPolicy": {"minReplicas": 1}}}), [pod(4, {}, null)]) == set()
	jobset({"parallelism": 2, "completions": 10}) == set()
	jobset({"completions": 10}) == set()
	jobset({"parallelism": 4, "completions": 4}) != set()
	jobset({"parallelism": 4}) != set()
}

jobset(spec) := paths(
	{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": {"replicatedJobs": [{"template": {"spec": spec}}]}},
	[object.union(object.remove(pod(2, {}, null), ["path"]), {"path": ["spec", "replicatedJobs", 0, "template", "spec", "template", "spec"]})],
)

spot := {"resource": "nvidia.com/gpu", "capacityType": "spot", "selected": "yes"}

test_serving_from_spot_only if {
	paths(deployment, [pod(1, {}, [spot])]) == {["spec", "x", "template", "spec", "nodeSelector"]}
	paths(deployment, [pod(1, {}, [spot, object.union(spot, {"capacityType": "on-demand", "selected": "no"})])]) != set()
	paths(deployment, [pod(1, {}, [spot, object.union(spot, {"capacityType": "flex-start", "selected": "unknown"})])]) != set()
}

test_serving_from_other_capacity if {
	paths(deployment, [pod(1, {}, [spot, object.union(spot, {"capacityType": "on-demand"})])]) == set()
	paths(deployment, [pod(1, {}, [spot, object.union(spot, {"capacityType": "on-demand", "selected": "unknown"})])]) == set()
	paths(deployment, [pod(1, {}, [object.union(spot, {"capacityType": null})])]) == set()
	paths(deployment, [pod(1, {}, [object.union(spot, {"selected": "no"})])]) == set()
	paths(deployment, [pod(1, {}, [])]) == set()
	paths(deployment, [pod(1, {}, null)]) == set()
}

test_batch_can_use_spot if paths({"apiVersion": "batch/v1", "kind": "Job"}, [pod(4, {}, [spot])]) == set()

test_environments if {
	paths_in(deployment, [pod(1, {}, [spot])], {}, "dev") == set()
	paths_in(deployment, [pod(1, {}, [spot])], {}, null) != set()
	paths_in(deployment, [pod(1, {}, [spot])], {"environments": ["dev"]}, "dev") != set()
	paths_in(deployment, [pod(1, {}, [spot])], {"environments": []}, "prod") == set()
	paths_in(training, [pod(4, {}, null)], {}, "dev") == bad
}

test_parameters if {
	paths_with(training, [pod(4, {}, null)], {"annotations": []}) == set()
	paths_with(training, [pod(4, {"a": "b=c"}, null)], {"annotations": ["a=b=c"]}) == set()
	paths_with(deployment, [pod(1, {}, [spot])], {"spot": []}) == set()
}

test_no_workload if {
	count(rule.warn) == 0 with input as {"object": training, "workload": null} with data.params.accelerators.disruption as defaults
}
