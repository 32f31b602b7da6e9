package fleetgate.lib.pods_test

import data.fleetgate.lib.pods

pod := {"path": ["spec"], "spec": {
	"initContainers": [{"name": "a"}],
	"containers": [5, {"name": "b"}],
	"ephemeralContainers": [{}],
}}

test_all_lists_are_read if {
	[entry.path | some entry in pods.containers(pod)] == [["spec", "initContainers", 0], ["spec", "containers", 1]]
	[entry.list | some entry in pods.all_containers(pod)] == ["initContainers", "containers", "ephemeralContainers"]
}

test_wrong_types_are_empty if {
	pods.containers({"path": [], "spec": {"containers": null}}) == []
	pods.containers({"path": [], "spec": {}}) == []
}

test_names if [pods.name(entry) | some entry in pods.all_containers(pod)] == ["a", "b", "0"]
