package fleetgate.accelerators.whole_and_sliced_test

import data.fleetgate.accelerators.whole_and_sliced as rule

result_in(pods, partitioned) := {"deny": denied, "warn": warned} if {
	document := {"object": {}, "workload": {"pods": pods, "demand": []}}
	denied := {finding.path | some finding in rule.deny} with input as document
		with data.params.accelerators.whole_and_sliced as {"partitioned": partitioned}
	warned := {finding.path | some finding in rule.warn} with input as document
		with data.params.accelerators.whole_and_sliced as {"partitioned": partitioned}
}

pod(asks) := {
	"path": ["spec"], "role": "pod", "count": 1, "asks": asks, "pools": null,
	"spec": {"containers": [{"name": "a", "resources": {"limits": asks}}]},
}

result(asks) := result_in([pod(asks)], true)

none := {"deny": set(), "warn": set()}

limit(resource) := ["spec", "containers", 0, "resources", "limits", resource]

test_one_form_passes if {
	result({"nvidia.com/gpu": 8}) == none
	result({"nvidia.com/mig-1g.5gb": 1, "nvidia.com/mig-2g.10gb": 1}) == none
	result({"nvidia.com/gpu.shared": 1}) == none
	result({}) == none
}

test_shared_and_not_shared_is_denied if {
	result({"nvidia.com/gpu": 1, "nvidia.com/gpu.shared": 1}) == {"deny": {limit("nvidia.com/gpu.shared")}, "warn": set()}
	result({"nvidia.com/mig-1g.5gb": 1, "nvidia.com/mig-1g.5gb.shared": 1}).deny == {limit("nvidia.com/mig-1g.5gb.shared")}
}

test_whole_and_partition_is_a_warning if {
	result({"nvidia.com/gpu": 1, "nvidia.com/mig-3g.40gb": 1}) == {"deny": set(), "warn": {limit("nvidia.com/mig-3g.40gb")}}
	result({"gpu.nvidia.com": 1, "mig.nvidia.com": 1}).warn == {limit("mig.nvidia.com")}
}

test_other_resources_go_with_any if {
	result({"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32}) == none
	result({"google.com/tpu": 8, "nvidia.com/mig-1g.5gb": 1}) == none
}

test_unknown_and_zero_are_not_judged if {
	unknown := {"atLeast": 0, "unknown": ["x"]}
	result({"nvidia.com/gpu": 1, "nvidia.com/gpu.shared": unknown, "nvidia.com/mig-1g.5gb": 0}) == none
}

test_pods_that_never_run_and_other_pods if {
	mixed := pod({"nvidia.com/gpu": 1, "nvidia.com/gpu.shared": 1, "nvidia.com/mig-1g.5gb": 1})
	result_in([object.union(mixed, {"count": 0})], true) == none
	result_in([pod({"nvidia.com/gpu": 1}), pod({"nvidia.com/gpu.shared": 1})], true) == none
	result_in([pod({}), object.union(mixed, {"path": ["x"]})], true).deny == {["x", "containers", 0, "resources", "limits", "nvidia.com/gpu.shared"]}
}

test_init_containers_are_on_the_same_node if {
	spec := {"initContainers": [{"resources": {"limits": {"nvidia.com/gpu.shared": 1}}}], "containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}
	result_in([object.union(pod({"nvidia.com/gpu": 1, "nvidia.com/gpu.shared": 1}), {"spec": spec})], true).deny == {["spec", "initContainers", 0, "resources", "limits", "nvidia.com/gpu.shared"]}
}

test_nodes_that_have_both if {
	result_in([pod({"nvidia.com/gpu": 1, "nvidia.com/mig-3g.40gb": 1})], false) == none
	result_in([pod({"nvidia.com/gpu": 1, "nvidia.com/gpu.shared": 1})], false).deny != set()
}

test_no_workload if {
	count(rule.deny) + count(rule.warn) == 0 with input as {"workload": null} with data.params.accelerators.whole_and_sliced as {"partitioned": true}
}
