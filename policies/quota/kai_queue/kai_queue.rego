# METADATA
# title: KAI can schedule what is queued
# description: >-
#   A pod that is larger than the limit of its queue, or of a queue above it, is never scheduled, and so is a training of which all pods start together. Only queues without others below them schedule.
# related_resources:
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
#     description: KAI, queues
# custom:
#   level: deny
#   target: cluster
#   needs: []
package fleetgate.quota.kai_queue

import data.fleetgate.lib.quota

deny contains finding if {
	some row in quota.admissions("kai")
	row.possible == "no"
	reasons := [reason | some reason in row.reasons; reason.code != "unknown"]
	reason := reasons[0]
	finding := {
		"msg": sprintf("queue `%s` never starts it: %s", [row.queue, summary(reason)]),
		"subject": row.workload,
		"path": row.path,
		"remediation": remediation(row, reason),
		"details": object.union(figures(reason), {"lines": [["queue", entry.message] | some entry in reasons]}),
	}
}

summary(reason) := sprintf("it asks for %s of `%s` at once, %s", [shown(reason.asked), reason.resource, reason.message]) if {
	reason.code == "too-large"
} else := reason.message

remediation(row, reason) := sprintf("ask for %s or less, or ask %s to raise the limit", [shown(reason.most), quota.who(row)]) if {
	reason.code == "too-large"
} else := "name a queue that has no queues below it"

shown(amount) := quota.shown({"unit": "thousandth"}, amount)

figures(reason) := {"value": fleetgate.over(reason.asked, reason.most), "limit": reason.most} if {
	is_number(reason.most)
} else := {}
