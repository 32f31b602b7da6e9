# METADATA
# title: Serving containers say when they are ready
# description: >-
#   A model server takes minutes to load its weights. Without a readiness probe it gets requests, and
#   the rollout goes on, before it can answer; with a liveness probe but no startup probe it is killed
#   while it loads, again and again.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
#     description: Kubernetes, probes
# custom:
#   level: warn
#   target: resource
#   match:
#     kinds: [Deployment, StatefulSet, LeaderWorkerSet, Rollout]
#     apiGroups: [apps, leaderworkerset.x-k8s.io, argoproj.io]
#     workloads: true
#   needs: []
#   params:
#     resources:
#       type: array
#       items: {type: string}
#       default: [nvidia.com/*, amd.com/*, gpu.intel.com/*, google.com/tpu, aws.amazon.com/neuron*, habana.ai/*, hami.io/*, huawei.com/*, cambricon.com/*]
#       description: Names of accelerator resources; `*` stands for any text. With an empty list only containers with claims are judged.
package fleetgate.gitops.serving_probes

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.pods
import data.fleetgate.lib.values

params := data.params.gitops.serving_probes

warn contains finding if {
	some entry in serving
	absent(entry.container, "readinessProbe")
	finding := {
		"msg": sprintf("container `%s` serves on a port but has no readiness probe", [pods.name(entry)]),
		"path": array.concat(entry.path, ["readinessProbe"]),
		"remediation": "write a `readinessProbe` that succeeds once the model is loaded",
	}
}

warn contains finding if {
	some entry in serving
	not absent(entry.container, "livenessProbe")
	absent(entry.container, "startupProbe")
	finding := {
		"msg": sprintf("container `%s` has a liveness probe but no startup probe, so that it is killed if it loads slowly", [pods.name(entry)]),
		"path": array.concat(entry.path, ["livenessProbe"]),
		"remediation": "write a `startupProbe` whose `failureThreshold` times `periodSeconds` is longer than loading takes",
	}
}

serving contains entry if {
	some pod in input.workload.pods
	some entry in pods.containers(pod)
	entry.list == "containers"
	count(values.list(entry.container.ports)) > 0
	accelerators.container_asks(entry.container, params.resources)
}

absent(container, field) if object.get(container, field, null) in {null, {}}
