package fleetgate.scheduling.toleration_without_demand_test

import data.fleetgate.lib.idle_test as idle
import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.toleration_without_demand as rule

params := {"taints": ["nvidia.com/gpu", "sku=gpu"], "kinds": ["DaemonSet"], "namespaces": ["*-system"]}

findings_with(document, changes) := found if {
	all := object.union(object.remove(params, object.keys(changes)), changes)
	found := rule.warn with input as document with data.params.scheduling.toleration_without_demand as all
}

findings(document) := findings_with(document, {})

tolerating(tolerations) := idle.document({"spec": {"tolerations": tolerations}}, {})

tolerates(toleration) if count(findings(tolerating([toleration]))) == 1

test_words if {
	some finding in findings(tolerating([{"key": "a"}, {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]))
	finding.msg == "pod `worker` tolerates the taint `sku=gpu` and asks for no accelerator"
	finding.path == ["spec", "template", "spec", "tolerations", 1]
}

test_tolerations_of_accelerator_taints if {
	tolerates({"key": "nvidia.com/gpu", "operator": "Exists"})
	tolerates({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"})
	tolerates({"key": "nvidia.com/gpu", "value": "present", "effect": ""})
	tolerates({"key": "sku", "operator": "Exists"})
	tolerates({"key": "sku", "value": "gpu"})
	tolerates({"operator": "Exists"})
	tolerates({"key": "", "operator": "Exists"})
}

test_other_tolerations if {
	not tolerates({"key": "sku", "value": "arm", "effect": "NoSchedule"})
	not tolerates({"key": "node.kubernetes.io/not-ready", "operator": "Exists"})
	not tolerates({"operator": "Exists", "effect": "NoExecute"})
	not tolerates({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "PreferNoSchedule"})
	not tolerates({"key": "", "operator": "Equal"})
	not tolerates({})
	not tolerates("x")
	not tolerates({"key": 5})
	not tolerates({"key": "${TAINT}", "operator": "Exists"})
	not tolerates({"operator": "Exists", "effect": "{{ .effect }}"})
	findings(tolerating("x")) == set()
}

test_pods_that_ask_for_devices if {
	findings(idle.document({"asks": {"nvidia.com/gpu": 1}, "spec": {"tolerations": [{"operator": "Exists"}]}}, {})) == set()
}

test_each_pod_is_judged if {
	spec := {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
	pods := [fixture.pod({"path": ["spec", "launcher"], "asks": {}, "spec": spec}), fixture.pod({"path": ["spec", "worker"], "spec": spec})]
	found := findings(object.union(fixture.document({}, pods), {"unaccounted": []}))
	{finding.path | some finding in found} == {["spec", "launcher", "tolerations", 0]}
}

test_exceptions if {
	spec := {"spec": {"tolerations": [{"operator": "Exists"}]}}
	findings(idle.document(spec, {"kind": "DaemonSet"})) == set()
	count(findings_with(idle.document(spec, {"kind": "DaemonSet"}), {"kinds": []})) == 1
	findings(idle.document(spec, {"metadata": {"namespace": "a-system"}})) == set()
	count(findings_with(idle.document(spec, {"metadata": {"namespace": "a-system"}}), {"namespaces": []})) == 1
	findings_with(idle.document(spec, {}), {"taints": []}) == set()
	count(findings_with(tolerating([{"key": "b", "operator": "Exists"}]), {"taints": ["b"]})) == 1
}
