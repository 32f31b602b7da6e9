package fleetgate.gitops.pod_fields_test

import data.fleetgate.gitops.pod_fields as rule

findings(version, spec) := found if {
	found := rule.deny with input as {
		"object": {"apiVersion": version, "kind": "Job"},
		"workload": {"pods": [{"path": ["spec"], "spec": spec}], "demand": []},
	}
}

paths(spec) := {finding.path | some finding in findings("batch/v1", spec)}

one(container) := {"containers": [container]}

in_container(container) := {array.slice(path, 3, count(path)) | some path in paths(one(container))}

test_usual_pod_passes if {
	paths({
		"nodeSelector": {"a": "true"},
		"hostNetwork": false,
		"tolerations": [{"operator": "Exists"}],
		"containers": [{
			"name": "web",
			"args": ["--port", "80"],
			"env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {}}],
			"ports": [{"containerPort": 8080}],
			"resources": {"limits": {"cpu": 1}, "requests": null},
			"securityContext": {"privileged": false},
		}],
	}) == set()
}

test_null_is_absent if paths({"volumes": null, "nodeSelector": null, "containers": [{"env": null, "resources": null}]}) == set()

test_no_containers_fail if {
	paths({"containers": null}) == {["spec", "containers"]}
	paths({"containers": []}) == {["spec", "containers"]}
	paths({}) == {["spec", "containers"]}
}

test_operator_may_fill_in_containers if findings("serving.kserve.io/v1beta1", {}) == set()

test_lists_of_wrong_type_fail if {
	paths({"containers": "web"}) == {["spec", "containers"]}
	paths({"containers": {"name": "web"}}) == {["spec", "containers"]}
	paths({"containers": ["web"]}) == {["spec", "containers", 0]}
	paths({"containers": [{}], "initContainers": 5, "volumes": {}}) == {["spec", "initContainers"], ["spec", "volumes"]}
}

test_node_selector_holds_texts if {
	paths({"containers": [{}], "nodeSelector": {"gpu": true}}) == {["spec", "nodeSelector", "gpu"]}
	paths({"containers": [{}], "nodeSelector": "gpu"}) == {["spec", "nodeSelector"]}
}

test_booleans if paths({"containers": [{}], "hostNetwork": "true"}) == {["spec", "hostNetwork"]}

test_fields_of_containers if {
	in_container({"args": [8080]}) == {["args", 0]}
	in_container({"command": "run"}) == {["command"]}
	in_container({"resources": []}) == {["resources"]}
	in_container({"resources": {"limits": ["cpu"]}}) == {["resources", "limits"]}
	in_container({"securityContext": {"privileged": "true"}}) == {["securityContext", "privileged"]}
	in_container({"readinessProbe": "/healthz"}) == {["readinessProbe"]}
	in_container({"name": 5}) == {["name"]}
}

test_environment_values_are_texts if {
	in_container({"env": [{"name": "A", "value": 1}, {"name": "B", "value": true}]}) == {["env", 0, "value"], ["env", 1, "value"]}
	in_container({"env": {"A": "1"}}) == {["env"]}
}

test_boolean_for_name_fails if in_container({"name": false}) == {["name"]}

test_ports_are_numbers if {
	in_container({"ports": [{"containerPort": "8080"}]}) == {["ports", 0, "containerPort"]}
	in_container({"ports": [{"containerPort": 0}]}) == {["ports", 0, "containerPort"]}
	in_container({"ports": [{"containerPort": 65536}]}) == {["ports", 0, "containerPort"]}
	in_container({"ports": [{"containerPort": 80.5}]}) == {["ports", 0, "containerPort"]}
	in_container({"ports": [8080]}) == {["ports", 0]}
}

test_message_names_both_types if {
	[finding.msg | some finding in findings("v1", one({"env": [{"name": "A", "value": 1}]}))] == ["`value` is the number `1`, not a text"]
	[finding.msg | some finding in findings("v1", one({"env": {}}))] == ["`env` is a map, not a list of maps"]
}
