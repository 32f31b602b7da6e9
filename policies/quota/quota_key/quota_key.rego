# METADATA
# title: Keys of a ResourceQuota enforce something
# description: >-
#   Of extended resources a ResourceQuota measures only what has the prefix `requests.`. Other keys are
#   accepted and limit nothing, and a quota with scopes measures no claims.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#     description: Kubernetes, quota for extended resources
# custom:
#   level: deny
#   target: cluster
#   needs: []
#   params:
#     readElsewhere:
#       type: array
#       items: {type: string}
#       default: []
#       description: Keys that something else enforces, such as HAMi's scheduler; `*` stands for any text.
package fleetgate.quota.quota_key

import data.fleetgate.lib.quota
import data.fleetgate.lib.values

deny contains quota.fault(row) if {
	some row in quota.problems("resource-quota")
	row.code in {"not-enforced", "scoped-claims"}
	not values.matches_any(data.params.quota.quota_key.readElsewhere, key(row))
}

warn contains quota.fault(row) if {
	some row in quota.problems("resource-quota")
	row.code == "same-key"
}

key(row) := row.path[count(row.path) - 1]
