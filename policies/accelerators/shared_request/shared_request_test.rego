package fleetgate.accelerators.shared_request_test

import data.fleetgate.accelerators.shared_request as rule

defaults := {"resources": ["nvidia.com/*.shared"], "refused": false}

result_in(pods, params) := {"deny": denied, "warn": warned} if {
	document := {"object": {}, "workload": {"pods": pods, "demand": []}}
	complete := object.union(defaults, params)
	denied := {finding.path | some finding in rule.deny} with input as document
		with data.params.accelerators.shared_request as complete
	warned := {finding.path | some finding in rule.warn} with input as document
		with data.params.accelerators.shared_request as complete
}

pod(limits, pools) := {
	"path": ["spec"], "role": "pod", "count": 1, "asks": limits, "pools": pools,
	"spec": {"containers": [{"name": "a", "resources": {"limits": limits}}]},
}

result(limits, pools) := result_in([pod(limits, pools)], {})

none := {"deny": set(), "warn": set()}

limit(resource) := ["spec", "containers", 0, "resources", "limits", resource]

pool(sharing, selected) := {"family": "T4", "resource": "nvidia.com/gpu", "perNode": 8, "sharing": sharing, "selected": selected}

test_one_share_passes if {
	result({"nvidia.com/gpu.shared": 1}, null) == none
	result({"nvidia.com/gpu.shared": "1000m"}, null) == none
	result({"nvidia.com/gpu": 8}, null) == none
	result({"nvidia.com/gpu": 8}, []) == none
	result({}, null) == none
}

test_two_shares_are_a_warning if {
	result({"nvidia.com/gpu.shared": 2}, null) == {"deny": set(), "warn": {limit("nvidia.com/gpu.shared")}}
	result({"nvidia.com/mig-1g.5gb.shared": "4"}, null).warn == {limit("nvidia.com/mig-1g.5gb.shared")}
}

test_two_shares_are_denied_where_they_are_refused if {
	result_in([pod({"nvidia.com/gpu.shared": 2}, null)], {"refused": true}) == {"deny": {limit("nvidia.com/gpu.shared")}, "warn": set()}
	result({"nvidia.com/gpu": 2}, [pool("mps", "yes")]) == {"deny": {limit("nvidia.com/gpu")}, "warn": set()}
	result_in([pod({"nvidia.com/gpu": 2}, [pool("time-slicing", "yes")])], {"refused": true}).deny == {limit("nvidia.com/gpu")}
}

test_pools_that_share if {
	result({"nvidia.com/gpu": 2}, [pool("time-slicing", "yes")]) == {"deny": set(), "warn": {limit("nvidia.com/gpu")}}
	result({"nvidia.com/gpu": 1}, [pool("time-slicing", "yes")]) == none
	result({"nvidia.com/gpu": 2}, [pool("time-slicing", "yes"), pool("mps", "unknown")]).warn == {limit("nvidia.com/gpu")}
}

test_a_pool_of_whole_devices_that_is_left_passes if {
	result({"nvidia.com/gpu": 2}, [pool("time-slicing", "yes"), pool(null, "yes")]) == none
	result({"nvidia.com/gpu": 2}, [pool("time-slicing", "yes"), pool(null, "unknown")]) == none
	result({"nvidia.com/gpu": 2}, [pool("time-slicing", "yes"), pool(null, "no")]).warn == {limit("nvidia.com/gpu")}
	result({"nvidia.com/gpu": 2}, [pool("time-slicing", "no")]) == none
}

# The device plugin counts by container.
test_two_containers_with_one_share_each_pass if {
	spec := {"containers": [{"resources": {"limits": {"nvidia.com/gpu.shared": 1}}}, {"resources": {"limits": {"nvidia.com/gpu.shared": 1}}}]}
	result_in([object.union(pod({"nvidia.com/gpu.shared": 2}, null), {"spec": spec})], {}) == none
}

test_init_containers_and_requests if {
	spec := {"initContainers": [{"resources": {"requests": {"nvidia.com/gpu.shared": 3}}}], "containers": [{}]}
	result_in([object.union(pod({"nvidia.com/gpu.shared": 3}, null), {"spec": spec})], {}).warn == {["spec", "initContainers", 0, "resources", "requests", "nvidia.com/gpu.shared"]}
}

test_placeholders_and_wrong_types_are_not_judged if {
	result({"nvidia.com/gpu.shared": "${N}"}, null) == none
	result({"nvidia.com/gpu.shared": null}, null) == none
	result_in([object.union(pod({}, null), {"spec": {"containers": [{"resources": "x"}, {"resources": {"limits": 5}}]}})], {}) == none
}

test_pods_that_never_run_pass if {
	result_in([object.union(pod({"nvidia.com/gpu.shared": 2}, null), {"count": 0})], {}) == none
}

test_parameters if {
	result_in([pod({"nvidia.com/gpu.shared": 2}, null)], {"resources": []}) == none
	result_in([pod({"example.org/share": 2}, null)], {"resources": ["example.org/*"]}).warn == {limit("example.org/share")}
}

test_no_workload if {
	count(rule.deny) + count(rule.warn) == 0 with input as {"workload": null} with data.params.accelerators.shared_request as defaults
}
