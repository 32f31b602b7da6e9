# METADATA
# title: Where pods can run
# description: >-
#   What rules of the pack `scheduling` ask of a group of pods: which of its resources are devices,
#   what its selectors and tolerations say once queue and cluster have added theirs, which pools of
#   the cluster are left, and what to write for one of those.
package fleetgate.lib.scheduling

import data.fleetgate.lib.values

# Pods about which can be said where they run: not those that never run (templates, what is scaled to
# none for good), those that name their node, and those that a queue hands to another cluster.
placed(workload) := [pod |
	some pod in pods(workload)
	not handed_on(workload)
	not values.map(pod.spec).nodeName
]

handed_on(workload) if workload.queue.elsewhere == true

pods(workload) := [pod |
	some pod in values.list(values.map(workload).pods)
	runs(workload, pod)
]

runs(_, pod) if fleetgate.fits(pod.count, 0) != "yes"

runs(workload, pod) if {
	some row in workload.demand
	row.resource in object.keys(pod.asks)
	fleetgate.fits(row.autoscaled, 0) != "yes"
}

# Resources of which each of these pods asks for at least one device, slice or share. Device classes
# have no slash: they are no property of pools.
devices(workload, pod) := {resource |
	some resource, amount in values.map(pod.asks)
	contains(resource, "/")
	fleetgate.fits(amount, 0) == "no"
	some row in workload.demand
	row.resource == resource
	row.unit in {"device", "slice", "share"}
}

# Whether queue and cluster have added all that they are going to add. Of several flavours the queue
# takes one when it admits, so no selector or toleration can be called missing before.
settled(workload) if is_null(object.get(values.map(workload), "queue", null))

settled(workload) if {
	workload.queue.certain == true
	workload.queue.problem == ""
	count(workload.queue.flavors) <= 1
}

# Pools of the cluster with a resource; undefined if the cluster's accelerators are not known.
pools(pod, resource) := [pool |
	some pool in pod.pools
	pool.resource == resource
] if {
	is_array(pod.pools)
}

# Those of `pools` that the pod's selectors leave, and those they may leave.
left(pools) := [pool |
	some pool in pools
	pool.selected != "no"
]

certain(pools) := [pool |
	some pool in pools
	pool.selected == "yes"
]

# Those on one node of which the pod may fit.
roomy(pools, amount) := [pool |
	some pool in pools
	fleetgate.fits(amount, pool.perNode) != "no"
]

# Node selector and required node affinity as they are written: `{path, key, values}`, with the path
# from the pod spec. Alternatives (`nodeSelectorTerms`) are all listed, each with its number.
requirements(spec) := array.concat(selector(spec), affinity(spec))

selector(spec) := [requirement |
	some key, value in values.map(spec.nodeSelector)
	requirement := {"path": ["nodeSelector", key], "key": key, "values": [value], "term": -1, "operator": "In"}
]

affinity(spec) := [requirement |
	node := values.map(values.map(spec.affinity).nodeAffinity)
	required := values.map(node.requiredDuringSchedulingIgnoredDuringExecution)
	some t, term in values.list(required.nodeSelectorTerms)
	some e, expression in values.list(values.map(term).matchExpressions)
	is_object(expression)
	requirement := {
		"path": [
			"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
			"nodeSelectorTerms", t, "matchExpressions", e,
		],
		"key": object.get(expression, "key", ""),
		"values": values.list(object.get(expression, "values", [])),
		"term": t,
		"operator": object.get(expression, "operator", ""),
	}
]

# Whether nothing in selectors and tolerations is still to be filled in, or of a type that says
# nothing. Such pods are not judged: `gitops/pod-fields` reports the types.
readable(spec) if {
	every requirement in requirements(spec) {
		plain(requirement.key)
		every value in requirement.values {
			plain(value)
		}
	}
	every toleration in values.list(object.get(spec, "tolerations", [])) {
		is_object(toleration)
		every _, value in toleration {
			not values.templated(value)
		}
	}
	every name in ["nodeSelector", "affinity"] {
		object_or_absent(object.get(spec, name, null))
	}
	list_or_absent(object.get(spec, "tolerations", null))
}

plain(value) if {
	is_string(value)
	not values.templated(value)
	not startswith(value, "$")
}

object_or_absent(value) if is_object(value)

object_or_absent(value) if is_null(value)

list_or_absent(value) if is_array(value)

list_or_absent(value) if is_null(value)

# The values that a selector leaves for a label, if it has one: by node selector, or by each of the
# alternatives of the affinity.
pinned(spec, key) if {
	some requirement in selector(spec)
	requirement.key == key
}

pinned(spec, key) if {
	found := {requirement.term |
		some requirement in affinity(spec)
		requirement.key == key
		requirement.operator in {"In", "Exists"}
	}
	count(found) > 0
	count(found) == count({requirement.term | some requirement in affinity(spec)})
}

# The one value that a label must have, if there is just one.
value_of(spec, key) := value if {
	found := {value |
		some requirement in requirements(spec)
		requirement.key == key
		requirement.operator == "In"
		some value in requirement.values
	}
	count(found) == 1
	some value in found
}

# Keys by which clouds and drivers label the model, the best one to select by first.
model_keys := [
	"cloud.google.com/gke-tpu-accelerator",
	"cloud.google.com/gke-accelerator",
	"karpenter.k8s.aws/instance-gpu-name",
	"karpenter.k8s.aws/instance-accelerator-name",
	"eks.amazonaws.com/instance-gpu-name",
	"eks.amazonaws.com/instance-accelerator-name",
	"karpenter.azure.com/sku-gpu-name",
	"nvidia.com/gpu.product",
	"amd.com/gpu.product-name",
	"node.kubernetes.io/instance-type",
	"beta.kubernetes.io/instance-type",
	"karpenter.k8s.aws/instance-family",
	"cloud.google.com/machine-family",
	"kubernetes.azure.com/accelerator",
	"accelerator",
]

# What to write to select a pool: `key: value`, and the topology besides for TPUs. Undefined if its
# labels are not known.
label_of(pool) := concat(" and ", array.concat([entry(key, pool.labels[key])], more)) if {
	key := best_key(pool.labels)
	more := [entry(other, pool.labels[other]) |
		key == "cloud.google.com/gke-tpu-accelerator"
		other := "cloud.google.com/gke-tpu-topology"
		other in object.keys(pool.labels)
	]
}

best_key(labels) := found[0] if {
	found := [key |
		some key in model_keys
		key in object.keys(labels)
	]
	count(found) > 0
} else := sort([key | some key, _ in labels])[0]

# As YAML reads it back: a value such as `true` or `8` needs quotes.
entry(key, value) := sprintf("%s: %s", [key, value]) if {
	regex.match(`^[A-Za-z][A-Za-z0-9._/-]*$`, value)
	not lower(value) in {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
} else := sprintf("%s: %s", [key, json.marshal(value)])

# A toleration for a taint, in one line of YAML.
toleration_of(taint) := sprintf("{key: %s, operator: Exists, effect: %s}", [taint.key, taint.effect]) if {
	object.get(taint, "value", "") == ""
} else := sprintf("{%s, operator: Equal, %s, effect: %s}", [entry("key", taint.key), entry("value", taint.value), taint.effect])

tolerations_of(taints) := concat(", ", [toleration_of(taint) | some taint in taints])

# A taint as `kubectl` writes it.
show_taint(taint) := sprintf("%s:%s", [taint.key, taint.effect]) if {
	object.get(taint, "value", "") == ""
} else := sprintf("%s=%s:%s", [taint.key, taint.value, taint.effect])

# What pools are called: `H100 (12 nodes)`.
show_pool(pool) := sprintf("%s (%d nodes)", [pool.family, pool.nodes]) if {
	is_number(pool.nodes)
} else := pool.family

families(pools) := sort({pool.family | some pool in pools})

quoted(names) := concat(", ", [sprintf("`%s`", [name]) | some name in names])

# How a message calls the pods of a group.
called(pod) := "the pod" if {
	object.get(pod, "role", "pod") in {"pod", ""}
} else := sprintf("pod `%s`", [pod.role])

# `worker, 2 × 8 nvidia.com/gpu`: what the pods are that a finding is about.
about(pod, resource) := sprintf("%s, %s × %s %s", [pod.role, fleetgate.show(pod.count), fleetgate.show(pod.asks[resource]), resource])

# Where a pod asks for a resource; where the pod spec stands if it is asked for by other fields.
place_of(pod, resource) := paths[0] if {
	paths := [path |
		some side in ["limits", "requests"]
		some list in ["containers", "initContainers"]
		some i, container in values.list(pod.spec[list])
		resource in object.keys(values.map(values.map(values.map(container).resources)[side]))
		path := array.concat(pod.path, [list, i, "resources", side, resource])
	]
	count(paths) > 0
} else := pod.path

# Pods whose TPU slices Kueue or GKE cut out of a larger shape when they start.
cut(pod) if {
	some name in object.keys(annotations(pod))
	startswith(name, "kueue.x-k8s.io/podset-slice-")
}

cut(pod) if "cloud.google.com/gke-tpu-slice-topology" in object.keys(annotations(pod))

annotations(pod) := values.map(object.get(values.map(object.get(pod, "metadata", {})), "annotations", {}))

# How many pods of a group compute together: those of one Job of a JobSet, one group of a
# LeaderWorkerSet, otherwise all that ask for the resource. Undefined if that is not known.
together(manifest, _, pod, _) := pod.count / replicas if {
	manifest.kind == "JobSet"
	fleetgate.known(pod.count)
	replicas := object.get(manifest.spec.replicatedJobs[pod.path[2]], "replicas", 1)
	is_number(replicas)
	replicas >= 1
}

together(manifest, _, _, _) := size if {
	manifest.kind == "LeaderWorkerSet"
	size := object.get(manifest.spec.leaderWorkerTemplate, "size", 1)
	is_number(size)
}

together(manifest, workload, _, resource) := sum([other.count | some other in all]) if {
	not manifest.kind in {"JobSet", "LeaderWorkerSet"}
	all := [other |
		some other in placed(workload)
		resource in devices(workload, other)
	]
	every other in all {
		fleetgate.known(other.count)
	}
}

# A DaemonSet makes pods for the nodes that match, so none of them stays pending.
daemon(manifest) if manifest.kind == "DaemonSet"
