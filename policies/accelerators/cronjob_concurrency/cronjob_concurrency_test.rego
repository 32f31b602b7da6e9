package fleetgate.accelerators.cronjob_concurrency_test

import data.fleetgate.accelerators.cronjob_concurrency as rule

pods := [{"path": ["spec", "jobTemplate", "spec", "template", "spec"], "role": "pod", "spec": {}, "count": 1, "asks": {"nvidia.com/gpu": 8}}]

paths_of(findings) := {finding.path | some finding in findings}

result_in(object, pods_, demand) := {"deny": paths_of(denied), "warn": paths_of(warned)} if {
	document := {"object": object, "workload": {"pods": pods_, "demand": demand}}
	denied := rule.deny with input as document
	warned := rule.warn with input as document
}

cron(spec) := result_in({"apiVersion": "batch/v1", "kind": "CronJob", "spec": spec}, pods, [])

none := {"deny": set(), "warn": set()}

bad := {"deny": {["spec", "concurrencyPolicy"]}, "warn": set()}

test_overlapping_runs_are_denied if {
	cron({}) == bad
	cron({"concurrencyPolicy": "Allow"}) == bad
	cron({"concurrencyPolicy": ""}) == bad
	cron({"concurrencyPolicy": null}) == bad
}

test_the_value_is_named if {
	found := rule.deny with input as {"object": {"apiVersion": "batch/v1", "kind": "CronJob", "spec": {"concurrencyPolicy": "Allow"}}, "workload": {"pods": pods, "demand": []}}
	some finding in found
	finding.msg == "`concurrencyPolicy` is `Allow`, so that runs overlap and accelerators are taken without bound"
}

test_runs_after_each_other_pass if {
	cron({"concurrencyPolicy": "Forbid"}) == none
	cron({"concurrencyPolicy": "Replace"}) == none
}

# What the API server refuses, or a template still to be filled in, is not called `Allow`.
test_other_values_are_not_judged if {
	cron({"concurrencyPolicy": "${POLICY}"}) == none
	cron({"concurrencyPolicy": 5}) == none
}

test_workflows if {
	result_in({"apiVersion": "argoproj.io/v1alpha1", "kind": "CronWorkflow", "spec": {}}, pods, []) == bad
	result_in({"apiVersion": "argoproj.io/v1alpha1", "kind": "CronWorkflow", "spec": {"concurrencyPolicy": "Replace"}}, pods, []) == none
}

test_ray_has_no_policy if {
	ray := {"apiVersion": "ray.io/v1", "kind": "RayCronJob"}
	result_in(object.union(ray, {"spec": {"jobTemplate": {}}}), pods, []) == {"deny": set(), "warn": {["spec", "jobTemplate", "activeDeadlineSeconds"]}}
	result_in(object.union(ray, {"spec": {"jobTemplate": {"activeDeadlineSeconds": 3000}}}), pods, []) == none
}

test_other_kinds_of_that_name_pass if {
	result_in({"apiVersion": "example.org/v1", "kind": "CronJob", "spec": {}}, pods, []) == none
}

test_without_accelerators if {
	object := {"apiVersion": "batch/v1", "kind": "CronJob", "spec": {}}
	result_in(object, [{"path": [], "role": "pod", "spec": {}, "count": 1, "asks": {}}], []) == none
	result_in(object, [{"path": [], "role": "pod", "spec": {}, "count": 1, "asks": {"nvidia.com/gpu": 0}}], []) == none
	result_in(object, [{"path": [], "role": "pod", "spec": {}, "count": 1, "asks": {"nvidia.com/gpu": {"atLeast": 0, "unknown": ["x"]}}}], []) == none
	result_in(object, [], []) == none
}

test_suspended_schedules_pass if {
	result_in({"apiVersion": "batch/v1", "kind": "CronJob", "spec": {"suspend": true}}, [object.union(pods[0], {"count": 0})], []) == none
}

test_wrong_types if {
	result_in({"apiVersion": "batch/v1", "kind": "CronJob", "spec": "x"}, pods, []) == bad
	result_in({"apiVersion": 5, "kind": "CronJob"}, pods, []) == none
	count(rule.deny) == 0 with input as {"object": {"apiVersion": "batch/v1", "kind": "CronJob"}, "workload": null}
}
