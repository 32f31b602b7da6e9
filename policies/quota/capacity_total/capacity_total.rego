# METADATA
# title: All workloads of a cluster fit its nodes
# description: >-
#   Each workload fits by itself, and all together ask for more devices of a family than the cluster has: some
#   pods stay Pending. With priorities or autoscaled nodes that can be intended, so it is advice. What a queue
#   starts when there is room is not counted.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes, pod priority
# custom:
#   level: warn
#   target: cluster
#   needs: [fleet]
package fleetgate.quota.capacity_total

import data.fleetgate.lib.quota

warn contains finding if {
	some row in quota.limits("pools")
	row.fits.steady == "no"
	over := fleetgate.over(row.used.steady, row.limit)
	over > 0
	finding := {
		"msg": sprintf("the workloads ask for %s %s while nothing changes, the nodes of this cluster have %s", [
			quota.shown(row, row.used.steady), row.resource, quota.shown(row, row.limit),
		]),
		"subject": row.ref,
		"remediation": sprintf("let the workloads ask for %s less, or add nodes and write their number into the fleet file", [quota.shown(row, over)]),
		"details": {"value": over, "limit": row.limit, "lines": [
			["facts", concat(", ", row.nodes)],
			quota.holds_line(row, "steady"),
		]},
	}
}
