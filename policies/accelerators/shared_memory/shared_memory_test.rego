package fleetgate.accelerators.shared_memory_test

import data.fleetgate.accelerators.shared_memory as rule

defaults := {"resources": ["nvidia.com/gpu", "amd.com/gpu"]}

pod(spec) := {"path": ["spec"], "role": "pod", "count": 1, "asks": {"nvidia.com/gpu": 8}, "spec": spec, "effective": spec}

paths_with(object, pods, params) := {finding.path | some finding in found} if {
	found := rule.warn with input as {"object": object, "workload": {"pods": pods, "demand": []}}
		with data.params.accelerators.shared_memory as object.union(defaults, params)
}

pods_of := {"apiVersion": "v1", "kind": "Pod"}

paths(spec) := paths_with(pods_of, [pod(spec)], {})

gpus(quantity) := paths({"containers": [{"name": "a", "resources": {"limits": {"nvidia.com/gpu": quantity}}}]})

mounted(volume, limits) := paths({
	"containers": [{"resources": {"limits": object.union({"nvidia.com/gpu": 8}, limits)}, "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}],
	"volumes": [{"name": "data"}, volume],
})

mounts := {["spec", "containers", 0, "volumeMounts"]}

eight := {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}}]}

test_several_gpus_without_shared_memory if {
	gpus(2) == mounts
	gpus("8") == mounts
	paths({"containers": [{"resources": {"limits": {"amd.com/gpu": 8}}, "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}) == mounts
}

test_one_gpu_needs_none if {
	gpus(1) == set()
	gpus(0) == set()
	gpus("1000m") == set()
	paths({"containers": [{"resources": {"limits": {"google.com/tpu": 4}}}]}) == set()
}

# Each container has a `/dev/shm` of its own.
test_one_gpu_in_each_container if {
	paths({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}, {"resources": {"limits": {"nvidia.com/gpu": 1}}}]}) == set()
}

test_memory_passes if {
	mounted({"name": "shm", "emptyDir": {"medium": "Memory"}}, {}) == set()
	mounted({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}, {"memory": "256Gi"}) == set()
	mounted({"name": "shm", "hostPath": {"path": "/dev/shm"}}, {}) == set()
	mounted({"name": "shm", "persistentVolumeClaim": {"claimName": "x"}}, {}) == set()
}

test_slash_at_the_end if {
	paths({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}, "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm/"}]}], "volumes": []}) == set()
}

test_disk_is_not_memory if {
	mounted({"name": "shm", "emptyDir": {}}, {}) == {["spec", "volumes", 1, "emptyDir", "medium"]}
	mounted({"name": "shm", "emptyDir": {"medium": ""}}, {}) == {["spec", "volumes", 1, "emptyDir", "medium"]}
}

test_more_than_the_container_may_have if {
	mounted({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}, {"memory": "32Gi"}) == {["spec", "volumes", 1, "emptyDir", "sizeLimit"]}
	mounted({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}, {"memory": "64Gi"}) == set()
	mounted({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "${SIZE}"}}, {"memory": "32Gi"}) == set()
	mounted({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}, {"memory": "lots"}) == set()
}

test_memory_of_the_host_is_enough if paths(object.union(eight, {"hostIPC": true})) == set()

test_init_containers if {
	paths({"initContainers": eight.containers, "containers": [{}]}) == {["spec", "initContainers", 0, "volumeMounts"]}
}

# A runtime or an operator may mount it.
test_pods_that_are_completed_elsewhere if {
	paths_with({"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService"}, [pod(eight)], {}) == set()
	paths_with({"apiVersion": "apps.nvidia.com/v1alpha1", "kind": "NIMService"}, [pod(eight)], {}) == set()
}

ray(head, containers) := paths_with(
	{"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {"headGroupSpec": object.union({"template": {"spec": {}}}, head)}},
	[object.union(object.remove(pod({}), ["path", "spec", "effective"]), {
		"path": ["spec", "headGroupSpec", "template", "spec"],
		"spec": {"containers": containers},
		"effective": {"containers": containers},
	})],
	{},
)

# KubeRay mounts it in the first container, unless Ray keeps its objects elsewhere.
test_pods_of_ray if {
	at := ["spec", "headGroupSpec", "template", "spec", "containers"]
	ray({}, eight.containers) == set()
	ray({"rayStartParams": {"num-cpus": "0"}}, eight.containers) == set()
	ray({"rayStartParams": "x"}, eight.containers) == set()
	ray({"rayStartParams": {"plasma-directory": "/tmp"}}, eight.containers) == {array.concat(at, [0, "volumeMounts"])}
	ray({}, array.concat([{}], eight.containers)) == {array.concat(at, [1, "volumeMounts"])}
}

# What is mounted by hand stays as it is.
test_pods_of_ray_with_a_volume_on_disk if {
	spec := {
		"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}, "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}],
		"volumes": [{"name": "shm", "emptyDir": {}}],
	}
	paths_with(
		{"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {}},
		[pod(spec)],
		{},
	) == {["spec", "volumes", 0, "emptyDir", "medium"]}
}

test_what_never_runs_and_placeholders if {
	paths_with(pods_of, [object.union(pod(eight), {"count": 0})], {}) == set()
	gpus("${GPUS}") == set()
	gpus(null) == set()
}

test_parameter if {
	paths_with(pods_of, [pod(eight)], {"resources": []}) == set()
	paths_with(pods_of, [pod(eight)], {"resources": ["*/gpu"]}) == mounts
}

test_several_pods if {
	paths_with(pods_of, [pod({"containers": []}), object.union(object.remove(pod(eight), ["path"]), {"path": ["worker"]})], {}) == {["worker", "containers", 0, "volumeMounts"]}
}

test_wrong_types if {
	paths({"containers": [{"resources": "x"}, {"resources": {"limits": {"nvidia.com/gpu": 8}}, "volumeMounts": "x"}], "volumes": "x"}) == {["spec", "containers", 1, "volumeMounts"]}
	paths({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}, "volumeMounts": ["x", {"mountPath": 5}]}]}) == mounts
	count(rule.warn) == 0 with input as {"object": pods_of, "workload": null} with data.params.accelerators.shared_memory as defaults
}
