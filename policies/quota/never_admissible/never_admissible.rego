# METADATA
# title: Kueue can admit what is queued
# description: >-
#   A workload is admitted when its queue has room. One that asks for more than its queue can ever have,
#   its own quota and all that it may borrow, waits for ever, and so does one whose pods no flavor takes.
#   Workloads that only wait for others to end are not meant.
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/
#     description: Kueue, cluster queues
# custom:
#   level: deny
#   target: cluster
#   needs: []
#   params:
#     excludedResources:
#       type: array
#       items: {type: string}
#       default: []
#       description: >-
#         Resources that Kueue is configured not to count, as in `excludeResourcePrefixes`; `*` stands for
#         any text, so that `["*"]` stands for `quotaCheckStrategy: IgnoreUndeclared`.
package fleetgate.quota.never_admissible

import data.fleetgate.lib.quota
import data.fleetgate.lib.values

deny contains finding if {
	some row in quota.admissions("kueue")
	row.possible == "no"
	reasons := [reason |
		some reason in row.reasons
		reason.code != "unknown"
		not excluded(reason)
	]
	count(reasons) > 0
	finding := {
		"msg": sprintf("queue `%s` never admits it: %s", [row.queue, summary(row, reasons[0])]),
		"subject": row.workload,
		"path": row.path,
		"remediation": remediation(row, reasons[0]),
		"details": object.union(figures(reasons[0]), {"lines": array.concat(
			[["queue", reason.message] | some reason in reasons],
			[["note", note] | some note in row.notes],
		)}),
	}
}

excluded(reason) if {
	reason.code == "not-covered"
	values.matches_any(data.params.quota.never_admissible.excludedResources, reason.resource)
}

each(row) := " for each pod" if {
	row.byPod
} else := ""

summary(row, reason) := sprintf("it asks for %s of `%s`%s, and there are %d at most", [
	fleetgate.show(reason.asked), reason.resource, each(row), reason.most,
]) if {
	reason.code == "too-large"
	is_number(reason.most)
} else := sprintf("no flavor takes its pods that ask for `%s`", [reason.resource]) if {
	reason.code == "flavors"
} else := reason.message

remediation(row, reason) := sprintf("ask for %d or less, or ask %s to raise the quota by %d", [
	reason.most, quota.who(row), fleetgate.over(reason.asked, reason.most),
]) if {
	reason.code == "too-large"
	is_number(reason.most)
} else := "let the pods select and tolerate the nodes of one of the flavors" if {
	reason.code == "flavors"
} else := sprintf("name a queue that has `%s`, or ask %s to add it", [reason.resource, quota.who(row)]) if {
	reason.code == "not-covered"
} else := sprintf("name another queue, or ask %s to change it", [quota.who(row)])

figures(reason) := {"value": fleetgate.over(reason.asked, reason.most), "limit": reason.most} if {
	is_number(reason.most)
} else := {}
