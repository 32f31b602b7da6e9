package fleetgate.gitops.image_reference_test

import data.fleetgate.gitops.image_reference as rule

findings(version, spec) := found if {
	found := rule.deny with input as {
		"object": {"apiVersion": version, "kind": "Job", "spec": spec},
		"workload": {"pods": [{"path": ["spec"], "spec": spec}], "demand": []},
	}
}

paths(spec) := {finding.path | some finding in findings("batch/v1", spec)}

one(image) := {"containers": [{"name": "web", "image": image}]}

first := ["spec", "containers", 0, "image"]

test_readable_references_pass if {
	paths(one("nginx")) == set()
	paths(one("registry.example.org:5000/team/web:1.2")) == set()
	paths(one("web@sha256:9a1c2b3d4e5f60718293a4b5c6d7e8f90123456789abcdef0123456789abcdef")) == set()
}

test_unreadable_references_fail if {
	paths(one("registry.example.org/Web:1")) == {first}
	paths(one("web:1 ")) == {first}
	paths(one("web@sha256:9a1c")) == {first}
	paths(one("https://registry.example.org/web")) == {first}
}

test_number_fails if {
	[finding.msg | some finding in findings("batch/v1", one(5))] == ["container `web` has the image `5`, which is not a text"]
}

test_placeholder_is_named if {
	some finding in findings("batch/v1", one("${IMAGE}"))
	contains(finding.msg, "placeholder")
}

test_missing_image_fails if {
	paths({"containers": [{"name": "web"}]}) == {first}
	paths(one("")) == {first}
	paths(one(null)) == {first}
}

test_operator_may_fill_in_a_missing_image if {
	findings("ray.io/v1", {"containers": [{"name": "web"}]}) == set()
	count(findings("ray.io/v1", one("Web"))) == 1
}

test_all_lists_are_judged if {
	paths({"initContainers": [{"image": "A"}], "ephemeralContainers": [{"image": "B"}], "containers": null}) == {
		["spec", "initContainers", 0, "image"],
		["spec", "ephemeralContainers", 0, "image"],
	}
}
