package fleetgate.gitops.applicationset_templated_project_test

import data.fleetgate.gitops.applicationset_templated_project as rule

findings(spec, params) := found if {
	complete := object.union({"generators": ["git", "scmProvider", "pullRequest", "plugin"]}, params)
	found := rule.deny with input as {"object": {"kind": "ApplicationSet", "spec": spec}}
		with data.params.gitops.applicationset_templated_project as complete
}

paths(spec) := {finding.path | some finding in findings(spec, {})}

generated(generators, project) := {"generators": generators, "template": {"spec": {"project": project}}}

place := {["spec", "template", "spec", "project"]}

test_fixed_project_passes if paths(generated([{"git": {}}], "search")) == set()

test_project_from_git_fails if {
	paths(generated([{"git": {}}], "{{.path.basename}}")) == place
	paths(generated([{"git": {}}], "team-{{path.basename}}")) == place
	paths(generated([{"scmProvider": {}}], "{{.labels}}")) == place
	paths(generated([{"pullRequest": {}}], "{{.branch}}")) == place
	paths(generated([{"plugin": {}}], "{{.project}}")) == place
}

test_project_from_lists_and_clusters_passes if {
	paths(generated([{"list": {"elements": [{"project": "a"}]}}], "{{.project}}")) == set()
	paths(generated([{"clusters": {}}], "{{.metadata.labels.team}}")) == set()
	paths(generated([], "{{.project}}")) == set()
}

test_nested_generators_are_seen if {
	paths(generated([{"matrix": {"generators": [{"clusters": {}}, {"git": {}}]}}], "{{.team}}")) == place
	paths(generated([{"merge": {"generators": [{"matrix": {"generators": [{"list": {}}, {"git": {}}]}}]}}], "{{.team}}")) == place
}

test_override_is_judged if {
	spec := generated([{"git": {"template": {"spec": {"project": "{{.team}}"}}}}], "search")
	paths(spec) == {["spec", "generators", 0, "git", "template", "spec", "project"]}
}

test_patch_is_judged if {
	spec := object.union(generated([{"git": {}}], "search"), {"templatePatch": "spec:\n  project: '{{ .team }}'\n"})
	paths(spec) == {["spec", "templatePatch"]}
	fixed := object.union(generated([{"git": {}}], "search"), {"templatePatch": "spec:\n  project: search\n"})
	paths(fixed) == set()
}

test_message_names_the_generators if {
	{finding.msg | some finding in findings(generated([{"git": {}}, {"plugin": {}}], "{{.x}}"), {})} == {"the project `{{.x}}` is chosen by what generator `git` and generator `plugin` reads"}
}

test_parameters if {
	findings(generated([{"git": {}}], "{{.x}}"), {"generators": []}) == set()
	count(findings(generated([{"clusters": {}}], "{{.x}}"), {"generators": ["clusters"]})) == 1
}

test_wrong_types_are_left_to_argocd_fields if {
	paths(generated("git", "{{.x}}")) == set()
	paths(generated([{"git": {}}], 5)) == set()
	paths({}) == set()
}
