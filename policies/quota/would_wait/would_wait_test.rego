package fleetgate.quota.would_wait_test

import data.fleetgate.quota.would_wait as rule

entry(name, n) := {"ref": {"group": "batch", "kind": "Job", "namespace": "ml", "name": name}, "steady": n, "queued": true}

row(more) := object.union({
	"row": "limit", "system": "kueue", "flavor": null, "unit": "unit", "limit": 16, "queued": 24, "resource": "nvidia.com/gpu", "key": "nvidia.com/gpu",
	"ref": {"group": "kueue.x-k8s.io", "kind": "ClusterQueue", "namespace": null, "name": "cq"}, "path": ["spec"], "owner": null, "stopped": false,
	"contributors": [entry("a", 16), entry("b", 8)],
}, more)

found(r) := findings if findings := rule.warn with input as {"quotas": [r]}

test_more_together_than_the_queue_has if {
	some finding in found(row({}))
	finding.msg == "ClusterQueue cq: insufficient unused quota for nvidia.com/gpu if all of its workloads run at once, 8 more needed: some wait"
	finding.details.value == 8
	finding.details.lines == [["holds", "Job ml/a 16, Job ml/b 8      (fleetgate demand)"]]
}

test_a_full_queue_has_nothing_to_tell if {
	found(row({"queued": 16})) == set()
	found(row({"queued": {"atLeast": 8, "unknown": ["x"]}})) == set()
	found(row({"limit": null})) == set()
	found(row({"limit": null, "nominal": 24, "why": "not all of the cohort may have been read"})) == set()
	found(row({"flavor": "h100"})) == set()
}

test_a_stopped_queue_is_told if {
	some finding in found(row({"queued": 8, "stopped": true}))
	finding.msg == "ClusterQueue cq is stopped: its 2 workloads wait until `stopPolicy` is changed"
	found(row({"queued": 0, "stopped": true, "contributors": []})) == set()
}

test_beyond_its_own_quota_it_depends_on_what_it_can_borrow if {
	some finding in found(row({"limit": null, "nominal": 16, "why": "not all of the cohort may have been read"}))
	finding.msg == "ClusterQueue cq: insufficient unused quota for nvidia.com/gpu of its own if all of its workloads run at once, 8 more needed: some wait unless it can borrow"
	finding.details.limit == 16
}
