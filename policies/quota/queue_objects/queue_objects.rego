# METADATA
# title: Queues, cohorts and flavors hold together
# description: >-
#   A LocalQueue without its ClusterQueue, a flavor that does not exist, a cycle of cohorts or of parents:
#   the queue is inactive, and all that is in it waits. Borrowing and lending limits outside of a cohort are
#   refused by Kueue.
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

rows := [row | some system in ["kueue", "volcano", "kai"]; some row in quota.problems(system)]
