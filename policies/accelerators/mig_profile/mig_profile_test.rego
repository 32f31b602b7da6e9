package fleetgate.accelerators.mig_profile_test

import data.fleetgate.accelerators.mig_profile as rule

row(resource, model, family) := {"resource": resource, "family": family, "model": model, "unit": "thousandth", "steady": 143, "rollout": 143, "autoscaled": 143}

pod(resource) := {
	"path": ["spec"], "role": "pod", "count": 1, "asks": {resource: 1},
	"spec": {"containers": [{"resources": {"limits": {resource: 1}}}]},
}

findings_in(pods, demand) := found if {
	found := rule.deny with input as {"object": {}, "workload": {"pods": pods, "demand": demand}}
}

findings(resource, model, family) := findings_in([pod(resource)], [row(resource, model, family)])

test_profiles_of_the_model_pass if {
	findings("nvidia.com/mig-1g.5gb", "NVIDIA-A100-SXM4-40GB", "A100") == set()
	findings("nvidia.com/mig-3g.40gb", "NVIDIA-H100-80GB-HBM3", "H100") == set()
	findings("nvidia.com/mig-1g.6gb.shared", "NVIDIA-A30", "A30") == set()
	findings("nvidia.com/mig-7g.79gb", "NVIDIA-A100-SXM4-80GB", "A100") == set()
}

test_profiles_of_another_model_fail if {
	some finding in findings("nvidia.com/mig-1g.5gb", "NVIDIA-A100-SXM4-80GB", "A100")
	finding.msg == "the pod selects `NVIDIA-A100-SXM4-80GB`, which has no MIG profile `1g.5gb`"
	finding.path == ["spec", "containers", 0, "resources", "limits", "nvidia.com/mig-1g.5gb"]
	finding.remediation == "write one of its profiles: `1g.10gb`, `1g.20gb`, `2g.20gb`, `3g.40gb`, `4g.40gb`, `7g.80gb`; or select `NVIDIA-A100-PCIE-40GB` or `NVIDIA-A100-SXM4-40GB`"
}

test_only_the_family_is_known if {
	findings("nvidia.com/mig-1g.5gb", null, "A100") == set()
	some finding in findings("nvidia.com/mig-1g.6gb", null, "A100")
	finding.msg == "the pod selects the family `A100`, which has no MIG profile `1g.6gb`"
}

test_profiles_that_there_are_not if {
	some finding in findings("nvidia.com/mig-9g.50gb", "NVIDIA-A30", "A30")
	finding.remediation == "write one of its profiles: `1g.6gb`, `2g.12gb`, `4g.24gb`"
}

test_models_that_are_not_known if {
	findings("nvidia.com/mig-1g.5gb", null, null) == set()
	findings("nvidia.com/mig-1g.5gb", "NVIDIA-X", "X") == set()
}

test_other_resources_are_not_judged if {
	findings("nvidia.com/gpu", "NVIDIA-A30", "A30") == set()
	findings("mig.nvidia.com", "NVIDIA-A30", "A30") == set()
	findings_in([pod("nvidia.com/mig-1g.5gb")], [object.union(row("nvidia.com/mig-1g.5gb", "NVIDIA-A30", "A30"), {"unit": "slice"})]) == set()
}

test_what_never_runs_and_unknown_amounts if {
	bad := row("nvidia.com/mig-1g.5gb", "NVIDIA-A30", "A30")
	idle := object.union(pod("nvidia.com/mig-1g.5gb"), {"count": 0})
	findings_in([idle], [object.union(bad, {"steady": 0, "rollout": 0, "autoscaled": 0})]) == set()
	open := object.union(pod("nvidia.com/mig-1g.5gb"), {"asks": {"nvidia.com/mig-1g.5gb": {"atLeast": 0, "unknown": ["x"]}}})
	findings_in([open], [bad]) == set()
	count(rule.deny) == 0 with input as {"object": {}, "workload": null}
}

test_all_pods if {
	bad := row("nvidia.com/mig-1g.5gb", "NVIDIA-A30", "A30")
	other := {"path": ["head"], "role": "head", "count": 1, "asks": {}, "spec": {}}
	count(findings_in([other, pod("nvidia.com/mig-1g.5gb")], [bad])) == 1
}
