package fleetgate.lib.accelerators_test

import data.fleetgate.lib.accelerators

asks(resources) if accelerators.container_asks({"resources": resources}, ["nvidia.com/*"])

test_by_extended_resource if {
	asks({"limits": {"nvidia.com/gpu": 1}})
	asks({"requests": {"nvidia.com/mig-1g.5gb": "2"}})
	asks({"limits": {"nvidia.com/gpu": "${GPU}"}})
}

test_by_claim if {
	asks({"claims": [{"name": "gpu"}]})
	accelerators.pod_asks({"path": [], "spec": {"resourceClaims": [{"name": "gpu"}]}}, [])
}

test_nothing_is_asked if {
	not asks({"limits": {"cpu": 1}})
	not asks({"limits": {"nvidia.com/gpu": 0}, "requests": {"nvidia.com/gpu": "0"}})
	not asks({"limits": {"amd.com/gpu": 1}})
	not asks({"claims": []})
	not asks("x")
	not asks({"limits": "nvidia.com/gpu"})
	not accelerators.container_asks({}, ["*"])
}

test_init_containers_ask_too if {
	pod := {"path": [], "spec": {"containers": [{}], "initContainers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}}
	accelerators.pod_asks(pod, ["nvidia.com/*"])
	not accelerators.pod_asks(pod, ["amd.com/*"])
}

test_vendors_by_resource_and_by_class if {
	accelerators.vendor("nvidia.com/mig-1g.5gb") == "NVIDIA"
	accelerators.vendor("gpu.nvidia.com") == "NVIDIA"
	accelerators.vendor("aws.amazon.com/neuroncore") == "AWS Neuron"
	accelerators.vendor("google.com/tpu") == "Google TPU"
	accelerators.vendor("gpu.intel.com/xe") == "Intel"
	not accelerators.vendor("vpc.amazonaws.com/efa")
	not accelerators.vendor("example.org/widget")
}

# `some` takes the first of several: a name that two vendors had would be one at random.
test_no_name_has_two_vendors if {
	every _, patterns in accelerators.vendors {
		every pattern in patterns {
			name := replace(pattern, "*", "x")
			count([vendor | some vendor, others in accelerators.vendors; some other in others; fleetgate.glob(other, name)]) == 1
		}
	}
}

test_asked_is_what_is_certain if {
	unknown := {"atLeast": 0, "unknown": ["a placeholder"]}
	pod := {"asks": {"nvidia.com/gpu": 8, "google.com/tpu": 0, "amd.com/gpu": unknown, "vpc.amazonaws.com/efa": 4}}
	accelerators.asked(pod) == {"nvidia.com/gpu", "vpc.amazonaws.com/efa"}
	accelerators.devices(pod) == {"nvidia.com/gpu"}
}

test_who_runs if {
	none := {"workload": {"demand": []}}
	accelerators.runs({"count": 1, "asks": {}}) with input as none
	accelerators.runs({"count": {"atLeast": 0, "unknown": ["x"]}, "asks": {}}) with input as none
	not accelerators.runs({"count": 0, "asks": {"nvidia.com/gpu": 1}}) with input as none
	scaled := {"workload": {"demand": [{"resource": "nvidia.com/gpu", "autoscaled": 4}]}}
	accelerators.runs({"count": 0, "asks": {"nvidia.com/gpu": 1}}) with input as scaled
	not accelerators.runs({"count": 0, "asks": {"google.com/tpu": 1}}) with input as scaled
}

test_where_a_resource_is_asked_for if {
	spec := {"initContainers": [{}], "containers": [{"resources": "x"}, {"resources": {"limits": {"a/b": null}, "requests": {"c/d": 1}}}]}
	pod := {"path": ["spec"], "spec": spec}
	accelerators.place_of(pod, "a/b") == ["spec", "containers", 1, "resources", "limits", "a/b"]
	accelerators.place_of(pod, "c/d") == ["spec", "containers", 1, "resources", "requests", "c/d"]
	accelerators.place_of(pod, "gpu.nvidia.com") == ["spec"]
	with_claims := {"path": ["spec"], "spec": {"resourceClaims": [{}]}}
	accelerators.place_of(with_claims, "gpu.nvidia.com") == ["spec", "resourceClaims"]
}

test_kinds if {
	accelerators.kind({"apiVersion": "v1", "kind": "Pod"}) == "Pod"
	accelerators.batch({"apiVersion": "batch/v1", "kind": "Job"})
	accelerators.batch({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"})
	not accelerators.batch({"apiVersion": "example.org/v1", "kind": "Job"})
	not accelerators.batch({"apiVersion": "apps/v1", "kind": "Deployment"})
	accelerators.completed_elsewhere({"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService"})
	not accelerators.completed_elsewhere({"apiVersion": "v1", "kind": "Pod"})
	accelerators.called({"role": "pod"}) == "the pod"
	accelerators.called({"role": "worker"}) == "pod `worker`"
}
