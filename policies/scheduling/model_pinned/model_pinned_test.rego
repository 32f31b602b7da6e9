package fleetgate.scheduling.model_pinned_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.model_pinned as rule

findings_with(document, keys) := found if {
	found := rule.deny with input as document with data.params.scheduling.model_pinned as {"keys": keys}
}

findings(document) := findings_with(document, ["cloud.google.com/gke-accelerator"])

deployment(fields) := fixture.document({}, [fixture.pod(object.union({"asks": {"nvidia.com/gpu": 1}}, fields))])

both := [fixture.h100, fixture.l4]

test_several_families if {
	some finding in findings(deployment({"pools": both}))
	finding.msg == "pod `worker` asks for `nvidia.com/gpu` and may get any of `H100`, `L4`, so no budget can be charged for it"
	finding.path == ["spec", "template", "spec", "nodeSelector"]
	finding.remediation == "write one of `cloud.google.com/gke-accelerator: nvidia-h100-80gb`, `cloud.google.com/gke-accelerator: nvidia-l4` under `nodeSelector`"
	finding.details.lines == [
		["holds", "worker, 2 × 1 nvidia.com/gpu"],
		["write", "cloud.google.com/gke-accelerator: nvidia-h100-80gb    H100 (12 nodes)"],
		["write", "cloud.google.com/gke-accelerator: nvidia-l4    L4 (12 nodes)"],
	]
}

test_preference_does_not_pin if {
	spec := {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}}
	some finding in findings(deployment({"spec": spec, "pools": both}))
	finding.details.lines[1][0] == "facts"
}

test_affinity_without_preference if {
	spec := {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}}
	some finding in findings(deployment({"spec": spec, "pools": both}))
	finding.details.lines[1][0] == "write"
}

test_placeholder_that_the_cluster_adds if {
	pod := fixture.pod({"effective": {"nodeSelector": {"a": "${X}"}}, "asks": {"nvidia.com/gpu": 1}, "pools": both})
	findings(fixture.document({}, [pod])) == set()
}

test_pools_without_labels if {
	pools := [fixture.pool("A", "nvidia.com/gpu", 8, {}), fixture.pool("B", "nvidia.com/gpu", 8, {})]
	some finding in findings(deployment({"pools": pools}))
	finding.remediation == "select the nodes of one family; give the pools `nodeLabels` in the fleet file that tell them apart"
}

test_one_family_is_left if {
	findings(deployment({"pools": [fixture.h100]})) == set()
	findings(deployment({"pools": [fixture.h100, fixture.refused(fixture.l4)]})) == set()
	findings(deployment({"pools": [fixture.h100, object.union(fixture.h100, {"capacityType": "spot"})]})) == set()
}

test_pinned_by_room if findings(deployment({"asks": {"nvidia.com/gpu": 8}, "pools": both})) == set()

test_pinned_by_taint if {
	findings(deployment({"pools": [fixture.tainted(fixture.h100, [fixture.gpu_taint]), fixture.l4]})) == set()
}

test_families_of_other_resources_do_not_count if {
	tpu := fixture.pool("TPU-v6e", "google.com/tpu", 4, {})
	findings(deployment({"pools": [fixture.h100, tpu]})) == set()
}

test_choice_of_several_models if {
	spec := {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
		{"key": "cloud.google.com/gke-accelerator", "operator": "In", "values": ["nvidia-l4", "nvidia-h100-80gb"]},
	]}]}}}}
	findings(deployment({"spec": spec, "pools": both})) == set()
	count(findings_with(deployment({"spec": spec, "pools": both}), [])) == 1
}

test_silent_where_not_known if {
	findings(deployment({"pools": null})) == set()
	findings(deployment({"pools": []})) == set()
	findings(deployment({"pools": [fixture.h100, fixture.perhaps(fixture.l4)]})) == set()
	findings(deployment({"pools": both, "asks": {"nvidia.com/gpu": fixture.unknown}})) == set()
}

test_silent_on_placeholders if {
	every text in fixture.placeholders {
		findings(deployment({"spec": {"nodeSelector": {"gpu": text}}, "pools": both})) == set()
	}
}

test_silent_about_templates_daemon_sets_and_named_nodes if {
	findings(object.union(deployment({"count": 0, "pools": both}), {"workload": {"demand": []}})) == set()
	findings(fixture.document({"kind": "DaemonSet"}, [fixture.pod({"asks": {"nvidia.com/gpu": 1}, "pools": both})])) == set()
	findings(deployment({"spec": {"nodeName": "n"}, "pools": both})) == set()
}

test_silent_where_the_queue_chooses if {
	document := deployment({"pools": both})
	findings(fixture.queued(document, {"flavors": ["a", "b"]})) == set()
	findings(fixture.queued(document, {"certain": false})) == set()
	findings(fixture.queued(document, {"problem": "no such queue"})) == set()
	count(findings(fixture.queued(document, {}))) == 1
}

test_label_of_the_flavour_pins if {
	effective := {"nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-l4"}}
	pod := fixture.pod({"effective": effective, "asks": {"nvidia.com/gpu": 1}, "pools": both})
	findings(fixture.queued(fixture.document({}, [pod]), {})) == set()
}

test_all_pods_are_judged if {
	pods := [
		fixture.pod({"path": ["spec", "head"], "asks": {}, "pools": null}),
		fixture.pod({"path": ["spec", "workers", 1], "asks": {"nvidia.com/gpu": 1}, "pools": both}),
	]
	{finding.path | some finding in findings(fixture.document({}, pods))} == {["spec", "workers", 1, "nodeSelector"]}
}

test_no_workload if findings({"object": {"kind": "ConfigMap"}, "workload": null}) == set()
