package fleetgate.gitops.application_destination_test

import data.fleetgate.gitops.application_destination as rule

paths(manifest) := {finding.path | some finding in rule.deny with input as {"object": manifest}}

application(spec) := {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "spec": spec}

generated(extra) := {
	"apiVersion": "argoproj.io/v1alpha1",
	"kind": "ApplicationSet",
	"spec": object.union({"generators": [], "template": {"spec": {"destination": {}}}}, extra),
}

test_name_alone_passes if paths(application({"destination": {"name": "prod-1"}})) == set()

test_server_alone_passes if paths(application({"destination": {"server": "https://prod-1.example.org"}})) == set()

test_empty_text_is_absent if paths(application({"destination": {"name": "prod-1", "server": ""}})) == set()

test_null_is_absent if paths(application({"destination": {"name": "prod-1", "server": null}})) == set()

test_both_fail if {
	paths(application({"destination": {"name": "prod-1", "server": "https://prod-1.example.org"}})) == {["spec", "destination", "name"]}
}

test_neither_fails if paths(application({"destination": {"namespace": "web"}})) == {["spec", "destination"]}

test_missing_destination_fails if paths(application({})) == {["spec", "destination"]}

test_destination_of_wrong_type_fails if paths(application({"destination": "prod-1"})) == {["spec", "destination"]}

test_spec_of_wrong_type_fails if paths(application([])) == {["spec", "destination"]}

test_template_of_application_set_is_judged if {
	paths(generated({})) == {["spec", "template", "spec", "destination"]}
	paths(generated({"template": {"spec": {"destination": {"server": "{{.server}}"}}}})) == set()
	found := paths(generated({"template": {"spec": {"destination": {"server": "{{.server}}", "name": "{{.name}}"}}}}))
	found == {["spec", "template", "spec", "destination", "name"]}
}

test_generator_may_set_the_destination if {
	list := {"list": {"elements": [], "template": {"metadata": {}, "spec": {"destination": {"name": "prod-1"}}}}}
	paths(generated({"generators": [list]})) == set()
}

test_generator_that_adds_a_second_name_fails if {
	list := {"list": {"elements": [], "template": {"metadata": {}, "spec": {"destination": {"name": "prod-1"}}}}}
	found := paths(generated({
		"generators": [{"matrix": {"generators": [list, {"clusters": {}}]}}],
		"template": {"spec": {"destination": {"server": "{{.server}}"}}},
	}))
	found == {["spec", "generators", 0, "matrix", "generators", 0, "list", "template", "spec", "destination", "name"]}
}

test_override_without_a_destination_changes_nothing if {
	list := {"list": {"elements": [], "template": {"metadata": {}, "spec": {"project": "web"}}}}
	paths(generated({"generators": [list]})) == {["spec", "template", "spec", "destination"]}
	narrow := {"list": {"template": {"spec": {"destination": {"namespace": "web"}}}}}
	paths(generated({"generators": [narrow]})) == {["spec", "template", "spec", "destination"]}
	space := {"list": {"elements": [], "template": {"spec": {"destination": {"namespace": "web"}}}}}
	paths(generated({"generators": [space], "template": {"spec": {"destination": {"server": "{{.server}}"}}}})) == set()
}

test_patch_may_set_the_destination if {
	paths(generated({"templatePatch": "spec:\n  destination:\n    name: {{ .cluster }}\n"})) == set()
	paths(generated({"templatePatch": "spec:\n  destination:\n    namespace: web\n"})) == {["spec", "template", "spec", "destination"]}
	paths(generated({"templatePatch": "metadata:\n  name: web\n"})) == {["spec", "template", "spec", "destination"]}
	paths(generated({"templatePatch": "spec:\n  project: web\n"})) == {["spec", "template", "spec", "destination"]}
}
