package fleetgate.gitops.device_isolation_test

import data.fleetgate.gitops.device_isolation as rule

defaults := {
	"namespaces": ["kube-system", "*-system"],
	"hostPaths": ["/dev", "/dev/nvidia*", "/dev/dri/*"],
	"variables": ["NVIDIA_VISIBLE_DEVICES"],
}

result_with(spec, namespace, params) := {"deny": denied, "warn": warned} if {
	document := {
		"object": {"metadata": namespace},
		"workload": {"pods": [{"path": ["spec"], "spec": spec}], "demand": []},
	}
	complete := object.union(defaults, params)
	denied := {finding.path | some finding in rule.deny} with input as document
		with data.params.gitops.device_isolation as complete
	warned := {finding.path | some finding in rule.warn} with input as document
		with data.params.gitops.device_isolation as complete
}

result(spec) := result_with(spec, {"namespace": "search"}, {})

none := {"deny": set(), "warn": set()}

denied(path) := {"deny": {path}, "warn": set()}

privileged := {"containers": [{"name": "a", "securityContext": {"privileged": true}}]}

host(path) := result({"containers": [{}], "volumes": [{"name": "d", "hostPath": {"path": path}}]})

variable(item) := result({"containers": [{"name": "a", "env": [object.union({"name": "NVIDIA_VISIBLE_DEVICES"}, item)]}]})

test_usual_pod_passes if {
	result({
		"containers": [{"name": "a", "securityContext": {"privileged": false}, "env": [{"name": "A", "value": "all"}]}],
		"volumes": [{"name": "x", "emptyDir": {"medium": "Memory"}}],
	}) == none
}

test_privileged_containers_are_denied if {
	result(privileged) == denied(["spec", "containers", 0, "securityContext", "privileged"])
	result({"containers": [{"securityContext": {"privileged": "true"}}]}) == denied(["spec", "containers", 0, "securityContext", "privileged"])
}

test_init_and_ephemeral_containers_are_judged if {
	container := {"securityContext": {"privileged": true}}
	result({"initContainers": [container], "ephemeralContainers": [container]}).deny == {
		["spec", "initContainers", 0, "securityContext", "privileged"],
		["spec", "ephemeralContainers", 0, "securityContext", "privileged"],
	}
}

test_device_paths_are_denied if {
	bad := denied(["spec", "volumes", 0, "hostPath", "path"])
	host("/dev") == bad
	host("/dev/") == bad
	host("/dev/nvidia0") == bad
	host("/dev//nvidiactl") == bad
	host("/dev/./dri/card0") == bad
}

test_other_paths_pass if {
	host("/var/log") == none
	host("/dev/shm") == none
	host("/devices") == none
	host("/") == none
}

test_variables_that_give_devices_are_denied if {
	bad := denied(["spec", "containers", 0, "env", 0, "value"])
	variable({"value": "all"}) == bad
	variable({"value": "0,1"}) == bad
	variable({"value": "GPU-8f3a"}) == bad
	variable({"value": "$(DEVICES)"}) == bad
}

test_variables_that_give_none_pass if {
	variable({"value": "none"}) == none
	variable({"value": "void"}) == none
	variable({"value": ""}) == none
	variable({}) == none
}

test_variable_from_elsewhere_is_a_warning if {
	variable({"valueFrom": {"configMapKeyRef": {"name": "x", "key": "y"}}}) == {"deny": set(), "warn": {["spec", "containers", 0, "env", 0, "valueFrom"]}}
}

test_system_namespaces_are_exempt if {
	result_with(privileged, {"namespace": "kube-system"}, {}) == none
	result_with(privileged, {"namespace": "nvidia-system"}, {}) == none
	result_with({"volumes": [{"hostPath": {"path": "/dev/nvidia0"}}]}, {"namespace": "kube-system"}, {}) == none
	result_with(privileged, {"namespace": "system-search"}, {}) != none
}

test_missing_namespace_is_not_exempt if {
	result_with(privileged, {}, {}) != none
	result_with(privileged, {"namespace": null}, {"namespaces": ["*"]}) != none
}

test_parameters if {
	result_with(privileged, {"namespace": "kube-system"}, {"namespaces": []}) != none
	result_with({"volumes": [{"hostPath": {"path": "/dev/nvidia0"}}]}, {}, {"hostPaths": []}) == none
	result_with({"volumes": [{"hostPath": {"path": "/opt/x"}}]}, {}, {"hostPaths": ["/opt/*"]}) != none
	result_with({"containers": [{"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}]}, {}, {"variables": []}) == none
}

test_wrong_types_stop_nothing if {
	result({"containers": "x", "volumes": {}}) == none
	result({"containers": [5, {"securityContext": "x", "env": "y"}, {"env": ["z", {"name": "NVIDIA_VISIBLE_DEVICES", "value": 5}]}], "volumes": ["a", {"hostPath": "b"}, {"hostPath": {"path": 5}}]}) == none
}
