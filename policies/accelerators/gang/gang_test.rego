package fleetgate.accelerators.gang_test

import data.fleetgate.accelerators.gang as rule

defaults := {"kinds": ["PyTorchJob", "MPIJob", "Job"], "schedulers": ["volcano", "kai-*"]}

pod(number, more) := object.union({
	"path": ["spec"], "role": "worker", "count": number, "asks": {"nvidia.com/gpu": 8}, "metadata": {}, "spec": {}, "effective": {},
}, more)

paths_with(object, pods, queue, params) := {finding.path | some finding in found} if {
	found := rule.warn with input as {"object": object, "workload": {"pods": pods, "demand": [], "queue": queue}}
		with data.params.accelerators.gang as object.union(defaults, params)
}

paths(object, pods) := paths_with(object, pods, null, {})

training := {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {}}

bad := {["metadata", "labels", "kueue.x-k8s.io/queue-name"]}

test_several_pods_without_a_group if {
	paths(training, [pod(2, {})]) == bad
	paths(training, [pod(1, {"role": "master"}), pod(1, {})]) == bad
	paths(training, [pod({"atLeast": 2, "unknown": ["x"]}, {})]) == bad
}

test_one_pod_with_accelerators_needs_no_group if {
	paths(training, [pod(1, {})]) == set()
	paths(training, [pod(1, {}), object.union(object.remove(pod(1, {}), ["asks"]), {"asks": {}})]) == set()
	paths(training, [pod({"atLeast": 0, "unknown": ["x"]}, {})]) == set()
	paths(training, [pod(0, {}), pod(0, {})]) == set()
	paths(training, []) == set()
}

test_a_queue_starts_all_of_them if {
	paths_with(training, [pod(4, {})], {"name": "train", "certain": true, "problem": ""}, {}) == set()
	paths(object.union(training, {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "train"}}}), [pod(4, {})]) == set()
	paths(object.union(training, {"metadata": {"labels": {"kai.scheduler/queue": "train"}}}), [pod(4, {})]) == set()
}

# A queue can add the scheduler, so what counts is the pod as it will be.
test_schedulers_that_place_groups if {
	paths(training, [pod(4, {"effective": {"schedulerName": "volcano"}})]) == set()
	paths(training, [pod(4, {"effective": {"schedulerName": "kai-scheduler"}})]) == set()
	paths(training, [pod(4, {"effective": {"schedulerName": "default-scheduler"}})]) == bad
	paths_with(training, [pod(4, {"effective": {"schedulerName": "volcano"}})], null, {"schedulers": []}) == bad
}

test_pod_groups if {
	paths(training, [pod(4, {"metadata": {"labels": {"scheduling.x-k8s.io/pod-group": "a"}}})]) == set()
	paths(training, [pod(4, {"metadata": {"labels": {"kueue.x-k8s.io/pod-group-name": "a"}}})]) == set()
	paths(training, [pod(4, {"metadata": {"annotations": {"scheduling.k8s.io/group-name": "a"}}})]) == set()
	paths(training, [pod(4, {"spec": {"schedulingGroup": {"podGroupName": "a"}}})]) == set()
	paths(object.union(training, {"spec": {"runPolicy": {"schedulingPolicy": {"minAvailable": 4}}}}), [pod(4, {})]) == set()
}

# One that needs several pods to begin can hold some and wait for the rest.
test_elastic_trainings if {
	paths(object.union(training, {"spec": {"elasticPolicy": {"minReplicas": 1}}}), [pod(8, {})]) == set()
	paths(object.union(training, {"spec": {"elasticPolicy": {"minReplicas": 4}}}), [pod(8, {})]) == bad
	paths(object.union(training, {"spec": {"elasticPolicy": {"rdzvBackend": "c10d"}}}), [pod(8, {})]) == bad
	paths(object.union(training, {"spec": {"elasticPolicy": {"minReplicas": "$MIN"}}}), [pod(8, {})]) == bad
}

job(mode, spec) := {"apiVersion": "batch/v1", "kind": "Job", "spec": {"completionMode": mode, "template": {"spec": spec}}}

test_jobs_whose_pods_talk_to_each_other if {
	paths(job("Indexed", {"subdomain": "workers"}), [pod(4, {})]) == bad
	paths(job("Indexed", {}), [pod(4, {})]) == set()
	paths(job("NonIndexed", {"subdomain": "workers"}), [pod(4, {})]) == set()
	paths({"apiVersion": "batch/v1", "kind": "Job", "spec": {}}, [pod(4, {})]) == set()
}

test_kinds_that_are_groups_themselves if {
	paths_with({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"}, [pod(4, {})], null, {"kinds": ["LeaderWorkerSet"]}) == set()
	paths({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}, [pod(4, {})]) == set()
}

test_kinds if paths_with(training, [pod(4, {})], null, {"kinds": []}) == set()

test_no_workload_and_wrong_types if {
	count(rule.warn) == 0 with input as {"object": training, "workload": null} with data.params.accelerators.gang as defaults
	paths(object.union(training, {"metadata": "x", "spec": "y"}), [object.union(pod(4, {}), {"metadata": "x", "spec": "x", "effective": "x"})]) == bad
}
