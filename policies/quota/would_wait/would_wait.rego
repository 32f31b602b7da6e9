# METADATA
# title: Workloads that wait in their queue are told
# description: >-
#   All workloads of a queue together ask for more than the queue can have, or the queue is stopped. That
#   is what queues are for, so it is information and never in the way.
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload/
#     description: Kueue, workloads
# custom:
#   level: info
#   target: cluster
#   needs: []
package fleetgate.quota.would_wait

import data.fleetgate.lib.quota

warn contains finding if {
	some row in quota.limits("kueue")
	row.flavor == null
	is_number(row.limit)
	fleetgate.fits(row.queued, row.limit) == "no"
	missing := fleetgate.over(row.queued, row.limit)
	finding := {
		"msg": sprintf("%s: insufficient unused quota for %s if all of its workloads run at once, %d more needed: some wait", [
			quota.called(row.ref), row.resource, missing,
		]),
		"subject": row.ref,
		"path": row.path,
		"remediation": sprintf("nothing needs to be done; %s may raise the quota to %d", [quota.who(row), row.limit + missing]),
		"details": {"value": missing, "limit": row.limit, "lines": [quota.holds_line(row, "steady")]},
	}
}

# What the queue may borrow is not known; beyond its own quota its workloads depend on that.
warn contains finding if {
	some row in quota.limits("kueue")
	row.flavor == null
	row.limit == null
	row.why != ""
	is_number(row.nominal)
	fleetgate.fits(row.queued, row.nominal) == "no"
	missing := fleetgate.over(row.queued, row.nominal)
	finding := {
		"msg": sprintf("%s: insufficient unused quota for %s of its own if all of its workloads run at once, %d more needed: some wait unless it can borrow", [
			quota.called(row.ref), row.resource, missing,
		]),
		"subject": row.ref,
		"path": row.path,
		"remediation": sprintf("nothing needs to be done; %s may raise the quota to %d", [quota.who(row), row.nominal + missing]),
		"details": {"value": missing, "limit": row.nominal, "lines": [quota.holds_line(row, "steady"), ["facts", row.why]]},
	}
}

warn contains finding if {
	some row in quota.limits("kueue")
	row.flavor == null
	row.stopped
	count(row.contributors) > 0
	finding := {
		"msg": sprintf("%s is stopped: its %d workloads wait until `stopPolicy` is changed", [quota.called(row.ref), count(row.contributors)]),
		"subject": row.ref,
		"path": ["spec", "stopPolicy"],
		"remediation": "write `stopPolicy: None` when workloads may start again",
		"details": {"lines": [quota.holds_line(row, "steady")]},
	}
}
