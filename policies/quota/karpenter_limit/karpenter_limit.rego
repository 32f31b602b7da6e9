# METADATA
# title: Workloads fit the limit of their NodePool
# description: >-
#   The limits of a NodePool stop Karpenter from making more nodes; pods beyond them stay Pending. They are
#   checked with a view that lags, and nodes that are there stay, so that they are never exact: this is advice.
#   Only pods that are bound to the pool are counted.
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/nodepools/
#     description: Karpenter, NodePools
# custom:
#   level: warn
#   target: cluster
#   needs: []
package fleetgate.quota.karpenter_limit

import data.fleetgate.lib.quota

warn contains finding if {
	some row in quota.limits("karpenter")
	row.fits.steady == "no"
	finding := {
		"msg": sprintf("%s is limited to %d of `%s`, the pods that are bound to it ask for %s", [
			quota.called(row.ref), row.limit, row.key, fleetgate.show(row.used.steady),
		]),
		"subject": row.ref,
		"path": row.path,
		"remediation": sprintf("ask %s to raise the limit by %d, or let the workloads ask for less", [
			quota.who(row), fleetgate.over(row.used.steady, row.limit),
		]),
		"details": {
			"value": fleetgate.over(row.used.steady, row.limit),
			"limit": row.limit,
			"lines": [quota.holds_line(row, "steady")],
		},
	}
}
