package fleetgate.accelerators.priority_test

import data.fleetgate.accelerators.priority as rule

defaults := {"allowed": [], "namespaces": ["kube-system", "*-system"]}

pod(class) := {"path": ["spec", "template", "spec"], "role": "pod", "count": 1, "asks": {"nvidia.com/gpu": 1}, "spec": {}, "effective": {"priorityClassName": class}}

job := {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": "search"}}

deployment := {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "search"}}

result_in(object, pods, params) := {"deny": count(denials), "warn": count(warnings)} if {
	document := {"object": object, "workload": {"pods": pods, "demand": []}}
	denials := rule.deny with input as document
		with data.params.accelerators.priority as object.union(defaults, params)
	warnings := rule.warn with input as document
		with data.params.accelerators.priority as object.union(defaults, params)
}

none := {"deny": 0, "warn": 0}

denied := {"deny": 1, "warn": 0}

warned := {"deny": 0, "warn": 1}

test_jobs_have_no_class_of_the_system if {
	result_in(job, [pod("system-node-critical")], {}) == denied
	result_in(job, [pod("system-cluster-critical")], {"allowed": ["*"]}) == denied
	result_in(job, [pod("batch")], {}) == none
}

test_the_value_and_its_place if {
	found := rule.deny with input as {"object": job, "workload": {"pods": [pod("gold")], "demand": []}}
		with data.params.accelerators.priority as {"allowed": ["batch", "serving-*"], "namespaces": []}
	some finding in found
	finding.msg == "the pod has the priority class `gold`, which is not one of those that are allowed"
	finding.path == ["spec", "template", "spec", "priorityClassName"]
	finding.remediation == "write one of `batch`, `serving-*`"
}

test_serving_with_a_class_of_the_system_is_a_warning if {
	result_in(deployment, [pod("system-node-critical")], {}) == warned
	result_in(deployment, [pod("system-node-critical")], {"allowed": ["system-*"]}) == none
}

# What a queue or the cluster sets counts, too.
test_the_effective_pod_counts if {
	result_in(job, [object.union(pod("x"), {"spec": {"priorityClassName": "y"}})], {"allowed": ["x"]}) == none
	result_in(job, [object.union(pod("y"), {"spec": {"priorityClassName": "x"}})], {"allowed": ["x"]}) == denied
}

test_allowed_classes if {
	result_in(deployment, [pod("serving-high")], {"allowed": ["batch", "serving-*"]}) == none
	result_in(deployment, [pod("batch2")], {"allowed": ["batch", "serving-*"]}) == denied
	result_in(deployment, [pod("anything")], {"allowed": []}) == none
}

test_no_class_takes_the_default if {
	result_in(job, [object.remove(pod("x"), ["effective"])], {"allowed": ["batch"]}) == none
	result_in(job, [pod("")], {"allowed": ["batch"]}) == none
	result_in(job, [pod(null)], {"allowed": ["batch"]}) == none
}

test_placeholders_are_not_judged if result_in(job, [pod("${CLASS}")], {"allowed": ["batch"]}) == none

test_system_namespaces if {
	inside := object.union(job, {"metadata": {"namespace": "gpu-system"}})
	result_in(inside, [pod("system-node-critical")], {}) == none
	result_in(inside, [pod("system-node-critical")], {"namespaces": []}) == denied
}

test_without_accelerators if {
	idle := object.union(object.remove(pod("system-node-critical"), ["asks"]), {"asks": {}})
	result_in(job, [idle], {}) == none
	result_in(job, [object.union(pod("system-node-critical"), {"count": 0})], {}) == none
	result_in(job, [idle, pod("system-node-critical")], {}) == denied
}

test_no_workload if {
	count(rule.deny) + count(rule.warn) == 0 with input as {"object": job, "workload": null} with data.params.accelerators.priority as defaults
}
