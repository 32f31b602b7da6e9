package fleetgate.accelerators.demand_known_test

import data.fleetgate.accelerators.demand_known as rule

deployment := {"apiVersion": "apps/v1", "kind": "Deployment"}

open(reason) := {"atLeast": 0, "unknown": [reason]}

row(steady, rollout, autoscaled) := {"resource": "nvidia.com/gpu", "family": null, "unit": "device", "steady": steady, "rollout": rollout, "autoscaled": autoscaled}

all(reason) := row(open(reason), open(reason), open(reason))

result_in(object, demand, unknown, params) := {"deny": denied, "warn": warned} if {
	document := {"object": object, "workload": {"pods": [], "demand": demand, "unknown": unknown}}
	complete := object.union({"mayAsk": true}, params)
	denied := {[finding.path, finding.msg] | some finding in rule.deny} with input as document
		with data.params.accelerators.demand_known as complete
	warned := {[finding.path, finding.msg] | some finding in rule.warn} with input as document
		with data.params.accelerators.demand_known as complete
}

result(demand, unknown) := result_in(deployment, demand, unknown, {})

none := {"deny": set(), "warn": set()}

test_known_numbers_pass if {
	result([row(8, 16, 16)], []) == none
	result([], []) == none
	result([row({"atLeast": 8, "unbounded": true}, 8, 8)], []) == none
}

test_a_placeholder_is_denied_in_its_place if {
	result([all("`spec.replicas`: `${N}` is not a quantity")], []) == {
		"deny": {[["spec", "replicas"], "how many of `nvidia.com/gpu` it takes is not known: `spec.replicas`: `${N}` is not a quantity"]},
		"warn": set(),
	}
}

test_places_with_indexes_and_quoted_keys if {
	reason := "`spec.template.spec.containers[12].resources.limits[\"example.org/card\"]`: `x` is not a quantity"
	some finding in result([all(reason)], []).deny
	finding[0] == ["spec", "template", "spec", "containers", 12, "resources", "limits", "example.org/card"]
	deeper := "`spec.a[\"b.c\"].d[0]` is not set"
	some other in result([all(deeper)], []).deny
	other[0] == ["spec", "a", "b.c", "d", 0]
}

test_limits_of_containers_are_named_by_another_rule if {
	reason := "`spec.containers[0].resources.limits[\"nvidia.com/gpu\"]`: `x` is not a quantity"
	result([all(reason)], [reason]) == none
	request := "`spec.containers[0].resources.requests[\"vpc.amazonaws.com/efa\"]`: `x` is not a quantity"
	result([row(1, 1, open(request))], []) == none
	result([all("`spec.resources.gpu`: `x` is not a quantity")], []) != none
}

test_reasons_without_a_place if {
	some finding in result([all("`Farm` is not a registered kind, so its pods cannot be counted")], []).deny
	finding[0] == ["spec"]
	some other in result([all("a number is larger than can be counted")], []).deny
	other[0] == ["spec"]
}

test_one_finding_for_a_reason if {
	second := object.union(all("x"), {"resource": "vpc.amazonaws.com/efa"})
	some finding in result([all("x"), second], []).deny
	finding[1] == "how many of `nvidia.com/gpu` and `vpc.amazonaws.com/efa` it takes is not known: x"
	count(result([all("x"), second], []).deny) == 1
	count(result([row({"atLeast": 0, "unknown": ["a", "b"]}, 0, 0)], []).deny) == 2
}

test_only_the_number_while_it_rolls_out if count(result([row(8, open("x"), open("x"))], []).deny) == 1

test_how_far_it_scales_is_a_warning if {
	result([row(8, 8, open("x"))], []) == {"deny": set(), "warn": {[["spec"], "how far it scales is not known: x"]}}
}

test_pods_that_may_be_there if {
	result([], ["the runtime `torch` is not in this cluster's manifests"]) == {"deny": set(), "warn": {[["spec"], "it may ask for more accelerators than are counted: the runtime `torch` is not in this cluster's manifests"]}}
	result_in(deployment, [], ["x"], {"mayAsk": false}) == none
}

test_said_once if {
	count(result([all("x")], ["x"]).warn) == 0
	count(result([row(1, 1, open("x"))], ["x"]).warn) == 1
}

test_nodes_are_not_the_authors if {
	reason := "a DaemonSet has a pod on every node that it matches"
	found := result_in({"apiVersion": "apps/v1", "kind": "DaemonSet"}, [all(reason)], [], {})
	found.deny == set()
	count(found.warn) == 1
	count(result([all(reason)], []).deny) == 1
}

test_rows_by_family_say_the_same_again if {
	result([object.union(all("x"), {"unit": "thousandth"})], []) == none
}

test_what_to_do if {
	object := {"apiVersion": "example.org/v1", "kind": "Farm"}
	found := rule.deny with input as {"object": object, "workload": {"demand": [all("`Farm` is not a registered kind, so its pods cannot be counted")], "unknown": []}}
		with data.params.accelerators.demand_known as {"mayAsk": true}
	some finding in found
	finding.remediation == "register `Farm` under `kinds` in the fleet file: where its pods stand and which fields say how many"
	rule.remedy("`spec.x`: `$N` is not a quantity") == "write the whole number in its place" with input as {"object": object}
	rule.remedy("ResourceClaimTemplate `a` is not in this cluster's manifests") == "add what it names to the manifests of the cluster that are judged" with input as {"object": object}
	rule.remedy("something else") == "write it into the manifest as a whole number" with input as {"object": object}
}

test_no_workload if {
	count(rule.deny) + count(rule.warn) == 0 with input as {"object": deployment, "workload": null} with data.params.accelerators.demand_known as {"mayAsk": true}
}
