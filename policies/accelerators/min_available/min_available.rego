# METADATA
# title: A group starts when all of its pods can
# description: >-
#   `minAvailable` says with how many pods a group is placed. With less than all of a training, some pods
#   take their accelerators and wait for those that find none; with more than there are, none starts.
# related_resources:
#   - ref: https://volcano.sh/en/docs/vcjob/
#     description: Volcano, Job
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#     kinds: [Job, PyTorchJob, TFJob, MPIJob, XGBoostJob, JAXJob, PaddleJob]
#   needs: []
#   params: {}
package fleetgate.accelerators.min_available

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

object_kind := accelerators.kind(input.object)

deny contains finding if {
	group.min > group.total
	finding := {
		"msg": sprintf("`minAvailable` is `%d`, but there are `%d` pods: none is started", [group.min, group.total]),
		"path": group.path,
		"remediation": sprintf("write `minAvailable: %d`", [group.total]),
	}
}

warn contains finding if {
	group.min < group.total
	finding := {
		"msg": sprintf("`minAvailable` is `%d` of `%d` pods: so many take their accelerators while the others may find none", [group.min, group.total]),
		"path": group.path,
		"remediation": sprintf("write `minAvailable: %d`", [group.total]),
	}
}

group := {"path": ["spec", "minAvailable"], "min": min, "total": total} if {
	object_kind == "batch.volcano.sh/Job"
	asks
	tasks := values.list(input.object.spec.tasks)
	# Tasks with a least number of their own can do with less.
	count([task | some task in tasks; is_object(task); object.get(task, "minAvailable", null) != null]) == 0
	min := input.object.spec.minAvailable
	total := total_of(tasks)
	is_number(min)
} else := {"path": ["spec", "runPolicy", "schedulingPolicy", "minAvailable"], "min": min, "total": total} if {
	replica_specs := {
		"kubeflow.org/JAXJob": "jaxReplicaSpecs",
		"kubeflow.org/MPIJob": "mpiReplicaSpecs",
		"kubeflow.org/PaddleJob": "paddleReplicaSpecs",
		"kubeflow.org/PyTorchJob": "pytorchReplicaSpecs",
		"kubeflow.org/TFJob": "tfReplicaSpecs",
		"kubeflow.org/XGBoostJob": "xgbReplicaSpecs",
	}[object_kind]
	asks
	# An elastic training can do with less.
	object.get(input.object, ["spec", "elasticPolicy"], null) == null
	min := input.object.spec.runPolicy.schedulingPolicy.minAvailable
	total := total_of([replicas | some replicas in values.map(input.object.spec[replica_specs])])
	is_number(min)
}

# Undefined if one of the numbers is not known.
total_of(entries) := sum(numbers) if {
	numbers := [object.get(entry, "replicas", 1) | some entry in entries; is_object(entry)]
	count(entries) > 0
	count([number | some number in numbers; is_number(number)]) == count(entries)
}

asks if {
	some pod in input.workload.pods
	accelerators.runs(pod)
	count(accelerators.asked(pod)) > 0
}
