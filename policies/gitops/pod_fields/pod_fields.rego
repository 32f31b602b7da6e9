# METADATA
# title: Fields of pods have the type Kubernetes reads
# description: >-
#   A number where a text belongs, a map where a list belongs, a list without entries: the API server
#   refuses such a pod, but the pod templates in custom resources are mostly not checked before the
#   operator makes the pod. Rules that look at containers cannot see into such a field either, so that
#   it must not pass as clean.
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
#     description: Kubernetes, fields of a pod
# custom:
#   level: deny
#   target: resource
#   match:
#     workloads: true
#   needs: []
package fleetgate.gitops.pod_fields

import data.fleetgate.lib.pods
import data.fleetgate.lib.types
import data.fleetgate.lib.values

pod_types := {
	"containers": "maps",
	"initContainers": "maps",
	"ephemeralContainers": "maps",
	"volumes": "maps",
	"tolerations": "maps",
	"resourceClaims": "maps",
	"nodeSelector": "texts by name",
	"affinity": "map",
	"securityContext": "map",
	"resources": "map",
	"hostNetwork": "boolean",
	"hostPID": "boolean",
	"hostIPC": "boolean",
	"schedulerName": "text",
	"priorityClassName": "text",
	"runtimeClassName": "text",
}

container_types := {
	"name": "text",
	"command": "texts",
	"args": "texts",
	"env": "maps",
	"envFrom": "maps",
	"ports": "maps",
	"volumeMounts": "maps",
	"resources": "map",
	"securityContext": "map",
	"readinessProbe": "map",
	"livenessProbe": "map",
	"startupProbe": "map",
	"restartPolicy": "text",
}

# `null` is the same as absent, except where a value is required.
deny contains finding if {
	some pod in input.workload.pods
	some field, value in pod.spec
	some finding in types.mismatches(array.concat(pod.path, [field]), value, pod_types[field])
}

deny contains finding if {
	some entry in entries
	some field, value in entry.container
	some finding in types.mismatches(array.concat(entry.path, [field]), value, container_types[field])
}

deny contains finding if {
	some entry in entries
	some side in ["limits", "requests"]
	value := values.map(entry.container.resources)[side]
	some finding in types.mismatches(array.concat(entry.path, ["resources", side]), value, "map")
}

deny contains finding if {
	some entry in entries
	value := values.map(entry.container.securityContext).privileged
	some finding in types.mismatches(array.concat(entry.path, ["securityContext", "privileged"]), value, "boolean")
}

deny contains finding if {
	some entry in entries
	some i, variable in values.list(entry.container.env)
	some field in ["name", "value"]
	not is_string(variable[field])
	some finding in types.mismatches(array.concat(entry.path, ["env", i, field]), values.map(variable)[field], "text")
}

deny contains finding if {
	some entry in entries
	some i, port in values.list(entry.container.ports)
	some finding in types.mismatches(array.concat(entry.path, ["ports", i, "containerPort"]), values.map(port).containerPort, "port")
}

deny contains finding if {
	pods.built_in(input.object)
	some pod in input.workload.pods
	object.get(pod.spec, "containers", null) in {null, []}
	finding := {
		"msg": "the pod has no containers",
		"path": array.concat(pod.path, ["containers"]),
		"remediation": "write at least one container with `name` and `image` under `containers`",
	}
}

entries := [entry |
	some pod in input.workload.pods
	some entry in pods.all_containers(pod)
]
