package fleetgate.scheduling.tpu_topology_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.tpu_topology as rule

findings(document) := found if {
	found := rule.deny with input as document
}

key := "cloud.google.com/gke-tpu-topology"

pod(topology, chips, number, fields) := fixture.pod(object.union(
	{"spec": {"nodeSelector": {key: topology}}, "asks": {"google.com/tpu": chips}, "count": number},
	fields,
))

job(topology, chips, number) := fixture.document({"kind": "Job"}, [pod(topology, chips, number, {})])

passes(document) if findings(document) == set()

message(document) := finding.msg if {
	some finding in findings(document)
}

test_pods_fill_the_slice if {
	passes(job("4x4", 4, 4))
	passes(job("2x2x1", 4, 1))
	passes(job("4x4x4", 4, 16))
	passes(job("1x1", 1, 1))
	passes(job("2x4", 8, 1))
}

test_any_number_of_slices_of_one_host if {
	passes(job("2x2", 4, 3))
	passes(job("2x4", 8, 7))
}

test_several_slices if passes(job("4x4", 4, 8))

test_too_few_pods if {
	some finding in findings(job("4x4", 4, 3))
	finding.msg == "all pods together ask for 12 chips, but topology `4x4` has 16"
	finding.path == ["spec", "template", "spec", "nodeSelector", key]
	finding.remediation == "make it 4 pods, or a multiple of that for several slices"
	finding.details.lines == [["holds", "worker, 3 × 4 google.com/tpu"], ["write", "4 pods × 4 chips = 16, one slice of 4x4"]]
}

test_shape_that_the_cluster_has_for_the_pods if {
	pools := [fixture.pool("TPU-v6e", "google.com/tpu", 4, {key: "2x4"}), fixture.pool("TPU-v6e", "google.com/tpu", 4, {key: "x"})]
	document := fixture.document({"kind": "Job"}, [pod("4x4", 4, 2, {"pools": pools})])
	some finding in findings(document)
	finding.remediation == "make it 4 pods, or a multiple of that for several slices; or select `cloud.google.com/gke-tpu-topology: \"2x4\"`"
}

test_chips_that_make_no_slice if {
	spec := {"nodeSelector": {key: "2x2"}, "containers": [{"resources": {"limits": {"google.com/tpu": 8}}}]}
	some finding in findings(fixture.document({"kind": "Pod"}, [pod("2x2", 8, 1, {"path": ["spec"], "spec": spec})]))
	finding.msg == "pod `worker` asks for 8 chips, and no number of such pods makes the 4 chips of topology `2x2`"
	finding.path == ["spec", "containers", 0, "resources", "limits", "google.com/tpu"]
	finding.remediation == "write as many chips as one host of the slice has, a part of 4"
	count(findings(job("4x4", 3, 4))) == 1
}

test_no_topology if {
	every text in ["4X4", "4*4", "16", "4x", "x4", "0x4", "4x4x4x4", "04x4", "4 x 4", "-4x4", "4x4x", ""] {
		message(job(text, 4, 4)) == sprintf("`%s` is no topology of a TPU slice", [text])
	}
}

# Jobs of a JobSet are slices of their own.
jobset(replicas, pods, fields) := fixture.document(
	{"kind": "JobSet", "spec": {"replicatedJobs": [{"replicas": replicas}]}},
	[pod("4x4", 4, replicas * pods, object.union({"path": ["spec", "replicatedJobs", 0, "template", "spec", "template", "spec"]}, fields))],
)

test_jobset if {
	passes(jobset(2, 4, {}))
	passes(jobset(1, 4, {}))
	some finding in findings(jobset(4, 2, {}))
	finding.msg == "the pods of each Job ask for 8 chips, but topology `4x4` has 16"
	finding.remediation == "write 4 for `parallelism` and `completions`; further slices are `replicas` of the replicated Job"
	message(jobset(1, 8, {})) == "the pods of each Job ask for 32 chips, but topology `4x4` has 16"
}

test_jobset_without_replicas if {
	document := fixture.document(
		{"kind": "JobSet", "spec": {"replicatedJobs": [{}]}},
		[pod("4x4", 4, 4, {"path": ["spec", "replicatedJobs", 0, "template", "spec", "template", "spec"]})],
	)
	passes(document)
}

test_silent_where_kueue_cuts_slices if {
	every annotation in ["kueue.x-k8s.io/podset-slice-size", "kueue.x-k8s.io/podset-slice-required-topology", "cloud.google.com/gke-tpu-slice-topology"] {
		passes(jobset(1, 7, {"metadata": {"annotations": {annotation: "4"}}}))
	}
	not passes(jobset(1, 7, {"metadata": {"annotations": {"a": "4"}}}))
}

two(number) := fixture.document({"kind": "JobSet", "spec": {"replicatedJobs": [{}, {}]}}, [
	pod("4x4", 4, 1, {"path": ["spec", "replicatedJobs", 0, "template", "spec", "template", "spec"]}),
	pod("4x4", 4, number, {"path": ["spec", "replicatedJobs", 1, "template", "spec", "template", "spec"]}),
])

test_jobs_of_a_jobset_that_share_a_slice if {
	passes(two(3))
	count(findings(two(2))) == 1
}

lws(size, replicas, leader, workers) := fixture.document(
	{"kind": "LeaderWorkerSet", "spec": {"replicas": replicas, "leaderWorkerTemplate": object.union({"size": size}, leader)}},
	workers,
)

worker(number) := pod("4x4", 4, number, {"path": ["spec", "leaderWorkerTemplate", "workerTemplate", "spec"]})

leader(chips, number) := pod("4x4", chips, number, {"role": "leader", "path": ["spec", "leaderWorkerTemplate", "leaderTemplate", "spec"]})

test_leaderworkerset if {
	passes(lws(4, 2, {}, [worker(8)]))
	some finding in findings(lws(2, 2, {}, [worker(4)]))
	finding.msg == "the pods of each group ask for 8 chips, but topology `4x4` has 16"
	finding.remediation == "write 4 for `size`; further slices are `replicas`"
}

test_leaders_count_if_they_have_chips if {
	passes(lws(4, 2, {"leaderTemplate": {}}, [leader(4, 2), worker(6)]))
	cpu := fixture.pod({"role": "leader", "asks": {}})
	passes(lws(5, 2, {"leaderTemplate": {}}, [cpu, worker(8)]))
	some finding in findings(lws(4, 2, {"leaderTemplate": {}}, [cpu, worker(6)]))
	finding.remediation == "write 5 for `size`; further slices are `replicas`"
}

# An autoscaler may have made more groups than `replicas` says.
test_groups_are_counted_by_their_size if passes(lws(4, 1, {}, [worker(12)]))

test_groups_with_subgroups if {
	passes(lws(8, 1, {"subGroupPolicy": {"subGroupSize": 4}}, [worker(8)]))
	not passes(lws(8, 1, {}, [worker(8)]))
}

ray(fields, number) := fixture.document(
	{"kind": "RayJob", "spec": {"rayClusterSpec": {"workerGroupSpecs": [{}, fields]}}},
	[
		fixture.pod({"path": ["spec", "rayClusterSpec", "headGroupSpec", "template", "spec"], "asks": {}}),
		pod("4x4", 4, number, {"path": ["spec", "rayClusterSpec", "workerGroupSpecs", 1, "template", "spec"]}),
	],
)

test_ray if {
	passes(ray({"numOfHosts": 4}, 8))
	passes(ray({"numOfHosts": 4}, fixture.unknown))
	some finding in findings(ray({}, 4))
	finding.msg == "the hosts of each replica ask for 4 chips, but topology `4x4` has 16"
	finding.remediation == "write 4 for `numOfHosts`; further slices are `replicas` of the worker group"
}

both(master, workers) := fixture.document({"kind": "PyTorchJob"}, [pod("4x4", 4, master, {"role": "Master"}), pod("4x4", 4, workers, {})])

test_parts_of_a_job_make_a_slice_together if {
	passes(both(1, 3))
	count(findings(both(1, 4))) == 1
}

test_silent_where_not_known if {
	passes(job("4x4", fixture.unknown, 4))
	passes(job("4x4", 4, fixture.unknown))
	passes(fixture.document({"kind": "Job"}, [pod("4x4", 4, 1, {}), pod("4x4", fixture.unknown, 3, {"role": "other"})]))
	passes(ray({"numOfHosts": "${HOSTS}"}, 4))
	passes(ray({"numOfHosts": 0}, 4))
	passes(lws("${SIZE}", 2, {}, [worker(4)]))
	every text in fixture.placeholders {
		passes(job(text, 4, 3))
	}
}

test_silent_without_topology if {
	passes(fixture.document({"kind": "Job"}, [fixture.pod({"asks": {"google.com/tpu": 4}})]))
	terms := [{"matchExpressions": [{"key": key, "operator": "In", "values": ["2x4", "4x4"]}]}]
	spec := {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}
	passes(fixture.document({"kind": "Job"}, [fixture.pod({"asks": {"google.com/tpu": 4}, "spec": spec})]))
}

test_topology_by_affinity if {
	terms := [{"matchExpressions": [{"key": key, "operator": "In", "values": ["4x4"]}]}]
	spec := {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}
	some finding in findings(fixture.document({"kind": "Job"}, [fixture.pod({"asks": {"google.com/tpu": 4}, "count": 3, "spec": spec})]))
	finding.path[count(finding.path) - 2] == "matchExpressions"
}

test_topology_of_the_queue if {
	one := fixture.pod({"asks": {"google.com/tpu": 4}, "count": 3, "effective": {"nodeSelector": {key: "4x4"}}})
	some finding in findings(fixture.queued(fixture.document({"kind": "Job"}, [one]), {}))
	finding.path == ["spec", "template", "spec"]
	passes(fixture.queued(fixture.document({"kind": "Job"}, [one]), {"flavors": ["a", "b"]}))
	passes(fixture.queued(fixture.document({"kind": "Job"}, [one]), {"certain": false}))
}

test_topology_that_is_written_stays if {
	count(findings(fixture.queued(job("4x4", 4, 3), {"certain": false, "problem": "no such queue", "flavors": []}))) == 1
	count(findings(fixture.queued(job("4x4", 4, 3), {"flavors": ["a", "b"]}))) == 1
	passes(fixture.queued(job("4x4", 4, 4), {"certain": false}))
}

test_silent_about_pods_by_themselves_and_templates if {
	passes(fixture.document({"kind": "Pod"}, [pod("4x4", 4, 1, {})]))
	passes(object.union(job("4x4", 4, 0), {"workload": {"demand": []}}))
	passes(job("4x4", 4, 0))
	passes(fixture.document({"kind": "Job"}, [pod("4x4", 4, 3, {"spec": {"nodeName": "n", "nodeSelector": {key: "4x4"}}})]))
}

test_other_devices_are_not_judged if passes(fixture.document({"kind": "Job"}, [fixture.pod({"spec": {"nodeSelector": {key: "4x4"}}})]))

test_no_workload if passes({"object": {"kind": "ConfigMap"}, "workload": null})
