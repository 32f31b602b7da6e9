# METADATA
# title: The cluster has nodes that are large and many enough
# description: >-
#   A pod that asks for more devices than any node has stays Pending, and so do pods that are more than all
#   nodes of the cluster can hold at once. Pools whose number of nodes is not known are taken for large
#   enough. What a queue starts one by one, or runs in another cluster, is left to the queue.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
#     description: Kubernetes, schedule GPUs
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: [fleet]
package fleetgate.quota.capacity

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

deny contains finding if {
	not elsewhere
	some pod in values.list(input.workload.pods)
	accelerators.runs(pod)
	some resource in accelerators.asked(pod)
	pools := usable(pod, resource)
	count(pools) > 0
	largest := max([pool.perNode | some pool in pools])
	fleetgate.fits(pod.asks[resource], largest) == "no"
	finding := {
		"msg": sprintf("%s asks for %s of `%s`, and the largest node of this cluster has %d", [
			accelerators.called(pod), fleetgate.show(pod.asks[resource]), resource, largest,
		]),
		"path": accelerators.place_of(pod, resource),
		"remediation": sprintf("ask for %d or less in a pod, or move the workload to a cluster with larger nodes", [largest]),
		"details": {"value": fleetgate.over(pod.asks[resource], largest), "limit": largest, "lines": [facts(pools)]},
	}
}

# All pods of one workload, with nothing else running.
deny contains finding if {
	not elsewhere
	not one_by_one
	some row in values.list(input.workload.demand)
	row.family == null
	row.unit in {"device", "slice", "share"}
	pods := [pod | some pod in input.workload.pods; row.resource in accelerators.asked(pod)]
	count(pods) > 0
	every pod in pods { is_array(pod.pools) }

	# Pods with the same choice share it; those with another are taken to have it besides.
	choices := {usable(pod, row.resource) | some pod in pods}
	pools := [pool | some choice in choices; some pool in choice]
	count(pools) > 0
	every pool in pools { is_number(pool.nodes) }
	has := sum([devices | some pool in pools; devices := pool.nodes * pool.perNode])
	fleetgate.fits(row.steady, has) == "no"
	over := fleetgate.over(row.steady, has)
	over > 0
	finding := {
		"msg": sprintf("it asks for %s of `%s`, and the nodes of this cluster that its pods may use have %d together", [
			fleetgate.show(row.steady), row.resource, has,
		]),
		"path": pods[0].path,
		"remediation": sprintf("ask for %d less, or add nodes and write their number into the fleet file", [over]),
		"details": {"value": over, "limit": has, "lines": [facts(pools)]},
	}
}

# Pools with the resource that selectors do not rule out. Taints are for the rules about tolerations.
usable(pod, resource) := [pool |
	some pool in values.list(pod.pools)
	pool.resource == resource
	pool.selected != "no"
]

elsewhere if input.workload.queue.elsewhere

# The pods of a Deployment in a queue run as far as there is room.
one_by_one if {
	is_object(input.workload.queue)
	accelerators.kind(input.object) in {"apps/Deployment", "Pod"}
}

# The pods of a job that do not know each other run one after the other.
one_by_one if {
	accelerators.kind(input.object) in {"argoproj.io/CronWorkflow", "argoproj.io/Workflow", "batch/CronJob", "batch/Job", "keda.sh/ScaledJob"}
	not indexed
}

indexed if input.object.spec.completionMode == "Indexed"

facts(pools) := ["facts", concat(", ", sort([text |
	some pool in pools
	text := sprintf("%s: %s nodes × %d", [pool.family, nodes(pool), pool.perNode])
]))]

nodes(pool) := sprintf("%d", [pool.nodes]) if {
	is_number(pool.nodes)
} else := "any number of"
