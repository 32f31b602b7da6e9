package fleetgate.gitops.accelerator_requests_test

import data.fleetgate.gitops.accelerator_requests as rule

findings(spec, params) := found if {
	complete := object.union({"resources": ["nvidia.com/*"], "requests": ["cpu", "memory"], "limits": []}, params)
	found := rule.warn with input as {"object": {}, "workload": {"pods": [{"path": ["spec"], "spec": spec}], "demand": []}}
		with data.params.gitops.accelerator_requests as complete
}

paths(spec) := {finding.path | some finding in findings(spec, {})}

gpu(resources) := {"containers": [{"name": "train", "resources": object.union({"limits": {"nvidia.com/gpu": 1}}, resources)}]}

place := {["spec", "containers", 0, "resources", "requests"]}

test_requests_pass if paths(gpu({"requests": {"cpu": 8, "memory": "64Gi"}})) == set()

test_limits_stand_for_requests if paths(gpu({"limits": {"cpu": 8, "memory": "64Gi"}})) == set()

test_missing_requests_fail if {
	paths(gpu({})) == place
	paths(gpu({"requests": {"cpu": 8}})) == place
	paths(gpu({"requests": {"cpu": 8, "memory": null}})) == place
	paths(gpu({"requests": null})) == place
}

test_message_names_what_is_missing if {
	{finding.msg | some finding in findings(gpu({}), {})} == {"container `train` of a pod with accelerators requests no cpu and no memory"}
	{finding.msg | some finding in findings(gpu({"requests": {"cpu": 1}}), {})} == {"container `train` of a pod with accelerators requests no memory"}
}

test_pods_without_accelerators_are_not_judged if {
	paths({"containers": [{"name": "web"}]}) == set()
	paths({"containers": [{"name": "web", "resources": {"limits": {"nvidia.com/gpu": 0}}}]}) == set()
}

test_requests_of_the_pod_as_a_whole_count if {
	paths(object.union(gpu({}), {"resources": {"requests": {"cpu": 8, "memory": "64Gi"}}})) == set()
}

test_all_running_containers_are_judged if {
	spec := {
		"containers": [{"name": "train", "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": 1, "memory": "1Gi"}}}, {"name": "log"}],
		"initContainers": [{"name": "fetch"}, {"name": "proxy", "restartPolicy": "Always"}],
	}
	paths(spec) == {["spec", "containers", 1, "resources", "requests"], ["spec", "initContainers", 1, "resources", "requests"]}
}

test_pods_with_claims_are_judged if {
	paths({"containers": [{"name": "train"}], "resourceClaims": [{"name": "gpu"}]}) == place
}

test_parameters if {
	findings(gpu({}), {"resources": []}) == set()
	findings(gpu({}), {"requests": []}) == set()
	{finding.path | some finding in findings(gpu({}), {"requests": [], "limits": ["memory"]})} == {["spec", "containers", 0, "resources", "limits"]}
	findings(gpu({"limits": {"memory": "1Gi"}}), {"requests": [], "limits": ["memory"]}) == set()
	findings(object.union(gpu({}), {"resources": {"limits": {"memory": "1Gi"}}}), {"requests": [], "limits": ["memory"]}) == set()
}

test_wrong_types_stop_nothing if {
	paths({"containers": "x"}) == set()
	paths({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}, "requests": "x"}}, {"resources": []}]}) == {
		["spec", "containers", 0, "resources", "requests"],
		["spec", "containers", 1, "resources", "requests"],
	}
}
