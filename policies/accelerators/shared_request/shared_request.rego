# METADATA
# title: A container asks for one share of a device
# description: >-
#   A second share of a time-sliced device gives no more of it: both shares may be of one device. With
#   MPS, and where the device plugin is told so, a container that asks for two is refused on the node.
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
#     description: NVIDIA device plugin, sharing
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     resources:
#       type: array
#       items: {type: string}
#       default: [nvidia.com/*.shared]
#       description: Names of shares; `*` stands for any text. With an empty list only pools are judged that share their devices.
#     refused:
#       type: boolean
#       default: false
#       description: Whether the device plugins refuse more than one share (`failRequestsGreaterThanOne`), so that it is denied.
package fleetgate.accelerators.shared_request

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.pods
import data.fleetgate.lib.values

params := data.params.accelerators.shared_request

deny contains found.finding if {
	some found in requests
	found.refused
}

warn contains found.finding if {
	some found in requests
	not found.refused
}

requests contains found if {
	some pod in input.workload.pods
	accelerators.runs(pod)
	some entry in pods.containers(pod)
	resources := values.map(entry.container.resources)
	some resource, quantity in object.union(values.map(object.get(resources, "requests", {})), values.map(object.get(resources, "limits", {})))
	how := shared_by(pod, resource)
	fleetgate.quantity.valid(quantity)
	fleetgate.quantity.compare(quantity, 1) > 0
	found := {
		"refused": how.refused,
		"finding": {
			"msg": sprintf("container `%s` asks for `%s` of `%s`, %s, which is no more of a device than one", [pods.name(entry), values.show(quantity), resource, how.why]),
			"path": array.concat(entry.path, ["resources", side_of(resources, resource), resource]),
			"remediation": sprintf("write `%s: 1`, or ask for a whole device", [resource]),
		},
	}
}

# How a resource comes to be shared; undefined if it is not, or not in each pool that the pod may get.
shared_by(pod, resource) := {"why": "a share of a device", "refused": params.refused} if {
	values.matches_any(params.resources, resource)
} else := {"why": sprintf("which the nodes that it selects share by %s", [concat(" or ", sort(ways))]), "refused": refused} if {
	open := [pool | some pool in values.list(pod.pools); pool.resource == resource; pool.selected != "no"]
	count(open) > 0
	ways := {pool.sharing | some pool in open; is_string(pool.sharing)}
	count([pool | some pool in open; not is_string(pool.sharing)]) == 0
	refused := all_refuse(ways)
}

# MPS gives a container one share, whatever the device plugin is told.
all_refuse(ways) := true if {
	params.refused
} else := count({way | some way in ways; lower(way) != "mps"}) == 0

side_of(resources, resource) := "limits" if {
	resource in object.keys(values.map(resources.limits))
} else := "requests"
