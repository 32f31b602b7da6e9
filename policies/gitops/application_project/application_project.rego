# METADATA
# title: An Application belongs to a project of its own
# description: >-
#   An AppProject says which clusters, namespaces and repositories an Application may use. The
#   project `default`, which an Application without a project gets, allows everything as Argo CD
#   installs it, so that none of those limits hold.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/user-guide/projects/
#     description: Argo CD, projects
# custom:
#   level: warn
#   target: resource
#   match:
#     kinds: [Application, ApplicationSet]
#     apiGroups: [argoproj.io]
#   needs: []
#   params:
#     forbidden:
#       type: array
#       items: {type: string}
#       default: [default]
#       description: Names of projects that no Application may use; `*` stands for any text. An empty list forbids none, but a project must still be named.
package fleetgate.gitops.application_project

import data.fleetgate.lib.argocd
import data.fleetgate.lib.values

params := data.params.gitops.application_project

warn contains finding if {
	some entry in argocd.all_specs(input.object)
	project := entry.spec.project
	project != ""
	values.matches_any(params.forbidden, project)
	finding := forbidden(project, array.concat(entry.path, ["project"]))
}

warn contains finding if {
	some project in argocd.patched(input.object, "project")
	values.matches_any(params.forbidden, project)
	finding := forbidden(project, argocd.patch_path)
}

warn contains finding if {
	some entry in argocd.specs(input.object)
	object.get(entry.spec, "project", "") in {"", null}
	not set_elsewhere
	finding := {
		"msg": "no project is named, so that the Application belongs to `default`",
		"path": array.concat(entry.path, ["project"]),
		"remediation": "write `project: <name>` with an AppProject that allows only what this Application needs",
	}
}

forbidden(project, path) := {
	"msg": sprintf("project `%s` is not for Applications", [project]),
	"path": path,
	"remediation": "name an AppProject that allows only what this Application needs",
}

set_elsewhere if {
	some entry in argocd.overrides(input.object)
	entry.spec.project
}

set_elsewhere if count(argocd.patched(input.object, "project")) > 0
