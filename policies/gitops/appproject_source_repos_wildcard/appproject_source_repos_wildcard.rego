# METADATA
# title: A project names the repositories it may use
# description: >-
#   With `*` an Application can take its manifests from any repository that Argo CD can reach, also
#   one that no review and no check of this organisation has seen.
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
#       description: Names of projects that may use every repository; `*` stands for any text. An empty list exempts none.
package fleetgate.gitops.appproject_source_repos_wildcard

import data.fleetgate.lib.values

params := data.params.gitops.appproject_source_repos_wildcard

deny contains finding if {
	not exempt
	some i, pattern in values.list(input.object.spec.sourceRepos)
	everything(pattern)
	finding := {
		"msg": sprintf("the project may use every repository (`%s`)", [pattern]),
		"path": ["spec", "sourceRepos", i],
		"remediation": "name the repositories of the team, such as `https://git.example.org/search/*`",
	}
}

# Nothing but stars, and the protocol in front of them.
everything(pattern) if {
	is_string(pattern)
	parts := split(pattern, "://")
	rest := parts[count(parts) - 1]
	rest != ""
	trim(rest, "*/") == ""
}

exempt if values.matches_any(params.exempt, input.object.metadata.name)
