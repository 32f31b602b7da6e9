# METADATA
# title: Claims ask for devices of an agreed class in the form of their version
# description: >-
#   Versions of the API put the fields of a request in different places; in the wrong one they are dropped,
#   and the claim is refused. `allocationMode: All` takes every device of a node, and `adminAccess` reaches
#   devices that others were given alone.
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/resource-claim-v1/
#     description: Kubernetes, ResourceClaim
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [ResourceClaim, ResourceClaimTemplate]
#     apiGroups: [resource.k8s.io]
#   needs: []
#   params:
#     classes:
#       type: array
#       items: {type: string}
#       default: []
#       description: Device classes that claims may name, `*` for any text. An empty list allows all.
#     namespaces:
#       type: array
#       items: {type: string}
#       default: [kube-system, "*-system", gpu-operator, nvidia-dra-driver-gpu]
#       description: Namespaces whose claims may have administrative access and take all devices; `*` stands for any text. An empty list exempts none.
package fleetgate.accelerators.claim_requests

import data.fleetgate.lib.values

params := data.params.accelerators.claim_requests

version := split(input.object.apiVersion, "/")[1]

# Versions in which a request has its fields beside its name.
bare := {"v1alpha3", "v1beta1"}

wrapped := {"v1", "v1beta2"}

deny contains finding if {
	version in wrapped
	some request in requests
	object.get(request.value, "exactly", null) == null
	object.get(request.value, "firstAvailable", null) == null
	finding := {
		"msg": sprintf("request `%s` has neither `exactly` nor `firstAvailable`, one of which `%s` needs", [request.name, version]),
		"path": array.concat(request.path, [missing_key(request.value)]),
		"remediation": "write `deviceClassName`, `count` and the like under `exactly`",
	}
}

deny contains finding if {
	version in bare
	some request in requests
	object.get(request.value, "exactly", null) != null
	finding := {
		"msg": sprintf("request `%s` has `exactly`, which `%s` does not know", [request.name, version]),
		"path": array.concat(request.path, ["exactly"]),
		"remediation": sprintf("write `apiVersion: resource.k8s.io/v1`, or in `%s` the fields of `exactly` beside `name`", [version]),
	}
}

deny contains finding if {
	some asked in asks
	not has_class(asked.value)
	finding := {
		"msg": sprintf("request `%s` names no device class", [asked.name]),
		"path": array.concat(asked.path, ["deviceClassName"]),
		"remediation": "write `deviceClassName: <class>`",
	}
}

deny contains finding if {
	count(params.classes) > 0
	some asked in asks
	class := asked.value.deviceClassName
	is_string(class)
	not values.templated(class)
	not values.matches_any(params.classes, class)
	finding := {
		"msg": sprintf("request `%s` asks for the device class `%s`, which is not one of those that are allowed", [asked.name, class]),
		"path": array.concat(asked.path, ["deviceClassName"]),
		"remediation": sprintf("ask for one of %s", [concat(", ", [sprintf("`%s`", [allowed]) | some allowed in params.classes])]),
	}
}

deny contains finding if {
	not in_admin_namespace
	some asked in asks
	asked.value.adminAccess == true
	finding := {
		"msg": sprintf("request `%s` has administrative access, with which it reaches devices that others were given alone", [asked.name]),
		"path": array.concat(asked.path, ["adminAccess"]),
		"remediation": "remove `adminAccess: true`",
	}
}

deny contains finding if {
	some asked in asks
	mode := asked.value.allocationMode
	is_string(mode)
	not values.templated(mode)
	not mode in {"All", "ExactCount"}
	finding := {
		"msg": sprintf("request `%s` has the allocation mode `%s`, which there is not", [asked.name, mode]),
		"path": array.concat(asked.path, ["allocationMode"]),
		"remediation": "write `allocationMode: ExactCount` and a `count`",
	}
}

warn contains finding if {
	not in_admin_namespace
	some asked in asks
	asked.value.allocationMode == "All"
	finding := {
		"msg": sprintf("request `%s` takes all devices of a node that match, which quota counts as 32", [asked.name]),
		"path": array.concat(asked.path, ["allocationMode"]),
		"remediation": "write `allocationMode: ExactCount` and a `count`",
	}
}

place := ["spec", "devices", "requests"] if {
	input.object.kind == "ResourceClaim"
} else := ["spec", "spec", "devices", "requests"]

requests contains request if {
	some i, value in values.list(object.get(input.object, place, []))
	is_object(value)
	request := {"path": array.concat(place, [i]), "name": values.show(object.get(value, "name", i)), "value": value}
}

# What asks for devices of one class, where its version has it.
asks contains asked if {
	version in wrapped
	some request in requests
	is_object(request.value.exactly)
	asked := {"path": array.concat(request.path, ["exactly"]), "name": request.name, "value": request.value.exactly}
}

asks contains asked if {
	some request in requests
	some i, value in values.list(request.value.firstAvailable)
	is_object(value)
	asked := {"path": array.concat(request.path, ["firstAvailable", i]), "name": sprintf("%s/%s", [request.name, values.show(object.get(value, "name", i))]), "value": value}
}

asks contains request if {
	version in bare
	some request in requests
	object.get(request.value, "exactly", null) == null
	object.get(request.value, "firstAvailable", null) == null
}

has_class(value) if {
	not object.get(value, "deviceClassName", null) in {null, ""}
}

missing_key(request) := "deviceClassName" if {
	has_class(request)
} else := "exactly"

in_admin_namespace if values.matches_any(params.namespaces, input.object.metadata.namespace)
