package fleetgate.scheduling.tpu_chips_per_node_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.tpu_chips_per_node as rule

denied(document) := found if {
	found := rule.deny with input as document with data.params.scheduling.tpu_chips_per_node as {"chips": [1, 4, 8]}
}

warned(document, chips) := found if {
	found := rule.warn with input as document with data.params.scheduling.tpu_chips_per_node as {"chips": chips}
}

silent(document) if {
	denied(document) == set()
	warned(document, [1, 4, 8]) == set()
}

job(chips, fields) := fixture.document({"kind": "Job"}, [fixture.pod(object.union({"asks": {"google.com/tpu": chips}}, fields))])

four := fixture.pool("TPU-v6e", "google.com/tpu", 4, {})

eight := fixture.pool("TPU-v6e", "google.com/tpu", 8, {})

test_part_of_a_node if {
	spec := {"containers": [{"resources": {"limits": {"google.com/tpu": 2}}}]}
	some finding in denied(job(2, {"spec": spec, "pools": [four]}))
	finding.msg == "pod `worker` asks for 2 of the 4 chips of a TPU node, and no other pod can have the rest"
	finding.path == ["spec", "template", "spec", "containers", 0, "resources", "limits", "google.com/tpu"]
	finding.remediation == "write `google.com/tpu: 4`"
	finding.details.lines == [["holds", "worker, 2 × 2 google.com/tpu"], ["facts", "TPU-v6e (12 nodes): 4 on a node"]]
}

test_one_of_several_machines if {
	silent(job(4, {"pools": [four, eight]}))
	some finding in denied(job(2, {"pools": [four, eight]}))
	finding.remediation == "write `google.com/tpu: 4 or 8`"
}

test_number_of_no_machine if {
	some finding in warned(job(2, {}), [1, 4, 8])
	finding.msg == "pod `worker` asks for 2 TPU chips, but machines have 1 or 4 or 8"
	warned(job(2, {}), []) == set()
	warned(job(2, {}), [2]) == set()
	silent(job(8, {}))
}

test_silent_where_not_known if {
	silent(job(2, {"pools": [fixture.perhaps(four)]}))
	silent(job(2, {"pools": [four, fixture.perhaps(eight)]}))
	silent(job(fixture.unknown, {"pools": [four]}))
	silent(job(fixture.unknown, {}))
	silent(fixture.queued(job(2, {"pools": [four]}), {"flavors": ["a", "b"]}))
	silent(fixture.queued(job(2, {"pools": [four]}), {"certain": false}))
	every text in fixture.placeholders {
		silent(job(2, {"pools": [four], "spec": {"nodeSelector": {"a": text}}}))
	}
}

test_silent_where_another_rule_speaks if {
	silent(job(8, {"pools": [four]}))
	silent(job(2, {"pools": []}))
	silent(job(2, {"pools": [fixture.refused(four)]}))
}

test_silent_about_templates_named_nodes_and_other_devices if {
	silent(object.union(job(2, {"count": 0, "pools": [four]}), {"workload": {"demand": []}}))
	silent(job(2, {"spec": {"nodeName": "n"}, "pools": [four]}))
	silent(fixture.document({}, [fixture.pod({"asks": {"nvidia.com/gpu": 2}, "pools": [fixture.h100]})]))
	silent({"object": {"kind": "ConfigMap"}, "workload": null})
}

test_all_pods_are_judged if {
	pods := [
		fixture.pod({"path": ["spec", "head"], "asks": {}}),
		fixture.pod({"path": ["spec", "workers", 0], "asks": {"google.com/tpu": 4}, "pools": [four]}),
		fixture.pod({"path": ["spec", "workers", 1], "asks": {"google.com/tpu": 1}, "pools": [four]}),
	]
	{finding.path | some finding in denied(fixture.document({}, pods))} == {["spec", "workers", 1]}
}
