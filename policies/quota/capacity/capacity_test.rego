package fleetgate.quota.capacity_test

import data.fleetgate.quota.capacity as rule

pool(nodes) := {"family": "H100", "resource": "nvidia.com/gpu", "perNode": 8, "nodes": nodes, "selected": "yes"}

pod(asks, pools) := {"path": ["spec", "template", "spec"], "role": "pod", "spec": {}, "count": 2, "asks": {"nvidia.com/gpu": asks}, "pools": pools}

deployment := {"apiVersion": "apps/v1", "kind": "Deployment"}

found_with(p, steady, queue) := found_of(deployment, p, steady, queue)

found_of(object, p, steady, queue) := findings if {
	workload := {
		"pods": [p], "queue": queue,
		"demand": [{"resource": "nvidia.com/gpu", "family": null, "unit": "device", "steady": steady, "rollout": steady, "autoscaled": steady}],
	}
	findings := rule.deny with input as {"object": object, "workload": workload}
}

found(p, steady) := found_with(p, steady, null)

test_a_pod_larger_than_any_node if {
	some finding in found(pod(16, [pool(4)]), 32)
	finding.msg == "the pod asks for 16 of `nvidia.com/gpu`, and the largest node of this cluster has 8"
	finding.details.lines == [["facts", "H100: 4 nodes × 8"]]
	count(found(pod(16, [pool(null)]), 32)) == 1
	found(pod(8, [pool(4)]), 16) == set()
}

test_more_than_all_nodes_together if {
	some finding in found(pod(8, [pool(1)]), 16)
	finding.msg == "it asks for 16 of `nvidia.com/gpu`, and the nodes of this cluster that its pods may use have 8 together"
	finding.details.value == 8
	found(pod(8, [pool(2)]), 16) == set()
	# Two pools that are alike are two pools.
	found(pod(8, [pool(1), pool(1)]), 16) == set()
	found(pod(8, [pool(1), object.union(pool(1), {"family": "H200"})]), 16) == set()
}

test_what_is_not_known_is_large_enough if {
	found(pod(8, [pool(null)]), 800) == set()
	found(pod(8, null), 800) == set()
	found(pod(16, []), 800) == set()
	found(pod(8, [pool(1)]), {"atLeast": 8, "unknown": ["x"]}) == set()
	found(pod(8, [pool(1)]), {"atLeast": 8, "unbounded": true}) == set()
	count(found(pod(8, [pool(1)]), {"atLeast": 16, "unknown": ["x"]})) == 1
}

test_pools_that_are_ruled_out_do_not_count if {
	other := object.union(pool(9), {"selected": "no", "perNode": 16})
	count(found(pod(16, [pool(4), other]), 32)) == 1
	found(pod(16, [other]), 32) == set()
	found(pod(16, [object.union(other, {"selected": "unknown"})]), 32) == set()
}

test_what_runs_elsewhere_or_one_by_one_is_left if {
	found_with(pod(16, [pool(1)]), 32, {"elsewhere": true}) == set()
	found_with(pod(8, [pool(1)]), 32, {"elsewhere": false}) == set()
	count(found_with(pod(16, [pool(1)]), 32, {"elsewhere": false})) == 1
}

test_pods_of_a_job_run_one_after_the_other if {
	job := {"apiVersion": "batch/v1", "kind": "Job", "spec": {}}
	found_of(job, pod(8, [pool(1)]), 32, null) == set()
	count(found_of(job, pod(16, [pool(1)]), 32, null)) == 1
	count(found_of({"apiVersion": "batch/v1", "kind": "Job", "spec": {"completionMode": "Indexed"}}, pod(8, [pool(1)]), 32, null)) == 1
}
