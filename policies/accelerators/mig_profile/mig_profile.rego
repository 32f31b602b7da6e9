# METADATA
# title: A MIG profile is one that the selected model has
# description: >-
#   The models of one family have partitions of different size: an A100 of 40 GB has `1g.5gb`, one of 80 GB
#   `1g.10gb`. A pod that selects a model and asks for a profile that it does not have stays pending for
#   ever.
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA, MIG profiles
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: []
#   params: {}
package fleetgate.accelerators.mig_profile

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.mig

deny contains finding if {
	some row in input.workload.demand
	row.unit == "thousandth"
	profile := trim_suffix(trim_prefix(row.resource, "nvidia.com/mig-"), ".shared")
	profile != row.resource
	profiles := mig.profiles(row)
	count([known | some known in profiles; mig.same(profile, known)]) == 0
	some pod in input.workload.pods
	row.resource in accelerators.asked(pod)
	accelerators.runs(pod)
	finding := {
		"msg": sprintf("%s selects %s, which has no MIG profile `%s`", [accelerators.called(pod), selected(row), profile]),
		"path": accelerators.place_of(pod, row.resource),
		"remediation": remedy(profile, profiles),
		"details": {"lines": [["right", concat(", ", sort({sprintf("nvidia.com/mig-%s", [known]) | some known in profiles}))]]},
	}
}

selected(row) := sprintf("`%s`", [row.model]) if {
	is_string(row.model)
} else := sprintf("the family `%s`", [row.family])

remedy(profile, profiles) := sprintf("write one of its profiles: %s; or select %s", [listed(profiles), concat(" or ", owners)]) if {
	owners := sort({sprintf("`%s`", [name]) | some name, model in mig.models; some known in model.profiles; mig.same(profile, known)})
	count(owners) > 0
} else := sprintf("write one of its profiles: %s", [listed(profiles)])

listed(profiles) := concat(", ", sort({sprintf("`%s`", [known]) | some known in profiles}))
