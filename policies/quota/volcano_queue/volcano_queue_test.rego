package fleetgate.quota.volcano_queue_test

import data.fleetgate.quota.volcano_queue as rule

reason(code, more) := object.union({"code": code, "message": "queue `train` has 16 at most", "resource": null, "asked": null, "most": null}, more)

too_large := reason("too-large", {"resource": "nvidia.com/gpu", "asked": 24, "most": 16})

row(possible, reasons) := {
	"row": "admission", "system": "volcano", "workload": {"group": "batch", "kind": "Job", "namespace": "ml", "name": "j"}, "path": ["spec"], "queue": "train",
	"ref": {"group": "scheduling.volcano.sh", "kind": "Queue", "namespace": null, "name": "train"},
	"possible": possible, "reasons": reasons, "byPod": false, "asks": [], "owner": null, "notes": [],
}

found(r) := findings if findings := rule.deny with input as {"quotas": [r]}

test_more_than_the_queue_can_ever_have if {
	some finding in found(row("no", [too_large]))
	finding.msg == "queue `train` never starts it: it asks for 24 of `nvidia.com/gpu` at once, queue `train` has 16 at most"
	finding.remediation == "ask for 16 or less, or ask whoever owns the file of Queue train to raise the limit"
	finding.subject.name == "j"
	finding.details.value == 24 - 16
}

test_queues_that_take_no_jobs if {
	some finding in found(row("no", [reason("not-a-leaf", {"message": "queue `train` has queues below it"})]))
	finding.msg == "queue `train` never starts it: queue `train` has queues below it"
	finding.remediation == "name a queue that has no queues below it"
}

test_what_can_start_or_is_not_known_is_left if {
	found(row("yes", [])) == set()
	found(row("unknown", [reason("unknown", {})])) == set()
	found(object.union(row("no", [too_large]), {"system": "kueue"})) == set()
}
