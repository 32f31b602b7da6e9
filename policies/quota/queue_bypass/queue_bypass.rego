# METADATA
# title: Batch workloads with accelerators go through a queue
# description: >-
#   Kueue leaves alone what has no queue label (`manageJobsWithoutQueueName` is off): such a job starts at
#   once, outside of the quota of its team, with accelerators that queued jobs wait for. An annotation is not
#   read at all, and a label on the pods alone does not queue the job as a whole.
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/jobs/
#     description: Kueue, run a job
# custom:
#   level: deny
#   target: cluster
#   needs: []
#   params:
#     required:
#       type: array
#       items: {type: string}
#       default: []
#       description: Globs of namespaces in which it is a denial. Elsewhere it is advice.
#     exempt:
#       type: array
#       items: {type: string}
#       default: [kube-system, kueue-system]
#       description: Globs of namespaces that are not judged.
package fleetgate.quota.queue_bypass

import data.fleetgate.lib.quota
import data.fleetgate.lib.values

params := data.params.quota.queue_bypass

deny contains quota.fault(row) if {
	some row in rows
	required(row)
}

warn contains quota.fault(row) if {
	some row in rows
	not required(row)
}

rows := [row |
	some row in quota.problems("kueue")
	row.code in {"no-queue", "label-on-pods", "annotation"}
	not values.matches_any(params.exempt, row.ref.namespace)
]

required(row) if values.matches_any(params.required, row.ref.namespace)

# A queue is named, and the name is not read: it is not counted where its author wants it to be.
required(row) if row.code == "annotation"
