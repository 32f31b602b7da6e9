# METADATA
# title: The selector leaves a node of this cluster
# description: >-
#   A pod whose node selector or required affinity matches no accelerator node of the cluster, or that
#   asks for a device that no node has, stays pending for good. The usual cause is a manifest that
#   carries the labels of another cloud or another cluster.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#     description: Kubernetes, assigning pods to nodes
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     clouds:
#       type: object
#       additionalProperties:
#         type: object
#         properties:
#           name: {type: string}
#           provider: {type: string}
#         additionalProperties: false
#       default:
#         cloud.google.com/*: {name: GKE, provider: gcp}
#         karpenter.k8s.aws/*: {name: EKS, provider: aws}
#         eks.amazonaws.com/*: {name: EKS, provider: aws}
#         kubernetes.azure.com/*: {name: AKS, provider: azure}
#         karpenter.azure.com/*: {name: AKS, provider: azure}
#       description: Which keys of labels only one provider's nodes carry; `*` stands for any text. It explains findings and makes none.
package fleetgate.scheduling.model_in_catalogue

import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

params := data.params.scheduling.model_in_catalogue

# A label that no node with the resource carries.
deny contains finding if {
	some case in cases
	count(case.pools) > 0
	some requirement in first(case)
	finding := {
		"msg": sprintf("no node with `%s` in this cluster carries `%s`%s, so %s would stay pending", [case.resource, shown(requirement), origin(case, requirement), scheduling.called(case.pod)]),
		"path": place(case, requirement),
		"remediation": remedy(case, requirement),
		"details": {"lines": lines(case, requirement)},
	}
}

# Each label is carried by some node, but all by none.
deny contains finding if {
	some case in cases
	count(case.pools) > 0
	count(first(case)) == 0
	count(scheduling.requirements(case.pod.effective)) > 0
	finding := {
		"msg": sprintf("no node with `%s` in this cluster carries all of %s, so %s would stay pending", [case.resource, scheduling.quoted([shown(r) | some r in scheduling.requirements(case.pod.effective)]), scheduling.called(case.pod)]),
		"path": whole(case.pod),
		"remediation": remedy(case, {"key": "", "values": [], "operator": "In", "term": -1, "path": []}),
		"details": {"lines": lines(case, {"key": "", "values": []})},
	}
}

# An affinity that requires something and says nothing: a term without expressions is no node's.
deny contains finding if {
	some case in cases
	count(case.pools) > 0
	count(scheduling.requirements(case.pod.effective)) == 0
	finding := {
		"msg": sprintf("the required node affinity has no term that a node can match, so %s would stay pending", [scheduling.called(case.pod)]),
		"path": whole(case.pod),
		"remediation": "write `matchExpressions` into the terms of `nodeSelectorTerms`, or remove the affinity",
	}
}

# A resource that no node has.
deny contains finding if {
	some case in cases
	case.pools == []
	finding := {
		"msg": sprintf("no node of this cluster has `%s`, so %s would stay pending", [case.resource, scheduling.called(case.pod)]),
		"path": scheduling.place_of(case.pod, case.resource),
		"remediation": "deploy it to a cluster that has this device, or add the pool to the cluster's `accelerators` in the fleet file if it has one",
		"details": {"lines": array.concat([["holds", scheduling.about(case.pod, case.resource)]], has(case))},
	}
}

# Pods and resources for which no pool is left.
cases contains case if {
	not scheduling.daemon(input.object)
	scheduling.settled(input.workload)
	some pod in scheduling.placed(input.workload)
	scheduling.readable(pod.spec)
	scheduling.readable(pod.effective)
	some resource in scheduling.devices(input.workload, pod)
	pools := scheduling.pools(pod, resource)
	scheduling.left(pools) == []
	case := {"pod": pod, "resource": resource, "pools": pools}
}

# The first requirement that no pool meets, as a list; empty if there is none.
first(case) := array.slice([requirement |
	some requirement in ordered(case.pod)
	not met(case.pools, requirement)
], 0, 1)

# Written ones first, and those about the model before others.
ordered(pod) := array.concat(
	[r | some key in scheduling.model_keys; some r in scheduling.requirements(pod.effective); r.key == key],
	[r | some r in scheduling.requirements(pod.effective); not r.key in scheduling.model_keys],
)

met(pools, requirement) if {
	some pool in pools
	carries(pool, requirement)
}

carries(pool, requirement) if {
	requirement.operator == "In"
	pool.labels[requirement.key] in requirement.values
}

carries(pool, requirement) if {
	requirement.operator == "Exists"
	requirement.key in object.keys(pool.labels)
}

# What these exclude or compare was judged natively.
carries(_, requirement) if not requirement.operator in {"In", "Exists"}

shown(requirement) := scheduling.entry(requirement.key, requirement.values[0]) if {
	count(requirement.values) == 1
} else := sprintf("%s: one of %s", [requirement.key, concat(", ", requirement.values)]) if {
	count(requirement.values) > 1
} else := sprintf("%s (%s)", [requirement.key, requirement.operator])

written(case, requirement) if {
	some own in scheduling.requirements(case.pod.spec)
	own.path == requirement.path
	own.values == requirement.values
}

origin(case, requirement) := "" if {
	written(case, requirement)
} else := sprintf(", which flavour `%s` of queue `%s` adds", [input.workload.queue.flavors[0], input.workload.queue.name]) if {
	count(input.workload.queue.flavors) == 1
} else := ", which the cluster adds"

place(case, requirement) := array.concat(case.pod.path, requirement.path) if {
	written(case, requirement)
} else := whole(case.pod)

whole(pod) := array.concat(pod.path, ["nodeSelector"]) if {
	count(values.map(pod.spec.nodeSelector)) > 0
} else := array.concat(pod.path, ["affinity", "nodeAffinity"]) if {
	count(scheduling.affinity(pod.spec)) > 0
} else := pod.path

# The pools to propose: of the family that the written value names, if there is one; all otherwise.
proposed(case, requirement) := same if {
	same := [pool | some pool in candidates(case); meant(pool, requirement)]
	count(same) > 0
} else := candidates(case)

candidates(case) := roomy if {
	roomy := scheduling.roomy(case.pools, case.pod.asks[case.resource])
	count(roomy) > 0
} else := case.pools

meant(pool, requirement) if {
	some value in requirement.values
	same_model(lower(pool.family), lower(value))
}

meant(pool, requirement) if {
	some value in requirement.values
	some key in scheduling.model_keys
	same_model(lower(pool.labels[key]), lower(value))
}

same_model(a, b) if contains(a, b)

same_model(a, b) if contains(b, a)

labels(case, requirement) := sort({label |
	some pool in proposed(case, requirement)
	label := scheduling.label_of(pool)
})

remedy(case, requirement) := sprintf("write `%s`%s", [labels(case, requirement)[0], instead(requirement)]) if {
	count(labels(case, requirement)) == 1
} else := sprintf("write one of %s%s", [scheduling.quoted(labels(case, requirement)), instead(requirement)]) if {
	count(labels(case, requirement)) > 1
} else := "remove the selector, or add the labels of the nodes to the cluster's `accelerators` in the fleet file"

instead(requirement) := sprintf(" instead of `%s`", [requirement.key]) if {
	requirement.key != ""
} else := ""

lines(case, requirement) := array.concat(
	array.concat([["holds", scheduling.about(case.pod, case.resource)]], foreign(requirement)),
	array.concat([["write", offer(pool)] | some pool in proposed(case, requirement)], queue),
)

has(case) := [["facts", sprintf("its pools have %s", [concat(", ", others)])]] if {
	others := sort({pool.resource | some pool in case.pod.pools})
	count(others) > 0
} else := []

offer(pool) := sprintf("%s    %s%s", [scheduling.label_of(pool), scheduling.show_pool(pool), tolerate(pool)])

tolerate(pool) := sprintf("; toleration: %s", [scheduling.tolerations_of(pool.untolerated)]) if {
	count(pool.untolerated) > 0
} else := ""

# That a key is another provider's.
foreign(requirement) := [["facts", sprintf("`%s` is a key of %s; this cluster is of provider `%s`", [requirement.key, cloud.name, input.cluster.provider])]] if {
	some pattern, cloud in params.clouds
	values.matches(pattern, requirement.key)
	is_string(input.cluster.provider)
	cloud.provider != input.cluster.provider
} else := []

queue := [["queue", sprintf("`%s` → flavour `%s` adds no label that corrects it", [input.workload.queue.name, input.workload.queue.flavors[0]])]] if {
	count(input.workload.queue.flavors) == 1
} else := []
