package fleetgate.quota.queue_bypass_test

import data.fleetgate.quota.queue_bypass as rule

row(code) := {
	"row": "problem", "system": "kueue", "code": code, "certain": true, "path": ["metadata", "labels", "kueue.x-k8s.io/queue-name"],
	"ref": {"group": "batch", "kind": "Job", "namespace": "ml", "name": "j"},
	"message": "it names no queue", "remediation": "write the label",
}

defaults := {"required": [], "exempt": ["kube-system"]}

denied(r, params) := found if {
	found := rule.deny with input as {"quotas": [r]} with data.params.quota.queue_bypass as object.union(defaults, params)
}

warned(r, params) := found if {
	found := rule.warn with input as {"quotas": [r]} with data.params.quota.queue_bypass as object.union(defaults, params)
}

test_it_is_advice_unless_required if {
	every code in ["no-queue", "label-on-pods"] {
		denied(row(code), {}) == set()
		{finding.msg | some finding in warned(row(code), {})} == {"Job ml/j: it names no queue"}
	}
}

test_it_is_a_denial_where_required if {
	count(denied(row("no-queue"), {"required": ["m*"]})) == 1
	warned(row("no-queue"), {"required": ["m*"]}) == set()
	denied(row("no-queue"), {"required": ["x"]}) == set()
}

test_an_annotation_is_not_read if count(denied(row("annotation"), {})) == 1

test_exempt_namespaces_are_left if {
	denied(row("annotation"), {"exempt": ["ml"]}) == set()
	warned(row("no-queue"), {"exempt": ["ml"]}) == set()
	count(warned(row("no-queue"), {"exempt": []})) == 1
}

test_other_faults_are_left if warned(row("queue-missing"), {}) == set()

test_without_a_namespace if {
	r := object.union(row("no-queue"), {"ref": {"group": "batch", "kind": "Job", "namespace": null, "name": "j"}})
	count(warned(r, {"required": ["*"]})) == 1
}
