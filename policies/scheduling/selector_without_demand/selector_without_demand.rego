# METADATA
# title: Who selects accelerator nodes asks for accelerators
# description: >-
#   A pod that selects nodes with accelerators and asks for no device takes their cpu and memory, or
#   forgot to ask: then its program finds no device, or one that was given to another pod.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
#     description: Kubernetes, scheduling GPUs
# custom:
#   level: warn
#   target: resource
#   match:
#     workloads: true
#   needs: []
#   params:
#     keys:
#       type: array
#       items: {type: string}
#       default:
#         - cloud.google.com/gke-accelerator
#         - cloud.google.com/gke-tpu-accelerator
#         - cloud.google.com/gke-tpu-topology
#         - karpenter.k8s.aws/instance-gpu-*
#         - karpenter.k8s.aws/instance-accelerator-*
#         - eks.amazonaws.com/instance-gpu-*
#         - eks.amazonaws.com/instance-accelerator-*
#         - kubernetes.azure.com/accelerator
#         - karpenter.azure.com/sku-gpu-*
#         - nvidia.com/gpu.*
#         - nvidia.com/mig.*
#         - amd.com/gpu.*
#       description: Keys that only nodes with accelerators carry; `*` stands for any text. An empty list switches the rule off.
#     kinds:
#       type: array
#       items: {type: string}
#       default: [DaemonSet]
#       description: Kinds that may do so. An empty list exempts none.
#     namespaces:
#       type: array
#       items: {type: string}
#       default: [kube-system, "*-system", gpu-operator, nvidia-device-plugin, nvidia-dra-driver-gpu, kube-amd-gpu, "*monitoring*"]
#       description: Namespaces whose pods may do so, such as those of drivers and agents; `*` stands for any text. An empty list exempts none.
package fleetgate.scheduling.selector_without_demand

import data.fleetgate.lib.idle
import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

params := data.params.scheduling.selector_without_demand

warn contains finding if {
	count(params.keys) > 0
	some pod in idle.pods(params)
	scheduling.readable(pod.spec)
	some requirement in scheduling.requirements(pod.spec)
	values.matches_any(params.keys, requirement.key)
	required(requirement)
	finding := {
		"msg": sprintf("%s selects nodes with `%s` and asks for no accelerator", [scheduling.called(pod), requirement.key]),
		"path": array.concat(pod.path, requirement.path),
		"remediation": "remove the selector, or ask for the device under `resources.limits`",
	}
}

# Also the selector of a node without: `nvidia.com/gpu.present: "false"`.
required(requirement) if {
	requirement.operator == "In"
	some value in requirement.values
	not lower(value) in {"false", "0", "none", "no", ""}
}

required(requirement) if requirement.operator in {"Exists", "Gt"}
