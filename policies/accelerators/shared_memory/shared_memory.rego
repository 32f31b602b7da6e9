# METADATA
# title: Containers with several GPUs have shared memory
# description: >-
#   Processes of one container that each drive a GPU exchange data through `/dev/shm`. A container runtime
#   gives it 64 MiB, with which NCCL ends with an error, or with a bus error in the middle of a run.
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory
#     description: NCCL, shared memory
# custom:
#   level: warn
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     resources:
#       type: array
#       items: {type: string}
#       default: [nvidia.com/gpu, amd.com/gpu]
#       description: Resources of whose devices a container with two or more needs shared memory; `*` stands for any text. An empty list switches the rule off.
package fleetgate.accelerators.shared_memory

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.pods
import data.fleetgate.lib.values

params := data.params.accelerators.shared_memory

warn contains finding if {
	some place in places
	count(place.mounts) == 0
	not mounted_by_operator(place)
	finding := {
		"msg": sprintf("container `%s` has `%s` of `%s` and 64 MiB of shared memory", [pods.name(place.entry), place.quantity, place.resource]),
		"path": array.concat(place.entry.path, ["volumeMounts"]),
		"remediation": "mount a volume `emptyDir: {medium: Memory, sizeLimit: <size>}` at `/dev/shm`",
	}
}

warn contains finding if {
	some place in places
	some volume in volumes(place)
	object.get(volume.emptyDir, "medium", "") in {"", null}
	finding := {
		"msg": sprintf("`/dev/shm` of container `%s` is on the disk of the node", [pods.name(place.entry)]),
		"path": array.concat(volume.path, ["emptyDir", "medium"]),
		"remediation": "write `medium: Memory`",
	}
}

# What is written there counts as memory of the container that writes it.
warn contains finding if {
	some place in places
	some volume in volumes(place)
	volume.emptyDir.medium == "Memory"
	size := volume.emptyDir.sizeLimit
	limit := place.entry.container.resources.limits.memory
	fleetgate.quantity.valid(size)
	fleetgate.quantity.valid(limit)
	fleetgate.quantity.compare(size, limit) > 0
	finding := {
		"msg": sprintf("`/dev/shm` of container `%s` may hold `%s`, but the container may have `%s` of memory in all", [pods.name(place.entry), values.show(size), values.show(limit)]),
		"path": array.concat(volume.path, ["emptyDir", "sizeLimit"]),
		"remediation": sprintf("write a `sizeLimit` below `%s`, or a larger memory limit", [values.show(limit)]),
	}
}

# Containers with several devices of one kind.
places contains place if {
	not accelerators.completed_elsewhere(input.object)
	some pod in input.workload.pods
	accelerators.runs(pod)
	not pod.effective.hostIPC == true
	some entry in pods.containers(pod)
	some resource, quantity in values.map(entry.container.resources.limits)
	values.matches_any(params.resources, resource)
	fleetgate.quantity.valid(quantity)
	fleetgate.quantity.compare(quantity, 1) > 0
	place := {
		"pod": pod,
		"entry": entry,
		"resource": resource,
		"quantity": values.show(quantity),
		"mounts": [object.get(mount, "name", null) |
			some mount in values.list(object.get(entry.container, "volumeMounts", []))
			trim_right(values.text(mount.mountPath), "/") == "/dev/shm"
		],
	}
}

# KubeRay mounts a volume in memory there, in the first container of each of its pods, unless Ray is
# told to keep its objects elsewhere (`ray-operator/controllers/ray/common/pod.go`).
mounted_by_operator(place) if {
	accelerators.kind(input.object) in {"ray.io/RayCluster", "ray.io/RayCronJob", "ray.io/RayJob", "ray.io/RayService"}
	array.slice(place.entry.path, count(place.pod.path), count(place.entry.path)) == ["containers", 0]
	not plasma_directory(place.pod)
}

# The parameters of Ray stand beside the template whose `spec` is the pod's.
plasma_directory(pod) if {
	group := object.get(input.object, array.slice(pod.path, 0, count(pod.path) - 2), {})
	object.get(group, ["rayStartParams", "plasma-directory"], null) != null
}

# Volumes of the pod that are mounted there and are directories of its own.
volumes(place) := [{"emptyDir": volume.emptyDir, "path": array.concat(place.pod.path, ["volumes", i])} |
	some i, volume in values.list(place.pod.spec.volumes)
	volume.name in place.mounts
	is_object(volume.emptyDir)
]
