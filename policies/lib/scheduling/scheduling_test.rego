package fleetgate.lib.scheduling_test

import data.fleetgate.lib.scheduling

# --- What the tests of the pack build their input from -------------------------------------------

# A pool that a pod's selectors leave and whose taints it tolerates.
pool(family, resource, count, labels) := {
	"family": family, "resource": resource, "perNode": count, "nodes": 12, "capacityType": "on-demand",
	"fabric": null, "sharing": null, "labels": labels, "taints": [],
	"selected": "yes", "because": "", "untolerated": [],
}

h100 := pool("H100", "nvidia.com/gpu", 8, {"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"})

l4 := pool("L4", "nvidia.com/gpu", 1, {"cloud.google.com/gke-accelerator": "nvidia-l4"})

refused(one) := object.union(one, {"selected": "no", "because": "another label"})

perhaps(one) := object.union(one, {"selected": "unknown", "because": "the label is not known"})

tainted(one, taints) := object.union(one, {"taints": taints, "untolerated": taints})

gpu_taint := {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}

# Two pods of a group that ask for 8 GPUs each, with fields of its own.
pod(fields) := object.union(object.remove(usual, object.keys(fields)), fields) if {
	usual := {
		"path": ["spec", "template", "spec"], "role": "worker", "spec": {}, "effective": object.get(fields, "spec", {}),
		"metadata": {}, "count": 2, "asks": {"nvidia.com/gpu": 8}, "pools": null,
	}
}

unit(resource) := "fabric" if {
	resource in {"vpc.amazonaws.com/efa", "rdma/ib"}
} else := "device" if {
	resource in {"nvidia.com/gpu", "google.com/tpu", "aws.amazon.com/neuron"}
} else := "slice" if {
	startswith(resource, "nvidia.com/mig-")
} else := "other" if {
	startswith(resource, "example.org/")
}

workload(pods) := {
	"pods": pods, "queue": null, "unknown": [], "notes": [], "registered": true,
	"demand": [row |
		some resource in {name | some one in pods; some name, _ in one.asks}
		row := {"resource": resource, "unit": unit(resource), "steady": 16, "rollout": 16, "autoscaled": 16}
	],
}

# Input for pods in a workload of a kind that is registered.
document(manifest, pods) := {
	"object": object.union({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {}}, manifest),
	"environment": "prod",
	"cluster": {"provider": "gcp"},
	"workload": workload(pods),
}

queued(input_document, queue) := object.union(input_document, {"workload": {"queue": object.union(
	{"name": "q", "clusterQueue": "cq", "flavors": ["one"], "problem": "", "certain": true, "elsewhere": false},
	queue,
)}})

unknown := {"atLeast": 0, "unknown": ["a placeholder"]}

placeholders := ["${X}", "{{ .Values.x }}", "$(X)", "$X"]

# --- Tests of the library ------------------------------------------------------------------------

test_templates_and_what_never_runs_have_no_pods if {
	none := {"demand": [], "pods": [pod({"count": 0})]}
	scheduling.pods(none) == []
	scaled := {"demand": [{"resource": "nvidia.com/gpu", "autoscaled": 8}], "pods": [pod({"count": 0})]}
	count(scheduling.pods(scaled)) == 1
	other := {"demand": [{"resource": "google.com/tpu", "autoscaled": 8}], "pods": [pod({"count": 0})]}
	scheduling.pods(other) == []
	count(scheduling.pods({"demand": [], "pods": [pod({"count": unknown})]})) == 1
	scheduling.pods(null) == []
}

test_pods_on_a_named_node_are_not_placed if {
	scheduling.placed({"demand": [], "pods": [pod({"spec": {"nodeName": "n"}})]}) == []
	count(scheduling.placed({"demand": [], "pods": [pod({})]})) == 1
}

test_pods_of_another_cluster_are_not_placed if {
	scheduling.placed({"demand": [], "pods": [pod({})], "queue": {"elsewhere": true}}) == []
	count(scheduling.placed({"demand": [], "pods": [pod({})], "queue": {"elsewhere": false}})) == 1
}

test_devices_are_what_is_asked_for_certain if {
	one := pod({"asks": {
		"nvidia.com/gpu": 8, "google.com/tpu": 0, "nvidia.com/mig-1g.5gb": unknown,
		"vpc.amazonaws.com/efa": 4, "gpu.nvidia.com": 1, "example.org/widget": 1,
	}})
	all := {"demand": [row |
		some resource, _ in one.asks
		row := {"resource": resource, "unit": object.get({"vpc.amazonaws.com/efa": "fabric", "example.org/widget": "other"}, resource, "device")}
	]}
	scheduling.devices(all, one) == {"nvidia.com/gpu"}
	scheduling.devices({"demand": []}, one) == set()
}

test_settled if {
	scheduling.settled({"queue": null})
	scheduling.settled({})
	queue := {"certain": true, "problem": "", "flavors": ["a"]}
	scheduling.settled({"queue": queue})
	not scheduling.settled({"queue": object.union(queue, {"flavors": ["a", "b"]})})
	not scheduling.settled({"queue": object.union(queue, {"certain": false})})
	not scheduling.settled({"queue": object.union(queue, {"problem": "no such queue"})})
}

test_pools_of_a_resource if {
	scheduling.pools(pod({"pools": [h100]}), "nvidia.com/gpu") == [h100]
	scheduling.pools(pod({"pools": [h100]}), "google.com/tpu") == []
	not scheduling.pools(pod({"pools": null}), "nvidia.com/gpu")
}

test_pools_that_are_left if {
	scheduling.left([h100, refused(l4), perhaps(l4)]) == [h100, perhaps(l4)]
	scheduling.certain([h100, refused(l4), perhaps(l4)]) == [h100]
	scheduling.roomy([h100, l4], 8) == [h100]
	scheduling.roomy([h100, l4], unknown) == [h100, l4]
}

required(terms) := {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}

test_requirements if {
	found := scheduling.requirements(object.union({"nodeSelector": {"a": "b"}}, required([{"matchExpressions": [{"key": "c", "operator": "In", "values": ["d"]}]}])))
	[[r.key, r.values, r.path[count(r.path) - 1]] | some r in found] == [["a", ["b"], "a"], ["c", ["d"], 0]]
	scheduling.requirements({"nodeSelector": "x", "affinity": {"nodeAffinity": []}}) == []
	scheduling.requirements(required("x")) == []
	scheduling.requirements(required([5, {"matchExpressions": [5]}])) == []
}

test_pinned_by_selector_or_by_each_alternative if {
	scheduling.pinned({"nodeSelector": {"a": "b"}}, "a")
	here := {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]}
	elsewhere := {"matchExpressions": [{"key": "z", "operator": "Exists"}]}
	scheduling.pinned(required([here]), "a")
	scheduling.pinned(required([here, here]), "a")
	not scheduling.pinned(required([here, elsewhere]), "a")
	not scheduling.pinned(required([{"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}]), "a")
	not scheduling.pinned({}, "a")
	scheduling.value_of({"nodeSelector": {"a": "b"}}, "a") == "b"
	not scheduling.value_of(required([here]), "a")
}

test_readable if {
	scheduling.readable({})
	scheduling.readable({"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "tolerationSeconds": 5}], "affinity": null})
	every text in placeholders {
		not scheduling.readable({"nodeSelector": {"a": text}})
		not scheduling.readable({"nodeSelector": {text: "a"}})
		not scheduling.readable(required([{"matchExpressions": [{"key": "a", "operator": "In", "values": [text]}]}]))
	}
	not scheduling.readable({"tolerations": [{"key": "${X}"}]})
	not scheduling.readable({"nodeSelector": {"a": true}})
	not scheduling.readable({"nodeSelector": "a"})
	not scheduling.readable({"tolerations": ["x"]})
	not scheduling.readable({"tolerations": {}})
}

test_label_to_write if {
	scheduling.label_of(h100) == "cloud.google.com/gke-accelerator: nvidia-h100-80gb"
	tpu := {"cloud.google.com/gke-tpu-topology": "4x4", "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "a": "b"}
	scheduling.label_of({"labels": tpu}) == `cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice and cloud.google.com/gke-tpu-topology: "4x4"`
	scheduling.label_of({"labels": {"pool": "true"}}) == `pool: "true"`
	not scheduling.label_of({"labels": {}})
}

test_toleration_to_write if {
	scheduling.toleration_of({"key": "sku", "value": "gpu", "effect": "NoSchedule"}) == "{key: sku, operator: Equal, value: gpu, effect: NoSchedule}"
	scheduling.toleration_of({"key": "sku", "value": "", "effect": "NoSchedule"}) == "{key: sku, operator: Exists, effect: NoSchedule}"
	scheduling.toleration_of({"key": "spot", "value": "true", "effect": "NoExecute"}) == `{key: spot, operator: Equal, value: "true", effect: NoExecute}`
	scheduling.show_taint(gpu_taint) == "nvidia.com/gpu=present:NoSchedule"
	scheduling.show_taint({"key": "a", "value": "", "effect": "NoExecute"}) == "a:NoExecute"
}

test_words if {
	scheduling.show_pool(h100) == "H100 (12 nodes)"
	scheduling.show_pool(object.union(h100, {"nodes": null})) == "H100"
	scheduling.called({"role": "pod"}) == "the pod"
	scheduling.called({"role": "leader"}) == "pod `leader`"
	scheduling.about(pod({}), "nvidia.com/gpu") == "worker, 2 × 8 nvidia.com/gpu"
}

test_place_of_a_resource if {
	spec := {"initContainers": [{"resources": {"limits": {"a/b": 1}}}], "containers": [{"resources": {"requests": {"c/d": 1}}}]}
	scheduling.place_of({"path": ["spec"], "spec": spec}, "a/b") == ["spec", "initContainers", 0, "resources", "limits", "a/b"]
	scheduling.place_of({"path": ["spec"], "spec": spec}, "c/d") == ["spec", "containers", 0, "resources", "requests", "c/d"]
	scheduling.place_of({"path": ["spec"], "spec": {"containers": "x"}}, "c/d") == ["spec"]
}

test_pods_that_compute_together if {
	gpu := "nvidia.com/gpu"
	jobset := {"kind": "JobSet", "spec": {"replicatedJobs": [{"replicas": 2}]}}
	job := pod({"path": ["spec", "replicatedJobs", 0, "template", "spec", "template", "spec"], "count": 8})
	scheduling.together(jobset, workload([job]), job, gpu) == 4
	lws := {"kind": "LeaderWorkerSet", "spec": {"leaderWorkerTemplate": {"size": 3}}}
	scheduling.together(lws, workload([pod({})]), pod({}), gpu) == 3
	scheduling.together({"kind": "LeaderWorkerSet", "spec": {"leaderWorkerTemplate": {}}}, workload([pod({})]), pod({}), gpu) == 1
	parts := [pod({"count": 1}), pod({"count": 3}), pod({"count": 1, "asks": {}})]
	scheduling.together({"kind": "PyTorchJob"}, workload(parts), parts[0], gpu) == 4
	unclear := [pod({"count": unknown})]
	not scheduling.together({"kind": "PyTorchJob"}, workload(unclear), unclear[0], gpu)
	not scheduling.together({"kind": "LeaderWorkerSet", "spec": {"leaderWorkerTemplate": {"size": "${X}"}}}, workload(parts), parts[0], gpu)
	not scheduling.together({"kind": "JobSet", "spec": {"replicatedJobs": [{"replicas": 0}]}}, workload([job]), job, gpu)
}

test_slices_that_are_cut if {
	scheduling.cut({"metadata": {"annotations": {"kueue.x-k8s.io/podset-slice-size": "4"}}})
	not scheduling.cut({"metadata": {"annotations": {"kueue.x-k8s.io/podset-group-name": "4"}}})
	not scheduling.cut({"metadata": {"annotations": "x"}})
	not scheduling.cut({})
}
