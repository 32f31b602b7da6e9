package fleetgate.quota.queue_objects_test

import data.fleetgate.quota.queue_objects as rule

row(system, code, certain) := {
	"row": "problem", "system": system, "code": code, "certain": certain, "path": ["spec"],
	"ref": {"group": "kueue.x-k8s.io", "kind": "ClusterQueue", "namespace": null, "name": "cq"},
	"message": "a flavor is not there", "remediation": "name one that exists",
}

denied(r) := found if found := rule.deny with input as {"quotas": [r]}

warned(r) := found if found := rule.warn with input as {"quotas": [r]}

test_what_is_broken_is_denied if {
	every code in ["cluster-queue-missing", "cohort-cycle", "flavor-missing", "limit-without-cohort", "topology-missing", "unreadable"] {
		{[finding.msg, finding.remediation] | some finding in denied(row("kueue", code, true))} == {["ClusterQueue cq: a flavor is not there", "name one that exists"]}
	}
}

test_queues_of_all_systems if {
	count(denied(row("volcano", "queue-cycle", true))) == 1
	count(denied(row("kai", "queue-cycle", true))) == 1
}

test_a_limit_that_cannot_be_read_is_denied if {
	limit := {
		"row": "limit", "system": "resource-quota", "path": ["spec", "hard", "requests.nvidia.com/gpu"], "limit": null,
		"ref": {"group": "", "kind": "ResourceQuota", "namespace": "a", "name": "rq"},
	}
	some finding in denied(object.union(limit, {"why": "`spec.hard[\"requests.nvidia.com/gpu\"]`: `abc` is not a quantity"}))
	finding.msg == "ResourceQuota a/rq: `spec.hard[\"requests.nvidia.com/gpu\"]`: `abc` is not a quantity"
	finding.path == ["spec", "hard", "requests.nvidia.com/gpu"]
	denied(object.union(limit, {"why": ""})) == set()
	denied(object.union(limit, {"why": "the queue states no GPU limit"})) == set()
	count(denied(row("resource-quota", "unreadable", true))) == 1
}

test_what_may_be_elsewhere_is_left if denied(row("kueue", "flavor-missing", false)) == set()

test_what_is_hardly_meant_is_advice if {
	count(warned(row("kueue", "no-namespaces", true))) == 1
	count(warned(row("kai", "no-limit", false))) == 1
	denied(row("kueue", "no-namespaces", true)) == set()
}

test_workloads_are_for_other_rules if {
	denied(row("kueue", "queue-missing", true)) == set()
	denied(row("kueue", "no-queue", true)) | warned(row("kueue", "no-queue", true)) == set()
}
