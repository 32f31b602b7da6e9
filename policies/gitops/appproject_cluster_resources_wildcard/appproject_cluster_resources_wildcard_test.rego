package fleetgate.gitops.appproject_cluster_resources_wildcard_test

import data.fleetgate.gitops.appproject_cluster_resources_wildcard as rule

paths_with(manifest, exempt) := {finding.path | some finding in findings(manifest, exempt)}

findings(manifest, exempt) := found if {
	found := rule.warn with input as {"object": manifest}
		with data.params.gitops.appproject_cluster_resources_wildcard as {"exempt": exempt}
}

project(kinds) := {"kind": "AppProject", "metadata": {"name": "search"}, "spec": {"clusterResourceWhitelist": kinds}}

paths(kinds) := paths_with(project(kinds), [])

test_named_kinds_pass if {
	paths([{"group": "", "kind": "Namespace"}]) == set()
	paths([{"group": "rbac.authorization.k8s.io", "kind": "*"}]) == set()
	paths([{"group": "*", "kind": "Namespace"}]) == set()
	paths([{"group": "*", "kind": "*", "name": "search-*"}]) == set()
	paths([]) == set()
}

test_wildcards_fail if {
	paths([{"group": "", "kind": "Namespace"}, {"group": "*", "kind": "*"}]) == {["spec", "clusterResourceWhitelist", 1, "kind"]}
	paths([{"group": "*", "kind": "*", "name": "*"}]) == {["spec", "clusterResourceWhitelist", 0, "kind"]}
}

test_core_group_is_no_wildcard if paths([{"group": "", "kind": "*"}]) == set()

test_exempt_projects if {
	paths_with(project([{"group": "*", "kind": "*"}]), ["search"]) == set()
	paths_with(project([{"group": "*", "kind": "*"}]), ["platform"]) != set()
}

test_wrong_types_are_left_to_argocd_fields if {
	paths("*") == set()
	paths(["*", {"group": 5, "kind": "*"}]) == set()
	paths_with({"kind": "AppProject"}, []) == set()
}
