package fleetgate.scheduling.fabric_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.fabric as rule

usual := {"kinds": ["kubeflow.org/PyTorchJob"], "interfaces": {"p5.48xlarge": 32}}

findings_with(document, changes) := found if {
	params := object.union(object.remove(usual, object.keys(changes)), changes)
	found := rule.warn with input as document with data.params.scheduling.fabric as params
}

findings(document) := findings_with(document, {})

p5 := object.union(fixture.h100, {"fabric": "vpc.amazonaws.com/efa", "labels": {"node.kubernetes.io/instance-type": "p5.48xlarge"}})

job(fields) := fixture.document({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}, [fixture.pod(object.union({"pools": [p5]}, fields))])

asking(number) := job({"asks": {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": number}})

test_none_asked_for if {
	some finding in findings(job({"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}}]}}))
	finding.msg == "pod `worker` takes whole nodes that have `vpc.amazonaws.com/efa`, and asks for none of it"
	finding.path == ["spec", "template", "spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"]
	finding.remediation == "write `vpc.amazonaws.com/efa: 32` under `limits` of the same container"
	finding.details.lines == [["holds", "worker, 2 × 8 nvidia.com/gpu"], ["facts", "H100 (12 nodes) has vpc.amazonaws.com/efa"]]
}

test_unknown_machine_type if {
	some finding in findings_with(job({}), {"interfaces": {}})
	finding.remediation == "write `vpc.amazonaws.com/efa: <as many as the node has>` under `limits` of the same container"
	findings_with(asking(1), {"interfaces": {}}) == set()
}

test_fewer_than_there_are if {
	some finding in findings(asking(4))
	finding.msg == "pod `worker` takes whole nodes with 32 `vpc.amazonaws.com/efa`, and asks for 4 of them"
	finding.remediation == "write `vpc.amazonaws.com/efa: 32`"
	count(findings(asking(4))) == 1
}

test_all_asked_for if findings(asking(32)) == set()

test_single_nodes_and_parts_of_nodes_need_none if {
	findings(job({"count": 1})) == set()
	findings(job({"asks": {"nvidia.com/gpu": 4}})) == set()
}

test_other_networks if {
	findings(job({"spec": {"hostNetwork": true}})) == set()
	findings(job({"spec": {"resourceClaims": [{"name": "net"}]}})) == set()
	findings(job({"metadata": {"annotations": {"networking.gke.io/interfaces": "[]"}}})) == set()
}

test_silent_where_not_known if {
	findings(job({"pools": null})) == set()
	findings(job({"pools": [fixture.h100]})) == set()
	findings(job({"pools": [p5, fixture.h100]})) == set()
	findings(job({"pools": [fixture.perhaps(p5)]})) == set()
	findings(job({"count": fixture.unknown})) == set()
	findings(asking(fixture.unknown)) == set()
	findings(fixture.queued(job({}), {"flavors": ["a", "b"]})) == set()
	every text in fixture.placeholders {
		findings(job({"spec": {"nodeSelector": {"a": text}}})) == set()
	}
}

test_kinds if {
	findings_with(job({}), {"kinds": []}) == set()
	findings(fixture.document({}, [fixture.pod({"pools": [p5]})])) == set()
}

test_silent_about_templates if {
	findings(object.union(job({"count": 0}), {"workload": {"demand": []}})) == set()
	findings({"object": {"apiVersion": "v1", "kind": "ConfigMap"}, "workload": null}) == set()
}
