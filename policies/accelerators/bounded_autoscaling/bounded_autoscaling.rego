# METADATA
# title: What scales accelerators has a largest number
# description: >-
#   Autoscalers of several kinds have no bound, or one that nobody chose, unless it is written: two
#   thousand million workers in Ray, none at all in Knative, a hundred jobs in KEDA. No budget can hold
#   that.
# related_resources:
#   - ref: https://knative.dev/docs/serving/autoscaling/scale-bounds/
#     description: Knative, scale bounds
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params: {}
package fleetgate.accelerators.bounded_autoscaling

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

object_kind := accelerators.kind(input.object)

# The greatest number that KubeRay can write, which is its default.
ray_default := 2147483647

deny contains finding if {
	some place in groups
	finding := {
		"msg": sprintf("worker group `%s` scales accelerators up to %s", [place.name, place.top]),
		"path": array.concat(place.path, ["maxReplicas"]),
		"remediation": "write `maxReplicas` with the most replicas of the group that there may be, or `enableInTreeAutoscaling: false`",
	}
}

# What has no bound for another reason than a worker group.
deny contains finding if {
	count(groups) == 0
	not object_kind in runs_of_schedules
	unbounded := sort({row.resource | some row in input.workload.demand; has_no_bound(row)})
	count(unbounded) > 0
	some place in bounds
	finding := {
		"msg": sprintf("%s, so that it takes `%s` without bound", [place.why, unbounded[0]]),
		"path": place.path,
		"remediation": place.write,
	}
}

# Each undoes what the other does; counted is the larger of the two.
warn contains finding if {
	some note in input.workload.notes
	note.code == "two-autoscalers"
	asks
	finding := {
		"msg": sprintf("%s, each against the other", [note.message]),
		"path": ["spec", "replicas"],
		"remediation": "keep one of them: a HorizontalPodAutoscaler with several metrics, or a ScaledObject with several triggers",
	}
}

# 100 by default: it is counted, but nobody chose it.
warn contains finding if {
	object_kind == "keda.sh/ScaledJob"
	asks
	spec := values.map(input.object.spec)
	object.get(spec, "maxReplicaCount", null) == null
	finding := {
		"msg": "`maxReplicaCount` is not set, so that KEDA starts up to 100 jobs with accelerators",
		"path": ["spec", "maxReplicaCount"],
		"remediation": "write `maxReplicaCount` with the most jobs that may run at a time",
	}
}

# `accelerators/cronjob-concurrency` names what is without bound because runs overlap.
runs_of_schedules := {"batch/CronJob", "ray.io/RayCronJob"} | {kind |
	kind := "argoproj.io/CronWorkflow"
	not object.get(values.map(input.object.spec), "concurrencyPolicy", null) in {"Forbid", "Replace"}
}

has_no_bound(row) if {
	row.unit != "thousandth"
	some number in ["steady", "rollout", "autoscaled"]
	object.get(values.map(row[number]), "unbounded", false) == true
}

# Worker groups of Ray that scale and ask for accelerators, and have no largest number.
groups contains place if {
	cluster := ray_clusters[object_kind]
	spec := values.map(object.get(input.object, cluster, {}))
	spec.enableInTreeAutoscaling == true
	some i, group in values.list(spec.workerGroupSpecs)
	path := array.concat(cluster, ["workerGroupSpecs", i])
	some pod in input.workload.pods
	array.slice(pod.path, 0, count(path)) == path
	accelerators.runs(pod)
	count(accelerators.asked(pod)) > 0
	top := tops[object.get(group, "maxReplicas", null)]
	place := {"name": values.show(object.get(group, "groupName", i)), "path": path, "top": top}
}

tops := {
	null: "2147483647 replicas, which Ray takes where `maxReplicas` is not set",
	ray_default: "2147483647 replicas",
}

ray_clusters := {
	"ray.io/RayCluster": ["spec"],
	"ray.io/RayJob": ["spec", "rayClusterSpec"],
	"ray.io/RayService": ["spec", "rayClusterConfig"],
	"ray.io/RayCronJob": ["spec", "jobTemplate", "rayClusterSpec"],
	"orchestration.aibrix.ai/RayClusterFleet": ["spec", "template", "spec"],
}

bounds contains place if {
	object_kind == "serving.knative.dev/Service"
	place := {
		"why": "`autoscaling.knative.dev/max-scale` is not set or 0, which is no limit",
		"path": ["spec", "template", "metadata", "annotations", "autoscaling.knative.dev/max-scale"],
		"write": "write the annotation `autoscaling.knative.dev/max-scale` under `spec.template.metadata`, with the most replicas that there may be, in quotes",
	}
}

bounds contains place if {
	object_kind == "serving.kserve.io/InferenceService"
	some pod in input.workload.pods
	pod.role in {"predictor", "transformer", "explainer"}
	count(accelerators.asked(pod)) > 0
	most := object.get(input.object, ["spec", pod.role, "maxReplicas"], 0)
	most in {0, null}
	place := {
		"why": "`maxReplicas` is not set or 0, which is no limit in Knative",
		"path": ["spec", pod.role, "maxReplicas"],
		"write": sprintf("write `maxReplicas` under `spec.%s` with the most replicas that there may be", [pod.role]),
	}
}

bounds contains place if {
	object_kind == "sparkoperator.k8s.io/SparkApplication"
	place := {
		"why": "`dynamicAllocation` has no `maxExecutors`",
		"path": ["spec", "dynamicAllocation", "maxExecutors"],
		"write": "write `maxExecutors` with the most executors that there may be",
	}
}

bounds contains place if {
	path := {
		"argoproj.io/Workflow": ["spec", "parallelism"],
		"argoproj.io/CronWorkflow": ["spec", "workflowSpec", "parallelism"],
	}[object_kind]
	place := {
		"why": "the workflow has steps without a number and no `parallelism`",
		"path": path,
		"write": "write `parallelism` with the most steps that may run at a time",
	}
}

bounds contains place if {
	object_kind == "nvidia.com/DynamoGraphDeployment"
	some name, service in values.map(input.object.spec.services)
	service.autoscaling.enabled == true
	object.get(service, ["autoscaling", "maxReplicas"], null) == null
	place := {
		"why": sprintf("`autoscaling` of service `%s` has no `maxReplicas`", [name]),
		"path": ["spec", "services", name, "autoscaling", "maxReplicas"],
		"write": "write `maxReplicas` with the most replicas that there may be",
	}
}

bounds contains place if {
	not object_kind in known_kinds
	place := {
		"why": "it has no largest number of replicas",
		"path": ["spec"],
		"write": "set the field that bounds the replicas of this kind",
	}
}

known_kinds := {
	"argoproj.io/CronWorkflow",
	"argoproj.io/Workflow",
	"nvidia.com/DynamoGraphDeployment",
	"serving.knative.dev/Service",
	"serving.kserve.io/InferenceService",
	"sparkoperator.k8s.io/SparkApplication",
}

asks if {
	some pod in input.workload.pods
	accelerators.runs(pod)
	count(accelerators.asked(pod)) > 0
}
