# METADATA
# title: Accelerators stand where they are counted
# description: >-
#   What asks for accelerators in a place that no registered kind has, such as a custom resource that
#   nobody registered or a manifest within a text, counts for nothing: no budget and no quota sees it
#   before it runs.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#quota-for-extended-resources
#     description: Kubernetes, quota for extended resources
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     exempt:
#       type: array
#       items: {type: string}
#       default: []
#       description: Kinds, `group/Kind` with `*` for any text, that name accelerators without taking any. An empty list exempts none.
package fleetgate.accelerators.unaccounted

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

params := data.params.accelerators.unaccounted

deny contains finding if {
	not values.matches_any(params.exempt, accelerators.kind(input.object))
	some place in input.unaccounted
	finding := {
		"msg": sprintf("`%s`: %s", [place.what, place.why]),
		"path": place.path,
		"remediation": remedy(place.why),
	}
}

remedy(why) := sprintf("register `%s` under `kinds` in the fleet file, with the places of its pods and the fields that say how many; or, if it takes none, name it in `exempt`", [input.object.kind]) if {
	contains(why, "not a registered kind")
} else := "add the rendered manifests to those that are judged" if {
	contains(why, "rendered manifests")
} else := "write it as an object of its own, or name the kind in `exempt` if nothing is taken there" if {
	contains(why, "in a text")
} else := "move it to where this kind describes its pods, or name the kind in `exempt` if nothing is taken there"
