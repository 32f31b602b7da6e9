# METADATA
# title: Workloads fit the ElasticQuota of their namespace
# description: >-
#   The capacity plugin of the scheduler plugins schedules no pod with which its namespace would hold more than
#   `max`. What runs all the time must fit; what a rollout adds waits for old pods to end.
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/scheduler-plugins/blob/master/pkg/capacityscheduling/README.md
#     description: scheduler-plugins, capacity scheduling
# custom:
#   level: deny
#   target: cluster
#   needs: []
package fleetgate.quota.elastic_quota

import data.fleetgate.lib.quota

deny contains finding if {
	some row in quota.limits("elastic-quota")
	beyond(row)
	finding := object.union(about(row, "steady"), {"msg": sprintf("%s allows %d of `%s`, the workloads ask for %s: pods beyond it stay Pending", [
		quota.called(row.ref), row.limit, row.key, fleetgate.show(row.needed),
	])})
}

# What must fit at once: what runs all the time, and the largest of what runs to an end.
beyond(row) if {
	is_number(row.limit)
	fleetgate.fits(row.needed, row.limit) == "no"
}

warn contains finding if {
	some row in quota.limits("elastic-quota")
	row.fits.steady == "yes"
	row.fits.rollout == "no"
	finding := object.union(about(row, "rollout"), {"msg": sprintf("a rollout needs %s of `%s` at its worst moment, %s allows %d", [
		fleetgate.show(row.used.rollout), row.key, quota.called(row.ref), row.limit,
	])})
}

about(row, number) := {
	"subject": row.ref,
	"path": row.path,
	"remediation": sprintf("let the workloads ask for %d or less, or ask %s to raise `max`", [row.limit, quota.who(row)]),
	"details": {
		"value": fleetgate.over(row.used[number], row.limit),
		"limit": row.limit,
		"lines": [quota.quota_line(row), quota.holds_line(row, number)],
	},
}
