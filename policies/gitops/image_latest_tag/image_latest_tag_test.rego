package fleetgate.gitops.image_latest_tag_test

import data.fleetgate.gitops.image_latest_tag as rule

result(spec, environment, params) := {"deny": denied, "warn": warned} if {
	document := {
		"object": {"spec": spec},
		"environment": environment,
		"workload": {"pods": [{"path": ["spec"], "spec": spec}], "demand": []},
	}
	complete := object.union({"environments": ["prod"], "tags": ["latest"]}, params)
	denied := {finding.path | some finding in rule.deny} with input as document
		with data.params.gitops.image_latest_tag as complete
	warned := {finding.path | some finding in rule.warn} with input as document
		with data.params.gitops.image_latest_tag as complete
}

one(image) := {"containers": [{"name": "web", "image": image}]}

nothing := {"deny": set(), "warn": set()}

denied := {"deny": {["spec", "containers", 0, "image"]}, "warn": set()}

test_version_passes if result(one("example.org:5000/web:1.2"), "prod", {}) == nothing

test_latest_is_denied if result(one("example.org:5000/web:latest"), "prod", {}) == denied

test_no_tag_is_denied if result(one("example.org:5000/web"), "prod", {}) == denied

test_digest_decides if {
	digest := "@sha256:9a1c2b3d4e5f60718293a4b5c6d7e8f90123456789abcdef0123456789abcdef"
	result(one(concat("", ["web", digest])), "prod", {}) == nothing
	result(one(concat("", ["web:latest", digest])), "prod", {}) == nothing
}

test_other_environment_passes if result(one("web"), "dev", {}) == nothing

test_unknown_environment_warns if {
	result(one("web"), null, {}) == {"deny": set(), "warn": {["spec", "containers", 0, "image"]}}
}

test_empty_list_of_environments_switches_off if {
	result(one("web"), "prod", {"environments": []}) == nothing
	result(one("web"), null, {"environments": []}) == nothing
}

test_other_tags if {
	result(one("web:nightly-5"), "prod", {"tags": ["nightly-*"]}) == denied
	result(one("web"), "prod", {"tags": ["nightly-*"]}) == nothing
	result(one("web:latest"), "prod", {"tags": []}) == nothing
}

test_init_and_ephemeral_containers_are_judged if {
	spec := {"initContainers": [{"image": "a"}], "containers": [], "ephemeralContainers": [{"image": "b"}]}
	result(spec, "prod", {}).deny == {["spec", "initContainers", 0, "image"], ["spec", "ephemeralContainers", 0, "image"]}
}

test_wrong_types_are_left_to_others if {
	result(one(5), "prod", {}) == nothing
	result({"containers": null}, "prod", {}) == nothing
}

test_image_that_istio_injects_needs_no_tag if {
	spec := {"containers": [{"name": "istio-proxy", "image": "auto"}]}
	pod := {"path": ["spec"], "spec": spec, "metadata": {"annotations": {"inject.istio.io/templates": "gateway"}}}
	rule.deny == set() with input as {"object": {"spec": spec}, "environment": "prod", "workload": {"pods": [pod], "demand": []}}
		with data.params.gitops.image_latest_tag as {"environments": ["prod"], "tags": ["latest"]}
	result(spec, "prod", {}) == denied
}
