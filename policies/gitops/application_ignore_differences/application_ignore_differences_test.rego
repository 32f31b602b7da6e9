package fleetgate.gitops.application_ignore_differences_test

import data.fleetgate.gitops.application_ignore_differences as rule

result_with(manifest, params) := {"deny": denied, "warn": warned} if {
	complete := object.union({"pointers": ["", "/spec", "/spec/template"], "expressions": [".", ".spec", ".spec.template.spec.containers[]"]}, params)
	denied := {finding.path | some finding in rule.deny} with input as {"object": manifest}
		with data.params.gitops.application_ignore_differences as complete
	warned := {finding.path | some finding in rule.warn} with input as {"object": manifest}
		with data.params.gitops.application_ignore_differences as complete
}

result(manifest) := result_with(manifest, {})

application(rules) := {"kind": "Application", "spec": {"ignoreDifferences": rules}}

none := {"deny": set(), "warn": set()}

denied(path) := {"deny": {array.concat(["spec", "ignoreDifferences"], path)}, "warn": set()}

test_single_fields_pass if {
	result(application([{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}])) == none
	result(application([{"kind": "*", "jqPathExpressions": [".spec.template.spec.containers[] | select(.name == \"x\").resources"]}])) == none
	result(application([{"kind": "Deployment", "managedFieldsManagers": ["kube-controller-manager"]}])) == none
	result({"kind": "Application"}) == none
}

test_whole_spec_by_pointer_fails if {
	result(application([{"kind": "Deployment", "jsonPointers": ["/spec/replicas", "/spec"]}])) == denied([0, "jsonPointers", 1])
	result(application([{"kind": "Deployment", "jsonPointers": ["/spec/"]}])) == denied([0, "jsonPointers", 0])
	result(application([{"kind": "Deployment", "jsonPointers": [""]}])) == denied([0, "jsonPointers", 0])
	result(application([{"kind": "Deployment", "jsonPointers": ["/"]}])) == denied([0, "jsonPointers", 0])
}

test_whole_spec_by_expression_fails if {
	result(application([{"kind": "Deployment", "jqPathExpressions": [".spec"]}])) == denied([0, "jqPathExpressions", 0])
	result(application([{"kind": "Deployment", "jqPathExpressions": [" .spec.template.spec.containers[] "]}])) == denied([0, "jqPathExpressions", 0])
}

test_manager_for_all_kinds_is_a_warning if {
	result(application([{"kind": "*", "managedFieldsManagers": ["x"]}])) == {"deny": set(), "warn": {["spec", "ignoreDifferences", 0, "kind"]}}
}

test_template_and_overrides_are_judged if {
	spec := {"ignoreDifferences": [{"kind": "x", "jsonPointers": ["/spec"]}]}
	manifest := {"kind": "ApplicationSet", "spec": {"template": {"spec": spec}, "generators": [{"git": {"template": {"spec": spec}}}]}}
	result(manifest).deny == {
		["spec", "template", "spec", "ignoreDifferences", 0, "jsonPointers", 0],
		["spec", "generators", 0, "git", "template", "spec", "ignoreDifferences", 0, "jsonPointers", 0],
	}
}

test_ignored_parts_of_applications_are_judged if {
	rules := [{"jsonPointers": ["/spec/source/targetRevision"]}, {"jqPathExpressions": [".spec"]}]
	result({"kind": "ApplicationSet", "spec": {"ignoreApplicationDifferences": rules}}).deny == {["spec", "ignoreApplicationDifferences", 1, "jqPathExpressions", 0]}
}

test_field_of_application_sets_means_nothing_in_an_application if {
	result({"kind": "Application", "spec": {"ignoreApplicationDifferences": [{"jsonPointers": ["/spec"]}]}}) == none
}

test_parameters if {
	result_with(application([{"kind": "x", "jsonPointers": ["/spec"], "jqPathExpressions": [".spec"]}]), {"pointers": [], "expressions": []}) == none
	result_with(application([{"kind": "x", "jsonPointers": ["/data"]}]), {"pointers": ["/data"]}) == denied([0, "jsonPointers", 0])
}

test_wrong_types_are_left_to_argocd_fields if {
	result(application("/spec")) == none
	result(application(["/spec", {"kind": "x", "jsonPointers": "/spec"}, {"kind": "x", "jsonPointers": [5]}])) == none
}
