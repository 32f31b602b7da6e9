# METADATA
# title: What has an owner is counted through it
# description: >-
#   What a controller makes counts with what it was made from. An object that names an owner that does not
#   make its kind, or does not account for what it asks for, counts for itself, so that no budget is
#   passed by an owner that was invented.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/
#     description: Kubernetes, owners and dependents
# custom:
#   level: warn
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params: {}
package fleetgate.accelerators.owner

warn contains finding if {
	some note in input.workload.notes
	note.code == "owner-does-not-count"
	finding := {
		"msg": sprintf("it names an owner but is counted for itself: %s", [note.message]),
		"path": ["metadata", "ownerReferences"],
		"remediation": "remove `ownerReferences`, which controllers set, or leave the object out of the repository if one makes it",
	}
}
