# METADATA
# title: No way to devices past the scheduler
# description: >-
#   A privileged container, a device file of the host or a variable that names devices opens
#   accelerators that were never asked for: no quota counts them, and two workloads compute on the
#   same device.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/
#     description: Kubernetes, device plugins
# custom:
#   level: deny
#   target: resource
#   match:
#     workloads: true
#   needs: []
#   params:
#     namespaces:
#       type: array
#       items: {type: string}
#       default: [kube-system, "*-system", gpu-operator, nvidia-device-plugin, nvidia-dra-driver-gpu, kube-amd-gpu, neuron-healthcheck-system]
#       description: Namespaces of the system, in which drivers and agents may do so; `*` stands for any text. An empty list exempts none.
#     hostPaths:
#       type: array
#       items: {type: string}
#       default: [/dev, "/dev/nvidia*", /dev/kfd, /dev/dri, "/dev/dri/*", "/dev/neuron*", "/dev/accel*", /dev/vfio, "/dev/vfio/*"]
#       description: Paths of the host that open devices; `*` stands for any text. An empty list allows all.
#     variables:
#       type: array
#       items: {type: string}
#       default: [NVIDIA_VISIBLE_DEVICES, AMD_VISIBLE_DEVICES]
#       description: Environment variables by which a container runtime gives devices. An empty list allows all.
package fleetgate.gitops.device_isolation

import data.fleetgate.lib.pods
import data.fleetgate.lib.values

params := data.params.gitops.device_isolation

# Values that give no device.
harmless := {"", "none", "void"}

deny contains finding if {
	some entry in containers
	privileged(entry.container)
	finding := {
		"msg": sprintf("container `%s` is privileged, which opens every device of the node", [pods.name(entry)]),
		"path": array.concat(entry.path, ["securityContext", "privileged"]),
		"remediation": "remove `privileged: true`; ask for devices under `resources.limits`",
	}
}

deny contains finding if {
	not in_system_namespace
	some pod in input.workload.pods
	some i, volume in values.list(pod.spec.volumes)
	path := volume.hostPath.path
	is_string(path)
	values.matches_any(params.hostPaths, normal(path))
	finding := {
		"msg": sprintf("volume `%s` mounts the device path `%s` of the host", [values.show(object.get(volume, "name", i)), path]),
		"path": array.concat(pod.path, ["volumes", i, "hostPath", "path"]),
		"remediation": "remove the volume; ask for devices under `resources.limits`",
	}
}

deny contains finding if {
	some variable in variables
	value := variable.item.value
	is_string(value)
	not lower(value) in harmless
	finding := {
		"msg": sprintf("variable `%s` of container `%s` gives it the devices `%s`", [variable.item.name, variable.container, value]),
		"path": array.concat(variable.path, ["value"]),
		"remediation": sprintf("remove `%s`; the device plugin sets it for what `resources.limits` asks for", [variable.item.name]),
	}
}

warn contains finding if {
	some variable in variables
	is_object(variable.item.valueFrom)
	finding := {
		"msg": sprintf("which devices variable `%s` gives container `%s` cannot be told", [variable.item.name, variable.container]),
		"path": array.concat(variable.path, ["valueFrom"]),
		"remediation": sprintf("remove `%s`; the device plugin sets it for what `resources.limits` asks for", [variable.item.name]),
	}
}

# The same by a text, which `gitops/pod-fields` reports too, must not look unprivileged.
privileged(container) if container.securityContext.privileged in {true, "true"}

variables contains variable if {
	some entry in containers
	some i, item in values.list(entry.container.env)
	item.name in params.variables
	variable := {"container": pods.name(entry), "path": array.concat(entry.path, ["env", i]), "item": item}
}

containers contains entry if {
	not in_system_namespace
	some pod in input.workload.pods
	some entry in pods.all_containers(pod)
}

in_system_namespace if values.matches_any(params.namespaces, input.object.metadata.namespace)

# `/dev//nvidia0` and `/dev/./nvidia0/` are `/dev/nvidia0`; Kubernetes refuses `..`.
normal(path) := concat("", ["/", concat("/", [part |
	some part in split(path, "/")
	not part in {"", "."}
])])
