package fleetgate.lib.idle_test

import data.fleetgate.lib.idle
import data.fleetgate.lib.scheduling_test as fixture

params := {"kinds": ["DaemonSet"], "namespaces": ["*-system"]}

# A workload that asks for nothing, with fields of its pod and of itself.
document(fields, manifest) := object.union(fixture.document(manifest, [fixture.pod(object.union({"asks": {}}, fields))]), {"unaccounted": []})

found(input_document) := count(pods) if {
	pods := idle.pods(params) with input as input_document
}

test_asks_for_nothing if {
	found(document({}, {})) == 1
	found(document({"spec": {"containers": [{"resources": {"limits": {"cpu": 1}}}]}}, {})) == 1
	found(document({"asks": {"nvidia.com/gpu": 0}}, {})) == 1
}

test_may_ask_for_something if {
	found(document({"asks": {"nvidia.com/gpu": 1}}, {})) == 0
	found(document({"asks": {"nvidia.com/gpu": fixture.unknown}}, {})) == 0
	found(document({"spec": {"containers": [{"resources": {"limits": {"gpu.intel.com/i915_monitoring": 1}}}]}}, {})) == 0
	found(document({"spec": {"containers": [{"resources": {"limits": {"rdma/hca": 1}}}]}}, {})) == 0
	found(document({"spec": {"initContainers": [{"resources": {"limits": {"nvidia.com/gpu": "${X}"}}}]}}, {})) == 0
	found(document({"spec": {"resourceClaims": [{"name": "channel"}]}}, {})) == 0
	found(document({"metadata": {"annotations": {"gpu-fraction": "0.5"}}}, {})) == 0
	found(document({"spec": {"containers": [{"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}]}}, {})) == 0
}

test_exempt if {
	found(document({}, {"kind": "DaemonSet"})) == 0
	found(document({}, {"metadata": {"namespace": "gpu-system"}})) == 0
	found(document({}, {"metadata": {"namespace": "team"}})) == 1
}

test_not_all_is_known if {
	found(object.union(document({}, {}), {"workload": {"unknown": ["a runtime that is not here"]}})) == 0
	found(object.union(document({}, {}), {"workload": {"registered": false}})) == 0
	found(object.union(document({}, {}), {"unaccounted": [{"path": []}]})) == 0
	found(document({}, {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService"})) == 0
}

test_never_runs if {
	found(document({"count": 0}, {})) == 0
	found({"object": {"kind": "ConfigMap"}, "workload": null, "unaccounted": []}) == 0
}
