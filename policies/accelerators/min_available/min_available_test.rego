package fleetgate.accelerators.min_available_test

import data.fleetgate.accelerators.min_available as rule

asking := [{"path": ["spec"], "role": "worker", "spec": {}, "count": 4, "asks": {"nvidia.com/gpu": 8}}]

result_in(object, pods) := {"deny": denied, "warn": warned} if {
	document := {"object": object, "workload": {"pods": pods, "demand": []}}
	denied := {finding.msg | some finding in rule.deny} with input as document
	warned := {finding.path | some finding in rule.warn} with input as document
}

none := {"deny": set(), "warn": set()}

volcano(spec) := result_in({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": spec}, asking)

pytorch(min, specs) := result_in({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"runPolicy": {"schedulingPolicy": {"minAvailable": min}}, "pytorchReplicaSpecs": specs}}, asking)

test_all_of_them if {
	volcano({"minAvailable": 5, "tasks": [{"replicas": 1}, {"replicas": 4}]}) == none
	volcano({"minAvailable": 5, "tasks": [{}, {"replicas": 4}]}) == none
	pytorch(5, {"Master": {}, "Worker": {"replicas": 4}}) == none
}

test_less_than_all_is_a_warning if {
	volcano({"minAvailable": 1, "tasks": [{"replicas": 4}]}) == {"deny": set(), "warn": {["spec", "minAvailable"]}}
	pytorch(2, {"Master": {"replicas": 1}, "Worker": {"replicas": 4}}) == {"deny": set(), "warn": {["spec", "runPolicy", "schedulingPolicy", "minAvailable"]}}
}

test_more_than_there_are_is_denied if {
	volcano({"minAvailable": 6, "tasks": [{"replicas": 1}, {"replicas": 4}]}).deny == {"`minAvailable` is `6`, but there are `5` pods: none is started"}
	pytorch(6, {"Master": {}, "Worker": {"replicas": 4}}).deny == {"`minAvailable` is `6`, but there are `5` pods: none is started"}
}

test_not_set_is_all if {
	volcano({"tasks": [{"replicas": 4}]}) == none
	result_in({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 4}}}}, asking) == none
}

test_elastic_jobs_can_do_with_less if {
	volcano({"minAvailable": 1, "tasks": [{"replicas": 4, "minAvailable": 1}]}) == none
	result_in({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"elasticPolicy": {}, "runPolicy": {"schedulingPolicy": {"minAvailable": 1}}, "pytorchReplicaSpecs": {"Worker": {"replicas": 4}}}}, asking) == none
}

test_numbers_that_are_not_known if {
	volcano({"minAvailable": "${N}", "tasks": [{"replicas": 4}]}) == none
	volcano({"minAvailable": 1, "tasks": [{"replicas": "${N}"}]}) == none
	volcano({"minAvailable": 1, "tasks": [{"replicas": null}]}) == none
	volcano({"minAvailable": 1, "tasks": []}) == none
	volcano({"minAvailable": 1, "tasks": ["x"]}) == none
	volcano({"minAvailable": 1, "tasks": "x"}) == none
}

test_without_accelerators if {
	job := {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {"minAvailable": 1, "tasks": [{"replicas": 4}]}}
	result_in(job, []) == none
	result_in(job, [{"path": ["spec"], "role": "worker", "spec": {}, "count": 4, "asks": {}}]) == none
	result_in(job, [object.union(asking[0], {"count": 0})]) == none
	count(rule.warn) == 0 with input as {"object": job, "workload": null}
}

test_jobs_of_kubernetes_have_no_such_field if {
	result_in({"apiVersion": "batch/v1", "kind": "Job", "spec": {"minAvailable": 1, "tasks": [{"replicas": 4}]}}, asking) == none
}
