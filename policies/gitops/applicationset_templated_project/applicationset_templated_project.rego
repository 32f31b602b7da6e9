# METADATA
# title: A generated Application cannot choose its project
# description: >-
#   Where the project of an ApplicationSet is a template, whoever can write what the generator reads
#   chooses the project, and with it clusters, namespaces and repositories. A generator that reads Git
#   repositories, pull requests or a plugin hands that choice to everyone who can write there.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Security/
#     description: Argo CD, security of ApplicationSets
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [ApplicationSet]
#     apiGroups: [argoproj.io]
#   needs: []
#   params:
#     generators:
#       type: array
#       items: {type: string}
#       default: [git, scmProvider, pullRequest, plugin]
#       description: Generators whose values others can write. With an empty list the project may always be a template.
package fleetgate.gitops.applicationset_templated_project

import data.fleetgate.lib.argocd
import data.fleetgate.lib.values

params := data.params.gitops.applicationset_templated_project

deny contains finding if {
	some entry in argocd.all_specs(input.object)
	project := entry.spec.project
	values.templated(project)
	finding := message(project, array.concat(entry.path, ["project"]))
}

deny contains finding if {
	some project in argocd.patched(input.object, "project")
	values.templated(project)
	finding := message(project, argocd.patch_path)
}

message(project, path) := {
	"msg": sprintf("the project `%s` is chosen by what %s reads", [project, sources]),
	"path": path,
	"remediation": "write the name of one project; use an ApplicationSet for each project if there are several",
} if {
	count(writable) > 0
}

writable contains generator.type if {
	some generator in argocd.generators(input.object)
	generator.type in params.generators
}

sources := concat(" and ", [sprintf("generator `%s`", [type]) | some type in writable])
