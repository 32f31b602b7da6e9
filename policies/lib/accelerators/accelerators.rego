# METADATA
# title: Who asks for accelerators
# description: >-
#   Tells whether a container or a pod asks for accelerators, by extended resource or by claim. How
#   many is counted natively and stands in the demand of the workload.
package fleetgate.lib.accelerators

import data.fleetgate.lib.pods
import data.fleetgate.lib.values

# A quantity of zero asks for nothing; one that cannot be read may ask for anything.
container_asks(container, patterns) if {
	resources := values.map(container.resources)
	some side in ["limits", "requests"]
	some resource, quantity in values.map(resources[side])
	values.matches_any(patterns, resource)
	not quantity in {0, "0"}
}

container_asks(container, _) if count(values.list(values.map(container.resources).claims)) > 0

pod_asks(pod, patterns) if {
	some entry in pods.containers(pod)
	container_asks(entry.container, patterns)
}

pod_asks(pod, _) if count(values.list(pod.spec.resourceClaims)) > 0
