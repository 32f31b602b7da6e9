package fleetgate.accelerators.bounded_autoscaling_test

import data.fleetgate.accelerators.bounded_autoscaling as rule

unbounded := {"atLeast": 4, "unbounded": true}

row(autoscaled) := {"resource": "nvidia.com/gpu", "family": null, "unit": "device", "steady": 4, "rollout": 4, "autoscaled": autoscaled}

pod(path, role) := {"path": path, "role": role, "spec": {}, "count": 1, "asks": {"nvidia.com/gpu": 4}}

without(pod) := object.union(object.remove(pod, ["asks"]), {"asks": {}})

result(object, pods, demand) := {"deny": denied, "warn": warned} if {
	document := {"object": object, "workload": {"pods": pods, "demand": demand}}
	denied := {finding.path | some finding in rule.deny} with input as document
	warned := {finding.path | some finding in rule.warn} with input as document
}

none := {"deny": set(), "warn": set()}

denied(path) := {"deny": {path}, "warn": set()}

ray(group, scaling) := result(
	{"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {"enableInTreeAutoscaling": scaling, "workerGroupSpecs": [{"groupName": "cpu"}, group]}},
	[
		without(pod(["spec", "workerGroupSpecs", 0, "template", "spec"], "cpu")),
		object.union(pod(["spec", "workerGroupSpecs", 1, "template", "spec"], "gpu"), {"count": 0}),
	],
	[row(unbounded)],
)

max_replicas := ["spec", "workerGroupSpecs", 1, "maxReplicas"]

test_worker_groups_without_a_largest_number_are_denied if {
	ray({"groupName": "gpu"}, true) == denied(max_replicas)
	ray({"groupName": "gpu", "maxReplicas": null}, true) == denied(max_replicas)
	ray({"groupName": "gpu", "maxReplicas": 2147483647}, true) == denied(max_replicas)
}

test_only_groups_with_accelerators_are_judged if {
	result(
		{"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "cpu"}]}},
		[without(pod(["spec", "workerGroupSpecs", 0, "template", "spec"], "cpu"))],
		[],
	) == none
}

test_ray_within_other_kinds if {
	cluster := {"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"groupName": "gpu"}]}
	service := {"apiVersion": "ray.io/v1", "kind": "RayService", "spec": {"rayClusterConfig": cluster}}
	result(service, [pod(["spec", "rayClusterConfig", "workerGroupSpecs", 0, "template", "spec"], "gpu")], [row(unbounded)]) == denied(["spec", "rayClusterConfig", "workerGroupSpecs", 0, "maxReplicas"])
	job := {"apiVersion": "ray.io/v1", "kind": "RayCronJob", "spec": {"jobTemplate": {"rayClusterSpec": cluster}}}
	result(job, [pod(["spec", "jobTemplate", "rayClusterSpec", "workerGroupSpecs", 0, "template", "spec"], "gpu")], [row(unbounded)]) == denied(["spec", "jobTemplate", "rayClusterSpec", "workerGroupSpecs", 0, "maxReplicas"])
}

test_bounded_and_fixed_groups_pass if {
	bounded := {"groupName": "gpu", "maxReplicas": 4}
	result({"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {"enableInTreeAutoscaling": true, "workerGroupSpecs": [bounded]}}, [pod(["spec", "workerGroupSpecs", 0, "template", "spec"], "gpu")], [row(16)]) == none
	result({"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {"workerGroupSpecs": [{"groupName": "gpu"}]}}, [pod(["spec", "workerGroupSpecs", 0, "template", "spec"], "gpu")], [row(4)]) == none
}

test_placeholders_are_not_called_unbounded if {
	placeholder := {"atLeast": 0, "unknown": ["`${MAX}` is no number"]}
	result({"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {"enableInTreeAutoscaling": true, "workerGroupSpecs": [{"maxReplicas": "${MAX}"}]}}, [pod(["spec", "workerGroupSpecs", 0, "template", "spec"], "gpu")], [row(placeholder)]) == none
}

knative := {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "spec": {}}

test_knative if {
	result(knative, [pod(["spec", "template", "spec"], "pod")], [row(unbounded)]) == denied(["spec", "template", "metadata", "annotations", "autoscaling.knative.dev/max-scale"])
	result(knative, [pod(["spec", "template", "spec"], "pod")], [row(8)]) == none
}

kserve(spec) := result({"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "spec": spec}, [
	pod(["spec", "predictor"], "predictor"),
	without(pod(["spec", "transformer"], "transformer")),
], [row(unbounded)])

test_kserve if {
	kserve({"predictor": {}, "transformer": {}}) == denied(["spec", "predictor", "maxReplicas"])
	kserve({"predictor": {"maxReplicas": 0}, "transformer": {}}) == denied(["spec", "predictor", "maxReplicas"])
}

# Whether it is bounded depends on how the cluster deploys: that is not known, not unbounded.
test_kserve_of_which_it_is_not_known if {
	result({"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "spec": {"predictor": {}}}, [pod(["spec", "predictor"], "predictor")], [row({"atLeast": 4, "unknown": ["x"]})]) == none
}

test_spark_and_workflows if {
	result({"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication"}, [pod(["spec"], "executor")], [row(unbounded)]) == denied(["spec", "dynamicAllocation", "maxExecutors"])
	result({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"}, [pod(["spec"], "x")], [row(unbounded)]) == denied(["spec", "parallelism"])
	result({"apiVersion": "argoproj.io/v1alpha1", "kind": "CronWorkflow", "spec": {"concurrencyPolicy": "Forbid"}}, [pod(["spec"], "x")], [row(unbounded)]) == denied(["spec", "workflowSpec", "parallelism"])
}

test_dynamo if {
	services := {"decode": {"autoscaling": {"enabled": true}}, "prefill": {"autoscaling": {"enabled": true, "maxReplicas": 4}}, "frontend": {}}
	result({"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "spec": {"services": services}}, [pod(["spec"], "decode")], [row(unbounded)]) == denied(["spec", "services", "decode", "autoscaling", "maxReplicas"])
}

test_other_kinds if {
	result({"apiVersion": "example.org/v1", "kind": "Model"}, [pod(["spec"], "pod")], [row(unbounded)]) == denied(["spec"])
	result({"apiVersion": "example.org/v1", "kind": "Model"}, [pod(["spec"], "pod")], [row(4)]) == none
}

test_overlapping_runs_are_named_by_another_rule if {
	result({"apiVersion": "batch/v1", "kind": "CronJob", "spec": {}}, [pod(["spec"], "pod")], [row(unbounded)]) == none
	result({"apiVersion": "argoproj.io/v1alpha1", "kind": "CronWorkflow", "spec": {}}, [pod(["spec"], "pod")], [row(unbounded)]) == none
	result({"apiVersion": "ray.io/v1", "kind": "RayCronJob", "spec": {"jobTemplate": {}}}, [pod(["spec"], "pod")], [row(unbounded)]) == none
}

test_each_number_counts if {
	endless := object.union(row(unbounded), {"rollout": unbounded, "steady": unbounded})
	result(knative, [pod(["spec", "template", "spec"], "pod")], [object.union(endless, {"autoscaled": 4})]).deny != set()
}

test_rows_by_family_are_not_named_again if {
	result(knative, [], [object.union(row(unbounded), {"unit": "thousandth"})]) == none
}

test_keda_starts_a_hundred_jobs if {
	keda := {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledJob"}
	pods := [object.union(pod(["spec", "jobTargetRef", "template", "spec"], "pod"), {"count": 0})]
	result(object.union(keda, {"spec": {}}), pods, [row(400)]) == {"deny": set(), "warn": {["spec", "maxReplicaCount"]}}
	result(object.union(keda, {"spec": {"maxReplicaCount": 5}}), pods, [row(20)]) == none
	result(object.union(keda, {"spec": {"maxReplicaCount": "${N}"}}), pods, [row(20)]) == none
	result(object.union(keda, {"spec": {}}), [without(pods[0])], []) == none
}

test_two_autoscalers_of_one_workload if {
	noted([pod(["spec"], "pod")], "two-autoscalers") == {["spec", "replicas"]}
	noted([pod(["spec"], "pod")], "owner-does-not-count") == set()
	noted([without(pod(["spec"], "pod"))], "two-autoscalers") == set()
}

noted(pods, code) := {finding.path | some finding in found} if {
	found := rule.warn with input as {"object": {"apiVersion": "apps/v1", "kind": "Deployment"}, "workload": {"pods": pods, "demand": [], "notes": [{"code": code, "message": "two autoscalers set its replicas"}]}}
}

test_no_workload_and_wrong_types if {
	count(rule.deny) + count(rule.warn) == 0 with input as {"object": knative, "workload": null}
	result({"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": "x"}, [], []) == none
	result({"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "spec": {"services": ["x"]}}, [], [row(unbounded)]) == none
}
