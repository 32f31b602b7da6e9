package fleetgate.gitops.application_project_test

import data.fleetgate.gitops.application_project as rule

paths(manifest) := paths_with(manifest, ["default"])

paths_with(manifest, forbidden) := {finding.path | some finding in findings(manifest, forbidden)}

findings(manifest, forbidden) := found if {
	found := rule.warn with input as {"object": manifest}
		with data.params.gitops.application_project as {"forbidden": forbidden}
}

application(spec) := {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "spec": spec}

generated(spec, extra) := {
	"apiVersion": "argoproj.io/v1alpha1",
	"kind": "ApplicationSet",
	"spec": object.union({"generators": [], "template": {"spec": spec}}, extra),
}

test_own_project_passes if paths(application({"project": "search"})) == set()

test_default_fails if paths(application({"project": "default"})) == {["spec", "project"]}

test_missing_project_fails if paths(application({})) == {["spec", "project"]}

test_empty_project_fails if paths(application({"project": ""})) == {["spec", "project"]}

test_null_project_fails if paths(application({"project": null})) == {["spec", "project"]}

test_project_of_wrong_type_is_left_to_argocd_fields if paths(application({"project": 5})) == set()

test_missing_spec_fails if paths({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}) == {["spec", "project"]}

test_template_is_judged if {
	paths(generated({"project": "default"}, {})) == {["spec", "template", "spec", "project"]}
	paths(generated({"project": "search"}, {})) == set()
}

test_override_is_judged if {
	list := {"list": {"template": {"spec": {"project": "default"}}}}
	found := paths(generated({"project": "search"}, {"generators": [list]}))
	found == {["spec", "generators", 0, "list", "template", "spec", "project"]}
}

test_patch_is_judged if {
	paths(generated({"project": "search"}, {"templatePatch": "spec:\n  project: default\n"})) == {["spec", "templatePatch"]}
	paths(generated({}, {"templatePatch": "spec:\n  project: search\n"})) == set()
}

test_generator_may_name_the_project if {
	list := {"list": {"template": {"spec": {"project": "search"}}}}
	paths(generated({}, {"generators": [list]})) == set()
}

test_generator_without_a_project_names_none if {
	list := {"list": {"template": {"spec": {"source": {}}}}}
	paths(generated({}, {"generators": [list]})) == {["spec", "template", "spec", "project"]}
}

test_forbidden_by_pattern if {
	paths_with(application({"project": "legacy-1"}), ["legacy-*"]) == {["spec", "project"]}
	paths_with(application({"project": "default"}), ["legacy-*"]) == set()
}

test_empty_list_forbids_none_but_a_name_is_needed if {
	paths_with(application({"project": "default"}), []) == set()
	paths_with(application({}), []) == {["spec", "project"]}
}
