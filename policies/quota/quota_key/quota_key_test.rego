package fleetgate.quota.quota_key_test

import data.fleetgate.quota.quota_key as rule

row(code, key) := {
	"row": "problem", "system": "resource-quota", "code": code, "certain": true, "path": ["spec", "hard", key],
	"ref": {"group": "", "kind": "ResourceQuota", "namespace": "ml", "name": "q"},
	"message": "it enforces nothing", "remediation": "write `requests.nvidia.com/gpu`",
}

denied(r, elsewhere) := found if {
	found := rule.deny with input as {"quotas": [r]} with data.params.quota.quota_key as {"readElsewhere": elsewhere}
}

test_keys_that_enforce_nothing_are_denied if {
	some finding in denied(row("not-enforced", "nvidia.com/gpu"), [])
	finding.msg == "ResourceQuota ml/q: it enforces nothing"
	finding.path == ["spec", "hard", "nvidia.com/gpu"]
	finding.remediation == "write `requests.nvidia.com/gpu`"
	count(denied(row("scoped-claims", "x"), [])) == 1
}

test_what_is_read_elsewhere_is_left if {
	denied(row("not-enforced", "limits.nvidia.com/gpu"), ["limits.nvidia.com/*"]) == set()
	count(denied(row("not-enforced", "limits.amd.com/gpu"), ["limits.nvidia.com/*"])) == 1
}

test_other_faults_are_left if {
	denied(row("claims-unlimited", "x"), []) == set()
	denied(object.union(row("not-enforced", "x"), {"system": "kueue"}), []) == set()
}

test_two_quotas_on_a_key_are_advice if {
	found := rule.warn with input as {"quotas": [row("same-key", "x")]}
	count(found) == 1
	denied(row("same-key", "x"), []) == set()
}
