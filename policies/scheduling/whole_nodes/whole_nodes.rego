# METADATA
# title: Training on several nodes takes whole nodes
# description: >-
#   Devices of one node are connected with each other and with the network as a whole. If the pods of
#   a training take parts of nodes, the scheduler spreads them, another job shares their links, and each
#   step waits for the slowest.
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue, topology-aware scheduling
# custom:
#   level: warn
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     kinds:
#       type: array
#       items: {type: string}
#       default:
#         - kubeflow.org/PyTorchJob
#         - kubeflow.org/MPIJob
#         - kubeflow.org/JAXJob
#         - kubeflow.org/PaddleJob
#         - trainer.kubeflow.org/TrainJob
#         - sagemaker.amazonaws.com/HyperPodPyTorchJob
#         - jobset.x-k8s.io/JobSet
#         - leaderworkerset.x-k8s.io/LeaderWorkerSet
#       description: Kinds, as `group/Kind`, whose pods compute together. An empty list judges none.
package fleetgate.scheduling.whole_nodes

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.scheduling

params := data.params.scheduling.whole_nodes

warn contains finding if {
	accelerators.kind(input.object) in params.kinds
	scheduling.settled(input.workload)
	some pod in scheduling.placed(input.workload)
	scheduling.readable(pod.spec)
	scheduling.readable(pod.effective)
	some resource in scheduling.devices(input.workload, pod)
	asked := pod.asks[resource]
	fleetgate.known(asked)
	left := scheduling.left(scheduling.pools(pod, resource))
	count(left) > 0
	count(scheduling.certain(left)) == count(left)
	every pool in left {
		is_null(pool.sharing)
		pool.perNode != asked
	}
	counts := [pool.perNode | some pool in scheduling.roomy(left, asked)]
	count(counts) > 0
	node := min(counts)
	pods := scheduling.together(input.object, input.workload, pod, resource)
	pods > 1
	devices := pods * asked
	devices > node
	finding := {
		"msg": sprintf("%s takes %d of the %d `%s` of a node, and %d such pods compute together", [scheduling.called(pod), asked, node, resource, pods]),
		"path": scheduling.place_of(pod, resource),
		"remediation": remedy(resource, node, devices),
		"details": {"lines": array.concat(
			[["holds", scheduling.about(pod, resource)]],
			[["facts", sprintf("%s: %d on a node", [scheduling.show_pool(pool), pool.perNode])] | some pool in left],
		)},
	}
}

remedy(resource, node, devices) := sprintf("write `%s: %d` and %d pods instead", [resource, node, devices / node]) if {
	devices % node == 0
} else := sprintf("write `%s: %d`, and pods for a whole number of nodes", [resource, node])
