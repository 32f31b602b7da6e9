package fleetgate.gitops.appproject_destinations_wildcard_test

import data.fleetgate.gitops.appproject_destinations_wildcard as rule

paths_with(manifest, exempt) := {finding.path | some finding in findings(manifest, exempt)}

findings(manifest, exempt) := found if {
	found := rule.deny with input as {"object": manifest}
		with data.params.gitops.appproject_destinations_wildcard as {"exempt": exempt}
}

project(destinations) := {"kind": "AppProject", "metadata": {"name": "search"}, "spec": {"destinations": destinations}}

paths(destinations) := paths_with(project(destinations), [])

test_named_destinations_pass if {
	paths([{"name": "prod-*", "namespace": "search-*"}]) == set()
	paths([{"server": "https://prod-1.example.org", "namespace": "*"}]) == set()
	paths([{"server": "*", "namespace": "search"}]) == set()
	paths([]) == set()
}

test_wildcards_fail if {
	paths([{"server": "*", "namespace": "*"}]) == {["spec", "destinations", 0, "server"]}
	paths([{"name": "x", "namespace": "y"}, {"name": "*", "namespace": "*"}]) == {["spec", "destinations", 1, "name"]}
	paths([{"server": "**", "namespace": "*"}]) == {["spec", "destinations", 0, "server"]}
}

test_name_narrows_the_server if {
	paths([{"server": "*", "name": "prod-1", "namespace": "*"}]) == set()
	paths([{"server": "*", "name": "", "namespace": "*"}]) == {["spec", "destinations", 0, "server"]}
}

test_wildcard_name_narrows_nothing if {
	paths([{"server": "*", "name": "*", "namespace": "*"}]) == {["spec", "destinations", 0, "server"], ["spec", "destinations", 0, "name"]}
}

test_denied_destinations_beside_a_wildcard_do_not_help if {
	paths([{"server": "*", "namespace": "*"}, {"server": "*", "namespace": "!kube-system"}]) == {["spec", "destinations", 0, "server"]}
}

test_exempt_projects if {
	paths_with(project([{"server": "*", "namespace": "*"}]), ["sea*"]) == set()
	paths_with(project([{"server": "*", "namespace": "*"}]), ["platform"]) != set()
}

test_project_without_name_is_judged if {
	paths_with({"kind": "AppProject", "spec": {"destinations": [{"server": "*", "namespace": "*"}]}}, ["*"]) != set()
}

test_wrong_types_are_left_to_argocd_fields if {
	paths("*") == set()
	paths(["*", {"server": 5, "namespace": "*"}, {"server": ["*"], "namespace": "*"}]) == set()
	paths_with({"kind": "AppProject"}, []) == set()
	paths_with({"kind": "AppProject", "spec": "x"}, []) == set()
}
