package fleetgate.accelerators.single_family_test

import data.fleetgate.accelerators.single_family as rule

findings_in(pods, demand, together) := found if {
	found := rule.deny with input as {"object": {}, "workload": {"pods": pods, "demand": demand}}
		with data.params.accelerators.single_family as {"together": together}
}

pod(asks) := {
	"path": ["spec"], "role": "pod", "count": 1, "asks": asks, "pools": null,
	"spec": {"containers": [{"name": "a", "resources": {"limits": asks}}]},
}

findings(asks) := findings_in([pod(asks)], [], [])

test_one_vendor_passes if {
	findings({"nvidia.com/gpu": 8}) == set()
	findings({"nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 1}) == set()
	findings({"gpu.nvidia.com": 1, "mig.nvidia.com": 2, "nvidia.com/gpu": 1}) == set()
	findings({"aws.amazon.com/neuron": 16, "neuron.aws.com": 1}) == set()
	findings({}) == set()
}

test_two_vendors_fail if {
	some finding in findings({"nvidia.com/gpu": 1, "google.com/tpu": 4})
	finding.msg == "the pod asks for `google.com/tpu` and `nvidia.com/gpu`, which no node has together"
	finding.path == ["spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"]
	finding.details.vendors == ["Google TPU", "NVIDIA"]
}

test_a_claim_and_a_resource_of_two_vendors_fail if {
	found := findings_in([object.union(pod({"aws.amazon.com/neuron": 1, "gpu.nvidia.com": 1}), {
		"spec": {"resourceClaims": [{"name": "gpu"}], "containers": [{"resources": {"limits": {"aws.amazon.com/neuron": 1}}}]},
	})], [], [])
	{finding.path | some finding in found} == {["spec", "resourceClaims"]}
}

test_init_containers_run_on_the_same_node if {
	spec := {"initContainers": [{"resources": {"limits": {"google.com/tpu": 1}}}], "containers": [{"resources": {"limits": {"amd.com/gpu": 1}}}]}
	found := findings_in([object.union(pod({"amd.com/gpu": 1, "google.com/tpu": 1}), {"spec": spec})], [], [])
	{finding.path | some finding in found} == {["spec", "initContainers", 0, "resources", "limits", "google.com/tpu"]}
}

test_fabric_and_unknown_names_are_no_vendor if {
	findings({"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32, "rdma/ib": 1, "example.org/card": 1, "my-class": 1}) == set()
}

test_an_unknown_amount_is_not_judged if {
	unknown := {"atLeast": 0, "unknown": ["`${TPUS}` is no number"]}
	findings({"nvidia.com/gpu": 1, "google.com/tpu": unknown}) == set()
	count(findings({"nvidia.com/gpu": 1, "google.com/tpu": {"atLeast": 1, "unknown": ["x"]}})) == 1
}

test_zero_is_none if findings({"nvidia.com/gpu": 1, "google.com/tpu": 0}) == set()

test_each_pod_has_its_own_node if {
	findings_in([pod({"nvidia.com/gpu": 1}), pod({"google.com/tpu": 4})], [], []) == set()
	both := object.union(pod({"nvidia.com/gpu": 1, "google.com/tpu": 4}), {"path": ["spec", "worker"], "role": "worker"})
	found := findings_in([pod({"nvidia.com/gpu": 1}), both], [], [])
	{finding.path | some finding in found} == {["spec", "worker", "containers", 0, "resources", "limits", "nvidia.com/gpu"]}
}

test_what_never_runs_is_not_judged if {
	idle := object.union(pod({"nvidia.com/gpu": 1, "google.com/tpu": 4}), {"count": 0})
	findings_in([idle], [], []) == set()
	count(findings_in([idle], [{"resource": "google.com/tpu", "autoscaled": 8}], [])) == 1
}

test_vendors_that_are_together_in_nodes if {
	mixed := [pod({"nvidia.com/gpu": 1, "gpu.intel.com/i915": 1})]
	count(findings_in(mixed, [], [])) == 1
	findings_in(mixed, [], [["Intel", "NVIDIA", "AMD"]]) == set()
	count(findings_in(mixed, [], [["Intel", "AMD"], ["NVIDIA"]])) == 1
}

test_no_workload_is_no_finding if {
	count(rule.deny) == 0 with input as {"object": {}, "workload": null} with data.params.accelerators.single_family as {"together": []}
	findings_in([{"path": ["spec"], "role": "pod", "spec": {"containers": "x"}}], [], []) == set()
}
