package fleetgate.accelerators.batch_limits_test

import data.fleetgate.accelerators.batch_limits as rule

defaults := {"deadline": true, "retries": 20}

pod(path) := {"path": path, "role": "pod", "spec": {}, "count": 1, "asks": {"nvidia.com/gpu": 8}}

paths_with(object, pods, params) := {finding.path | some finding in found} if {
	found := rule.warn with input as {"object": object, "workload": {"pods": pods, "demand": []}}
		with data.params.accelerators.batch_limits as object.union(defaults, params)
}


paths(object) := paths_with(object, [pod(["spec"])], {})

job(spec) := {"apiVersion": "batch/v1", "kind": "Job", "spec": spec}

test_jobs_without_a_deadline if {
	paths(job({})) == {["spec", "activeDeadlineSeconds"]}
	paths(job({"activeDeadlineSeconds": null})) == {["spec", "activeDeadlineSeconds"]}
	paths({"apiVersion": "batch/v1", "kind": "CronJob", "spec": {}}) == {["spec", "jobTemplate", "spec", "activeDeadlineSeconds"]}
	paths({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {}}) == {["spec", "runPolicy", "activeDeadlineSeconds"]}
	paths({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": {}}) == {["spec", "activeDeadlineSeconds"]}
}

test_deadlines if {
	paths(job({"activeDeadlineSeconds": 86400})) == set()
	paths(job({"activeDeadlineSeconds": "${SECONDS}"})) == set()
	paths(job({"template": {"spec": {"activeDeadlineSeconds": 3600}}})) == set()
	paths(object.union(job({}), {"metadata": {"labels": {"kueue.x-k8s.io/max-exec-time-seconds": "3600"}}})) == set()
}

test_one_finding_for_many_pods if {
	count(paths_with(job({}), [pod(["spec"]), pod(["spec", "x"])], {})) == 1
}

test_retries if {
	paths(job({"activeDeadlineSeconds": 1, "backoffLimit": 21})) == {["spec", "backoffLimit"]}
	paths(job({"activeDeadlineSeconds": 1, "backoffLimit": 20})) == set()
	paths(job({"activeDeadlineSeconds": 1, "backoffLimit": "many"})) == set()
	paths_with(job({"activeDeadlineSeconds": 1, "backoffLimit": 1}), [pod(["spec"])], {"retries": 0}) == {["spec", "backoffLimit"]}
}

test_jobs_of_a_jobset if {
	set := {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": {"replicatedJobs": [{"name": "cpu"}, {"name": "gpu", "template": {"spec": {"backoffLimit": 100}}}]}}
	pods := [pod(["spec", "replicatedJobs", 1, "template", "spec", "template", "spec"])]
	base := ["spec", "replicatedJobs", 1, "template", "spec"]
	paths_with(set, pods, {}) == {array.concat(base, ["activeDeadlineSeconds"]), array.concat(base, ["backoffLimit"])}
}

ray(spec) := {"apiVersion": "ray.io/v1", "kind": "RayJob", "spec": object.union({"activeDeadlineSeconds": 1}, spec)}

test_clusters_that_outlive_their_job if {
	paths(ray({"rayClusterSpec": {}})) == {["spec", "shutdownAfterJobFinishes"]}
	paths(ray({"rayClusterSpec": {}, "shutdownAfterJobFinishes": false})) == {["spec", "shutdownAfterJobFinishes"]}
	paths(ray({"rayClusterSpec": {}, "shutdownAfterJobFinishes": true})) == set()
	paths(ray({"rayClusterSpec": {}, "deletionStrategy": {"deletionRules": [{"policy": "DeleteCluster"}]}})) == set()
	paths(ray({"clusterSelector": {"ray.io/cluster": "shared"}})) == set()
	paths({"apiVersion": "ray.io/v1", "kind": "RayCronJob", "spec": {"jobTemplate": {"rayClusterSpec": {}}}}) == {["spec", "jobTemplate", "shutdownAfterJobFinishes"]}
}

test_no_deadline_is_needed if paths_with(job({}), [pod(["spec"])], {"deadline": false}) == set()

test_what_serves_is_not_judged if paths({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}) == set()

test_without_accelerators if {
	paths_with(job({}), [{"path": ["spec"], "role": "pod", "spec": {}, "count": 1, "asks": {}}], {}) == set()
	paths_with(job({}), [{"path": ["spec"], "role": "pod", "spec": {}, "count": 1, "asks": {"nvidia.com/gpu": {"atLeast": 0, "unknown": ["x"]}}}], {}) == set()
	paths_with(job({}), [object.union(pod(["spec"]), {"count": 0})], {}) == set()
	paths_with(job({}), [], {}) == set()
}

test_wrong_types if {
	paths(job("x")) == {["spec", "activeDeadlineSeconds"]}
	paths({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": {"replicatedJobs": "x"}}) == set()
	count(rule.warn) == 0 with input as {"object": job({}), "workload": null} with data.params.accelerators.batch_limits as defaults
}
