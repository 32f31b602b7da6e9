package fleetgate.accelerators.accelerator_limits_test

import data.fleetgate.accelerators.accelerator_limits as rule

findings_with(spec, params) := found if {
	found := rule.deny with input as {
		"object": {"spec": {"template": {"spec": spec}}},
		"workload": {"pods": [{"path": ["spec", "template", "spec"], "spec": spec}], "demand": []},
	}
		with data.params.accelerators.accelerator_limits as params
}

findings(spec) := findings_with(spec, {"resources": ["nvidia.com/*", "google.com/tpu", "vpc.amazonaws.com/efa"]})

# Places of the findings, without the way to the resources of the first container.
places(resources) := {place |
	some finding in findings({"containers": [{"name": "train", "resources": resources}]})
	array.slice(finding.path, 0, 6) == ["spec", "template", "spec", "containers", 0, "resources"]
	place := concat(" ", array.slice(finding.path, 6, count(finding.path)))
}

gpus(quantity) := places({"limits": {"nvidia.com/gpu": quantity}})

test_whole_limits_pass if {
	gpus(8) == set()
	gpus("8") == set()
	gpus("1000m") == set()
	gpus("1e0") == set()
	gpus("1k") == set()
	gpus("1 ") == set()
	gpus(0) == set()
}

test_limits_that_are_no_whole_number_fail if {
	bad := {"limits nvidia.com/gpu"}
	gpus("0.5") == bad
	gpus("500m") == bad
	gpus(0.5) == bad
	gpus(-1) == bad
	gpus("-1") == bad
	gpus(null) == bad
	gpus("") == bad
	gpus("one") == bad
	gpus("1 x") == bad
	gpus("1_0") == bad
	gpus("0x1") == bad
	gpus("$GPU") == bad
	gpus("${GPU}") == bad
	gpus(true) == bad
	gpus([1]) == bad
}

test_placeholder_is_named if {
	some finding in findings({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "{{ gpus }}"}}}]})
	finding.msg == "container `0` asks for `{{ gpus }}` of `nvidia.com/gpu` in its limits, which is a placeholder that nothing replaced"
}

test_equal_request_passes if {
	places({"limits": {"nvidia.com/gpu": 8}, "requests": {"nvidia.com/gpu": "8"}}) == set()
	places({"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1000m"}}) == set()
}

test_other_request_fails if {
	places({"limits": {"nvidia.com/gpu": 8}, "requests": {"nvidia.com/gpu": 4}}) == {"requests nvidia.com/gpu"}
	places({"limits": {"nvidia.com/gpu": "8"}, "requests": {"nvidia.com/gpu": "16"}}) == {"requests nvidia.com/gpu"}
}

test_request_without_limit_fails if {
	places({"requests": {"nvidia.com/gpu": 1}}) == {"requests nvidia.com/gpu"}
	places({"requests": {"nvidia.com/gpu": 1}, "limits": null}) == {"requests nvidia.com/gpu"}
	places({"requests": {"nvidia.com/gpu": 1}, "limits": {"cpu": 1}}) == {"requests nvidia.com/gpu"}
	places({"requests": {"vpc.amazonaws.com/efa": 32}, "limits": {"nvidia.com/gpu": 8}}) == {"requests vpc.amazonaws.com/efa"}
}

test_invalid_limit_is_reported_once if {
	places({"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": "one"}}) == {"limits nvidia.com/gpu"}
	places({"requests": {"nvidia.com/gpu": "one"}, "limits": {"nvidia.com/gpu": 1}}) == {"requests nvidia.com/gpu"}
}

test_other_resources_are_not_judged if {
	places({"requests": {"cpu": "500m", "memory": "1.5Gi"}, "limits": {"memory": "2Gi"}}) == set()
}

test_all_matching_resources_are_judged if {
	found := places({"limits": {"nvidia.com/mig-1g.5gb": "0.5", "google.com/tpu": 4, "nvidia.com/gpu.shared": "x"}})
	found == {"limits nvidia.com/mig-1g.5gb", "limits nvidia.com/gpu.shared"}
}

test_init_containers_and_sidecars_are_judged if {
	found := findings({
		"containers": [{"name": "a"}],
		"initContainers": [{"name": "b", "restartPolicy": "Always", "resources": {"requests": {"nvidia.com/gpu": 1}}}],
	})
	{finding.path | some finding in found} == {["spec", "template", "spec", "initContainers", 0, "resources", "requests", "nvidia.com/gpu"]}
}

test_ephemeral_containers_need_no_limit if findings({"ephemeralContainers": [{"name": "debug"}]}) == set()

test_resources_of_the_pod_hold_no_devices if {
	found := findings({"resources": {"limits": {"nvidia.com/gpu": 1, "cpu": 1}}, "containers": []})
	{finding.path | some finding in found} == {["spec", "template", "spec", "resources", "limits", "nvidia.com/gpu"]}
}

test_wrong_types_stop_nothing if {
	places("x") == set()
	places(null) == set()
	places({"limits": "x", "requests": ["nvidia.com/gpu"]}) == set()
	found := findings({"resources": [], "initContainers": 5, "containers": [
		{"resources": {"limits": 1}},
		{"resources": {"limits": {"nvidia.com/gpu": "x"}}},
	]})
	count(found) == 1
}

test_empty_list_switches_off if {
	findings_with({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "x"}}}]}, {"resources": []}) == set()
}

test_all_pods_of_a_workload_are_judged if {
	spec := {"containers": [{"resources": {"requests": {"nvidia.com/gpu": 1}}}]}
	found := rule.deny with input as {
		"object": {},
		"workload": {"pods": [{"path": ["spec", "head"], "spec": {"containers": []}}, {"path": ["spec", "workers", 0], "spec": spec}], "demand": []},
	}
		with data.params.accelerators.accelerator_limits as {"resources": ["nvidia.com/*"]}
	{finding.path | some finding in found} == {["spec", "workers", 0, "containers", 0, "resources", "requests", "nvidia.com/gpu"]}
}
