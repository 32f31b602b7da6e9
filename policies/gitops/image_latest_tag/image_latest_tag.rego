# METADATA
# title: No image without a version
# description: >-
#   `latest`, which an image without tag and digest means, names whatever was pushed last. A new
#   release then reaches production by a restart, without a change in Git that anyone could approve,
#   hold or roll back.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/images/
#     description: Kubernetes, image names
# custom:
#   level: deny
#   target: resource
#   match:
#     workloads: true
#   needs: []
#   params:
#     environments:
#       type: array
#       items: {type: string}
#       default: [prod, production]
#       description: Environments in which such tags are denied; `*` stands for any text. An empty list switches the rule off.
#     tags:
#       type: array
#       items: {type: string}
#       default: [latest]
#       description: Tags that name no version, such as `main` or `nightly-*`. An image without tag and digest has the tag `latest`. With an empty list no tag is refused.
package fleetgate.gitops.image_latest_tag

import data.fleetgate.lib.environment
import data.fleetgate.lib.image
import data.fleetgate.lib.pods
import data.fleetgate.lib.values

params := data.params.gitops.image_latest_tag

deny contains finding if {
	environment.selected(params.environments, input.environment)
	some finding in findings
}

warn contains finding if {
	environment.unknown(params.environments, input.environment)
	some finding in findings
}

findings contains finding if {
	some pod in input.workload.pods
	some entry in pods.all_containers(pod)
	not image.injected(pod, entry.container)
	parsed := image.parse(entry.container.image)
	parsed.digest == ""
	tag := image.effective_tag(parsed)
	values.matches_any(params.tags, tag)
	finding := {
		"msg": sprintf("image `%s` of container `%s` %s", [entry.container.image, pods.name(entry), fault(parsed)]),
		"path": array.concat(entry.path, ["image"]),
		"remediation": sprintf("write `%s:<version>`, best with `@sha256:<digest>`", [parsed.name]),
	}
}

fault(parsed) := "has neither tag nor digest, which means `latest`" if parsed.tag == ""

fault(parsed) := sprintf("has the tag `%s`, which names no version", [parsed.tag]) if parsed.tag != ""
