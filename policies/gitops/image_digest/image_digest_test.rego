package fleetgate.gitops.image_digest_test

import data.fleetgate.gitops.image_digest as rule

sha := "sha256:9a1c2b3d4e5f60718293a4b5c6d7e8f90123456789abcdef0123456789abcdef"

findings(spec, environment, params) := found if {
	found := rule.warn with input as {
		"object": {"spec": {"template": {"spec": spec}}},
		"environment": environment,
		"workload": {"pods": [{"path": ["spec", "template", "spec"], "spec": spec}], "demand": []},
	}
		with data.params.gitops.image_digest as object.union({"environments": ["prod"], "exempt": []}, params)
}

paths(spec) := {finding.path | some finding in findings(spec, "prod", {})}

one(image) := {"containers": [{"name": "web", "image": image}]}

first := ["spec", "template", "spec", "containers", 0, "image"]

test_digest_passes if {
	paths(one(concat("", ["example.org/web@", sha]))) == set()
	paths(one(concat("", ["example.org/web:1.2@", sha]))) == set()
}

test_tag_fails if paths(one("example.org/web:1.2")) == {first}

test_no_tag_fails if paths(one("example.org:5000/web")) == {first}

test_remediation_keeps_name_and_tag if {
	[finding.remediation | some finding in findings(one("example.org:5000/web:1"), "prod", {})] == ["write `example.org:5000/web:1@sha256:<digest>` with the digest that was tested"]
}

test_init_and_ephemeral_containers_are_judged if {
	found := paths({
		"initContainers": [{"name": "a", "image": "web:1"}],
		"containers": [{"name": "b", "image": concat("", ["web@", sha])}],
		"ephemeralContainers": [{"name": "c", "image": "web:1"}],
	})
	found == {
		["spec", "template", "spec", "initContainers", 0, "image"],
		["spec", "template", "spec", "ephemeralContainers", 0, "image"],
	}
}

test_unreadable_reference_is_left_to_image_reference if {
	paths(one("${IMAGE}")) == set()
	paths(one(5)) == set()
	paths({"containers": [{"name": "web"}]}) == set()
}

test_containers_of_wrong_type if {
	paths({"containers": null}) == set()
	paths({"containers": ["web:1"]}) == set()
}

test_other_environment_passes if findings(one("web:1"), "dev", {}) == set()

test_unknown_environment_is_judged if count(findings(one("web:1"), null, {})) == 1

test_environments_by_pattern if count(findings(one("web:1"), "prod-eu", {"environments": ["prod*"]})) == 1

test_empty_list_of_environments_switches_off if {
	findings(one("web:1"), "prod", {"environments": []}) == set()
	findings(one("web:1"), null, {"environments": []}) == set()
}

test_exempt_names if {
	findings(one("registry.k8s.io/pause:3.10"), "prod", {"exempt": ["registry.k8s.io/*"]}) == set()
	count(findings(one("example.org/web:1"), "prod", {"exempt": ["registry.k8s.io/*"]})) == 1
}

test_image_that_istio_injects_needs_no_digest if {
	spec := {"containers": [{"name": "istio-proxy", "image": "auto"}]}
	pod := {"path": ["spec"], "spec": spec, "metadata": {"annotations": {"inject.istio.io/templates": "gateway"}}}
	rule.warn == set() with input as {"object": {"spec": spec}, "environment": "prod", "workload": {"pods": [pod], "demand": []}}
		with data.params.gitops.image_digest as {"environments": ["prod"], "exempt": []}
	paths(spec) == {["spec", "template", "spec", "containers", 0, "image"]}
}
