# METADATA
# title: Pods with accelerators name a runtime class that exists
# description: >-
#   A pod that names a runtime class which the cluster does not have is refused when it is created, and
#   inside a custom resource that shows late. Where another runtime than NVIDIA's is the default, a pod
#   without a class gets its devices and cannot use them.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/runtime-class/
#     description: Kubernetes, runtime classes
# custom:
#   level: warn
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     classes:
#       type: array
#       items: {type: string}
#       default: [nvidia, "nvidia-*", "kata*", gvisor, runsc, runc, "crun*", "amd*", "habana*", "neuron*", "sysbox*"]
#       description: Runtime classes that clusters have; `*` stands for any text. An empty list allows every name.
#     required:
#       type: object
#       additionalProperties: {type: string}
#       default: {}
#       description: The class that a pod must name to use a resource, by resource, such as `nvidia.com/gpu` and `nvidia`. Empty where that runtime is the default of the nodes.
package fleetgate.scheduling.runtime_class

import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

params := data.params.scheduling.runtime_class

warn contains finding if {
	some pod in accelerated
	class := pod.effective.runtimeClassName
	is_string(class)
	class != ""
	not values.templated(class)
	count(params.classes) > 0
	not values.matches_any(params.classes, class)
	finding := {
		"msg": sprintf("%s names the runtime class `%s`, which is none that is known", [scheduling.called(pod), class]),
		"path": array.concat(pod.path, ["runtimeClassName"]),
		"remediation": "write a class that the cluster has, or add this one to the parameter `classes`",
	}
}

warn contains finding if {
	some pod in accelerated
	some resource, class in params.required
	resource in object.keys(pod.asks)
	absent(object.get(pod.effective, "runtimeClassName", null))
	finding := {
		"msg": sprintf("%s asks for `%s` and names no runtime class", [scheduling.called(pod), resource]),
		"path": array.concat(pod.path, ["runtimeClassName"]),
		"remediation": sprintf("write `runtimeClassName: %s`", [class]),
	}
}

accelerated := [pod |
	some pod in scheduling.pods(input.workload)
	count(pod.asks) > 0
	is_object(pod.effective)
]

absent(class) if class in {null, ""}
