# METADATA
# title: Parts of devices are given by HAMi's scheduler
# description: >-
#   Memory and cores of a virtual GPU are kept by HAMi's scheduler. Its webhook hands it the pods that
#   ask for them, but not those that name another scheduler: these get a device without a limit, or none.
# related_resources:
#   - ref: https://github.com/Project-HAMi/HAMi
#     description: HAMi
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
#       default: [nvidia.com/gpumem, nvidia.com/gpumem-percentage, nvidia.com/gpucores, hami.io/gpumem, hami.io/gpumem-percentage, hami.io/gpucores, amd.com/gpumem, amd.com/gpucores]
#       description: Resources that only HAMi keeps. An empty list switches the rule off.
#     schedulers:
#       type: array
#       items: {type: string}
#       default: ["hami*", volcano, default-scheduler]
#       description: Schedulers that may be named; `*` stands for any text. `default-scheduler` is there because HAMi's webhook can be set to replace it.
package fleetgate.scheduling.hami_scheduler

import data.fleetgate.lib.pods
import data.fleetgate.lib.scheduling
import data.fleetgate.lib.values

params := data.params.scheduling.hami_scheduler

warn contains finding if {
	some pod in scheduling.pods(input.workload)
	scheduler := pod.spec.schedulerName
	is_string(scheduler)
	scheduler != ""
	not values.templated(scheduler)
	not values.matches_any(params.schedulers, scheduler)
	some resource in parts(pod)
	finding := {
		"msg": sprintf("%s asks for `%s`, which scheduler `%s` does not keep", [scheduling.called(pod), resource, scheduler]),
		"path": array.concat(pod.path, ["schedulerName"]),
		"remediation": "remove `schedulerName`, so that HAMi's webhook sets it, or write the name of HAMi's scheduler",
	}
}

# The first of them is enough to say.
parts(pod) := array.slice([resource |
	some resource in params.resources
	some entry in pods.containers(pod)
	resource in object.keys(values.map(values.map(entry.container.resources).limits))
], 0, 1)
