# METADATA
# title: A pod asks for accelerators of one vendor
# description: >-
#   A pod runs on one node, and the nodes that clouds offer have accelerators of one vendor. A pod that
#   asks for those of two stays pending for ever.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
#     description: Kubernetes, scheduling of accelerators
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     together:
#       type: array
#       items:
#         type: array
#         items: {type: string}
#       default: []
#       description: Lists of vendors, as messages name them, that have devices in one node. An empty list allows one vendor only.
package fleetgate.accelerators.single_family

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

params := data.params.accelerators.single_family

deny contains finding if {
	some pod in input.workload.pods
	accelerators.runs(pod)
	asked := sort(accelerators.devices(pod))
	vendors := {accelerators.vendor(resource) | some resource in asked}
	count(vendors) > 1
	not allowed(vendors)
	first := asked[0]
	others := [resource | some resource in asked; accelerators.vendor(resource) != accelerators.vendor(first)]
	finding := {
		"msg": sprintf("%s asks for %s, which no node has together", [accelerators.called(pod), concat(" and ", [sprintf("`%s`", [resource]) | some resource in asked])]),
		"path": accelerators.place_of(pod, others[0]),
		"remediation": sprintf("keep `%s` or `%s` and remove the other, or move the containers that use it into a workload of their own", [first, others[0]]),
		"details": {"vendors": sort(vendors)},
	}
}

allowed(vendors) if {
	some together in params.together
	count(vendors - {vendor | some vendor in values.list(together)}) == 0
}
