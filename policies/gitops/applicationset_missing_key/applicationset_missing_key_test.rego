package fleetgate.gitops.applicationset_missing_key_test

import data.fleetgate.gitops.applicationset_missing_key as rule

paths(spec) := {finding.path | some finding in findings(spec)}

findings(spec) := found if {
	found := rule.warn with input as {"object": {"kind": "ApplicationSet", "spec": spec}}
}

test_option_passes if {
	paths({"goTemplate": true, "goTemplateOptions": ["missingkey=error"]}) == set()
	paths({"goTemplate": true, "goTemplateOptions": ["x", "missingkey=error"]}) == set()
}

test_missing_option_fails if {
	paths({"goTemplate": true}) == {["spec", "goTemplate"]}
	paths({"goTemplate": true, "goTemplateOptions": null}) == {["spec", "goTemplate"]}
	paths({"goTemplate": true, "goTemplateOptions": []}) == {["spec", "goTemplateOptions"]}
}

test_other_option_fails if {
	paths({"goTemplate": true, "goTemplateOptions": ["missingkey=zero"]}) == {["spec", "goTemplateOptions"]}
	paths({"goTemplate": true, "goTemplateOptions": "missingkey=error"}) == {["spec", "goTemplateOptions"]}
}

test_other_templates_have_no_options if {
	paths({"goTemplate": false}) == set()
	paths({}) == set()
	paths("x") == set()
	paths({"goTemplate": "true"}) == set()
}
