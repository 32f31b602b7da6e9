# METADATA
# title: A project names the clusters it may use
# description: >-
#   A destination with every cluster and every namespace takes away the limit that a project is for.
#   Which cluster an Application can reach, and whose quota it uses, can then no longer be told from
#   its project.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/user-guide/projects/
#     description: Argo CD, projects
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [AppProject]
#     apiGroups: [argoproj.io]
#   needs: []
#   params:
#     exempt:
#       type: array
#       items: {type: string}
#       default: []
#       description: Names of projects that may go everywhere, such as `platform`; `*` stands for any text. An empty list exempts none.
package fleetgate.gitops.appproject_destinations_wildcard

import data.fleetgate.lib.values

params := data.params.gitops.appproject_destinations_wildcard

# Argo CD matches a destination by its name if it has one, else by its server.
deny contains finding if {
	not exempt
	some i, destination in values.list(input.object.spec.destinations)
	is_object(destination)
	any_text(destination.namespace)
	some field in ["server", "name"]
	any_text(destination[field])
	not narrowed(destination, field)
	finding := {
		"msg": "the project may use every namespace of every cluster",
		"path": ["spec", "destinations", i, field],
		"remediation": "name the clusters and namespaces of the team, such as `name: prod-*` with `namespace: search-*`",
	}
}

narrowed(destination, "server") if {
	name := object.get(destination, "name", "")
	is_string(name)
	name != ""
	not any_text(name)
}

# `**` and the like match everything as well.
any_text(pattern) if {
	is_string(pattern)
	pattern != ""
	trim(pattern, "*") == ""
}

exempt if values.matches_any(params.exempt, input.object.metadata.name)
