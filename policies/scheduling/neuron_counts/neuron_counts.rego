# METADATA
# title: Neuron devices are asked for in connected sets
# description: >-
#   The devices of a Trainium machine form a ring or torus, and only certain numbers of them are
#   connected among themselves. A container with another number has devices that cannot talk to each
#   other directly, or is not placed by Neuron's scheduler extension.
# related_resources:
#   - ref: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html
#     description: Neuron, scheduler extension
# custom:
#   level: warn
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     machines:
#       type: object
#       additionalProperties:
#         type: array
#         items: {type: integer, minimum: 1}
#       default:
#         trn1.32xlarge: [1, 4, 8, 16]
#         trn1n.32xlarge: [1, 4, 8, 16]
#       description: Numbers of devices that are connected, by machine type. A type that is not listed is not judged; an empty map switches the rule off.
package fleetgate.scheduling.neuron_counts

import data.fleetgate.lib.pods
import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

params := data.params.scheduling.neuron_counts

resources := {"aws.amazon.com/neuron", "aws.amazon.com/neurondevice"}

key := "node.kubernetes.io/instance-type"

warn contains finding if {
	some pod in scheduling.placed(input.workload)
	scheduling.settled(input.workload)
	scheduling.readable(pod.spec)
	scheduling.readable(pod.effective)
	some entry in pods.containers(pod)
	some resource, quantity in values.map(values.map(entry.container.resources).limits)
	resource in resources
	fleetgate.quantity.valid(quantity)
	fleetgate.quantity.whole(quantity)
	number := fleetgate.quantity.integer(quantity)
	number > 0
	types := machines(pod, resource)
	count(types) > 0
	every type in types {
		connected := params.machines[type]
		not number in connected
	}
	all := sort({good | some type in types; some good in params.machines[type]})
	finding := {
		"msg": sprintf("container `%s` asks for %d `%s`, which are not connected with each other on %s", [pods.name(entry), number, resource, concat(", ", sort(types))]),
		"path": array.concat(entry.path, ["resources", "limits", resource]),
		"remediation": sprintf("write %s", [concat(" or ", [sprintf("%d", [good]) | some good in all])]),
		"details": {"lines": [["holds", scheduling.about(pod, resource)]]},
	}
}

# The machine types on which the pod can start: as its selector says, or as the pools say that it
# selects; none if one of them is not known.
machines(pod, resource) := {type} if {
	type := scheduling.value_of(pod.effective, key)
} else := found if {
	left := scheduling.left(scheduling.pools(pod, resource))
	found := {type | some pool in left; type := pool.labels[key]}
	count(left) == count([1 | some pool in left; pool.labels[key]])
	count(scheduling.certain(left)) == count(left)
} else := set()
