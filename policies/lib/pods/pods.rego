# METADATA
# title: Containers of pods
# description: >-
#   Where the containers of a pod stand, so that no rule forgets init or ephemeral containers.
package fleetgate.lib.pods

import data.fleetgate.lib.values

# Containers that can have resources: `{path, container, list}`.
containers(pod) := listed(pod, ["initContainers", "containers"])

# Also those that a running pod is given for debugging.
all_containers(pod) := listed(pod, ["initContainers", "containers", "ephemeralContainers"])

listed(pod, lists) := [{"path": array.concat(pod.path, [list, i]), "container": container, "list": list} |
	some list in lists
	some i, container in values.list(pod.spec[list])
	is_object(container)
]

# How a message calls a container.
name(entry) := values.show(entry.container.name) if {
	entry.container.name
} else := sprintf("%d", [entry.path[count(entry.path) - 1]])

# Kinds of Kubernetes itself, whose pods nothing completes later.
built_in(manifest) if {
	manifest.apiVersion in {"v1", "apps/v1", "batch/v1"}
}
