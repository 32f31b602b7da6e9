package fleetgate.quota.queue_chain_test

import data.fleetgate.quota.queue_chain as rule

row(certain) := {
	"row": "problem", "system": "kueue", "code": "queue-missing", "certain": certain, "path": ["metadata", "labels", "kueue.x-k8s.io/queue-name"],
	"ref": {"group": "batch", "kind": "Job", "namespace": "ml", "name": "j"},
	"message": "LocalQueue `train` of namespace `ml` is not in this cluster's manifests", "remediation": "name a queue that exists",
}

found(rows) := findings if findings := rule.deny with input as {"quotas": rows}

test_a_queue_that_does_not_exist if {
	some finding in found([row(true)])
	finding.msg == "nothing starts it: LocalQueue `train` of namespace `ml` is not in this cluster's manifests"
	finding.path == ["metadata", "labels", "kueue.x-k8s.io/queue-name"]
	finding.subject.name == "j"
}

test_one_that_may_be_kept_elsewhere_is_left if found([row(false)]) == set()

test_other_rows_are_left if {
	found([object.union(row(true), {"code": "no-queue"}), {"row": "limit"}]) == set()
	found([]) == set()
}
