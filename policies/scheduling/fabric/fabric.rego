# METADATA
# title: Training on several nodes uses their network interfaces
# description: >-
#   Nodes for large trainings have network interfaces for their devices, which a pod must ask for like
#   for a device. Without them the job runs over ordinary TCP, many times slower, on nodes that are
#   paid for with their network.
# related_resources:
#   - ref: https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
#     description: EKS, training with EFA
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
#     interfaces:
#       type: object
#       additionalProperties: {type: integer, minimum: 1}
#       default:
#         p4d.24xlarge: 4
#         p4de.24xlarge: 4
#         p5.48xlarge: 32
#         p5e.48xlarge: 32
#         p5en.48xlarge: 16
#         p6-b200.48xlarge: 8
#         trn1.32xlarge: 8
#         trn1n.32xlarge: 16
#         trn2.48xlarge: 16
#       description: How many interfaces a machine type has. With an empty map it is not said how many to write, and too few are not found.
package fleetgate.scheduling.fabric

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

params := data.params.scheduling.fabric

# None asked for.
warn contains finding if {
	some case in cases
	not case.fabric in object.keys(case.pod.asks)
	finding := {
		"msg": sprintf("%s takes whole nodes that have `%s`, and asks for none of it", [scheduling.called(case.pod), case.fabric]),
		"path": scheduling.place_of(case.pod, case.resource),
		"remediation": sprintf("write `%s: %s` under `limits` of the same container", [case.fabric, how_many(case)]),
		"details": {"lines": lines(case)},
	}
}

# Fewer than the machine has.
warn contains finding if {
	some case in cases
	asked := case.pod.asks[case.fabric]
	fleetgate.known(asked)
	has := case.has[0]
	fleetgate.fits(asked, has - 1) == "yes"
	finding := {
		"msg": sprintf("%s takes whole nodes with %d `%s`, and asks for %d of them", [scheduling.called(case.pod), has, case.fabric, asked]),
		"path": scheduling.place_of(case.pod, case.fabric),
		"remediation": sprintf("write `%s: %d`", [case.fabric, has]),
		"details": {"lines": lines(case)},
	}
}

cases contains case if {
	accelerators.kind(input.object) in params.kinds
	scheduling.settled(input.workload)
	some pod in scheduling.placed(input.workload)
	scheduling.readable(pod.spec)
	scheduling.readable(pod.effective)
	not networked(pod)
	some resource in scheduling.devices(input.workload, pod)
	scheduling.together(input.object, input.workload, pod, resource) > 1
	left := scheduling.left(scheduling.pools(pod, resource))
	count(left) > 0
	count(scheduling.certain(left)) == count(left)
	every pool in left {
		pool.perNode == pod.asks[resource]
	}
	fabrics := {pool.fabric | some pool in left}
	count(fabrics) == 1
	some fabric in fabrics
	is_string(fabric)
	contains(fabric, "/")
	case := {"pod": pod, "resource": resource, "fabric": fabric, "pools": left, "has": has(left)}
}

# The number of interfaces, if it is the same for all pools.
has(pools) := [most | some most in counts] if {
	counts := {params.interfaces[type] |
		some pool in pools
		type := pool.labels["node.kubernetes.io/instance-type"]
	}
	count(counts) == 1
	every pool in pools {
		params.interfaces[pool.labels["node.kubernetes.io/instance-type"]]
	}
} else := []

how_many(case) := sprintf("%d", [case.has[0]]) if {
	count(case.has) == 1
} else := "<as many as the node has>"

# The network in another way: the host's own, claims, or interfaces by annotation.
networked(pod) if pod.effective.hostNetwork == true

networked(pod) if count(values.list(pod.spec.resourceClaims)) > 0

networked(pod) if {
	some name in ["networking.gke.io/interfaces", "k8s.v1.cni.cncf.io/networks"]
	name in object.keys(scheduling.annotations(pod))
}

lines(case) := array.concat(
	[["holds", scheduling.about(case.pod, case.resource)]],
	[["facts", sprintf("%s has %s", [scheduling.show_pool(pool), pool.fabric])] | some pool in case.pools],
)
