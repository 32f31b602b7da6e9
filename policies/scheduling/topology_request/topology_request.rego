# METADATA
# title: Requests for topology are read
# description: >-
#   Kueue reads its topology annotations from the metadata of the pod template, by exact names. One
#   with a typing error, or on the object itself, is ignored without a word, and the pods of the job are
#   spread over the data centre. A large job without any request is spread as well.
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue, topology-aware scheduling
# custom:
#   level: warn
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     pods:
#       type: integer
#       minimum: 0
#       default: 16
#       description: From how many pods on a job in a queue should ask for a topology; 0 asks it of none.
#     resources:
#       type: array
#       items: {type: string}
#       default: [nvidia.com/gpu, amd.com/gpu, aws.amazon.com/neuron, habana.ai/gaudi]
#       description: Devices of which this is asked; TPU slices have a topology of their own. An empty list asks it of none.
#     kinds:
#       type: array
#       items: {type: string}
#       default:
#         - kubeflow.org/PyTorchJob
#         - kubeflow.org/MPIJob
#         - kubeflow.org/JAXJob
#         - kubeflow.org/PaddleJob
#         - trainer.kubeflow.org/TrainJob
#         - sagemaker.amazonaws.com/HyperPodPyTorchJob
#         - jobset.x-k8s.io/JobSet
#         - leaderworkerset.x-k8s.io/LeaderWorkerSet
#       description: Kinds, as `group/Kind`, of which this is asked. An empty list asks it of none.
package fleetgate.scheduling.topology_request

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

params := data.params.scheduling.topology_request

prefix := "kueue.x-k8s.io/podset-"

known := ["group-name", "preferred-topology", "required-topology", "slice-required-topology", "slice-size", "unconstrained-topology"]

# A name that differs from a known one by a typing error. Other names may be newer than this list.
warn contains finding if {
	some pod in scheduling.pods(input.workload)
	some name, _ in scheduling.annotations(pod)
	some meant in known
	mistyped(name, meant)
	finding := {
		"msg": sprintf("Kueue ignores the annotation `%s`", [name]),
		"path": place(pod, name),
		"remediation": sprintf("write `%s%s`", [prefix, meant]),
	}
}

# On the object instead of its pods.
warn contains finding if {
	input.object.kind != "Pod"
	count(scheduling.pods(input.workload)) > 0
	some name, _ in values.map(input.object.metadata.annotations)
	some suffix in known
	name == concat("", [prefix, suffix])
	not on_pods(name)
	finding := {
		"msg": sprintf("Kueue reads `%s` from the pod template, not from the object", [name]),
		"path": ["metadata", "annotations", name],
		"remediation": "move it to `metadata.annotations` of the pod template",
	}
}

warn contains finding if {
	params.pods > 0
	accelerators.kind(input.object) in params.kinds
	is_object(input.workload.queue)
	some pod in scheduling.placed(input.workload)
	some resource in scheduling.devices(input.workload, pod)
	resource in params.resources
	pods := scheduling.together(input.object, input.workload, pod, resource)
	pods >= params.pods
	not asks(pod)
	not attempted(pod)
	finding := {
		"msg": sprintf("%d pods compute together, and nothing asks for them to be near each other", [pods]),
		"path": place(pod, "kueue.x-k8s.io/podset-preferred-topology"),
		"remediation": "write the annotation `kueue.x-k8s.io/podset-preferred-topology: <label of a level>` if the flavour of the queue has a topology, or a `podAffinity`",
		"details": {"value": pods, "lines": [["holds", scheduling.about(pod, resource)]]},
	}
}

on_pods(name) if {
	some pod in scheduling.pods(input.workload)
	name in object.keys(scheduling.annotations(pod))
}

# Any request: of Kueue, JobSet, LeaderWorkerSet or KAI, by affinity, or by a label of a block or rack.
asks(pod) if {
	some name in object.keys(object.union(scheduling.annotations(pod), values.map(object.get(values.map(input.object.metadata), "annotations", {}))))
	values.matches_any(["kueue.x-k8s.io/podset-*topology", "*/exclusive-topology", "kai.scheduler/topology*", "network-topology.*"], name)
}

asks(pod) if {
	affinity := values.map(pod.effective.affinity)
	count(values.map(affinity.podAffinity)) > 0
}

asks(pod) if {
	some requirement in scheduling.requirements(pod.effective)
	values.matches_any(["*topology-block", "*topology-subblock", "*network-node-layer*", "*capacity-block*", "*gpu.clique", "*rack*"], requirement.key)
}

asks(_) if input.object.spec.networkTopology

# What is mistyped or misplaced is reported as that.
attempted(pod) if {
	some name in object.keys(scheduling.annotations(pod))
	startswith(name, prefix)
}

attempted(_) if {
	some name in object.keys(values.map(input.object.metadata.annotations))
	startswith(name, prefix)
}

# The metadata stands beside the pod spec, if that is a `spec`.
place(pod, name) := array.concat(parent, ["metadata", "annotations", name]) if {
	last := count(pod.path) - 1
	pod.path[last] == "spec"
	parent := array.slice(pod.path, 0, last)
} else := pod.path

# The same letters apart from one, or from case and separators, under a prefix that says it is meant.
mistyped(name, meant) if {
	startswith(lower(name), "kueue.x-k8s.io/podset")
	right := concat("", [prefix, meant])
	name != right
	not is_known(name)
	near(plain(name), plain(right))
}

is_known(name) if {
	some suffix in known
	name == concat("", [prefix, suffix])
}

plain(name) := replace(replace(lower(name), "-", ""), "_", "")

near(a, b) if a == b

# One letter too many, too few or another one.
near(a, b) if {
	some i in numbers.range(0, count(b))
	count(a) == count(b) - 1
	a == concat("", [substring(b, 0, i), substring(b, i + 1, -1)])
}

near(a, b) if {
	count(a) == count(b) + 1
	some i in numbers.range(0, count(a) - 1)
	b == concat("", [substring(a, 0, i), substring(a, i + 1, -1)])
}

near(a, b) if {
	count(a) == count(b)
	some i in numbers.range(0, count(a) - 1)
	concat("", [substring(a, 0, i), substring(a, i + 1, -1)]) == concat("", [substring(b, 0, i), substring(b, i + 1, -1)])
}
