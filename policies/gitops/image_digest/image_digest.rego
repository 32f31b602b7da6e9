# METADATA
# title: Images are pinned by digest
# description: >-
#   A tag can be moved to other content without a change in Git. Only a digest makes sure that what
#   was verified in the environment before is what runs, and that a node that pulls later gets the
#   same.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/images/
#     description: Kubernetes, image names
# custom:
#   level: warn
#   target: resource
#   match:
#     workloads: true
#   needs: []
#   params:
#     environments:
#       type: array
#       items: {type: string}
#       default: [prod, production]
#       description: Environments in which images must be pinned; `*` stands for any text. An empty list switches the rule off.
#     exempt:
#       type: array
#       items: {type: string}
#       default: []
#       description: Image names, without tag, that need no digest, such as `registry.k8s.io/*`. An empty list exempts none.
package fleetgate.gitops.image_digest

import data.fleetgate.lib.environment
import data.fleetgate.lib.image
import data.fleetgate.lib.pods
import data.fleetgate.lib.values

params := data.params.gitops.image_digest

# A reference that cannot be read is reported by `gitops/image-reference`.
warn contains finding if {
	environment.advised(params.environments, input.environment)
	some pod in input.workload.pods
	some entry in pods.all_containers(pod)
	not image.injected(pod, entry.container)
	parsed := image.parse(entry.container.image)
	parsed.digest == ""
	not values.matches_any(params.exempt, parsed.name)
	finding := {
		"msg": sprintf("image `%s` of container `%s` has no digest", [entry.container.image, pods.name(entry)]),
		"path": array.concat(entry.path, ["image"]),
		"remediation": sprintf("write `%s@sha256:<digest>` with the digest that was tested", [tagged(parsed)]),
	}
}

tagged(parsed) := parsed.name if parsed.tag == ""

tagged(parsed) := concat(":", [parsed.name, parsed.tag]) if parsed.tag != ""
