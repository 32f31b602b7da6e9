# METADATA
# title: How many accelerators a workload takes is known
# description: >-
#   A number that is a placeholder, stands in another object, or belongs to a kind that nobody registered
#   cannot be counted. What is not known is never taken for none: it fits into no budget until it is
#   known.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
#     description: Kubernetes, extended resources
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     mayAsk:
#       type: boolean
#       default: true
#       description: Whether to warn of workloads of which it is not known whether there are more pods, so that they may ask for accelerators.
package fleetgate.accelerators.demand_known

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

params := data.params.accelerators.demand_known

# How many there are now, or while they are replaced.
deny contains finding if {
	some reason, resources in of_the_workload
	not about_nodes(reason)
	not about_a_limit(reason)
	finding := {
		"msg": sprintf("how many of %s it takes is not known: %s", [listed(resources), reason]),
		"path": place_of(reason),
		"remediation": remedy(reason),
	}
}

# How many pods a DaemonSet has depends on the nodes of the cluster, which its author does not write.
warn contains finding if {
	some reason, resources in of_the_workload
	about_nodes(reason)
	finding := {
		"msg": sprintf("how many of %s it takes is not known: %s", [listed(resources), reason]),
		"path": ["spec"],
		"remediation": "give the `nodes` of each pool under `accelerators` of the cluster in the fleet file; `fleetgate fleet sync` writes them",
	}
}

warn contains finding if {
	some reason in of_scaling
	not about_a_limit(reason)
	finding := {
		"msg": sprintf("how far it scales is not known: %s", [reason]),
		"path": place_of(reason),
		"remediation": remedy(reason),
	}
}

warn contains finding if {
	params.mayAsk == true
	some reason in input.workload.unknown
	not of_the_workload[reason]
	not reason in of_scaling
	not about_a_limit(reason)
	finding := {
		"msg": sprintf("it may ask for more accelerators than are counted: %s", [reason]),
		"path": place_of(reason),
		"remediation": remedy(reason),
	}
}

rows := [row | some row in input.workload.demand; row.unit != "thousandth"]

# By reason the resources whose number now, or while they are replaced, is not known for it.
of_the_workload[reason] := resources if {
	some reason in reasons({"steady", "rollout"})
	resources := {row.resource |
		some row in rows
		some number in ["steady", "rollout"]
		reason in unknown(row[number])
	}
}

of_scaling := reasons({"autoscaled"}) - reasons({"steady", "rollout"})

reasons(numbers) := {reason |
	some row in rows
	some number in numbers
	some reason in unknown(row[number])
}

unknown(amount) := values.list(object.get(values.map(amount), "unknown", []))

listed(resources) := concat(" and ", sort([sprintf("`%s`", [resource]) | some resource in resources]))

about_nodes(reason) if {
	input.object.kind == "DaemonSet"
	startswith(reason, "a DaemonSet has a pod on every node")
}

# `accelerators/accelerator-limits` names what is wrong with the limits and requests of containers.
about_a_limit(reason) if {
	path := place_of(reason)
	some i, step in path
	step == "resources"
	path[i + 1] in {"limits", "requests"}
	values.matches_any(judged_there, path[i + 2])
}

judged_there := [
	"nvidia.com/*", "amd.com/*", "gpu.intel.com/*", "google.com/tpu", "aws.amazon.com/neuron*", "habana.ai/*",
	"hami.io/*", "huawei.com/*", "cambricon.com/*", "volcano.sh/*", "vpc.amazonaws.com/efa", "rdma/*",
]

remedy(reason) := sprintf("register `%s` under `kinds` in the fleet file: where its pods stand and which fields say how many", [input.object.kind]) if {
	contains(reason, "is not a registered kind")
} else := "add what it names to the manifests of the cluster that are judged" if {
	contains(reason, "is not in this cluster's manifests")
} else := "write the whole number in its place" if {
	quantity_like(reason)
} else := "write `maxReplicas` with the most replicas that there may be" if {
	contains(reason, "`maxReplicas` is not set")
} else := "add the configurations that `baseRefs` names to the manifests that are judged, or write their templates here" if {
	contains(reason, "`baseRefs`")
} else := "write the `resources` of the model here, or add its runtime to the manifests that are judged" if {
	contains(reason, "the runtime that `spec.predictor.model.runtime` names")
} else := "write into the template what the patch changes" if {
	contains(reason, "Patch")
} else := "write a machine type that the fleet file or the shipped table has" if {
	contains(reason, "how many GPUs")
} else := "write a list of containers there, each a mapping with `resources.limits`, as Kubernetes reads it" if {
	regex.match("is not a (list|mapping)$", reason)
} else := "write it into the manifest as a whole number"

quantity_like(reason) if contains(reason, "not a quantity")

quantity_like(reason) if contains(reason, "placeholder")

# A reason begins with the place that it is about, if it is about one.
place_of(reason) := path if {
	startswith(reason, "`")
	path := steps(split(reason, "`")[1])
	path[0] in {"spec", "metadata", "template", "resource", "inference"}
} else := ["spec"]

# `a.b[0].limits["x.y/z"]` as keys and indexes.
steps(route) := array.concat(plain(pieces[0]), [step |
	some i, piece in pieces
	i > 0
	halves := split(piece, "\"]")
	some step in array.concat([halves[0]], plain(concat("", array.slice(halves, 1, 2))))
]) if {
	pieces := split(route, "[\"")
}

plain(text) := [step |
	some part in split(text, ".")
	some i, piece in split(part, "[")
	step := step_of(i, piece)
]

step_of(0, piece) := piece if piece != ""

step_of(i, piece) := to_number(digits) if {
	i > 0
	digits := trim_right(piece, "]")
	digits != ""
	trim(digits, "0123456789") == ""
}
