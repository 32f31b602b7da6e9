# METADATA
# title: Pods with accelerators request cpu and memory
# description: >-
#   A pod that asks for accelerators but for no cpu or memory is placed as if it needed none. On a full
#   node its data loader starves, so that the accelerators wait for it, or the node runs out of memory
#   and the pod is the first to be killed.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
#     description: Kubernetes, requests and limits
# custom:
#   level: warn
#   target: resource
#   match:
#     workloads: true
#   needs: []
#   params:
#     resources:
#       type: array
#       items: {type: string}
#       default: [nvidia.com/*, amd.com/*, gpu.intel.com/*, google.com/tpu, aws.amazon.com/neuron*, habana.ai/*, hami.io/*, huawei.com/*, cambricon.com/*]
#       description: Names of accelerator resources; `*` stands for any text. With an empty list only pods with claims are judged.
#     requests:
#       type: array
#       items: {type: string}
#       default: [cpu, memory]
#       description: Resources that each container of such a pod must request. An empty list demands none.
#     limits:
#       type: array
#       items: {type: string}
#       default: []
#       description: Resources for which each container of such a pod must have a limit, such as `memory`. An empty list demands none.
package fleetgate.gitops.accelerator_requests

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.pods
import data.fleetgate.lib.values

params := data.params.gitops.accelerator_requests

# A limit without a request is the request as well.
warn contains finding if {
	some entry in running
	missing := [resource |
		some resource in params.requests
		not given(entry.container, "requests", resource)
		not given(entry.container, "limits", resource)
		not given(entry.pod.spec, "requests", resource)
	]
	count(missing) > 0
	finding := {
		"msg": sprintf("container `%s` of a pod with accelerators requests no %s", [pods.name(entry), concat(" and no ", missing)]),
		"path": array.concat(entry.path, ["resources", "requests"]),
		"remediation": sprintf("write %s under `resources.requests`, as measured under load", [concat(" and ", [sprintf("`%s: <quantity>`", [resource]) | some resource in missing])]),
	}
}

warn contains finding if {
	some entry in running
	missing := [resource |
		some resource in params.limits
		not given(entry.container, "limits", resource)
		not given(entry.pod.spec, "limits", resource)
	]
	count(missing) > 0
	finding := {
		"msg": sprintf("container `%s` of a pod with accelerators has no limit of %s", [pods.name(entry), concat(" and ", missing)]),
		"path": array.concat(entry.path, ["resources", "limits"]),
		"remediation": sprintf("write %s under `resources.limits`", [concat(" and ", [sprintf("`%s: <quantity>`", [resource]) | some resource in missing])]),
	}
}

# Init containers that end before the others begin take nothing from them.
running contains object.union(entry, {"pod": pod}) if {
	some pod in input.workload.pods
	accelerators.pod_asks(pod, params.resources)
	some entry in pods.containers(pod)
	stays(entry)
}

stays(entry) if entry.list == "containers"

stays(entry) if entry.container.restartPolicy == "Always"

given(holder, side, resource) if {
	quantity := values.map(values.map(holder.resources)[side])[resource]
	not is_null(quantity)
}
