package fleetgate.accelerators.surge_test

import data.fleetgate.accelerators.surge as rule

row(steady, rollout) := {"resource": "nvidia.com/gpu", "family": null, "unit": "device", "steady": steady, "rollout": rollout, "autoscaled": rollout}

findings_with(object, demand, devices) := found if {
	found := rule.warn with input as {"object": object, "workload": {"pods": [], "demand": demand}}
		with data.params.accelerators.surge as {"devices": devices}
}

deployment(spec) := {"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}

paths(object, demand) := {finding.path | some finding in findings_with(object, demand, 8)}

test_a_whole_node_beside_those_in_use_is_named if {
	some finding in findings_with(deployment({}), [row(16, 24)], 8)
	finding.msg == "a rollout takes `8` of `nvidia.com/gpu` beside the `16` in use"
	finding.path == ["spec", "strategy"]
	finding.details.value == 8
	finding.details.lines == [["rollout", "nvidia.com/gpu: 16 steady, 24 while it rolls out"]]
}

test_the_path_is_what_is_written if {
	paths(deployment({"strategy": {"rollingUpdate": {"maxSurge": "100%"}}}), [row(8, 16)]) == {["spec", "strategy", "rollingUpdate", "maxSurge"]}
	paths(deployment({"strategy": {"type": "RollingUpdate"}}), [row(8, 16)]) == {["spec", "strategy"]}
	paths({"apiVersion": "ray.io/v1", "kind": "RayService", "spec": {}}, [row(16, 32)]) == {["spec", "upgradeStrategy", "type"]}
	paths({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "spec": {}}, [row(32, 48)]) == {["spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxSurge"]}
	paths({"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "spec": {"strategy": {"blueGreen": {}}}}, [row(8, 16)]) == {["spec", "strategy", "blueGreen"]}
}

test_few_devices_are_no_advice if {
	paths(deployment({}), [row(1, 2)]) == set()
	paths(deployment({}), [row(14, 21)]) == set()
	paths(deployment({}), [row(16, 16)]) == set()
}

test_parameter if {
	count(findings_with(deployment({}), [row(1, 2)], 1)) == 1
	count(findings_with(deployment({}), [row(16, 24)], 9)) == 0
}

test_a_rollout_of_at_least_so_many if {
	paths(deployment({}), [row(8, {"atLeast": 16, "unknown": ["x"]})]) == {["spec", "strategy"]}
	paths(deployment({}), [row(8, {"atLeast": 8, "unknown": ["x"]})]) == set()
}

test_what_is_in_use_is_not_known if {
	paths(deployment({}), [row({"atLeast": 8, "unknown": ["x"]}, {"atLeast": 16, "unknown": ["x"]})]) == set()
}

test_what_runs_nothing_is_not_judged if paths(deployment({}), [row(0, 16)]) == set()

test_slices_fabric_and_rows_by_family_are_not_judged if {
	paths(deployment({}), [object.union(row(16, 32), {"unit": "slice"}), object.union(row(64, 128), {"unit": "fabric"})]) == set()
	paths(deployment({}), [object.union(row(16000, 32000), {"unit": "thousandth", "family": "H100"})]) == set()
}

test_kinds_that_cannot_go_the_other_way if {
	paths({"apiVersion": "serving.knative.dev/v1", "kind": "Service", "spec": {}}, [row(8, 16)]) == set()
	paths({"apiVersion": 5}, [row(8, 16)]) == set()
}

test_no_workload if {
	count(rule.warn) == 0 with input as {"object": deployment({}), "workload": null} with data.params.accelerators.surge as {"devices": 1}
}
