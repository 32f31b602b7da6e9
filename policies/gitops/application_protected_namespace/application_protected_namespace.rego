# METADATA
# title: Applications stay out of system namespaces
# description: >-
#   Who can deploy to `kube-system` can change what all workloads of the cluster stand on; who can
#   deploy to the namespace of Argo CD can create Applications of any project, and so leave the limits
#   of their own.
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
#     namespaces:
#       type: array
#       items: {type: string}
#       default: [kube-system, kube-public, kube-node-lease, argocd]
#       description: Namespaces that are protected; `*` stands for any text. An empty list protects none.
#     projects:
#       type: array
#       items: {type: string}
#       default: []
#       description: Projects whose Applications may go there, such as `platform`; `*` stands for any text. An empty list lets none.
package fleetgate.gitops.application_protected_namespace

import data.fleetgate.lib.argocd
import data.fleetgate.lib.values

params := data.params.gitops.application_protected_namespace

warn contains finding if {
	some entry in argocd.all_specs(input.object)
	namespace := values.map(entry.spec.destination).namespace
	values.matches_any(params.namespaces, namespace)
	not trusted(entry)
	finding := message(namespace, array.concat(entry.path, ["destination", "namespace"]))
}

# The patch can set a namespace for whatever the template names as project.
warn contains finding if {
	some namespace in argocd.patched(input.object, "namespace")
	values.matches_any(params.namespaces, namespace)
	some entry in argocd.specs(input.object)
	not trusted(entry)
	finding := message(namespace, argocd.patch_path)
}

message(namespace, path) := {
	"msg": sprintf("the Application goes to the protected namespace `%s`", [namespace]),
	"path": path,
	"remediation": "name a namespace of the application, or let a project of the platform do it and list that project in the parameter `projects`",
}

# A generator's template without a project has that of the common template.
trusted(entry) if values.matches_any(params.projects, entry.spec.project)

trusted(entry) if {
	not entry.spec.project
	some common in argocd.specs(input.object)
	values.matches_any(params.projects, common.spec.project)
}
