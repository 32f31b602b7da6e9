# METADATA
# title: No destructive sync options for a whole Application
# description: >-
#   `Force=true` deletes and creates each object anew and `Replace=true` overwrites it, fields of
#   other controllers included: for a serving workload an outage at each sync. Set on the Application
#   they hold for all that it contains. A misspelt option is silently without effect.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/
#     description: Argo CD, sync options
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [Application, ApplicationSet]
#     apiGroups: [argoproj.io]
#   needs: []
#   params:
#     denied:
#       type: array
#       items: {type: string}
#       default: [Force=true, Replace=true]
#       description: Options that no Application may set; `*` stands for any text. An empty list denies none.
#     discouraged:
#       type: array
#       items: {type: string}
#       default: [Validate=false]
#       description: Options that lead to a warning; `*` stands for any text. An empty list discourages none.
#     known:
#       type: array
#       items: {type: string}
#       default: []
#       description: Names of further options that your Argo CD knows, beside the released ones. An empty list adds none.
package fleetgate.gitops.application_sync_options

import data.fleetgate.lib.argocd
import data.fleetgate.lib.values

params := data.params.gitops.application_sync_options

released := {
	"ApplyOutOfSyncOnly",
	"ClientSideApplyMigration",
	"CreateNamespace",
	"Delete",
	"FailOnSharedResource",
	"Force",
	"Prune",
	"PruneLast",
	"PrunePropagationPolicy",
	"Replace",
	"RespectIgnoreDifferences",
	"ServerSideApply",
	"SkipDryRunOnMissingResource",
	"Validate",
}

deny contains finding if {
	some option in options
	values.matches_any(params.denied, option.text)
	finding := {
		"msg": sprintf("sync option `%s` holds for every object of the Application", [option.text]),
		"path": option.path,
		"remediation": sprintf("remove `%s`; where one object needs it, annotate that object with `argocd.argoproj.io/sync-options: %s`", [option.text, option.text]),
	}
}

deny contains finding if {
	some text in patched
	some option in params.denied
	contains(text, option)
	finding := {
		"msg": sprintf("`templatePatch` sets sync option `%s` for every object of the Applications", [option]),
		"path": argocd.patch_path,
		"remediation": sprintf("remove `%s`; where one object needs it, annotate that object with `argocd.argoproj.io/sync-options: %s`", [option, option]),
	}
}

warn contains finding if {
	some option in options
	values.matches_any(params.discouraged, option.text)
	finding := {
		"msg": sprintf("sync option `%s` holds for every object of the Application", [option.text]),
		"path": option.path,
		"remediation": sprintf("remove `%s`, or annotate the object that needs it with `argocd.argoproj.io/sync-options`", [option.text]),
	}
}

warn contains finding if {
	some option in options
	not values.templated(option.text)
	not known(split(option.text, "=")[0])
	finding := {
		"msg": sprintf("Argo CD knows no sync option `%s` and ignores it", [option.text]),
		"path": option.path,
		"remediation": sprintf("write `<Name>=<value>` with one of %s", [concat(", ", sort(released))]),
	}
}

warn contains finding if {
	some option in options
	not values.templated(option.text)
	known(option.text)
	finding := {
		"msg": sprintf("sync option `%s` has no value and is ignored", [option.text]),
		"path": option.path,
		"remediation": sprintf("write `%s=true`", [option.text]),
	}
}

options contains option if {
	some entry in argocd.all_specs(input.object)
	some i, text in values.list(values.map(entry.spec.syncPolicy).syncOptions)
	is_string(text)
	option := {"text": text, "path": array.concat(entry.path, ["syncPolicy", "syncOptions", i])}
}

patched contains text if {
	text := input.object.spec.templatePatch
	is_string(text)
}

known(name) if name in released

known(name) if name in params.known
