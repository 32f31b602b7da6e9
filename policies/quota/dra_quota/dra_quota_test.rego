package fleetgate.quota.dra_quota_test

import data.fleetgate.quota.dra_quota as rule

row(code) := {
	"row": "problem", "system": "resource-quota", "code": code, "certain": true, "path": ["spec", "hard", "requests.nvidia.com/gpu"],
	"ref": {"group": "", "kind": "ResourceQuota", "namespace": "ml", "name": "q"},
	"message": "claims of class `gpu.nvidia.com` are not limited", "remediation": "add `gpu.nvidia.com.deviceclass.resource.k8s.io/devices`",
}

found(r) := findings if findings := rule.warn with input as {"quotas": [r]}

test_claims_without_a_limit if {
	some finding in found(row("claims-unlimited"))
	finding.msg == "ResourceQuota ml/q: claims of class `gpu.nvidia.com` are not limited"
	finding.path == ["spec", "hard", "requests.nvidia.com/gpu"]
}

test_other_faults_are_left if found(row("not-enforced")) == set()
