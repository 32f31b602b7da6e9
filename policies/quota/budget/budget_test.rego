package fleetgate.quota.budget_test

import data.fleetgate.quota.budget as rule

# 144 devices of one RayService on three clusters and 16 of another workload; the largest rollout adds
# 48. The limit is 192, the field to lower is the number of worker replicas.
ranker := {
	"ref": {"group": "fleetgate.dev", "kind": "Budget", "namespace": null, "name": "ml-search H100 prod", "environment": "prod"},
	"team": "ml-search", "family": "H100", "environment": "prod", "clusters": [], "capacityType": null,
	"limit": 192, "owner": "gpu-capacity", "place": "fleetgate.yaml:19", "rolloutConcurrency": 1,
	"steady": 160, "surge": 48, "used": 208, "fits": "no", "fitsSteady": "yes", "base": null, "delta": null, "queued": 0, "unseen": [],
	"contributors": [
		{"ref": {"cluster": "use1", "group": "ray.io", "kind": "RayService", "namespace": "ml-search", "name": "search-ranker"}, "what": "RayService ml-search/search-ranker", "cluster": "use1", "steady": 48, "surge": 48, "reasons": []},
	],
	"holds": [
		{"what": "RayService ml-search/search-ranker", "clusters": 3, "steady": 144},
		{"what": "LeaderWorkerSet ml-search/reranker", "clusters": 1, "steady": 16},
	],
	"levers": [{"what": "RayService ml-search/search-ranker", "path": ["spec", "replicas"], "field": "spec.replicas", "is": 6, "fits": 5, "used": 176}],
}

found(budget) := findings if {
	findings := rule.deny with input as {"budgets": [budget]}
}

test_over_the_limit_is_denied_with_what_would_fit if {
	some finding in found(ranker)
	finding.msg == "ml-search is over its H100 budget in prod by 16"
	finding.subject.name == "ml-search H100 prod"
	finding.at.name == "search-ranker"
	finding.path == ["spec", "replicas"]
	finding.details.value == 16
	finding.remediation == "lower `spec.replicas` to 5, or ask @gpu-capacity to raise the budget at fleetgate.yaml:19"
	finding.details.lines == [
		["budget", "fleetgate.yaml:19, owner @gpu-capacity"],
		["", "steady 160, + largest single rollout 48  =  208 of 192"],
		["holds", "RayService ml-search/search-ranker ×3 144, LeaderWorkerSet ml-search/reranker 16      (fleetgate demand)"],
		["fits", "spec.replicas: 5 → 176 | a rollout without more pods (`spec.upgradeStrategy.type: None`) → 160 | @gpu-capacity approves a raise to 208"],
	]
}

test_a_queue_that_is_not_seen_is_named if {
	some finding in rule.warn with input as {"budgets": [object.union(ranker, {"fits": "yes", "unseen": ["Job a/b (queue `q`)", "Job a/c (queue `q`)"]})]}
	finding.msg == "the H100 budget of ml-search in prod leaves out Job a/b (queue `q`) and 1 more, whose queue no manifest holds: no quota that is known limits it"
	count(rule.warn) == 0 with input as {"budgets": [ranker]}
}

test_a_budget_that_is_kept_is_left_alone if {
	found(object.union(ranker, {"fits": "yes", "used": 192})) == set()
}

test_without_a_field_the_finding_still_has_a_place if {
	some finding in found(object.union(ranker, {"levers": []}))
	not finding.path
	startswith(finding.remediation, "let the workloads ask for less")
}

test_no_value_that_fits_is_not_offered if {
	lever := object.union(ranker.levers[0], {"fits": null})
	some finding in found(object.union(ranker, {"levers": [lever], "fitsSteady": "no"}))
	finding.details.lines[3] == ["fits", "@gpu-capacity approves a raise to 208"]
}

test_without_bound_is_over if {
	open := {"atLeast": 100, "unbounded": true}
	some finding in found(object.union(ranker, {"used": open, "surge": {"atLeast": 0, "unbounded": true}}))
	finding.msg == "ml-search is over its H100 budget in prod by any number: nothing bounds it"
}

test_what_is_not_known_does_not_pass if {
	unknown := {"atLeast": 100, "unknown": ["`spec.replicas`: a placeholder"]}
	contributor := object.union(ranker.contributors[0], {"steady": unknown, "reasons": ["`spec.replicas`: a placeholder"]})
	some finding in found(object.union(ranker, {"fits": "unknown", "used": unknown, "contributors": [contributor], "levers": []}))
	finding.msg == "whether ml-search keeps its H100 budget in prod is not known: it uses at least 100 of 192"
	finding.at.name == "search-ranker"
	finding.details.lines[3] == ["unknown", "RayService ml-search/search-ranker on use1: `spec.replicas`: a placeholder"]
}

test_clusters_and_capacity_are_named if {
	some finding in found(object.union(ranker, {"environment": null, "clusters": ["prod-a*", "prod-b"], "capacityType": "spot", "rolloutConcurrency": 2}))
	finding.msg == "ml-search is over its H100 budget on prod-a*, prod-b by 16"
	finding.details.lines[0][1] == "fleetgate.yaml:19, owner @gpu-capacity, spot"
	finding.details.lines[1][1] == "steady 160, + largest 2 rollouts 48  =  208 of 192"
}

test_of_many_workloads_five_are_named if {
	holds := [{"what": sprintf("Job ml/%d", [i]), "clusters": 1, "steady": 8} | some i in numbers.range(1, 8)]
	some finding in found(object.union(ranker, {"holds": holds}))
	endswith(finding.details.lines[2][1], "Job ml/5 8, and 3 more      (fleetgate demand)")
}
