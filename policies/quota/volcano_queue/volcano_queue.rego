# METADATA
# title: Volcano can schedule what is queued
# description: >-
#   A job of which the least that starts together is larger than the capability of its queue, or of a queue above it, is never scheduled. Queues that have others below them take no jobs.
# related_resources:
#   - ref: https://volcano.sh/en/docs/v1-12-0/queue/
#     description: Volcano, queues
# custom:
#   level: deny
#   target: cluster
#   needs: []
package fleetgate.quota.volcano_queue

import data.fleetgate.lib.quota

deny contains finding if {
	some row in quota.admissions("volcano")
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

shown(amount) := quota.shown({"unit": "unit"}, amount)

figures(reason) := {"value": fleetgate.over(reason.asked, reason.most), "limit": reason.most} if {
	is_number(reason.most)
} else := {}
