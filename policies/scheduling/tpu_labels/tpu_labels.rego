# METADATA
# title: TPU pods select accelerator and topology
# description: >-
#   GKE places a pod with TPUs by two labels together, the type of the accelerator and the topology of
#   the slice. With one of them missing the pod gets a slice of another shape, or none.
# related_resources:
#   - ref: https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus
#     description: GKE, TPUs
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params:
#     alternatives:
#       type: array
#       items: {type: string}
#       default: [cloud.google.com/compute-class, cloud.google.com/gke-nodepool, cloud.google.com/gke-tpu-slice-topology]
#       description: Keys that tell GKE the slice instead. A pod that requires one of them is not judged. An empty list accepts none.
package fleetgate.scheduling.tpu_labels

import data.fleetgate.lib.scheduling

params := data.params.scheduling.tpu_labels

resource := "google.com/tpu"

keys := ["cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"]

deny contains finding if {
	scheduling.settled(input.workload)
	some pod in scheduling.placed(input.workload)
	resource in scheduling.devices(input.workload, pod)
	scheduling.readable(pod.spec)
	scheduling.readable(pod.effective)
	not elsewhere(pod)
	not scheduling.cut(pod)
	missing := [key | some key in keys; not scheduling.pinned(pod.effective, key)]
	count(missing) > 0
	finding := {
		"msg": sprintf("%s asks for `%s` without selecting %s", [scheduling.called(pod), resource, scheduling.quoted(missing)]),
		"path": array.concat(pod.path, ["nodeSelector"]),
		"remediation": remedy(pod, missing),
		"details": {"lines": array.concat(
			[["holds", scheduling.about(pod, resource)]],
			[["write", sprintf("%s    %s", [scheduling.label_of(pool), scheduling.show_pool(pool)])] | some pool in fitting(pod)],
		)},
	}
}

elsewhere(pod) if {
	some key in params.alternatives
	scheduling.pinned(pod.effective, key)
}

# Pools that the pod leaves, with as many chips on a node as it asks for; none if they are not known.
fitting(pod) := [pool |
	some pool in scheduling.left(scheduling.pools(pod, resource))
	fleetgate.fits(pod.asks[resource], pool.perNode) == "yes"
]

labels(pod) := sort({label |
	some pool in fitting(pod)
	label := scheduling.label_of(pool)
})

remedy(pod, missing) := sprintf("write `%s` under `nodeSelector`", [labels(pod)[0]]) if {
	count(labels(pod)) == 1
} else := sprintf("write one of %s under `nodeSelector`", [scheduling.quoted(labels(pod))]) if {
	count(labels(pod)) > 1
} else := sprintf("write %s under `nodeSelector`, with the type and the topology of the slice", [scheduling.quoted(missing)])
