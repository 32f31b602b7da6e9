# METADATA
# title: The queue that a workload names exists
# description: >-
#   A label with the name of a queue that does not exist, or whose cluster queue or flavor does not, keeps
#   the workload suspended: nothing ever starts it. It is a denial only where the whole cluster was read and
#   keeps such objects with its manifests.
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/local_queue/
#     description: Kueue, local queues
# custom:
#   level: deny
#   target: cluster
#   needs: []
package fleetgate.quota.queue_chain

import data.fleetgate.lib.values

deny contains finding if {
	some row in values.list(input.quotas)
	row.row == "problem"
	row.code == "queue-missing"
	row.certain
	finding := {
		"msg": sprintf("nothing starts it: %s", [row.message]),
		"subject": row.ref,
		"path": row.path,
		"remediation": row.remediation,
	}
}
