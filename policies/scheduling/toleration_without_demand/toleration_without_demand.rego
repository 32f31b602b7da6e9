# METADATA
# title: Who tolerates accelerator taints asks for accelerators
# description: >-
#   The taint of accelerator nodes keeps them free for pods that need them. A pod that tolerates it and
#   asks for no device takes cpu and memory there, until a pod with devices no longer fits.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#example-use-cases
#     description: Kubernetes, nodes with special hardware
# custom:
#   level: warn
#   target: resource
#   match:
#     workloads: true
#   needs: []
#   params:
#     taints:
#       type: array
#       items: {type: string}
#       default: [nvidia.com/gpu, amd.com/gpu, google.com/tpu, aws.amazon.com/neuron, aws.amazon.com/neuroncore, habana.ai/gaudi, gpu.intel.com/i915, gpu.intel.com/xe, sku=gpu]
#       description: Taints of accelerator nodes, `key` or `key=value`. A toleration without a key tolerates them all. An empty list switches the rule off.
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
package fleetgate.scheduling.toleration_without_demand

import data.fleetgate.lib.idle
import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

params := data.params.scheduling.toleration_without_demand

warn contains finding if {
	count(params.taints) > 0
	some pod in idle.pods(params)
	some i, toleration in values.list(pod.spec.tolerations)
	tolerates(toleration)
	finding := {
		"msg": sprintf("%s tolerates %s and asks for no accelerator", [scheduling.called(pod), what(toleration)]),
		"path": array.concat(pod.path, ["tolerations", i]),
		"remediation": "remove the toleration, or ask for the device under `resources.limits`",
	}
}

# The effect of these taints is NoSchedule: a toleration of another effect lets nobody in.
tolerates(toleration) if {
	is_object(toleration)
	object.get(toleration, "effect", "") in {"", "NoSchedule", null}
	every _, value in toleration {
		not values.templated(value)
	}
	about(toleration)
}

about(toleration) if everything(toleration)

about(toleration) if {
	some taint in params.taints
	parts := split(taint, "=")
	toleration.key == parts[0]
	same(toleration, parts)
}

everything(toleration) if {
	object.get(toleration, "key", "") in {"", null}
	toleration.operator == "Exists"
}

# `Exists` asks for no value, and a taint that is listed without a value may have any.
same(toleration, _) if toleration.operator == "Exists"

same(_, parts) if count(parts) == 1

same(toleration, parts) if toleration.value == parts[1]

what(toleration) := "every taint" if {
	everything(toleration)
} else := sprintf("the taint `%s=%s`", [toleration.key, toleration.value]) if {
	object.get(toleration, "value", "") != ""
} else := sprintf("the taint `%s`", [toleration.key])
