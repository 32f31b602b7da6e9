package fleetgate.quota.unbudgeted_test

import data.fleetgate.quota.unbudgeted as rule

fleet := {
	"budgets": [
		{"team": "search", "family": "H100", "environment": "prod", "limit": 8},
		{"team": "serve", "family": "L4", "clusters": ["prod-a"], "limit": 8},
	],
	"teams": {"search": {"namespaces": ["search"]}, "serve": {"namespaces": ["serve-*", "shared"]}, "train": {"namespaces": ["shared"]}},
}

with_rows(namespace, team, rows) := {
	"object": {"metadata": {"name": "a", "namespace": namespace}},
	"team": team,
	"environment": "prod",
	"workload": {"pods": [], "demand": rows},
}

gpus(namespace, team, family) := with_rows(namespace, team, [
	{"resource": "nvidia.com/gpu", "family": null, "unit": "device", "steady": 8},
	{"resource": "nvidia.com/gpu", "family": family, "unit": "thousandth", "steady": 8000},
])

found(given) := findings if {
	findings := rule.deny with input as given
		with data.fleet as fleet
		with data.params.quota.unbudgeted as {"namespaces": ["gpu-operator*"]}
}

warned(given) := findings if {
	findings := rule.warn with input as given
		with data.fleet as fleet
		with data.params.quota.unbudgeted as {"namespaces": ["gpu-operator*"]}
}

test_a_namespace_of_no_team_is_denied if {
	some finding in found(gpus("new", null, "H100"))
	finding.msg == "namespace `new` belongs to no team, so its accelerators count in no budget"
	finding.remediation == "add `new` to the namespaces of a team under `teams` in the fleet file"
}

test_a_namespace_of_two_teams_is_denied_and_both_are_named if {
	some finding in found(gpus("shared", null, "H100"))
	finding.remediation == "let only one of the teams serve, train claim the namespace"
}

test_a_workload_without_a_namespace_is_denied if {
	given := {"object": {"metadata": {"name": "a"}}, "team": null, "environment": "prod", "workload": {"demand": gpus("x", null, "H100").workload.demand}}
	some finding in found(given)
	startswith(finding.msg, "a workload without a namespace")
}

test_a_team_with_its_budget_is_left_alone if {
	found(gpus("search", "search", "H100")) == set()
	warned(gpus("search", "search", "H100")) == set()
	warned(gpus("serve-a", "serve", "L4")) == set()
}

test_a_team_without_a_budget_for_a_family_that_has_some_is_told if {
	some finding in warned(gpus("serve-a", "serve", "H100"))
	finding.msg == "serve has no budget for H100 in prod"
}

test_a_family_without_any_budget_needs_none if {
	warned(gpus("serve-a", "serve", "A100")) == set()
}

test_what_asks_for_no_device_needs_no_budget if {
	found(with_rows("new", null, [])) == set()
	found(with_rows("new", null, [{"resource": "vpc.amazonaws.com/efa", "family": null, "unit": "fabric", "steady": 4}])) == set()
}

test_namespaces_can_be_left_out if {
	found(gpus("gpu-operator-resources", null, "H100")) == set()
}

test_without_budgets_nobody_needs_a_team if {
	findings := rule.deny with input as gpus("new", null, "H100")
		with data.fleet as {"budgets": [], "teams": {}}
		with data.params.quota.unbudgeted as {"namespaces": []}
	findings == set()
}
