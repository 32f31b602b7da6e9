# METADATA
# title: A rollout takes few accelerators beside those in use
# description: >-
#   While a workload is replaced, old and new pods hold accelerators at the same time, unless it is told
#   to go the other way. Where there are none to spare the new pods stay pending and the rollout stands
#   still, with the old version running.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
#     description: Kubernetes, rolling update
# custom:
#   level: warn
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     devices:
#       type: integer
#       minimum: 1
#       default: 64
#       description: From how many devices more than in use a rollout is named.
package fleetgate.accelerators.surge

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

params := data.params.accelerators.surge

warn contains finding if {
	advice := advices[accelerators.kind(input.object)]
	some row in input.workload.demand
	row.unit == "device"
	fleetgate.known(row.steady)
	fleetgate.fits(row.steady, 0) == "no"
	more := fleetgate.over(row.rollout, row.steady)
	more >= params.devices
	finding := {
		"msg": sprintf("a rollout takes `%d` of `%s` beside the `%s` in use", [more, row.resource, fleetgate.show(row.steady)]),
		"path": deepest(advice.paths),
		"remediation": advice.write,
		"details": {
			"value": more,
			"lines": [["rollout", sprintf("%s: %s steady, %s while it rolls out", [row.resource, fleetgate.show(row.steady), fleetgate.show(row.rollout)])]],
		},
	}
}

# The first of the paths that is written, else the last.
deepest(paths) := written[0] if {
	written := [path | some path in paths; object.get(input.object, path, null) != null]
	count(written) > 0
} else := paths[count(paths) - 1]

in_place := "write `strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}` to replace pods one by one, or `strategy: {type: Recreate}`"

advices := {
	"apps/Deployment": {
		"paths": [["spec", "strategy", "rollingUpdate", "maxSurge"], ["spec", "strategy"]],
		"write": in_place,
	},
	"orchestration.aibrix.ai/RayClusterFleet": {
		"paths": [["spec", "strategy", "rollingUpdate", "maxSurge"], ["spec", "strategy"]],
		"write": in_place,
	},
	"leaderworkerset.x-k8s.io/LeaderWorkerSet": {
		"paths": [["spec", "rolloutStrategy", "rollingUpdateConfiguration", "maxSurge"]],
		"write": "write `maxSurge: 0` and `maxUnavailable: 1` to replace groups one by one",
	},
	"orchestration.aibrix.ai/StormService": {
		"paths": [["spec", "updateStrategy", "maxSurge"]],
		"write": "write `maxSurge: 0` and `maxUnavailable: 1` to replace them one by one",
	},
	"ray.io/RayService": {
		"paths": [["spec", "upgradeStrategy", "type"]],
		"write": "write `upgradeStrategy: {type: None}` and replace the cluster by hand, or `NewClusterWithIncrementalUpgrade` with a small `clusterUpgradeOptions.maxSurgePercent`",
	},
	"argoproj.io/Rollout": {
		"paths": [["spec", "strategy", "canary", "maxSurge"], ["spec", "strategy", "canary", "trafficRouting"], ["spec", "strategy", "blueGreen"], ["spec", "strategy"]],
		"write": "write `canary: {maxSurge: 0, maxUnavailable: 1}`, with traffic routing also `dynamicStableScale: true`",
	},
	"serving.kserve.io/InferenceService": {
		"paths": [["spec", "predictor", "deploymentStrategy", "rollingUpdate", "maxSurge"], ["spec", "predictor", "deploymentStrategy"]],
		"write": "write `deploymentStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}` under `spec.predictor`",
	},
	"serving.kserve.io/LLMInferenceService": {
		"paths": [["spec", "rolloutStrategy", "maxSurge"]],
		"write": "write `rolloutStrategy: {maxSurge: 0, maxUnavailable: 1}`",
	},
}
