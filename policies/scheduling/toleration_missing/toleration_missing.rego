# METADATA
# title: The taints of accelerator nodes are tolerated
# description: >-
#   Accelerator nodes carry taints so that other pods keep away. A pod that selects such nodes and
#   tolerates none of them stays pending. GKE adds the toleration to pods that ask for devices; AKS and
#   most clusters that are run by hand do not.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
#     description: Kubernetes, taints and tolerations
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
package fleetgate.scheduling.toleration_missing

import data.fleetgate.lib.scheduling

deny contains finding if {
	not scheduling.daemon(input.object)
	scheduling.settled(input.workload)
	some pod in scheduling.placed(input.workload)
	scheduling.readable(pod.spec)
	scheduling.readable(pod.effective)
	some resource in scheduling.devices(input.workload, pod)
	left := scheduling.roomy(scheduling.left(scheduling.pools(pod, resource)), pod.asks[resource])
	count(scheduling.certain(left)) > 0
	every pool in left {
		count(pool.untolerated) > 0
	}
	nearest := easiest(scheduling.certain(left))
	finding := {
		"msg": sprintf("%s does not tolerate %s of the nodes with %s, and would stay pending", [scheduling.called(pod), taints(nearest), nearest.family]),
		"path": array.concat(pod.path, ["tolerations"]),
		"remediation": sprintf("write `%s` under `tolerations`", [scheduling.tolerations_of(nearest.untolerated)]),
		"details": {"lines": array.concat(
			[["holds", scheduling.about(pod, resource)]],
			[["write", offer(pool)] | some pool in scheduling.certain(left)],
		)},
	}
}

# The pool for which least is to be written; of equals the first.
easiest(pools) := [pool |
	some pool in pools
	count(pool.untolerated) == min([count(other.untolerated) | some other in pools])
][0]

taints(pool) := sprintf("the taint `%s`", [scheduling.show_taint(pool.untolerated[0])]) if {
	count(pool.untolerated) == 1
} else := sprintf("the taints %s", [scheduling.quoted([scheduling.show_taint(taint) | some taint in pool.untolerated])])

offer(pool) := sprintf("%s    %s", [scheduling.tolerations_of(pool.untolerated), scheduling.show_pool(pool)])
