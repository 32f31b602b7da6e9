package fleetgate.quota.elastic_quota_test

import data.fleetgate.quota.elastic_quota as rule

row(used, fits) := {
	"row": "limit", "system": "elastic-quota", "unit": "unit", "limit": 8, "key": "nvidia.com/gpu", "resource": "nvidia.com/gpu",
	"ref": {"group": "scheduling.x-k8s.io", "kind": "ElasticQuota", "namespace": "ml", "name": "e"}, "path": ["spec", "max", "nvidia.com/gpu"], "owner": null,
	"needed": used[0],
	"used": {"steady": used[0], "rollout": used[1], "autoscaled": used[1]}, "fits": {"steady": fits[0], "rollout": fits[1], "autoscaled": fits[1]},
	"contributors": [{"ref": {"group": "apps", "kind": "Deployment", "namespace": "ml", "name": "a"}, "steady": used[0], "rollout": used[1]}],
}

denied(r) := found if found := rule.deny with input as {"quotas": [r]}

warned(r) := found if found := rule.warn with input as {"quotas": [r]}

test_what_runs_all_the_time_is_denied_beyond_max if {
	some finding in denied(row([12, 14], ["no", "no"]))
	finding.msg == "ElasticQuota ml/e allows 8 of `nvidia.com/gpu`, the workloads ask for 12: pods beyond it stay Pending"
	finding.details.value == 4
	warned(row([12, 14], ["no", "no"])) == set()
}

test_jobs_that_wait_for_each_other_are_left if {
	r := object.union(row([16, 16], ["no", "no"]), {"needed": 8})
	denied(r) | warned(r) == set()
}

test_a_rollout_is_advice if {
	denied(row([8, 10], ["yes", "no"])) == set()
	some finding in warned(row([8, 10], ["yes", "no"]))
	contains(finding.msg, "a rollout needs 10")
}

test_what_fits_or_is_not_known_is_left if {
	denied(row([8, 8], ["yes", "yes"])) | warned(row([8, 8], ["yes", "yes"])) == set()
	unknown := {"atLeast": 8, "unknown": ["x"]}
	denied(row([unknown, unknown], ["unknown", "unknown"])) | warned(row([unknown, unknown], ["unknown", "unknown"])) == set()
}
