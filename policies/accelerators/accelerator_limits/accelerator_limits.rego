# METADATA
# title: Accelerators have a whole limit, equal to the request
# description: >-
#   Accelerators are extended resources: they cannot be overcommitted. A pod must give a limit, a
#   whole number of devices, and a request, if there is one, that is equal to it; otherwise the API
#   server refuses the pod. It checks pods and the kinds of Kubernetes itself, not the pod templates
#   inside custom resources: there the operator fails later, which looks like a lack of capacity.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
#     description: Kubernetes, extended resources
# custom:
#   level: deny
#   target: resource
#   match:
#     workloads: true
#   needs: []
#   params:
#     resources:
#       type: array
#       items: {type: string}
#       default:
#         - nvidia.com/*
#         - amd.com/*
#         - gpu.intel.com/*
#         - google.com/tpu
#         - aws.amazon.com/neuron*
#         - habana.ai/*
#         - hami.io/*
#         - huawei.com/*
#         - cambricon.com/*
#         - volcano.sh/*
#         - vpc.amazonaws.com/efa
#         - rdma/*
#       description: Names of the extended resources to judge; `*` stands for any text. An empty list switches the rule off.
package fleetgate.accelerators.accelerator_limits

import data.fleetgate.lib.pods
import data.fleetgate.lib.values

params := data.params.accelerators.accelerator_limits

deny contains finding if {
	some place in places
	some side in ["limits", "requests"]
	some resource, quantity in values.map(place.resources[side])
	values.matches_any(params.resources, resource)
	fault := fault_of(quantity)
	finding := {
		"msg": sprintf("%s asks for `%s` of `%s` in its %s, which is %s", [place.name, values.show(quantity), resource, side, fault]),
		"path": array.concat(place.path, [side, resource]),
		"remediation": sprintf("write `%s: <whole number>` under `limits`", [resource]),
	}
}

deny contains finding if {
	some place in places
	limits := values.map(object.get(place.resources, "limits", {}))
	some resource, request in values.map(place.resources.requests)
	values.matches_any(params.resources, resource)
	not resource in object.keys(limits)
	finding := {
		"msg": sprintf("%s requests `%s` without a limit", [place.name, resource]),
		"path": array.concat(place.path, ["requests", resource]),
		"remediation": sprintf("write `%s: %s` under `limits`; the request is then not needed", [resource, values.show(request)]),
	}
}

deny contains finding if {
	some place in places
	some resource, request in values.map(place.resources.requests)
	values.matches_any(params.resources, resource)
	limit := values.map(place.resources.limits)[resource]
	not fault_of(request)
	not fault_of(limit)
	fleetgate.quantity.compare(request, limit) != 0
	finding := {
		"msg": sprintf("%s requests `%s` of `%s` but its limit is `%s`", [place.name, values.show(request), resource, values.show(limit)]),
		"path": array.concat(place.path, ["requests", resource]),
		"remediation": sprintf("write the same number for both, or remove the request of `%s`", [resource]),
	}
}

# Resources of the pod as a whole cover cpu, memory and huge pages only.
deny contains finding if {
	some pod in input.workload.pods
	some side in ["limits", "requests"]
	some resource, _ in values.map(values.map(pod.spec.resources)[side])
	values.matches_any(params.resources, resource)
	finding := {
		"msg": sprintf("`%s` stands in the resources of the pod as a whole, which cannot hold it", [resource]),
		"path": array.concat(pod.path, ["resources", side, resource]),
		"remediation": sprintf("write `%s` under `resources.limits` of the container that uses it", [resource]),
	}
}

# Ephemeral containers cannot have resources.
places contains place if {
	some pod in input.workload.pods
	some entry in pods.containers(pod)
	place := {
		"name": sprintf("container `%s`", [pods.name(entry)]),
		"path": array.concat(entry.path, ["resources"]),
		"resources": values.map(entry.container.resources),
	}
}

# Why something is no number of devices; undefined if it is one. Zero is one.
fault_of(quantity) := "a placeholder that nothing replaced" if {
	not fleetgate.quantity.valid(quantity)
	values.templated(quantity)
} else := "not a number" if {
	not fleetgate.quantity.valid(quantity)
} else := "negative" if {
	fleetgate.quantity.compare(quantity, "0") < 0
} else := "not a whole number" if {
	not fleetgate.quantity.whole(quantity)
}
