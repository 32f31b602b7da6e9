# METADATA
# title: Fields of Argo CD objects have the type Argo CD reads
# description: >-
#   A version that YAML reads as a number, a source without a repository, a list where a map belongs:
#   the API server refuses the object, or Argo CD marks the Application as invalid and syncs nothing.
#   Rules that look at these fields cannot see into them either, so that they must not pass as clean.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/operator-manual/application.yaml
#     description: Argo CD, all fields of an Application
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [Application, ApplicationSet, AppProject]
#     apiGroups: [argoproj.io]
#   needs: []
package fleetgate.gitops.argocd_fields

import data.fleetgate.lib.argocd
import data.fleetgate.lib.types
import data.fleetgate.lib.values

source_types := {
	"repoURL": "text",
	"targetRevision": "text",
	"path": "text",
	"chart": "text",
	"ref": "text",
	"helm": "map",
	"kustomize": "map",
	"directory": "map",
	"plugin": "map",
}

application_types := {
	"project": "text",
	"source": "map",
	"sources": "maps",
	"sourceHydrator": "map",
	"sourceHydrator/drySource": "map",
	"sourceHydrator/syncSource": "map",
	"sourceHydrator/hydrateTo": "map",
	"destination": "map",
	"destination/server": "text",
	"destination/name": "text",
	"destination/namespace": "text",
	"syncPolicy": "map",
	"syncPolicy/automated": "map",
	"syncPolicy/automated/enabled": "boolean",
	"syncPolicy/automated/prune": "boolean",
	"syncPolicy/automated/selfHeal": "boolean",
	"syncPolicy/automated/allowEmpty": "boolean",
	"syncPolicy/syncOptions": "texts",
	"ignoreDifferences": "maps",
}

object_types := {
	"Application": {"spec": "map"},
	"ApplicationSet": {
		"spec": "map",
		"spec/generators": "maps",
		"spec/template": "map",
		"spec/template/metadata": "map",
		"spec/template/spec": "map",
		"spec/templatePatch": "text",
		"spec/goTemplate": "boolean",
		"spec/goTemplateOptions": "texts",
		"spec/strategy": "map",
		"spec/strategy/type": "text",
		"spec/strategy/rollingSync": "map",
		"spec/strategy/rollingSync/steps": "maps",
		"spec/syncPolicy": "map",
		"spec/syncPolicy/applicationsSync": "text",
		"spec/syncPolicy/preserveResourcesOnDeletion": "boolean",
		"spec/ignoreApplicationDifferences": "maps",
	},
	"AppProject": {
		"spec": "map",
		"spec/sourceRepos": "texts",
		"spec/sourceNamespaces": "texts",
		"spec/destinations": "maps",
		"spec/clusterResourceWhitelist": "maps",
		"spec/clusterResourceBlacklist": "maps",
		"spec/namespaceResourceWhitelist": "maps",
		"spec/namespaceResourceBlacklist": "maps",
		"spec/roles": "maps",
		"spec/syncWindows": "maps",
	},
}

required := {
	"Application": ["spec"],
	"ApplicationSet": ["spec", "spec/generators", "spec/template", "spec/template/spec"],
	"AppProject": ["spec"],
}

deny contains finding if {
	some field, type in object_types[input.object.kind]
	path := split(field, "/")
	some finding in types.mismatches(path, at(input.object, path), type)
}

deny contains finding if {
	some field in required[input.object.kind]
	path := split(field, "/")
	is_null(at(input.object, path))
	parent := array.slice(path, 0, count(path) - 1)
	parent_is_map(parent)
	finding := {
		"msg": sprintf("`%s` is missing", [concat(".", path)]),
		"path": path,
		"remediation": sprintf("write `%s:` with its content", [path[count(path) - 1]]),
	}
}

deny contains finding if {
	some entry in entries
	some field, type in application_types
	path := split(field, "/")
	path[0] in object.keys(entry.spec)
	some finding in types.mismatches(array.concat(entry.path, path), at(entry.spec, path), type)
}

deny contains finding if {
	some entry in entries
	some source in argocd.sources(entry)
	some field, value in source.source
	some finding in types.mismatches(array.concat(source.path, [field]), value, source_types[field])
}

deny contains finding if {
	some entry in entries
	some i, option in values.list(values.map(entry.spec).ignoreDifferences)
	some field in ["jsonPointers", "jqPathExpressions", "managedFieldsManagers"]
	some finding in types.mismatches(array.concat(entry.path, ["ignoreDifferences", i, field]), values.map(option)[field], "texts")
}

# A generator or a patch may complete what an ApplicationSet's template leaves out.
deny contains finding if {
	not completed_elsewhere
	some entry in argocd.specs(input.object)
	argocd.sources(entry) == []
	every field in ["source", "sources", "sourceHydrator"] {
		object.get(entry.spec, field, null) in {null, [], {}}
	}
	finding := {
		"msg": "the Application has no source",
		"path": array.concat(entry.path, ["source"]),
		"remediation": "write `source:` with `repoURL`, `targetRevision` and `path` or `chart`",
	}
}

deny contains finding if {
	not completed_elsewhere
	some entry in argocd.specs(input.object)
	some source in argocd.sources(entry)
	object.get(source.source, "repoURL", "") in {"", null}
	finding := {
		"msg": "the source names no repository",
		"path": array.concat(source.path, ["repoURL"]),
		"remediation": "write `repoURL: <address of the repository>`",
	}
}

deny contains finding if {
	not completed_elsewhere
	some entry in argocd.specs(input.object)
	some source in argocd.sources(entry)
	every field in ["path", "chart", "ref"] {
		object.get(source.source, field, "") in {"", null}
	}
	finding := {
		"msg": "the source names neither `path` nor `chart`",
		"path": source.path,
		"remediation": "write `path: <folder>` for manifests, `chart: <name>` for a Helm repository, or `ref: <name>` for a source of values only",
	}
}

entries := argocd.all_specs(input.object)

completed_elsewhere if input.object.spec.templatePatch != ""

completed_elsewhere if count(argocd.overrides(input.object)) > 0

parent_is_map(path) if path == []

parent_is_map(path) if is_object(at(input.object, path))

# The value at a path, `null` if there is none.
at(value, path) := found if {
	found := object.get(value, path, null)
} else := null
