# METADATA
# title: Queues, cohorts and flavors hold together
# description: >-
#   A LocalQueue without its ClusterQueue, a flavor that does not exist, a cycle of cohorts or of parents:
#   the queue is inactive, and all that is in it waits. Borrowing and lending limits outside of a cohort are
#   refused by Kueue. A limit or a scope that cannot be read limits nothing that is known.
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cohort/
#     description: Kueue, cohorts
# custom:
#   level: deny
#   target: cluster
#   needs: []
package fleetgate.quota.queue_objects

import data.fleetgate.lib.quota

broken := {
	"cluster-queue-missing",
	"cohort-cycle",
	"flavor-missing",
	"limit-without-cohort",
	"no-cluster-queue",
	"queue-cycle",
	"topology-missing",
	"topology-without-labels",
	"unreadable",
}

# Sound, and hardly what was meant.
doubtful := {"no-limit", "no-namespaces"}

deny contains quota.fault(row) if {
	some row in rows
	row.code in broken
	row.certain
}

warn contains quota.fault(row) if {
	some row in rows
	row.code in doubtful
}

# A limit that is no quantity: the API server refuses the object, or nobody knows what it allows. Without a
# place it is about something else, such as a limit that is left out.
deny contains finding if {
	some row in input.quotas
	row.row == "limit"
	startswith(row.why, "`")
	finding := quota.fault(object.union(row, {
		"message": row.why,
		"remediation": "write the number of devices, a whole number",
	}))
}

rows := [row |
	some system in ["kueue", "volcano", "kai", "resource-quota"]
	some row in quota.problems(system)
]
