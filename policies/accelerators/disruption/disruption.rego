# METADATA
# title: Accelerators are not taken away in the middle of a run
# description: >-
#   A node autoscaler moves pods to pack them closer, unless a pod says that it must not be. For a training
#   of several pods that means to start again. Capacity that the cloud may take back at any time is not
#   for what serves requests.
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/disruption/
#     description: Karpenter, disruption
# custom:
#   level: warn
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     annotations:
#       type: array
#       items: {type: string}
#       default: []
#       description: Annotations, `key=value`, of which a pod of a training of several pods has one, such as `karpenter.sh/do-not-disrupt=true`. An empty list demands none.
#     environments:
#       type: array
#       items: {type: string}
#       default: [prod*]
#       description: Environments in which nothing serves from such capacity alone, `*` for any text. An empty list switches that part off.
#     spot:
#       type: array
#       items: {type: string}
#       default: [spot, preemptible, flex*]
#       description: Capacity types that can be taken back at any time, `*` for any text. An empty list switches that part off.
package fleetgate.accelerators.disruption

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.environment
import data.fleetgate.lib.values

params := data.params.accelerators.disruption

warn contains finding if {
	count(params.annotations) > 0
	accelerators.kind(input.object) in trainings
	several
	# An elastic training goes on with less.
	object.get(input.object, ["spec", "elasticPolicy"], null) == null
	some pod in taking
	not independent(pod)
	annotations := values.map(object.get(pod.metadata, "annotations", {}))
	not kept(annotations)
	finding := {
		"msg": sprintf("a node autoscaler may move %s, which ends the run of all the others", [accelerators.called(pod)]),
		"path": array.concat(template(pod.path), ["metadata", "annotations"]),
		"remediation": sprintf("write the annotation %s on the pod template", [concat(" or ", [sprintf("`%s`", [entry]) | some entry in written])]),
	}
}

warn contains finding if {
	count(params.spot) > 0
	environment.advised(params.environments, input.environment)
	accelerators.kind(input.object) in serving
	some pod in taking
	open := [pool | some pool in values.list(pod.pools); pool.selected != "no"]
	count(open) > 0
	count([pool | some pool in open; not values.matches_any(params.spot, pool.capacityType)]) == 0
	types := sort({pool.capacityType | some pool in open})
	finding := {
		"msg": sprintf("%s serves from `%s` capacity only, which can be taken back at any time", [accelerators.called(pod), types[0]]),
		"path": array.concat(pod.path, ["nodeSelector"]),
		"remediation": "select a pool of on-demand or reserved capacity, or allow one besides",
	}
}

# Kinds whose pods end all together if one does.
trainings := {
	"jobset.x-k8s.io/JobSet",
	"kubeflow.org/JAXJob",
	"kubeflow.org/MPIJob",
	"kubeflow.org/PyTorchJob",
	"kubeflow.org/TFJob",
	"sagemaker.amazonaws.com/HyperPodPyTorchJob",
}

serving := {
	"apps/Deployment",
	"apps/StatefulSet",
	"argoproj.io/Rollout",
	"leaderworkerset.x-k8s.io/LeaderWorkerSet",
	"ray.io/RayService",
	"serving.knative.dev/Service",
	"serving.kserve.io/InferenceService",
	"serving.kserve.io/LLMInferenceService",
}

# Pods of a job that works off more completions than run at a time do not wait for each other.
independent(pod) if {
	accelerators.kind(input.object) == "jobset.x-k8s.io/JobSet"
	job := object.get(input.object, array.slice(pod.path, 0, count(pod.path) - 2), {})
	job.completions > object.get(job, "parallelism", 1)
}

taking := [pod |
	some pod in values.list(input.workload.pods)
	accelerators.runs(pod)
	count(accelerators.asked(pod)) > 0
]

several if count(taking) > 1

several if {
	some pod in taking
	fleetgate.fits(pod.count, 1) == "no"
}

kept(annotations) if {
	some entry in params.annotations
	parts := split(entry, "=")
	annotations[parts[0]] == concat("=", array.slice(parts, 1, count(parts)))
}

written := [sprintf("%s: \"%s\"", [parts[0], concat("=", array.slice(parts, 1, count(parts)))]) |
	some entry in params.annotations
	parts := split(entry, "=")
]

# The template around a pod spec.
template(path) := array.slice(path, 0, count(path) - 1)
