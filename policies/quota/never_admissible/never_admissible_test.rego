package fleetgate.quota.never_admissible_test

import data.fleetgate.quota.never_admissible as rule

job := {"group": "batch", "kind": "Job", "namespace": "ml", "name": "pretrain"}

reason(code, more) := object.union({"code": code, "message": "flavor `h100` has 16 at most", "resource": null, "asked": null, "most": null}, more)

too_large := reason("too-large", {"resource": "nvidia.com/gpu", "asked": 24, "most": 16})

row(possible, reasons) := {
	"row": "admission", "system": "kueue", "workload": job, "path": ["metadata", "labels", "kueue.x-k8s.io/queue-name"], "queue": "train",
	"ref": {"group": "kueue.x-k8s.io", "kind": "ClusterQueue", "namespace": null, "name": "cq"},
	"possible": possible, "reasons": reasons, "byPod": false, "asks": [], "owner": "gpu-capacity", "notes": [],
}

found(r, excluded) := findings if {
	findings := rule.deny with input as {"quotas": [r]} with data.params.quota.never_admissible as {"excludedResources": excluded}
}

test_more_than_the_queue_can_ever_have if {
	some finding in found(row("no", [too_large]), [])
	finding.msg == "queue `train` never admits it: it asks for 24 of `nvidia.com/gpu`, and there are 16 at most"
	finding.remediation == "ask for 16 or less, or ask @gpu-capacity to raise the quota by 8"
	finding.subject == job
	finding.details == {"value": 8, "limit": 16, "lines": [["queue", "flavor `h100` has 16 at most"]]}
}

test_pods_that_are_queued_one_by_one if {
	some finding in found(object.union(row("no", [too_large]), {"byPod": true, "notes": ["a note"]}), [])
	contains(finding.msg, "24 of `nvidia.com/gpu` for each pod")
	finding.details.lines[1] == ["note", "a note"]
}

test_no_flavor_takes_the_pods if {
	some finding in found(row("no", [reason("flavors", {"resource": "nvidia.com/gpu", "asked": 8})]), [])
	finding.msg == "queue `train` never admits it: no flavor takes its pods that ask for `nvidia.com/gpu`"
	contains(finding.remediation, "select and tolerate")
}

test_a_resource_that_the_queue_does_not_have if {
	uncovered := row("no", [reason("not-covered", {"resource": "vpc.amazonaws.com/efa", "message": "resource `vpc.amazonaws.com/efa` is unavailable"})])
	some finding in found(uncovered, [])
	contains(finding.msg, "is unavailable")
	found(uncovered, ["vpc.amazonaws.com/*"]) == set()
	found(uncovered, ["*"]) == set()
	# What else is wrong is still said.
	count(found(row("no", array.concat(uncovered.reasons, [too_large])), ["*"])) == 1
}

test_namespaces_and_cycles_are_said_as_they_are if {
	some finding in found(row("no", [reason("namespace", {"message": "ClusterQueue `cq` takes no workloads of namespace `ml`"})]), [])
	finding.msg == "queue `train` never admits it: ClusterQueue `cq` takes no workloads of namespace `ml`"
	contains(finding.remediation, "@gpu-capacity")
}

test_what_can_be_admitted_or_is_not_known_is_left if {
	found(row("yes", []), []) == set()
	found(row("unknown", [reason("unknown", {})]), []) == set()
	found(object.union(row("no", [too_large]), {"system": "volcano"}), []) == set()
}
