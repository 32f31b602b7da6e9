# METADATA
# title: A missing value stops an ApplicationSet
# description: >-
#   A Go template without `missingkey=error` writes `<no value>` where a value is missing, so that a
#   misspelt label makes Applications with a wrong name, path or cluster instead of an error.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/GoTemplate/
#     description: Argo CD, Go templates
# custom:
#   level: warn
#   target: resource
#   match:
#     kinds: [ApplicationSet]
#     apiGroups: [argoproj.io]
#   needs: []
package fleetgate.gitops.applicationset_missing_key

import data.fleetgate.lib.values

warn contains finding if {
	spec := values.map(input.object.spec)
	spec.goTemplate == true
	not "missingkey=error" in values.list(object.get(spec, "goTemplateOptions", []))
	finding := {
		"msg": "a missing value becomes the text `<no value>` in the generated Applications",
		"path": ["spec", place(spec)],
		"remediation": "write `goTemplateOptions: [missingkey=error]`",
	}
}

place(spec) := "goTemplateOptions" if {
	object.get(spec, "goTemplateOptions", null) != null
} else := "goTemplate"
