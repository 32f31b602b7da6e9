# METADATA
# title: A project names the cluster-wide kinds it may use
# description: >-
#   A project that allows every cluster-wide kind lets its Applications bind cluster roles, change
#   admission webhooks and define resources, and with them leave every other limit of the project.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/user-guide/projects/
#     description: Argo CD, projects
# custom:
#   level: warn
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
#       description: Names of projects that may use every cluster-wide kind; `*` stands for any text. An empty list exempts none.
package fleetgate.gitops.appproject_cluster_resources_wildcard

import data.fleetgate.lib.values

params := data.params.gitops.appproject_cluster_resources_wildcard

warn contains finding if {
	not exempt
	some i, item in values.list(input.object.spec.clusterResourceWhitelist)
	is_object(item)
	everything(item.kind)
	everything(item.group)
	unnamed(object.get(item, "name", ""))
	finding := {
		"msg": "the project may use every cluster-wide kind",
		"path": ["spec", "clusterResourceWhitelist", i, "kind"],
		"remediation": "name the kinds that the team needs, such as `group: \"\"` with `kind: Namespace`",
	}
}

everything(pattern) if {
	is_string(pattern)
	pattern != ""
	trim(pattern, "*") == ""
}

unnamed(name) if name in {"", null}

unnamed(name) if everything(name)

exempt if values.matches_any(params.exempt, input.object.metadata.name)
