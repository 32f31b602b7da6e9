# METADATA
# title: Workloads fit the ResourceQuota of their namespace
# description: >-
#   A ResourceQuota is charged when pods are created, not when a Deployment is: one that asks for too much
#   is accepted, and its pods are refused. What runs all the time must fit, and so must the pods that a
#   rollout adds where it cannot go on without them.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#     description: Kubernetes, resource quotas
# custom:
#   level: deny
#   target: cluster
#   needs: []
package fleetgate.quota.resource_quota

import data.fleetgate.lib.quota

# What runs all the time, and the largest of what runs to an end.
deny contains finding if {
	some row in quota.limits("resource-quota")
	over_limit(row, row.needed)
	finding := object.union(about(row, "steady"), {
		"msg": sprintf("%s allows %d of `%s`, the workloads ask for %s: pods beyond it are refused", [
			quota.called(row.ref), row.limit, row.key, fleetgate.show(row.needed),
		]),
		"remediation": sprintf("let the workloads ask for %d or less, or ask %s to raise the limit to %d", [
			row.limit, quota.who(row), row.limit + over(row, row.needed),
		]),
	})
}

# What ends makes room for the next.
warn contains finding if {
	some row in quota.limits("resource-quota")
	not over_limit(row, row.needed)
	over_limit(row, row.used.steady)
	finding := object.union(about(row, "steady"), {
		"msg": sprintf("%s allows %d of `%s`, and all workloads together ask for %s: jobs wait for each other", [
			quota.called(row.ref), row.limit, row.key, fleetgate.show(row.used.steady),
		]),
		"remediation": sprintf("let a queue start the jobs, or ask %s to raise the limit", [quota.who(row)]),
	})
}

# While nothing changes it fits, and the new pods of a rollout do not. Where no old pod goes before a new
# one is ready, it stands still.
deny contains finding if {
	some row in quota.limits("resource-quota")
	is_number(row.limit)
	fleetgate.fits(row.needed, row.limit) == "yes"
	some entry in stuck(row)
	finding := object.union(about(row, "steady"), {
		"subject": entry.ref,
		"at": row.ref,
		"msg": sprintf("a rollout of %s stands still: %s allows %d of `%s`, and with its new pods %s are asked for", [
			quota.called(entry.ref), quota.called(row.ref), row.limit, row.key, fleetgate.show(moment(row, entry)),
		]),
		"remediation": sprintf("let old pods go first (%s), or ask %s to raise the limit to %d", [
			how(entry.ref), quota.who(row), row.limit + over(row, moment(row, entry)),
		]),
	})
}

warn contains finding if {
	some row in quota.limits("resource-quota")
	row.fits.steady == "yes"
	row.fits.rollout == "no"
	count(stuck(row)) == 0
	finding := object.union(about(row, "rollout"), {
		"msg": sprintf("a rollout needs %s of `%s` at its worst moment, %s allows %d: it goes on only as old pods end", [
			fleetgate.show(row.used.rollout), row.key, quota.called(row.ref), row.limit,
		]),
		"remediation": sprintf("write `maxSurge: 0` and `maxUnavailable: 1`, or ask %s to raise the limit", [quota.who(row)]),
	})
}

warn contains finding if {
	some row in quota.limits("resource-quota")
	row.fits.rollout == "yes"
	row.fits.autoscaled == "no"
	finding := object.union(about(row, "autoscaled"), {
		"msg": sprintf("autoscalers may ask for %s of `%s`, %s allows %d", [
			fleetgate.show(row.used.autoscaled), row.key, quota.called(row.ref), row.limit,
		]),
		"remediation": sprintf("lower the upper bounds of the autoscalers, or ask %s to raise the limit", [quota.who(row)]),
	})
}

# What a queue starts is charged, too, once it is started.
deny contains finding if {
	some row in quota.limits("resource-quota")
	is_number(row.limit)
	some entry in row.contributors
	entry.queued
	fleetgate.fits(entry.steady, row.limit) == "no"
	finding := object.union(about(row, "steady"), {
		"subject": entry.ref,
		"at": row.ref,
		"msg": sprintf("%s asks for %s of `%s`: its queue would start it, and %s, which allows %d, would refuse its pods", [
			quota.called(entry.ref), fleetgate.show(entry.steady), row.key, quota.called(row.ref), row.limit,
		]),
		"remediation": sprintf("let it ask for %d or less, or ask %s to raise the limit", [row.limit, quota.who(row)]),
	})
}

about(row, number) := {
	"subject": row.ref,
	"path": row.path,
	"details": {
		"value": over(row, row.used[number]),
		"used": row.used[number],
		"limit": row.limit,
		"lines": [quota.quota_line(row), quota.holds_line(row, number)],
	},
}

over(row, amount) := fleetgate.over(amount, row.limit)

over_limit(row, amount) if {
	is_number(row.limit)
	fleetgate.fits(amount, row.limit) == "no"
}

stuck(row) := [entry |
	some entry in row.contributors
	not entry.queued
	entry.needsSurge == "yes"
	fleetgate.fits(moment(row, entry), row.limit) == "no"
]

# What must fit, and the new pods of one.
moment(row, entry) := fleetgate.add(row.needed, fleetgate.over(entry.rollout, entry.steady)) if {
	fleetgate.known(entry.steady)
}

how(ref) := "`spec.upgradeStrategy.type: None`" if {
	ref.kind == "RayService"
} else := "`maxSurge: 0` and `maxUnavailable: 1`"
