package fleetgate.quota.karpenter_limit_test

import data.fleetgate.quota.karpenter_limit as rule

row(steady, fits) := {
	"row": "limit", "system": "karpenter", "unit": "unit", "limit": 8, "key": "nvidia.com/gpu", "resource": "nvidia.com/gpu",
	"ref": {"group": "karpenter.sh", "kind": "NodePool", "namespace": null, "name": "gpu"}, "path": ["spec", "limits", "nvidia.com/gpu"], "owner": null,
	"used": {"steady": steady, "rollout": steady, "autoscaled": steady}, "fits": {"steady": fits, "rollout": fits, "autoscaled": fits},
	"contributors": [{"ref": {"group": "apps", "kind": "Deployment", "namespace": "ml", "name": "a"}, "steady": steady}],
}

found(r) := findings if findings := rule.warn with input as {"quotas": [r]}

test_more_than_the_limit_is_advice if {
	some finding in found(row(12, "no"))
	finding.msg == "NodePool gpu is limited to 8 of `nvidia.com/gpu`, the pods that are bound to it ask for 12"
	finding.details.value == 4
	finding.path == ["spec", "limits", "nvidia.com/gpu"]
}

test_what_fits_or_is_not_known_is_left if {
	found(row(8, "yes")) == set()
	found(row({"atLeast": 0, "unknown": ["x"]}, "unknown")) == set()
	found(object.union(row(12, "no"), {"system": "kueue"})) == set()
}
