# METADATA
# title: Image references can be read
# description: >-
#   A reference that is empty, shortened, misspelt or still a placeholder leaves the pod in
#   `InvalidImageName`. In a custom resource nothing notices before the operator makes the pod.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/images/
#     description: Kubernetes, image names
# custom:
#   level: deny
#   target: resource
#   match:
#     workloads: true
#   needs: []
package fleetgate.gitops.image_reference

import data.fleetgate.lib.image
import data.fleetgate.lib.pods
import data.fleetgate.lib.values

deny contains finding if {
	some pod in input.workload.pods
	some entry in pods.all_containers(pod)
	reference := object.get(entry.container, "image", null)
	not absent(reference)
	not image.parse(reference)
	finding := {
		"msg": sprintf("container `%s` has the image `%s`, which is %s", [pods.name(entry), values.show(reference), fault(reference)]),
		"path": array.concat(entry.path, ["image"]),
		"remediation": "write `<registry>/<name>:<tag>@sha256:<64 digits>`, the name in lower case",
	}
}

# In the kinds of Kubernetes itself nothing fills in an image later; an operator may.
deny contains finding if {
	pods.built_in(input.object)
	some pod in input.workload.pods
	some entry in pods.all_containers(pod)
	absent(object.get(entry.container, "image", null))
	finding := {
		"msg": sprintf("container `%s` has no image", [pods.name(entry)]),
		"path": array.concat(entry.path, ["image"]),
		"remediation": "write `image: <registry>/<name>:<tag>@sha256:<64 digits>`",
	}
}

absent(reference) if reference in {null, ""}

fault(reference) := "not a text" if {
	not is_string(reference)
} else := "a placeholder that nothing replaced" if {
	values.templated(reference)
} else := "no image reference"
