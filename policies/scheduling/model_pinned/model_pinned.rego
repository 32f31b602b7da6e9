# METADATA
# title: The accelerator family is pinned
# description: >-
#   In a cluster with several families of accelerators a pod that names none gets whichever is free.
#   Its need can then be charged to no budget, and it may start on a device that is too small or far
#   too dear.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/#manage-clusters-with-different-types-of-gpus
#     description: Kubernetes, clusters with different types of GPUs
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     keys:
#       type: array
#       items: {type: string}
#       default:
#         - cloud.google.com/gke-accelerator
#         - cloud.google.com/gke-tpu-accelerator
#         - cloud.google.com/compute-class
#         - karpenter.k8s.aws/instance-gpu-name
#         - karpenter.k8s.aws/instance-accelerator-name
#         - eks.amazonaws.com/instance-gpu-name
#         - eks.amazonaws.com/instance-accelerator-name
#         - karpenter.azure.com/sku-gpu-name
#         - nvidia.com/gpu.product
#         - nvidia.com/gpu.family
#         - amd.com/gpu.product-name
#         - node.kubernetes.io/instance-type
#       description: Keys that name a model. A pod that requires one of them is taken to have chosen, even if it leaves several families. An empty list counts only what its selectors leave.
package fleetgate.scheduling.model_pinned

import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

params := data.params.scheduling.model_pinned

deny contains finding if {
	not scheduling.daemon(input.object)
	scheduling.settled(input.workload)
	some pod in scheduling.placed(input.workload)
	scheduling.readable(pod.spec)
	scheduling.readable(pod.effective)
	not chosen(pod)
	some resource in scheduling.devices(input.workload, pod)
	open := possible(pod, resource)
	count(scheduling.families(open)) > 1
	finding := {
		"msg": sprintf("%s asks for `%s` and may get any of %s, so no budget can be charged for it", [scheduling.called(pod), resource, scheduling.quoted(scheduling.families(open))]),
		"path": array.concat(pod.path, ["nodeSelector"]),
		"remediation": remedy(open),
		"details": {"lines": lines(pod, resource, open)},
	}
}

# Pools on which the pod may start for certain: selected, tolerated, and with room on a node.
possible(pod, resource) := [pool |
	some pool in scheduling.roomy(scheduling.certain(scheduling.pools(pod, resource)), pod.asks[resource])
	count(pool.untolerated) == 0
]

chosen(pod) if {
	some key in params.keys
	scheduling.pinned(pod.effective, key)
}

labels(open) := sort({label |
	some pool in open
	label := scheduling.label_of(pool)
})

remedy(open) := sprintf("write one of %s under `nodeSelector`", [scheduling.quoted(labels(open))]) if {
	count(labels(open)) > 1
} else := "select the nodes of one family; give the pools `nodeLabels` in the fleet file that tell them apart"

lines(pod, resource, open) := array.concat(
	array.concat([["holds", scheduling.about(pod, resource)]], preferred(pod)),
	[["write", offer(pool)] | some pool in open],
)

offer(pool) := sprintf("%s    %s", [scheduling.label_of(pool), scheduling.show_pool(pool)])

# A preference looks like a choice and is none.
preferred(pod) := [["facts", "its preferred affinity is a wish: other nodes are taken when those are full"]] if {
	node := values.map(values.map(pod.effective.affinity).nodeAffinity)
	count(values.list(node.preferredDuringSchedulingIgnoredDuringExecution)) > 0
} else := []
