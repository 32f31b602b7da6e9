# METADATA
# title: Who asks for accelerators
# description: >-
#   Tells whether a container or a pod asks for accelerators, by extended resource or by claim. How
#   many is counted natively and stands in the demand of the workload.
package fleetgate.lib.accelerators

import data.fleetgate.lib.pods
import data.fleetgate.lib.values

# A quantity of zero asks for nothing; one that cannot be read may ask for anything.
container_asks(container, patterns) if {
	resources := values.map(container.resources)
	some side in ["limits", "requests"]
	some resource, quantity in values.map(resources[side])
	values.matches_any(patterns, resource)
	not quantity in {0, "0"}
}

container_asks(container, _) if count(values.list(values.map(container.resources).claims)) > 0

pod_asks(pod, patterns) if {
	some entry in pods.containers(pod)
	container_asks(entry.container, patterns)
}

pod_asks(pod, _) if count(values.list(pod.spec.resourceClaims)) > 0

# Names of resources and of device classes by vendor. Fabric belongs to none.
vendors := {
	"AMD": ["amd.com/*", "*.amd.com"],
	"AWS Neuron": ["aws.amazon.com/neuron*", "neuron.aws.com"],
	"Biren": ["birentech.com/*"],
	"Cambricon": ["cambricon.com/*"],
	"Enflame": ["enflame.com/*"],
	"Google TPU": ["google.com/tpu", "tpu.google.com"],
	"Habana": ["habana.ai/*", "gaudi.intel.com"],
	"Huawei": ["huawei.com/*"],
	"Hygon": ["hygon.com/*"],
	"Iluvatar": ["iluvatar.ai/*"],
	"Intel": ["gpu.intel.com/*", "gpu.intel.com"],
	"Kunlunxin": ["kunlunxin.com/*"],
	"MetaX": ["metax-tech.com/*"],
	"Moore Threads": ["mthreads.com/*"],
	"NVIDIA": ["nvidia.com/*", "*.nvidia.com", "hami.io/*", "alpha.kubernetes.io/nvidia-gpu"],
	"Vastai": ["vastaitech.com/*"],
}

# Undefined for names that no vendor is known for.
vendor(resource) := found[0] if {
	found := [name |
		some name, patterns in vendors
		values.matches_any(patterns, resource)
	]
}

# The resources of which a pod asks for at least one for certain.
asked(pod) := {resource |
	some resource, amount in pod.asks
	fleetgate.fits(amount, 0) == "no"
}

# The same, of accelerators of a known vendor: without fabric and unknown names.
devices(pod) := {resource |
	some resource in asked(pod)
	vendor(resource)
}

# Pods that may run at some time. Those of templates, of suspended objects and of objects that are
# scaled to none for good do not.
runs(pod) if fleetgate.fits(pod.count, 0) != "yes"

runs(pod) if {
	some row in input.workload.demand
	row.resource in object.keys(pod.asks)
	fleetgate.fits(row.autoscaled, 0) != "yes"
}

# Where a pod asks for a resource.
place_of(pod, resource) := paths[0] if {
	paths := [path |
		some side in ["limits", "requests"]
		some entry in pods.containers(pod)
		resource in object.keys(values.map(values.map(entry.container.resources)[side]))
		path := array.concat(entry.path, ["resources", side, resource])
	]
	count(paths) > 0
} else := array.concat(pod.path, ["resourceClaims"]) if {
	count(values.list(pod.spec.resourceClaims)) > 0
} else := pod.path

# How a message calls the pods of a group.
called(pod) := "the pod" if {
	pod.role == "pod"
} else := sprintf("pod `%s`", [pod.role])

# `group/Kind`; the kinds of the core have no group.
kind(manifest) := concat("/", [split(manifest.apiVersion, "/")[0], manifest.kind]) if {
	contains(values.text(manifest.apiVersion), "/")
} else := manifest.kind

# What runs to an end.
batch_kinds := {
	"argoproj.io/CronWorkflow",
	"argoproj.io/Workflow",
	"batch.volcano.sh/Job",
	"batch/CronJob",
	"batch/Job",
	"jobset.x-k8s.io/JobSet",
	"keda.sh/ScaledJob",
	"kubeflow.org/JAXJob",
	"kubeflow.org/MPIJob",
	"kubeflow.org/PaddleJob",
	"kubeflow.org/PyTorchJob",
	"kubeflow.org/TFJob",
	"kubeflow.org/XGBoostJob",
	"ray.io/RayCronJob",
	"ray.io/RayJob",
	"sagemaker.amazonaws.com/HyperPodPyTorchJob",
	"sparkoperator.k8s.io/ScheduledSparkApplication",
	"sparkoperator.k8s.io/SparkApplication",
	"trainer.kubeflow.org/TrainJob",
}

batch(manifest) if kind(manifest) in batch_kinds

# Kinds whose pods get containers, volumes or claims from elsewhere: from a runtime, a shared
# configuration or their operator. What is missing in the manifest may be there.
completed_elsewhere(manifest) if kind(manifest) in {
	"apps.nvidia.com/NIMPipeline",
	"apps.nvidia.com/NIMService",
	"kaito.sh/Workspace",
	"nvidia.com/DynamoComponentDeployment",
	"nvidia.com/DynamoGraphDeployment",
	"production-stack.vllm.ai/VLLMRuntime",
	"serving.kserve.io/InferenceService",
	"serving.kserve.io/LLMInferenceService",
	"serving.kserve.io/LLMInferenceServiceConfig",
	"sparkoperator.k8s.io/ScheduledSparkApplication",
	"sparkoperator.k8s.io/SparkApplication",
	"trainer.kubeflow.org/TrainJob",
}
