# METADATA
# title: An Application goes to exactly one cluster
# description: >-
#   The destination of an Argo CD Application names its cluster by `server` or by `name`. With both,
#   or with neither, Argo CD marks the Application with an `InvalidSpecError` and syncs nothing, so
#   that a release stops without anything failing in Git.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/
#     description: Argo CD, declarative set-up of Applications
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [Application, ApplicationSet]
#     apiGroups: [argoproj.io]
#   needs: []
package fleetgate.gitops.application_destination

import data.fleetgate.lib.argocd
import data.fleetgate.lib.values

deny contains finding if {
	some entry in argocd.specs(input.object)
	destination := values.map(object.get(entry.spec, "destination", {}))
	given(destination, "server")
	given(destination, "name")
	finding := both(entry.path)
}

# A generator's template is laid over the common one, so that each can be right and the sum wrong.
deny contains finding if {
	some common in argocd.specs(input.object)
	some entry in argocd.overrides(input.object)
	destination := object.union(values.map(object.get(common.spec, "destination", {})), values.map(entry.spec.destination))
	given(destination, "server")
	given(destination, "name")
	finding := both(entry.path)
}

deny contains finding if {
	some entry in argocd.specs(input.object)
	destination := values.map(object.get(entry.spec, "destination", {}))
	not given(destination, "server")
	not given(destination, "name")
	not set_elsewhere
	finding := {
		"msg": "the destination names no cluster: neither `server` nor `name` is set",
		"path": array.concat(entry.path, ["destination"]),
		"remediation": "write `name: <cluster>` as Argo CD knows the cluster, or `server: <address of its API server>`",
	}
}

both(path) := {
	"msg": "the destination names its cluster twice, by `server` and by `name`",
	"path": array.concat(path, ["destination", "name"]),
	"remediation": "keep `name` or `server` and remove the other",
}

# Argo CD reads an empty text as absent.
given(destination, key) if not object.get(destination, key, null) in {null, ""}

set_elsewhere if {
	some entry in argocd.overrides(input.object)
	some field in ["server", "name"]
	given(values.map(entry.spec.destination), field)
}

set_elsewhere if {
	count(argocd.patched(input.object, "destination")) > 0
	some field in ["server", "name"]
	count(argocd.patched(input.object, field)) > 0
}
