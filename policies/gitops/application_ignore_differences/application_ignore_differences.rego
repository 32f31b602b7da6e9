# METADATA
# title: Differences are not ignored wholesale
# description: >-
#   An Application that ignores the whole `spec` of its objects is `Synced` whatever runs; with
#   `RespectIgnoreDifferences=true` a release is not even applied. Gates that wait for `Synced` then
#   pass for something that never arrived.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/
#     description: Argo CD, diffing customisation
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [Application, ApplicationSet]
#     apiGroups: [argoproj.io]
#   needs: []
#   params:
#     pointers:
#       type: array
#       items: {type: string}
#       default: ["", /, /spec, /spec/template, /spec/template/spec, /spec/template/spec/containers]
#       description: JSON pointers that no Application may ignore. An empty list forbids none.
#     expressions:
#       type: array
#       items: {type: string}
#       default: [., "..", .spec, .spec.template, .spec.template.spec, ".spec.template.spec.containers", ".spec.template.spec.containers[]"]
#       description: jq expressions that no Application may ignore, written without blanks. An empty list forbids none.
package fleetgate.gitops.application_ignore_differences

import data.fleetgate.lib.argocd
import data.fleetgate.lib.values

params := data.params.gitops.application_ignore_differences

deny contains finding if {
	some rule in rules
	some i, pointer in values.list(rule.rule.jsonPointers)
	is_string(pointer)
	trimmed(pointer) in {trimmed(forbidden) | some forbidden in params.pointers}
	finding := message(pointer, array.concat(rule.path, ["jsonPointers", i]))
}

deny contains finding if {
	some rule in rules
	some i, expression in values.list(rule.rule.jqPathExpressions)
	is_string(expression)
	replace(expression, " ", "") in params.expressions
	finding := message(expression, array.concat(rule.path, ["jqPathExpressions", i]))
}

warn contains finding if {
	some rule in rules
	rule.rule.kind == "*"
	count(values.list(object.get(rule.rule, "managedFieldsManagers", []))) > 0
	finding := {
		"msg": "changes by a field manager are ignored for all kinds",
		"path": array.concat(rule.path, ["kind"]),
		"remediation": "name the kind that the manager is to change",
	}
}

message(what, path) := {
	"msg": sprintf("differences in `%s` are ignored, so that the Application is `Synced` whatever runs", [what]),
	"path": path,
	"remediation": "name the one field that something else sets, such as `/spec/replicas`",
}

rules contains rule if {
	some entry in argocd.all_specs(input.object)
	some i, item in values.list(entry.spec.ignoreDifferences)
	is_object(item)
	rule := {"path": array.concat(entry.path, ["ignoreDifferences", i]), "rule": item}
}

# What an ApplicationSet does not put right in its Applications.
rules contains rule if {
	input.object.kind == "ApplicationSet"
	some i, item in values.list(input.object.spec.ignoreApplicationDifferences)
	is_object(item)
	rule := {"path": ["spec", "ignoreApplicationDifferences", i], "rule": item}
}

trimmed(pointer) := trim_right(pointer, "/")
