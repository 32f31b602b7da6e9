# METADATA
# title: The pods of a TPU slice fill its topology
# description: >-
#   A slice has as many chips as the product of its topology: `4x4` has 16. Its pods must ask for
#   exactly these, or some hosts stay empty and the job waits for workers that never come. Several
#   slices are replicas of a JobSet, a LeaderWorkerSet or a group of Ray workers.
# related_resources:
#   - ref: https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus
#     description: GKE, topologies of TPUs
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
package fleetgate.scheduling.tpu_topology

import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

resource := "google.com/tpu"

key := "cloud.google.com/gke-tpu-topology"

# Something that no node is labelled with.
deny contains finding if {
	some group in groups
	not size(group.topology)
	finding := {
		"msg": sprintf("`%s` is no topology of a TPU slice", [group.topology]),
		"path": place(group.pod),
		"remediation": "write two or three whole numbers with `x` between them, such as `4x4` or `2x2x1`",
	}
}

# A pod that no whole number of makes a slice.
deny contains finding if {
	some group in groups
	chips := size(group.topology)
	chips % group.chips != 0
	finding := {
		"msg": sprintf("%s asks for %d chips, and no number of such pods makes the %d chips of topology `%s`", [scheduling.called(group.pod), group.chips, chips, group.topology]),
		"path": scheduling.place_of(group.pod, resource),
		"remediation": sprintf("write as many chips as one host of the slice has, a part of %d", [chips]),
		"details": {"lines": [["holds", scheduling.about(group.pod, resource)]]},
	}
}

deny contains finding if {
	some group in groups
	chips := size(group.topology)
	chips % group.chips == 0
	gang := gang_of(group)
	not filled(gang, chips, group.chips)
	finding := {
		"msg": sprintf("%s %d chips, but topology `%s` has %d", [gang.what, gang.chips, group.topology, chips]),
		"path": place(group.pod),
		"remediation": sprintf("%s%s", [remedy(gang, chips / group.chips), other_topology(group, gang.chips)]),
		"details": {"lines": [
			["holds", scheduling.about(group.pod, resource)],
			["write", sprintf("%d pods × %d chips = %d, one slice of %s", [chips / group.chips, group.chips, chips, group.topology])],
		]},
	}
}

# Groups of pods of which all is known that matters: `{pod, topology, chips}`.
groups contains group if {
	some pod in scheduling.placed(input.workload)
	resource in scheduling.devices(input.workload, pod)
	fleetgate.known(pod.asks[resource])
	not scheduling.cut(pod)
	scheduling.readable(pod.spec)
	scheduling.readable(pod.effective)
	topology := scheduling.value_of(pod.effective, key)
	final(pod)
	group := {"pod": pod, "topology": topology, "chips": pod.asks[resource]}
}

# A queue adds labels and changes none, so what is written stays.
final(pod) if scheduling.value_of(pod.spec, key)

final(_) if scheduling.settled(input.workload)

# The number of chips; undefined if the text is no topology.
size(topology) := product([to_number(side) | some side in split(topology, "x")]) if {
	regex.match(`^[1-9][0-9]{0,3}(x[1-9][0-9]{0,3}){1,2}$`, topology)
}

place(pod) := array.concat(pod.path, own[0].path) if {
	own := [r | some r in scheduling.requirements(pod.spec); r.key == key]
	count(own) > 0
} else := pod.path

# The pods that have to fill a slice, or several: `{chips, exact, what, field, slices}`. Undefined if
# it is not known how many they are.

# Each Job of a JobSet is a slice.
gang_of(group) := gang if {
	is_jobset
	job := input.object.spec.replicatedJobs[group.pod.path[2]]
	fleetgate.known(group.pod.count)
	pods := group.pod.count / whole(object.get(job, "replicas", 1))
	pods >= 1
	gang := {
		"chips": pods * group.chips, "exact": true, "what": "the pods of each Job ask for",
		"field": "`parallelism` and `completions`", "more": 0, "slices": "`replicas` of the replicated Job",
	}
}

# Each group of a LeaderWorkerSet is a slice, leader and workers together.
gang_of(group) := gang if {
	is_leaderworkerset
	group == first
	same_topology
	template := input.object.spec.leaderWorkerTemplate
	size := whole(object.get(template, "size", 1))
	leaders := [other.chips | some other in groups; other.pod.role == "leader"]
	workers := [other.chips | some other in groups; other.pod.role == "worker"]
	without := count([1 | template.leaderTemplate])
	gang := {
		"chips": sum(leaders) + ((size - without) * sum(workers)), "exact": true, "what": "the pods of each group ask for",
		"field": "`size`", "more": without - count(leaders), "slices": "`replicas`",
	}
}

# The hosts of each replica of Ray workers are a slice.
gang_of(group) := gang if {
	is_ray
	workers := values.map(object.get(input.object, array.slice(group.pod.path, 0, count(group.pod.path) - 2), {}))
	gang := {
		"chips": whole(object.get(workers, "numOfHosts", 1)) * group.chips, "exact": true,
		"what": "the hosts of each replica ask for",
		"field": "`numOfHosts`", "more": 0, "slices": "`replicas` of the worker group",
	}
}

# Of other kinds all pods together fill one slice or several. A pod by itself may be one of several
# that are written by hand.
gang_of(group) := gang if {
	not is_jobset
	not is_leaderworkerset
	not is_ray
	input.object.kind != "Pod"
	group == first
	same_topology
	total > 0
	gang := {"chips": total, "exact": false, "what": "all pods together ask for", "field": "", "more": 0, "slices": ""}
}

is_jobset if {
	input.object.kind == "JobSet"
	count(groups) == 1
}

is_leaderworkerset if input.object.kind == "LeaderWorkerSet"

is_ray if {
	count(groups) > 0
	every group in groups {
		"workerGroupSpecs" in group.pod.path
	}
}

first := [group | some group in groups][0]

# Neither several shapes nor pods of which it is not known how many chips they ask for.
same_topology if {
	count({group.topology | some group in groups}) == 1
	every pod in scheduling.placed(input.workload) {
		fleetgate.known(object.get(values.map(pod.asks), resource, 0))
	}
	count([pod | some pod in scheduling.placed(input.workload); resource in scheduling.devices(input.workload, pod)]) == count(groups)
}

# Undefined if one of the counts is not known.
total := sum([chips |
	some group in groups
	chips := group.pod.count * group.chips
]) if {
	every group in groups {
		fleetgate.known(group.pod.count)
	}
}

whole(number) := number if {
	is_number(number)
	number >= 1
	floor(number) == number
}

# A slice of one host is a pod, and there may be any number of them.
filled(_, chips, per_pod) if chips == per_pod

filled(gang, chips, _) if gang.chips == chips

filled(gang, chips, _) if {
	several
	gang.chips % chips == 0
}

filled(gang, chips, _) if {
	not gang.exact
	gang.chips % chips == 0
}

# Groups that their controller cuts into slices.
several if input.object.spec.leaderWorkerTemplate.subGroupPolicy

remedy(gang, pods) := sprintf("write %d for %s; further slices are %s", [pods + gang.more, gang.field, gang.slices]) if {
	gang.exact
} else := sprintf("make it %d pods, or a multiple of that for several slices", [pods])

# A shape that this cluster has for the pods as they are.
other_topology(group, chips) := sprintf("; or select `%s`", [scheduling.entry(key, fitting[0])]) if {
	fitting := sort({pool.labels[key] |
		some pool in scheduling.pools(group.pod, resource)
		size(pool.labels[key]) == chips
		fleetgate.fits(group.chips, pool.perNode) == "yes"
	})
	count(fitting) > 0
} else := ""
