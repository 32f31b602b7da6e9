# METADATA
# title: A pod asks for whole devices or for parts of them
# description: >-
#   Nodes offer their devices whole or in parts. A device plugin that renames shared devices renames
#   all of a node, so that no node has both names; whole devices and partitions are together only in
#   nodes that were partitioned unevenly on purpose.
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
#     partitioned:
#       type: boolean
#       default: true
#       description: Whether to warn of whole devices and partitions in one pod; `false` where nodes have both.
package fleetgate.accelerators.whole_and_sliced

import data.fleetgate.lib.accelerators

params := data.params.accelerators.whole_and_sliced

deny contains finding if {
	some pod in input.workload.pods
	accelerators.runs(pod)
	asked := accelerators.asked(pod)
	some resource in asked
	shared := sprintf("%s.shared", [resource])
	shared in asked
	finding := {
		"msg": sprintf("%s asks for `%s` and `%s`, but a node offers its devices by one of these names", [accelerators.called(pod), resource, shared]),
		"path": accelerators.place_of(pod, shared),
		"remediation": sprintf("keep `%s` for devices of its own or `%s: 1` for a share, and remove the other", [resource, shared]),
	}
}

warn contains finding if {
	params.partitioned == true
	some pod in input.workload.pods
	accelerators.runs(pod)
	asked := accelerators.asked(pod)
	some whole, part in forms
	whole in asked
	parts := sort([resource | some resource in asked; fleetgate.glob(part, resource)])
	count(parts) > 0
	finding := {
		"msg": sprintf("%s asks for whole devices, `%s`, and partitions, `%s`, which are in different nodes unless a node was partitioned unevenly", [accelerators.called(pod), whole, parts[0]]),
		"path": accelerators.place_of(pod, parts[0]),
		"remediation": sprintf("keep `%s` or `%s` and remove the other, or move the containers that use it into a workload of their own", [whole, parts[0]]),
	}
}

forms := {
	"nvidia.com/gpu": "nvidia.com/mig-*",
	"gpu.nvidia.com": "mig.nvidia.com",
	"enflame.com/gcu": "enflame.com/drs-gcu",
}
