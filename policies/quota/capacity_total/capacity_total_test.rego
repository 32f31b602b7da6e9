package fleetgate.quota.capacity_total_test

import data.fleetgate.quota.capacity_total as rule

row(steady, fits) := {
	"row": "limit", "system": "pools", "unit": "thousandth", "limit": 16000, "key": "H100", "resource": "H100", "nodes": ["2 nodes × 8"],
	"ref": {"group": "fleetgate.dev", "kind": "Cluster", "namespace": null, "name": "prod-a H100"}, "path": [], "owner": null,
	"used": {"steady": steady, "rollout": steady, "autoscaled": steady}, "fits": {"steady": fits, "rollout": fits, "autoscaled": fits},
	"contributors": [{"ref": {"group": "apps", "kind": "Deployment", "namespace": "ml", "name": "a"}, "steady": steady}],
}

found(r) := findings if findings := rule.warn with input as {"quotas": [r]}

test_more_than_the_nodes_have if {
	some finding in found(row(24000, "no"))
	finding.msg == "the workloads ask for 24 H100 while nothing changes, the nodes of this cluster have 16"
	finding.remediation == "let the workloads ask for 8 less, or add nodes and write their number into the fleet file"
	finding.details.lines == [["facts", "2 nodes × 8"], ["holds", "Deployment ml/a 24      (fleetgate demand)"]]
}

test_what_fits_or_is_not_known_is_left if {
	found(row(16000, "yes")) == set()
	found(row({"atLeast": 8000, "unknown": ["x"]}, "unknown")) == set()
	found(row({"atLeast": 8000, "unbounded": true}, "no")) == set()
	found(object.union(row(24000, "no"), {"system": "kai"})) == set()
}
