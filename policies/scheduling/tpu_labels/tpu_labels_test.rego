package fleetgate.scheduling.tpu_labels_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.tpu_labels as rule

findings_with(document, alternatives) := found if {
	found := rule.deny with input as document with data.params.scheduling.tpu_labels as {"alternatives": alternatives}
}

findings(document) := findings_with(document, ["cloud.google.com/compute-class"])

job(fields) := fixture.document({"kind": "Job"}, [fixture.pod(object.union({"asks": {"google.com/tpu": 4}}, fields))])

accelerator := {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}

topology := {"cloud.google.com/gke-tpu-topology": "4x4"}

v6e := fixture.pool("TPU-v6e", "google.com/tpu", 4, object.union(accelerator, topology))

test_both_missing if {
	some finding in findings(job({}))
	finding.msg == "pod `worker` asks for `google.com/tpu` without selecting `cloud.google.com/gke-tpu-accelerator`, `cloud.google.com/gke-tpu-topology`"
	finding.path == ["spec", "template", "spec", "nodeSelector"]
	finding.remediation == "write `cloud.google.com/gke-tpu-accelerator`, `cloud.google.com/gke-tpu-topology` under `nodeSelector`, with the type and the topology of the slice"
	finding.details.lines == [["holds", "worker, 2 × 4 google.com/tpu"]]
}

test_one_missing if {
	some finding in findings(job({"spec": {"nodeSelector": accelerator}, "pools": [v6e]}))
	finding.msg == "pod `worker` asks for `google.com/tpu` without selecting `cloud.google.com/gke-tpu-topology`"
	finding.remediation == "write `cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice and cloud.google.com/gke-tpu-topology: \"4x4\"` under `nodeSelector`"
	finding.details.lines[1] == ["write", "cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice and cloud.google.com/gke-tpu-topology: \"4x4\"    TPU-v6e (12 nodes)"]
}

test_one_of_several_pools if {
	other := fixture.pool("TPU-v5e", "google.com/tpu", 4, {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice"})
	some finding in findings(job({"pools": [v6e, other, fixture.pool("small", "google.com/tpu", 1, {"a": "b"})]}))
	finding.remediation == "write one of `cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice`, `cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice and cloud.google.com/gke-tpu-topology: \"4x4\"` under `nodeSelector`"
}

test_both_there if {
	findings(job({"spec": {"nodeSelector": object.union(accelerator, topology)}})) == set()
	terms := [{"matchExpressions": [
		{"key": "cloud.google.com/gke-tpu-accelerator", "operator": "In", "values": ["tpu-v6e-slice"]},
		{"key": "cloud.google.com/gke-tpu-topology", "operator": "In", "values": ["4x4"]},
	]}]
	findings(job({"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}})) == set()
}

test_labels_of_the_queue_count if {
	pod := fixture.pod({"asks": {"google.com/tpu": 4}, "effective": {"nodeSelector": object.union(accelerator, topology)}})
	findings(fixture.queued(fixture.document({}, [pod]), {})) == set()
}

test_alternatives if {
	spec := {"nodeSelector": {"cloud.google.com/compute-class": "tpu"}}
	findings(job({"spec": spec})) == set()
	count(findings_with(job({"spec": spec}), [])) == 1
}

test_silent_where_slices_are_cut if {
	findings(job({"metadata": {"annotations": {"cloud.google.com/gke-tpu-slice-topology": "4x4"}}})) == set()
}

test_other_devices_are_not_judged if {
	findings(fixture.document({}, [fixture.pod({})])) == set()
	findings(job({"asks": {"google.com/tpu": 0, "nvidia.com/gpu": 1}})) == set()
}

test_silent_where_not_known if {
	findings(job({"asks": {"google.com/tpu": fixture.unknown}})) == set()
	every text in fixture.placeholders {
		findings(job({"spec": {"nodeSelector": {"a": text}}})) == set()
	}
	findings(fixture.queued(job({}), {"flavors": ["a", "b"]})) == set()
	findings(fixture.queued(job({}), {"certain": false})) == set()
	findings(fixture.queued(job({}), {"problem": "no such queue"})) == set()
	count(findings(fixture.queued(job({}), {}))) == 1
}

test_silent_about_templates_and_named_nodes if {
	findings(object.union(job({"count": 0}), {"workload": {"demand": []}})) == set()
	findings(job({"spec": {"nodeName": "n"}})) == set()
}

test_all_pods_are_judged if {
	pods := [
		fixture.pod({"path": ["spec", "head"], "asks": {}}),
		fixture.pod({"path": ["spec", "workers", 0], "asks": {"google.com/tpu": 4}, "spec": {"nodeSelector": object.union(accelerator, topology)}}),
		fixture.pod({"path": ["spec", "workers", 1], "asks": {"google.com/tpu": 4}}),
	]
	{finding.path | some finding in findings(fixture.document({}, pods))} == {["spec", "workers", 1, "nodeSelector"]}
}

test_no_workload if findings({"object": {"kind": "ConfigMap"}, "workload": null}) == set()
