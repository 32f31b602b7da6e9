# METADATA
# title: Pods without accelerators
# description: >-
#   Which pods ask for no accelerator for certain, so that they have no business on nodes that have
#   some.
package fleetgate.lib.idle

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

# Any resource of these names, also one that only watches devices, is a reason to be there.
resources := [
	"nvidia.com/*", "amd.com/*", "gpu.intel.com/*", "google.com/tpu", "aws.amazon.com/neuron*", "habana.ai/*",
	"hami.io/*", "huawei.com/*", "hygon.com/*", "cambricon.com/*", "iluvatar.ai/*", "mthreads.com/*",
	"metax-tech.com/*", "enflame.com/*", "kunlunxin.com/*", "birentech.com/*", "vastaitech.com/*", "volcano.sh/*",
	"alpha.kubernetes.io/nvidia-gpu", "deviceclass.resource.kubernetes.io/*", "rdma/*", "vpc.amazonaws.com/efa",
]

# Annotations that ask for a part of a device.
fractions := {"gpu-fraction", "gpu-memory", "gpu-fraction-num-devices"}

# Those of this workload, unless its kind or namespace is exempt.
pods(params) := [pod |
	not input.object.kind in params.kinds
	not exempt(params.namespaces)
	plain
	some pod in scheduling.pods(input.workload)
	asks_for_none(pod)
]

exempt(namespaces) if values.matches_any(namespaces, input.object.metadata.namespace)

# All is known about the workload: nothing fills its pods in later, and nothing in it is unaccounted for.
plain if {
	count(values.list(input.workload.unknown)) == 0
	count(values.list(input.unaccounted)) == 0
	input.workload.registered == true
	not accelerators.completed_elsewhere(input.object)
}

asks_for_none(pod) if {
	every _, amount in values.map(object.get(pod, "asks", {})) {
		fleetgate.fits(amount, 0) == "yes"
	}
	not accelerators.pod_asks(pod, resources)
	count(fractions & object.keys(values.map(object.get(values.map(object.get(pod, "metadata", {})), "annotations", {})))) == 0
	not served(pod)
}

# A variable gives it devices all the same, which `gitops/device-isolation` judges.
served(pod) if {
	some container in values.list(pod.spec.containers)
	some item in values.list(container.env)
	item.name in {"NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES"}
}
