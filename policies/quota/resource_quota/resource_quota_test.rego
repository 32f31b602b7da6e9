package fleetgate.quota.resource_quota_test

import data.fleetgate.quota.resource_quota as rule

ref := {"group": "", "kind": "ResourceQuota", "namespace": "ml", "name": "gpus"}

deployment(name, steady, rollout, needs) := {
	"ref": {"group": "apps", "kind": "Deployment", "namespace": "ml", "name": name},
	"steady": steady, "rollout": rollout, "autoscaled": rollout, "queued": false, "needsSurge": needs,
}

row(used, fits, contributors) := {
	"row": "limit", "system": "resource-quota", "ref": ref, "path": ["spec", "hard", "requests.nvidia.com/gpu"], "unit": "unit",
	"key": "requests.nvidia.com/gpu", "resource": "nvidia.com/gpu", "limit": 8, "owner": null,
	"needed": used[0],
	"used": {"steady": used[0], "rollout": used[1], "autoscaled": used[2]},
	"fits": {"steady": fits[0], "rollout": fits[1], "autoscaled": fits[2]},
	"contributors": contributors,
}

denied(r) := found if found := rule.deny with input as {"quotas": [r]}

warned(r) := found if found := rule.warn with input as {"quotas": [r]}

test_what_runs_all_the_time_is_denied_beyond_the_limit if {
	r := row([12, 14, 14], ["no", "no", "no"], [deployment("a", 12, 14, "yes")])
	some finding in denied(r)
	finding.msg == "ResourceQuota ml/gpus allows 8 of `requests.nvidia.com/gpu`, the workloads ask for 12: pods beyond it are refused"
	finding.remediation == "let the workloads ask for 8 or less, or ask whoever owns the file of ResourceQuota ml/gpus to raise the limit to 12"
	finding.subject == ref
	finding.details.value == 4
	finding.details.lines[1] == ["holds", "Deployment ml/a 12      (fleetgate demand)"]
	count(denied(r)) == 1
	warned(r) == set()
}

test_a_rollout_that_cannot_go_on_is_denied if {
	r := row([8, 10, 10], ["yes", "no", "no"], [deployment("a", 4, 6, "yes"), deployment("b", 4, 5, "no")])
	some finding in denied(r)
	finding.msg == "a rollout of Deployment ml/a stands still: ResourceQuota ml/gpus allows 8 of `requests.nvidia.com/gpu`, and with its new pods 10 are asked for"
	contains(finding.remediation, "`maxSurge: 0` and `maxUnavailable: 1`")
	finding.subject.name == "a"
	finding.at == ref
	count(denied(r)) == 1
	warned(r) == set()
}

test_a_rollout_that_takes_old_pods_away_first_is_advice if {
	r := row([8, 10, 10], ["yes", "no", "no"], [deployment("a", 8, 10, "no")])
	denied(r) == set()
	some finding in warned(r)
	contains(finding.msg, "it goes on only as old pods end")
	unknown := row([8, 10, 10], ["yes", "no", "no"], [deployment("a", 8, 10, "unknown")])
	denied(unknown) == set()
	count(warned(unknown)) == 1
}

test_jobs_that_wait_for_each_other_are_advice if {
	job := object.union(deployment("j", 8, 8, "no"), {"ends": true})
	r := object.union(row([16, 16, 16], ["no", "no", "no"], [job, job]), {"needed": 8})
	denied(r) == set()
	some finding in warned(r)
	finding.msg == "ResourceQuota ml/gpus allows 8 of `requests.nvidia.com/gpu`, and all workloads together ask for 16: jobs wait for each other"
	count(denied(object.union(r, {"needed": 12}))) == 1
}

test_autoscaling_is_advice if {
	r := row([4, 6, {"atLeast": 6, "unbounded": true}], ["yes", "yes", "no"], [deployment("a", 4, 6, "yes")])
	denied(r) == set()
	some finding in warned(r)
	contains(finding.msg, "autoscalers may ask for 6 or more, without bound")
}

test_what_fits_or_is_not_known_is_left_alone if {
	fine := row([4, 6, 6], ["yes", "yes", "yes"], [deployment("a", 4, 6, "yes")])
	denied(fine) | warned(fine) == set()
	unknown := {"atLeast": 4, "unknown": ["x"]}
	open := row([unknown, unknown, unknown], ["unknown", "unknown", "unknown"], [deployment("a", unknown, unknown, "yes")])
	denied(open) | warned(open) == set()
	less := object.union(row([unknown, unknown, unknown], ["no", "no", "no"], []), {"needed": {"atLeast": 12, "unknown": ["x"]}})
	count(denied(less)) == 1
	unreadable := object.union(fine, {"limit": null, "why": "x", "fits": {"steady": "unknown", "rollout": "unknown", "autoscaled": "unknown"}})
	denied(unreadable) | warned(unreadable) == set()
	queued := object.union(unreadable, {"contributors": [object.union(deployment("j", 12, 12, "no"), {"queued": true})]})
	denied(queued) | warned(queued) == set()
}

test_what_a_queue_starts_must_fit_alone if {
	big := object.union(deployment("j", 12, 12, "no"), {"queued": true})
	r := row([0, 0, 0], ["yes", "yes", "yes"], [big])
	some finding in denied(r)
	contains(finding.msg, "its queue would start it")
	denied(row([0, 0, 0], ["yes", "yes", "yes"], [object.union(big, {"steady": 8})])) == set()
}

test_a_ray_service_is_upgraded_in_another_way if {
	service := object.union(deployment("r", 8, 16, "yes"), {"ref": {"group": "ray.io", "kind": "RayService", "namespace": "ml", "name": "r"}})
	some finding in denied(row([8, 16, 16], ["yes", "no", "no"], [service]))
	contains(finding.remediation, "`spec.upgradeStrategy.type: None`")
}
