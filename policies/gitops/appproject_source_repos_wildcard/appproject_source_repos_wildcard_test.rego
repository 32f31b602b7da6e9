package fleetgate.gitops.appproject_source_repos_wildcard_test

import data.fleetgate.gitops.appproject_source_repos_wildcard as rule

paths_with(manifest, exempt) := {finding.path | some finding in findings(manifest, exempt)}

findings(manifest, exempt) := found if {
	found := rule.deny with input as {"object": manifest}
		with data.params.gitops.appproject_source_repos_wildcard as {"exempt": exempt}
}

project(repos) := {"kind": "AppProject", "metadata": {"name": "search"}, "spec": {"sourceRepos": repos}}

paths(repos) := paths_with(project(repos), [])

test_named_repositories_pass if {
	paths(["https://git.example.org/search/*", "git@git.example.org:search/deploy.git"]) == set()
	paths(["https://*.example.org/*"]) == set()
	paths([]) == set()
	paths([""]) == set()
	paths(["https://"]) == set()
}

test_wildcards_fail if {
	paths(["*"]) == {["spec", "sourceRepos", 0]}
	paths(["https://git.example.org/a", "https://*"]) == {["spec", "sourceRepos", 1]}
	paths(["https://**/*"]) == {["spec", "sourceRepos", 0]}
}

test_denied_repositories_beside_a_wildcard_do_not_help if paths(["!https://bad.example.org/*", "*"]) == {["spec", "sourceRepos", 1]}

test_exempt_projects if {
	paths_with(project(["*"]), ["search"]) == set()
	paths_with(project(["*"]), ["platform"]) != set()
}

test_wrong_types_are_left_to_argocd_fields if {
	paths("*") == set()
	paths([5, null, ["*"]]) == set()
	paths_with({"kind": "AppProject"}, []) == set()
}
