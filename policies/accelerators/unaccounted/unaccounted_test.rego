package fleetgate.accelerators.unaccounted_test

import data.fleetgate.accelerators.unaccounted as rule

farm := {"apiVersion": "example.org/v1", "kind": "Farm"}

places := [
	{"path": ["spec", "gpus"], "what": "nvidia.com/gpu: 8", "why": "`Farm` is not a registered kind, so it is not counted"},
	{"path": ["spec", "more"], "what": "google.com/tpu: 4", "why": "`Farm` is not a registered kind, so it is not counted"},
]

findings(object, unaccounted, exempt) := found if {
	found := rule.deny with input as {"object": object, "workload": null, "unaccounted": unaccounted}
		with data.params.accelerators.unaccounted as {"exempt": exempt}
}

test_each_place_is_named if {
	found := findings(farm, places, [])
	{finding.path | some finding in found} == {["spec", "gpus"], ["spec", "more"]}
	some finding in found
	finding.msg == "`nvidia.com/gpu: 8`: `Farm` is not a registered kind, so it is not counted"
	contains(finding.remediation, "register `Farm` under `kinds`")
}

test_nothing_unaccounted_passes if findings(farm, [], []) == set()

test_exempt_kinds if {
	findings(farm, places, ["example.org/Farm"]) == set()
	findings(farm, places, ["example.org/*"]) == set()
	count(findings(farm, places, ["Farm"])) == 2
	findings({"apiVersion": "v1", "kind": "ConfigMap"}, places, ["ConfigMap"]) == set()
}

test_objects_without_a_kind if {
	count(findings({"kind": "Farm"}, places, [])) == 2
	count(findings({"apiVersion": 5, "kind": "Farm"}, places, [])) == 2
}

test_what_to_do if {
	contains(rule.remedy("`Farm` is not a registered kind"), "register `Farm`") with input as {"object": farm}
	rule.remedy("what the cluster makes of a `HelmRelease` is not counted: add the rendered manifests") == "add the rendered manifests to those that are judged" with input as {"object": farm}
	contains(rule.remedy("it stands in a text, and what a text asks for is not counted"), "object of its own") with input as {"object": farm}
	contains(rule.remedy("it stands where pods of a `Job` are not described"), "move it") with input as {"object": farm}
}

test_input_without_a_scan if {
	count(rule.deny) == 0 with input as {"object": farm} with data.params.accelerators.unaccounted as {"exempt": []}
}
