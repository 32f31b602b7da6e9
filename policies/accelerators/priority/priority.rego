# METADATA
# title: Priority of pods with accelerators is one that was agreed on
# description: >-
#   A pod of a higher priority class ends others to take their accelerators. The classes of the system
#   itself are above all others: a training that has one ends what the cluster needs to run.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
#     description: Kubernetes, priority and preemption
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     allowed:
#       type: array
#       items: {type: string}
#       default: []
#       description: Priority classes that pods with accelerators may have, `*` for any text. An empty list allows all.
#     namespaces:
#       type: array
#       items: {type: string}
#       default: [kube-system, "*-system"]
#       description: Namespaces whose pods may have the classes of the system; `*` stands for any text. An empty list exempts none.
package fleetgate.accelerators.priority

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

params := data.params.accelerators.priority

system := {"system-cluster-critical", "system-node-critical"}

deny contains finding if {
	some pod in taking
	class := pod.effective.priorityClassName
	class in system
	accelerators.batch(input.object)
	not in_system_namespace
	finding := {
		"msg": sprintf("%s of a job has the priority class `%s`, with which it ends what the cluster needs to run", [accelerators.called(pod), class]),
		"path": array.concat(pod.path, ["priorityClassName"]),
		"remediation": sprintf("write %s instead of `%s`", [instead, class]),
	}
}

warn contains finding if {
	some pod in taking
	class := pod.effective.priorityClassName
	class in system
	not accelerators.batch(input.object)
	not in_system_namespace
	not values.matches_any(params.allowed, class)
	finding := {
		"msg": sprintf("%s has the priority class `%s`, which is for what the cluster needs to run", [accelerators.called(pod), class]),
		"path": array.concat(pod.path, ["priorityClassName"]),
		"remediation": sprintf("write %s instead of `%s`", [instead, class]),
	}
}

deny contains finding if {
	count(params.allowed) > 0
	some pod in taking
	class := pod.effective.priorityClassName
	is_string(class)
	class != ""
	not class in system
	not values.templated(class)
	not values.matches_any(params.allowed, class)
	finding := {
		"msg": sprintf("%s has the priority class `%s`, which is not one of those that are allowed", [accelerators.called(pod), class]),
		"path": array.concat(pod.path, ["priorityClassName"]),
		"remediation": sprintf("write %s", [instead]),
	}
}

instead := "a priority class of your own" if {
	count(params.allowed) == 0
} else := sprintf("one of %s", [concat(", ", [sprintf("`%s`", [name]) | some name in params.allowed])])

taking contains pod if {
	some pod in input.workload.pods
	accelerators.runs(pod)
	count(accelerators.asked(pod)) > 0
}

in_system_namespace if values.matches_any(params.namespaces, input.object.metadata.namespace)
