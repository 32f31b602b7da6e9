# METADATA
# title: A node has as many devices as a pod asks for
# description: >-
#   A pod runs on one node. If it asks for more devices than any node has that it can go to, it stays
#   pending for good, and no autoscaler can help.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
#     description: Kubernetes, extended resources
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
package fleetgate.scheduling.per_node_count

import data.fleetgate.lib.scheduling

deny contains finding if {
	not scheduling.daemon(input.object)
	some pod in scheduling.placed(input.workload)
	some resource in scheduling.devices(input.workload, pod)
	left := scheduling.left(scheduling.pools(pod, resource))
	count(left) > 0
	scheduling.roomy(left, pod.asks[resource]) == []
	most := max([pool.perNode | some pool in left])
	finding := {
		"msg": sprintf("%s asks for %s `%s`, but no node that it can go to has more than %d", [scheduling.called(pod), fleetgate.show(pod.asks[resource]), resource, most]),
		"path": scheduling.place_of(pod, resource),
		"remediation": sprintf("write %d at most, and split the work over several pods%s", [most, larger(pod, resource)]),
		"details": {
			"value": fleetgate.over(pod.asks[resource], most),
			"lines": array.concat(
				[["holds", scheduling.about(pod, resource)]],
				[["facts", sprintf("%s: %d on a node", [scheduling.show_pool(pool), pool.perNode])] | some pool in left],
			),
		},
	}
}

# A pool that is large enough, if the selectors leave it out.
larger(pod, resource) := sprintf("; or select `%s`, whose nodes have %d", [labels[0], found[0].perNode]) if {
	found := scheduling.roomy(scheduling.pools(pod, resource), pod.asks[resource])
	labels := [label | some pool in found; label := scheduling.label_of(pool)]
	count(labels) > 0
} else := ""
