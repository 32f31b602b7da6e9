package fleetgate.gitops.application_target_revision_test

import data.fleetgate.gitops.application_target_revision as rule

findings(manifest, environment, params) := found if {
	complete := object.union({"environments": ["prod"], "branches": ["main"], "allowed": []}, params)
	found := rule.warn with input as {"object": manifest, "environment": environment}
		with data.params.gitops.application_target_revision as complete
}

paths(manifest) := {finding.path | some finding in findings(manifest, "prod", {})}

application(spec) := {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "spec": spec}

git(revision) := application({"source": {"repoURL": "x", "path": "y", "targetRevision": revision}})

chart(revision) := application({"source": {"repoURL": "x", "chart": "y", "targetRevision": revision}})

generated(spec, extra) := {
	"apiVersion": "argoproj.io/v1alpha1",
	"kind": "ApplicationSet",
	"spec": object.union({"generators": [], "template": {"spec": spec}}, extra),
}

place := {["spec", "source", "targetRevision"]}

test_tags_and_commits_pass if {
	paths(git("v2.14.0")) == set()
	paths(git("release-2026-11")) == set()
	paths(git("refs/tags/v1")) == set()
	paths(git("9a1c2b3d4e5f60718293a4b5c6d7e8f901234567")) == set()
}

test_branches_fail if {
	paths(git("HEAD")) == place
	paths(git("main")) == place
	paths(git("refs/heads/release")) == place
}

test_missing_revision_fails if {
	paths(git(null)) == place
	paths(git("")) == place
	paths(application({"source": {"repoURL": "x", "path": "y"}})) == place
}

test_charts_need_an_exact_version if {
	paths(chart("1.2.3")) == set()
	paths(chart("1.2.3-rc.1+build")) == set()
	paths(chart("main")) == set()
	paths(chart("*")) == place
	paths(chart("1.x")) == place
	paths(chart("^1.2.0")) == place
	paths(chart(">=1.2.0 <2.0.0")) == place
	paths(chart("1.2.0 - 1.4.0")) == place
	paths(chart(null)) == place
}

test_range_of_tags_fails if paths(git("v1.*")) == place

test_message_says_what_moves if {
	{finding.msg | some finding in findings(git("main"), "prod", {})} == {"revision `main` is a branch, so that each commit on it is taken"}
	{finding.msg | some finding in findings(chart(""), "prod", {})} == {"no revision is named, so that each new chart is taken"}
	{finding.msg | some finding in findings(git(""), "prod", {})} == {"no revision is named, so that each commit on the default branch is taken"}
}

test_revision_of_wrong_type_is_left_to_argocd_fields if paths(git(1.1)) == set()

test_all_sources_are_judged if {
	spec := {
		"source": {"repoURL": "x", "targetRevision": "HEAD"},
		"sources": [{"chart": "a", "targetRevision": "1.0.0"}, {"ref": "values", "targetRevision": "main"}],
	}
	paths(application(spec)) == {["spec", "sources", 1, "targetRevision"]}
}

test_hydrator_without_a_waiting_branch_fails if {
	hydrator := {"drySource": {"repoURL": "x", "targetRevision": "HEAD"}, "syncSource": {"targetBranch": "environment/prod"}}
	paths(application({"sourceHydrator": hydrator})) == {["spec", "sourceHydrator", "drySource", "targetRevision"]}
	paths(application({"sourceHydrator": object.union(hydrator, {"hydrateTo": {"targetBranch": "environment/prod-next"}})})) == set()
}

test_template_is_judged if {
	paths(generated({"source": {"targetRevision": "HEAD"}}, {})) == {["spec", "template", "spec", "source", "targetRevision"]}
	paths(generated({"source": {"targetRevision": "{{.revision}}"}}, {})) == set()
	paths(generated({"source": {"repoURL": "x"}}, {})) == {["spec", "template", "spec", "source", "targetRevision"]}
}

test_generators_and_patches_are_judged if {
	bad := {"generators": [{"list": {"template": {"spec": {"source": {"targetRevision": "main"}}}}}]}
	good := {"generators": [{"list": {"template": {"spec": {"source": {"targetRevision": "v1"}}}}}]}
	paths(generated({"source": {"repoURL": "x"}}, bad)) == {["spec", "generators", 0, "list", "template", "spec", "source", "targetRevision"]}
	paths(generated({"source": {"repoURL": "x"}}, good)) == set()
	paths(generated({"source": {"repoURL": "x"}}, {"templatePatch": "spec:\n  source:\n    targetRevision: HEAD"})) == {["spec", "templatePatch"]}
	paths(generated({"source": {"repoURL": "x"}}, {"templatePatch": "spec:\n  source:\n    targetRevision: '{{ .tag }}'"})) == set()
}

test_environments if {
	findings(git("HEAD"), "dev", {}) == set()
	count(findings(git("HEAD"), null, {})) == 1
	findings(git("HEAD"), "prod", {"environments": []}) == set()
	findings(git("HEAD"), null, {"environments": []}) == set()
}

test_other_environments_pass_in_all_places if {
	override := {"generators": [{"list": {"template": {"spec": {"source": {"targetRevision": "main"}}}}}]}
	findings(generated({"source": {"targetRevision": "v1"}}, override), "dev", {}) == set()
	findings(generated({"source": {"repoURL": "x"}}, {}), "dev", {}) == set()
	findings(generated({"source": {"targetRevision": "v1"}}, {"templatePatch": "spec:\n  source:\n    targetRevision: HEAD"}), "dev", {}) == set()
}

test_override_without_a_revision_leaves_that_of_the_template if {
	override := {"generators": [{"list": {"template": {"spec": {"source": {"path": "x"}}}}}]}
	paths(generated({"source": {"targetRevision": "v1"}}, override)) == set()
	paths(generated({"source": {"repoURL": "x"}}, override)) == {["spec", "template", "spec", "source", "targetRevision"]}
}

test_allowed if {
	findings(git("environment/prod"), "prod", {"allowed": ["environment/*"], "branches": ["environment/*"]}) == set()
	count(findings(git("environment/prod"), "prod", {"branches": ["environment/*"]})) == 1
	count(findings(git("HEAD"), "prod", {"allowed": ["environment/*"]})) == 1
	findings(chart("1.x"), "prod", {"allowed": ["1.x"]}) == set()
}

test_empty_list_of_branches if {
	findings(git("main"), "prod", {"branches": []}) == set()
	count(findings(git("HEAD"), "prod", {"branches": []})) == 1
}
