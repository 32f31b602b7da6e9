# METADATA
# title: Claims that containers use are claims of their pod
# description: >-
#   A container uses devices of a claim by the name that its pod gives it, and a pod names for each either
#   a claim or a template. The API server refuses anything else, in custom resources only when the pods
#   are made.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#     description: Kubernetes, dynamic resource allocation
# custom:
#   level: deny
#   target: resource
#   match:
#     workloads: true
#   needs: []
#   params:
#     classes:
#       type: array
#       items: {type: string}
#       default: []
#       description: Device classes that containers may ask for as a resource, `*` for any text. An empty list allows all.
package fleetgate.accelerators.claims

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.pods
import data.fleetgate.lib.values

params := data.params.accelerators.claims

deny contains finding if {
	not accelerators.completed_elsewhere(input.object)
	some pod in input.workload.pods
	names := [name | some claim in values.list(pod.spec.resourceClaims); name := claim.name]
	some entry in pods.containers(pod)
	some i, claim in values.list(entry.container.resources.claims)
	name := claim.name
	is_string(name)
	not name in names
	finding := {
		"msg": sprintf("container `%s` uses the claim `%s`, which its pod does not have", [pods.name(entry), name]),
		"path": array.concat(entry.path, ["resources", "claims", i, "name"]),
		"remediation": near(name, names),
	}
}

# The form of before Kubernetes 1.31, which is no longer read.
deny contains finding if {
	some claim in pod_claims
	object.get(claim.value, "source", null) != null
	finding := {
		"msg": sprintf("claim `%s` is named under `source`, which Kubernetes 1.31 removed", [claim.name]),
		"path": array.concat(claim.path, ["source"]),
		"remediation": "write `resourceClaimName` or `resourceClaimTemplateName` beside `name`, without `source`",
	}
}

deny contains finding if {
	some claim in pod_claims
	object.get(claim.value, "source", null) == null
	fault := faults[count(sources(claim.value))]
	finding := {
		"msg": sprintf("claim `%s` names %s", [claim.name, fault]),
		"path": claim.path,
		"remediation": "write `resourceClaimTemplateName` for a claim that each pod gets for itself, or `resourceClaimName` for one that exists",
	}
}

deny contains finding if {
	count(params.classes) > 0
	some pod in input.workload.pods
	some entry in pods.containers(pod)
	some side in ["limits", "requests"]
	some resource, _ in values.map(values.map(entry.container.resources)[side])
	startswith(resource, prefix)
	class := substring(resource, count(prefix), -1)
	not values.matches_any(params.classes, class)
	finding := {
		"msg": sprintf("container `%s` asks for the device class `%s`, which is not one of those that are allowed", [pods.name(entry), class]),
		"path": array.concat(entry.path, ["resources", side, resource]),
		"remediation": sprintf("ask for one of %s", [concat(", ", [sprintf("`%s`", [allowed]) | some allowed in params.classes])]),
	}
}

prefix := "deviceclass.resource.kubernetes.io/"

faults := {0: "neither a claim nor a template", 2: "both a claim and a template"}

sources(claim) := [source |
	some source in ["resourceClaimName", "resourceClaimTemplateName"]
	object.get(claim, source, null) != null
]

pod_claims contains claim if {
	some pod in input.workload.pods
	some i, value in values.list(pod.spec.resourceClaims)
	is_object(value)
	claim := {"path": array.concat(pod.path, ["resourceClaims", i]), "name": values.show(object.get(value, "name", i)), "value": value}
}

near(name, []) := sprintf("write `resourceClaims: [{name: %s, resourceClaimTemplateName: <template>}]` in the pod spec", [name])

near(_, names) := sprintf("write %s, or add the claim to `resourceClaims` in the pod spec", [concat(" or ", [sprintf("`%s`", [name]) | some name in names])]) if {
	count(names) > 0
}
