# METADATA
# title: Pods of one training start together
# description: >-
#   The processes of a training wait for each other. If the scheduler places pods one by one, two jobs
#   can each get half of the accelerators and wait for the other half for ever, with all of them taken.
#   A queue or a pod group starts all pods of a job or none.
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload/
#     description: Kueue, workloads
# custom:
#   level: warn
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     kinds:
#       type: array
#       items: {type: string}
#       default: [PyTorchJob, TFJob, MPIJob, XGBoostJob, JAXJob, PaddleJob, HyperPodPyTorchJob, Job]
#       description: Kinds to judge; of `Job` only those whose pods find each other by name. An empty list judges none.
#     schedulers:
#       type: array
#       items: {type: string}
#       default: [volcano, kai-scheduler, runai-scheduler, scheduler-plugins-scheduler, yunikorn, coscheduling*]
#       description: Schedulers that place the pods of a group together; `*` stands for any text.
package fleetgate.accelerators.gang

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

params := data.params.accelerators.gang

warn contains finding if {
	input.object.kind in params.kinds
	coupled
	several
	not together
	finding := {
		"msg": "the pods are started one by one: jobs that each get a part of their accelerators wait for each other for ever",
		"path": ["metadata", "labels", "kueue.x-k8s.io/queue-name"],
		"remediation": "write the label `kueue.x-k8s.io/queue-name: <queue>` on the object, or a `schedulerName` that places pods in groups, with its pod group",
	}
}

training_kinds := {
	"kubeflow.org/JAXJob",
	"kubeflow.org/MPIJob",
	"kubeflow.org/PaddleJob",
	"kubeflow.org/PyTorchJob",
	"kubeflow.org/TFJob",
	"kubeflow.org/XGBoostJob",
	"sagemaker.amazonaws.com/HyperPodPyTorchJob",
}

coupled if accelerators.kind(input.object) in training_kinds

# The pods of an Indexed Job that share a subdomain have names by which they talk to each other.
coupled if {
	accelerators.kind(input.object) == "batch/Job"
	input.object.spec.completionMode == "Indexed"
	is_string(input.object.spec.template.spec.subdomain)
}

taking := [pod |
	some pod in values.list(input.workload.pods)
	count(accelerators.asked(pod)) > 0
	fleetgate.fits(pod.count, 0) == "no"
]

several if count(taking) > 1

several if {
	some pod in taking
	fleetgate.fits(pod.count, 1) == "no"
}

together if is_object(input.workload.queue)

# Labels of Kueue, KAI and run:ai on the object, with or without the queue in the tree.
together if {
	some label in ["kueue.x-k8s.io/queue-name", "kai.scheduler/queue", "runai/queue"]
	input.object.metadata.labels[label]
}

together if {
	some pod in taking
	values.matches_any(params.schedulers, pod.effective.schedulerName)
}

# Pod groups of the scheduler plugins, of Volcano and of Kubernetes itself.
together if {
	some pod in taking
	pod.metadata.labels["scheduling.x-k8s.io/pod-group"]
}

together if {
	some pod in taking
	pod.metadata.labels["kueue.x-k8s.io/pod-group-name"]
}

together if {
	some pod in taking
	pod.metadata.annotations["scheduling.k8s.io/group-name"]
}

together if {
	some pod in taking
	is_object(pod.spec.schedulingGroup)
}

# The operator of Kubeflow makes a pod group if it is told how.
together if is_object(input.object.spec.runPolicy.schedulingPolicy)

# An elastic training starts with the first of its pods, and takes the others as they come.
together if {
	accelerators.kind(input.object) == "kubeflow.org/PyTorchJob"
	input.object.spec.elasticPolicy.minReplicas == 1
}
