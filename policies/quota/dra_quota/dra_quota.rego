# METADATA
# title: Quota of devices covers claims, too
# description: >-
#   Where devices can be had by extended resource and by claim, a ResourceQuota on `requests.nvidia.com/gpu`
#   alone is a fence with a gate: claims are measured by keys of their own.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#     description: Kubernetes, dynamic resource allocation
# custom:
#   level: warn
#   target: cluster
#   needs: []
package fleetgate.quota.dra_quota

import data.fleetgate.lib.quota

warn contains quota.fault(row) if {
	some row in quota.problems("resource-quota")
	row.code == "claims-unlimited"
}
