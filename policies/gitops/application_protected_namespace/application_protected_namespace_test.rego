package fleetgate.gitops.application_protected_namespace_test

import data.fleetgate.gitops.application_protected_namespace as rule

paths_with(manifest, params) := {finding.path | some finding in findings(manifest, params)}

findings(manifest, params) := found if {
	complete := object.union({"namespaces": ["kube-system", "argocd"], "projects": []}, params)
	found := rule.warn with input as {"object": manifest}
		with data.params.gitops.application_protected_namespace as complete
}

paths(manifest) := paths_with(manifest, {})

application(project, namespace) := {"kind": "Application", "spec": {"project": project, "destination": {"name": "prod-1", "namespace": namespace}}}

place := {["spec", "destination", "namespace"]}

test_own_namespace_passes if {
	paths(application("search", "search")) == set()
	paths(application("search", "kube-system-tools")) == set()
	paths({"kind": "Application", "spec": {"destination": {"name": "prod-1"}}}) == set()
	paths({"kind": "Application"}) == set()
}

test_protected_namespace_fails if {
	paths(application("search", "kube-system")) == place
	paths(application("search", "argocd")) == place
}

test_trusted_project_passes if {
	paths_with(application("platform-core", "kube-system"), {"projects": ["platform-*"]}) == set()
	paths_with(application("search", "kube-system"), {"projects": ["platform-*"]}) == place
}

test_namespaces_by_pattern if {
	paths_with(application("search", "gpu-system"), {"namespaces": ["*-system"]}) == place
	paths_with(application("search", "kube-system"), {"namespaces": []}) == set()
}

generated(spec, extra) := {"kind": "ApplicationSet", "spec": object.union({"generators": [], "template": {"spec": spec}}, extra)}

test_template_is_judged if {
	paths(generated({"destination": {"namespace": "argocd"}}, {})) == {["spec", "template", "spec", "destination", "namespace"]}
	paths(generated({"destination": {"namespace": "{{.namespace}}"}}, {})) == set()
}

test_override_is_judged_with_the_project_it_gets if {
	override := {"generators": [{"list": {"template": {"spec": {"destination": {"namespace": "argocd"}}}}}]}
	found := {["spec", "generators", 0, "list", "template", "spec", "destination", "namespace"]}
	paths(generated({"project": "search"}, override)) == found
	paths_with(generated({"project": "platform"}, override), {"projects": ["platform"]}) == set()
}

test_patch_is_judged if {
	patch := {"templatePatch": "spec:\n  destination:\n    namespace: kube-system\n"}
	paths(generated({"project": "search"}, patch)) == {["spec", "templatePatch"]}
	paths_with(generated({"project": "platform"}, patch), {"projects": ["platform"]}) == set()
}

test_patch_with_another_namespace_passes if {
	paths(generated({"project": "search"}, {"templatePatch": "spec:\n  destination:\n    namespace: search\n"})) == set()
}

test_project_of_an_override_decides if {
	override := {"generators": [{"list": {"template": {"spec": {"project": "search", "destination": {"namespace": "argocd"}}}}}]}
	paths_with(generated({"project": "platform"}, override), {"projects": ["platform"]}) != set()
}

test_wrong_types_are_left_to_argocd_fields if {
	paths(application("search", 5)) == set()
	paths({"kind": "Application", "spec": {"destination": "kube-system"}}) == set()
}
