package fleetgate.gitops.serving_probes_test

import data.fleetgate.gitops.serving_probes as rule

findings(spec, resources) := found if {
	found := rule.warn with input as {"object": {}, "workload": {"pods": [{"path": ["spec"], "spec": spec}], "demand": []}}
		with data.params.gitops.serving_probes as {"resources": resources}
}

paths(spec) := {finding.path | some finding in findings(spec, ["nvidia.com/*"])}

server := {"name": "vllm", "ports": [{"containerPort": 8000}], "resources": {"limits": {"nvidia.com/gpu": 1}}}

one(changes) := {"containers": [object.union(server, changes)]}

probe := {"httpGet": {"path": "/health", "port": 8000}}

ready := {["spec", "containers", 0, "readinessProbe"]}

test_probes_pass if {
	paths(one({"readinessProbe": probe})) == set()
	paths(one({"readinessProbe": probe, "livenessProbe": probe, "startupProbe": probe})) == set()
}

test_missing_readiness_fails if {
	paths(one({})) == ready
	paths(one({"readinessProbe": null})) == ready
	paths(one({"readinessProbe": {}})) == ready
}

test_liveness_without_startup_fails if {
	paths(one({"readinessProbe": probe, "livenessProbe": probe})) == {["spec", "containers", 0, "livenessProbe"]}
	count(paths(one({"livenessProbe": probe}))) == 2
}

test_containers_that_do_not_serve_are_not_judged if {
	paths(one({"ports": []})) == set()
	paths(one({"ports": null})) == set()
	paths({"containers": [{"name": "web", "ports": [{"containerPort": 80}]}]}) == set()
	paths({"containers": [], "initContainers": [server]}) == set()
}

test_containers_with_claims_are_judged if {
	spec := {"containers": [{"ports": [{"containerPort": 80}], "resources": {"claims": [{"name": "gpu"}]}}]}
	count(findings(spec, [])) == 1
}

test_empty_list_judges_claims_only if findings(one({}), []) == set()

test_wrong_types_stop_nothing if {
	paths({"containers": "x"}) == set()
	paths({"containers": [5, object.union(server, {"ports": "8000"}), server]}) == {["spec", "containers", 2, "readinessProbe"]}
}
