# METADATA
# title: Replicas of Kubeflow's jobs have a type that there is
# description: >-
#   The keys under `pytorchReplicaSpecs` and the like are types of replicas. Any case is accepted, another
#   word is not: the operator refuses the job, or never makes those pods.
# related_resources:
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/
#     description: Kubeflow, training operator
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [JAXJob, MPIJob, PaddleJob, PyTorchJob, TFJob, XGBoostJob]
#     apiGroups: [kubeflow.org]
#   needs: []
#   params: {}
package fleetgate.accelerators.replica_types

import data.fleetgate.lib.values

deny contains finding if {
	job := jobs[input.object.kind]
	some type, _ in values.map(input.object.spec[job.field])
	not values.templated(type)
	not lower(type) in {lower(known) | some known in job.types}
	finding := {
		"msg": sprintf("`%s` is no type of replicas of a %s", [type, input.object.kind]),
		"path": ["spec", job.field, type],
		"remediation": sprintf("write %s", [concat(" or ", [sprintf("`%s`", [known]) | some known in meant(type, job.types)])]),
	}
}

jobs := {
	"JAXJob": {"field": "jaxReplicaSpecs", "types": ["Worker"]},
	"MPIJob": {"field": "mpiReplicaSpecs", "types": ["Launcher", "Worker"]},
	"PaddleJob": {"field": "paddleReplicaSpecs", "types": ["Master", "Worker"]},
	"PyTorchJob": {"field": "pytorchReplicaSpecs", "types": ["Master", "Worker"]},
	"TFJob": {"field": "tfReplicaSpecs", "types": ["PS", "Worker", "Chief", "Master", "Evaluator"]},
	"XGBoostJob": {"field": "xgbReplicaSpecs", "types": ["Master", "Worker"]},
}

# The types that begin alike, else all.
meant(type, types) := near if {
	near := [known | some known in types; startswith(lower(type), lower(known))]
	count(near) > 0
} else := types
