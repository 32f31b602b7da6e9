# METADATA
# title: A TPU pod takes all chips of its node
# description: >-
#   Pods do not share a TPU node: the chips of a host are one unit with its network. A pod that asks
#   for fewer leaves the rest idle and paid for, and a slice of several hosts does not come together.
# related_resources:
#   - ref: https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus
#     description: GKE, machine types of TPUs
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     chips:
#       type: array
#       items: {type: integer, minimum: 1}
#       default: [1, 4, 8]
#       description: How many chips machines have, for clusters whose accelerators are not listed in the fleet file; other numbers are a warning there. An empty list judges nothing there.
package fleetgate.scheduling.tpu_chips_per_node

import data.fleetgate.lib.scheduling

params := data.params.scheduling.tpu_chips_per_node

resource := "google.com/tpu"

# More than any node has is reported by `scheduling/per-node-count`.
deny contains finding if {
	some pod in judged
	left := scheduling.left(scheduling.pools(pod, resource))
	count(left) > 0
	count(scheduling.certain(left)) == count(left)
	counts := {pool.perNode | some pool in left}
	not pod.asks[resource] in counts
	count(scheduling.roomy(left, pod.asks[resource])) > 0
	finding := {
		"msg": sprintf("%s asks for %d of the %s chips of a TPU node, and no other pod can have the rest", [scheduling.called(pod), pod.asks[resource], listed(counts)]),
		"path": scheduling.place_of(pod, resource),
		"remediation": sprintf("write `%s: %s`", [resource, listed(counts)]),
		"details": {"lines": array.concat(
			[["holds", scheduling.about(pod, resource)]],
			[["facts", sprintf("%s: %d on a node", [scheduling.show_pool(pool), pool.perNode])] | some pool in left],
		)},
	}
}

warn contains finding if {
	some pod in judged
	is_null(object.get(pod, "pools", null))
	count(params.chips) > 0
	not pod.asks[resource] in params.chips
	finding := {
		"msg": sprintf("%s asks for %d TPU chips, but machines have %s", [scheduling.called(pod), pod.asks[resource], listed({chips | some chips in params.chips})]),
		"path": scheduling.place_of(pod, resource),
		"remediation": "write as many chips as the machine has",
	}
}

judged contains pod if {
	some pod in scheduling.placed(input.workload)
	resource in scheduling.devices(input.workload, pod)
	fleetgate.known(pod.asks[resource])
	scheduling.settled(input.workload)
	scheduling.readable(pod.spec)
	scheduling.readable(pod.effective)
}

listed(counts) := concat(" or ", [sprintf("%d", [number]) | some number in sort(counts)])
