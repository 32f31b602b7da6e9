package fleetgate.scheduling.selector_without_demand_test

import data.fleetgate.lib.idle_test as idle
import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.selector_without_demand as rule

params := {"keys": ["nvidia.com/gpu.*", "cloud.google.com/gke-accelerator"], "kinds": ["DaemonSet"], "namespaces": ["*-system"]}

findings_with(document, changes) := found if {
	all := object.union(object.remove(params, object.keys(changes)), changes)
	found := rule.warn with input as document with data.params.scheduling.selector_without_demand as all
}

findings(document) := findings_with(document, {})

gke := {"nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-l4", "pool": "a"}}

affine(expression) := findings(idle.document({"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}}}, {}))

test_node_selector if {
	some finding in findings(idle.document({"spec": gke}, {}))
	finding.msg == "pod `worker` selects nodes with `cloud.google.com/gke-accelerator` and asks for no accelerator"
	finding.path == ["spec", "template", "spec", "nodeSelector", "cloud.google.com/gke-accelerator"]
	count(findings(idle.document({"spec": gke}, {}))) == 1
}

test_required_affinity if {
	count(affine({"key": "nvidia.com/gpu.product", "operator": "In", "values": ["x"]})) == 1
	count(affine({"key": "nvidia.com/gpu.product", "operator": "Exists"})) == 1
	count(affine({"key": "nvidia.com/gpu.memory", "operator": "Gt", "values": ["1000"]})) == 1
}

test_selectors_of_nodes_without_accelerators if {
	affine({"key": "nvidia.com/gpu.product", "operator": "DoesNotExist"}) == set()
	affine({"key": "nvidia.com/gpu.product", "operator": "NotIn", "values": ["x"]}) == set()
	findings(idle.document({"spec": {"nodeSelector": {"nvidia.com/gpu.present": "false"}}}, {})) == set()
	findings(idle.document({"spec": {"nodeSelector": {"nvidia.com/gpu.count": "0"}}}, {})) == set()
	findings(idle.document({"spec": {"nodeSelector": {"pool": "a"}}}, {})) == set()
	findings(idle.document({}, {})) == set()
}

test_placeholders_and_wrong_types if {
	every text in fixture.placeholders {
		findings(idle.document({"spec": {"nodeSelector": {"nvidia.com/gpu.product": text}}}, {})) == set()
	}
	findings(idle.document({"spec": {"nodeSelector": {"nvidia.com/gpu.present": true}}}, {})) == set()
	findings(idle.document({"spec": {"nodeSelector": "x"}}, {})) == set()
}

test_pods_that_ask_for_devices if findings(idle.document({"asks": {"nvidia.com/gpu": 1}, "spec": gke}, {})) == set()

test_each_pod_is_judged if {
	pods := [fixture.pod({"path": ["spec", "launcher"], "asks": {}, "spec": gke}), fixture.pod({"path": ["spec", "worker"], "spec": gke})]
	found := findings(object.union(fixture.document({}, pods), {"unaccounted": []}))
	{array.slice(finding.path, 0, 2) | some finding in found} == {["spec", "launcher"]}
}

test_exceptions if {
	findings(idle.document({"spec": gke}, {"kind": "DaemonSet"})) == set()
	count(findings_with(idle.document({"spec": gke}, {"kind": "DaemonSet"}), {"kinds": []})) == 1
	findings(idle.document({"spec": gke}, {"metadata": {"namespace": "a-system"}})) == set()
	count(findings_with(idle.document({"spec": gke}, {"metadata": {"namespace": "a-system"}}), {"namespaces": []})) == 1
	findings_with(idle.document({"spec": gke}, {}), {"keys": []}) == set()
	count(findings_with(idle.document({"spec": gke}, {}), {"keys": ["pool"]})) == 1
}

test_never_runs if findings(idle.document({"spec": gke, "count": 0}, {})) == set()
