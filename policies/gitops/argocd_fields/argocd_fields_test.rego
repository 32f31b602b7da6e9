package fleetgate.gitops.argocd_fields_test

import data.fleetgate.gitops.argocd_fields as rule

findings(manifest) := found if {
	found := rule.deny with input as {"object": manifest}
}

paths(manifest) := {finding.path | some finding in findings(manifest)}

source := {"repoURL": "https://git.example.org/x.git", "targetRevision": "v1.0.0", "path": "prod"}

application(extra) := {
	"apiVersion": "argoproj.io/v1alpha1",
	"kind": "Application",
	"spec": object.union({"project": "search", "source": source, "destination": {"name": "prod-1"}}, extra),
}

generated(extra) := {
	"apiVersion": "argoproj.io/v1alpha1",
	"kind": "ApplicationSet",
	"spec": object.union({"generators": [], "template": {"metadata": {}, "spec": application({}).spec}}, extra),
}

test_usual_objects_pass if {
	paths(application({})) == set()
	paths(application({"syncPolicy": {"automated": {}, "syncOptions": ["PruneLast=true"]}})) == set()
	paths(application({"syncPolicy": {"automated": {"enabled": null}}})) == set()
	paths(generated({})) == set()
	paths({"kind": "AppProject", "spec": {"sourceRepos": ["*"], "destinations": []}}) == set()
}

test_missing_parts_fail if {
	paths({"kind": "AppProject"}) == {["spec"]}
	paths({"kind": "ApplicationSet", "spec": {"generators": []}}) == {["spec", "template"], ["spec", "template", "spec", "source"]}
	paths({"kind": "ApplicationSet", "spec": {"template": {"spec": application({}).spec}}}) == {["spec", "generators"]}
}

test_spec_of_wrong_type_fails if {
	["spec"] in paths({"kind": "Application", "spec": []})
	["spec"] in paths({"kind": "ApplicationSet", "spec": "x"})
	["spec"] in paths({"kind": "AppProject", "spec": 5})
}

test_version_that_is_a_number_fails if {
	paths(application({"source": {"targetRevision": 1.1}})) == {["spec", "source", "targetRevision"]}
	paths(application({"sources": [source, object.union(source, {"targetRevision": 2})]})) == {["spec", "sources", 1, "targetRevision"]}
}

test_source_that_is_not_read_is_not_judged if {
	paths(application({"source": {"targetRevision": 1.1}, "sources": [source]})) == set()
}

test_lists_and_maps_of_wrong_type_fail if {
	paths(application({"sources": {"repoURL": "x"}})) == {["spec", "sources"]}
	paths(application({"sources": ["x"]})) == {["spec", "sources", 0]}
	paths(application({"destination": "prod-1"})) == {["spec", "destination"]}
	paths(application({"syncPolicy": "automated"})) == {["spec", "syncPolicy"]}
	paths(application({"syncPolicy": {"automated": true}})) == {["spec", "syncPolicy", "automated"]}
	paths(application({"syncPolicy": {"syncOptions": {"Replace": true}}})) == {["spec", "syncPolicy", "syncOptions"]}
	paths(application({"ignoreDifferences": [{"kind": "x", "jsonPointers": "/spec"}]})) == {["spec", "ignoreDifferences", 0, "jsonPointers"]}
}

test_boolean_for_text_fails if paths(application({"project": false})) == {["spec", "project"]}

test_text_for_boolean_fails if {
	paths(application({"syncPolicy": {"automated": {"prune": "true"}}})) == {["spec", "syncPolicy", "automated", "prune"]}
	paths(generated({"goTemplate": "true"})) == {["spec", "goTemplate"]}
}

test_no_source_fails if {
	without := {"kind": "Application", "spec": {"project": "search", "destination": {"name": "prod-1"}}}
	paths(without) == {["spec", "source"]}
	paths({"kind": "Application", "spec": object.union(without.spec, {"sources": []})}) == {["spec", "source"]}
}

test_source_needs_repository_and_path if {
	paths(application({"source": {"repoURL": ""}})) == {["spec", "source", "repoURL"]}
	paths(application({"source": {"path": ""}})) == {["spec", "source"]}
	paths(application({"source": {"path": null, "chart": "web"}})) == set()
	paths(application({"sources": [{"repoURL": "https://git.example.org/v.git", "ref": "values"}]})) == set()
}

test_hydrator_is_a_source if {
	hydrator := {"drySource": source, "syncSource": {"targetBranch": "environment/prod", "path": "search"}}
	spec := {"project": "search", "destination": {"name": "prod-1"}, "sourceHydrator": hydrator}
	paths({"kind": "Application", "spec": spec}) == set()
	paths({"kind": "Application", "spec": object.union(spec, {"sourceHydrator": {"drySource": "x"}})}) == {
		["spec", "sourceHydrator", "drySource"],
		["spec", "sourceHydrator", "drySource", "repoURL"],
	}
}

test_generators_and_patches_may_complete_the_template if {
	empty := {"template": {"metadata": {}, "spec": {"project": "search", "source": {"path": ""}}}}
	count(paths(generated(empty))) > 0
	paths(generated(object.union(empty, {"templatePatch": "spec: {}"}))) == set()
	override := {"generators": [{"list": {"template": {"spec": {"source": source}}}}]}
	paths(generated(object.union(empty, override))) == set()
}

test_patch_may_add_source_and_repository if {
	base := {"generators": [], "templatePatch": "spec: {}", "template": {"metadata": {}, "spec": {"project": "search"}}}
	paths({"kind": "ApplicationSet", "spec": base}) == set()
	paths({"kind": "ApplicationSet", "spec": object.union(base, {"template": {"spec": {"source": {"path": "x"}}}})}) == set()
	paths({"kind": "ApplicationSet", "spec": object.remove(base, ["templatePatch"])}) == {["spec", "template", "spec", "source"]}
}

test_override_is_judged if {
	override := {"generators": [{"list": {"template": {"spec": {"source": {"targetRevision": 1}}}}}]}
	paths(generated(override)) == {["spec", "generators", 0, "list", "template", "spec", "source", "targetRevision"]}
}
