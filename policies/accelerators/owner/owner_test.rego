package fleetgate.accelerators.owner_test

import data.fleetgate.accelerators.owner as rule

findings(notes) := found if {
	found := rule.warn with input as {"object": {}, "workload": {"pods": [], "notes": notes}}
}

test_an_owner_that_does_not_count if {
	some finding in findings([{"code": "owner-does-not-count", "message": "its owner is not in this cluster's manifests"}])
	finding.path == ["metadata", "ownerReferences"]
	finding.msg == "it names an owner but is counted for itself: its owner is not in this cluster's manifests"
}

test_other_notes_pass if findings([{"code": "two-autoscalers", "message": "x"}]) == set()

test_no_notes_pass if {
	findings([]) == set()
	count(rule.warn) == 0 with input as {"object": {}, "workload": null}
	count(rule.warn) == 0 with input as {"object": {}, "workload": {"pods": []}}
}
