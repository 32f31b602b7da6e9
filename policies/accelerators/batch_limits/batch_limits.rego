# METADATA
# title: Jobs with accelerators end
# description: >-
#   A job that hangs holds its accelerators until somebody looks. A deadline ends it; a bounded number of
#   retries keeps one that always fails from starting over and over; and a cluster of Ray that a job
#   brought along is only taken down after it if that is written.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup
#     description: Kubernetes, termination of jobs
# custom:
#   level: warn
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     deadline:
#       type: boolean
#       default: true
#       description: Whether jobs need a deadline.
#     retries:
#       type: integer
#       minimum: 0
#       default: 20
#       description: The most retries that a job may have.
package fleetgate.accelerators.batch_limits

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

params := data.params.accelerators.batch_limits

object_kind := accelerators.kind(input.object)

warn contains finding if {
	params.deadline == true
	some job in jobs
	not has_deadline(job.spec)
	finding := {
		"msg": sprintf("nothing ends %s if it hangs, and it holds its accelerators meanwhile", [job.name]),
		"path": array.concat(job.path, ["activeDeadlineSeconds"]),
		"remediation": "write `activeDeadlineSeconds` with more than a run takes",
	}
}

warn contains finding if {
	some job in jobs
	retries := job.spec.backoffLimit
	is_number(retries)
	retries > params.retries
	finding := {
		"msg": sprintf("%s is tried again up to `%d` times, each time with its accelerators", [job.name, retries]),
		"path": array.concat(job.path, ["backoffLimit"]),
		"remediation": sprintf("write `backoffLimit: %d` or less", [params.retries]),
		"details": {"value": retries},
	}
}

# The cluster outlives the job that it was made for.
warn contains finding if {
	some job in ray_jobs
	is_object(job.spec.rayClusterSpec)
	object.get(job.spec, "shutdownAfterJobFinishes", false) in {false, null}
	count(values.list(object.get(job.spec, ["deletionStrategy", "deletionRules"], []))) == 0
	finding := {
		"msg": "the cluster of Ray keeps its accelerators after the job has ended",
		"path": array.concat(job.path, ["shutdownAfterJobFinishes"]),
		"remediation": "write `shutdownAfterJobFinishes: true`",
	}
}

# Where the fields that end a job stand, by kind.
jobs contains job if {
	path := {
		"batch/Job": ["spec"],
		"batch/CronJob": ["spec", "jobTemplate", "spec"],
		"keda.sh/ScaledJob": ["spec", "jobTargetRef"],
		"kubeflow.org/PyTorchJob": ["spec", "runPolicy"],
		"kubeflow.org/TFJob": ["spec", "runPolicy"],
		"kubeflow.org/MPIJob": ["spec", "runPolicy"],
		"kubeflow.org/XGBoostJob": ["spec", "runPolicy"],
		"kubeflow.org/JAXJob": ["spec", "runPolicy"],
		"kubeflow.org/PaddleJob": ["spec", "runPolicy"],
		"ray.io/RayJob": ["spec"],
		"argoproj.io/Workflow": ["spec"],
		"argoproj.io/CronWorkflow": ["spec", "workflowSpec"],
	}[object_kind]
	some pod in input.workload.pods
	asks(pod)
	job := {"name": "the job", "path": path, "spec": values.map(object.get(input.object, path, {}))}
}

jobs contains job if {
	object_kind == "jobset.x-k8s.io/JobSet"
	some i, replicated in values.list(input.object.spec.replicatedJobs)
	path := ["spec", "replicatedJobs", i, "template", "spec"]
	some pod in input.workload.pods
	array.slice(pod.path, 0, count(path)) == path
	asks(pod)
	job := {
		"name": sprintf("job `%s`", [values.show(object.get(replicated, "name", i))]),
		"path": path,
		"spec": values.map(object.get(replicated, ["template", "spec"], {})),
	}
}

ray_jobs contains job if {
	path := {"ray.io/RayJob": ["spec"], "ray.io/RayCronJob": ["spec", "jobTemplate"]}[object_kind]
	some pod in input.workload.pods
	asks(pod)
	job := {"path": path, "spec": values.map(object.get(input.object, path, {}))}
}

asks(pod) if {
	accelerators.runs(pod)
	count(accelerators.asked(pod)) > 0
}

has_deadline(job) if is_written(job.activeDeadlineSeconds)

has_deadline(job) if is_written(job.template.spec.activeDeadlineSeconds)

# Kueue ends a workload after so many seconds.
has_deadline(_) if input.object.metadata.labels["kueue.x-k8s.io/max-exec-time-seconds"]

# A template still to be filled in will be a number.
is_written(value) if not is_null(value)
