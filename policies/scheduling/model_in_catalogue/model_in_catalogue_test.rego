package fleetgate.scheduling.model_in_catalogue_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.model_in_catalogue as rule

params := {"clouds": {"karpenter.k8s.aws/*": {"name": "EKS", "provider": "aws"}, "cloud.google.com/*": {"name": "GKE", "provider": "gcp"}}}

findings(document) := found if {
	found := rule.deny with input as document with data.params.scheduling.model_in_catalogue as params
}

deployment(fields) := fixture.document({}, [fixture.pod(fields)])

eks := {"nodeSelector": {"karpenter.k8s.aws/instance-gpu-name": "h100"}}

none := [fixture.refused(fixture.h100), fixture.refused(fixture.l4)]

test_wrong_key if {
	some finding in findings(deployment({"spec": eks, "pools": none}))
	finding.msg == "no node with `nvidia.com/gpu` in this cluster carries `karpenter.k8s.aws/instance-gpu-name: h100`, so pod `worker` would stay pending"
	finding.path == ["spec", "template", "spec", "nodeSelector", "karpenter.k8s.aws/instance-gpu-name"]
	finding.remediation == "write `cloud.google.com/gke-accelerator: nvidia-h100-80gb` instead of `karpenter.k8s.aws/instance-gpu-name`"
	finding.details.lines == [
		["holds", "worker, 2 × 8 nvidia.com/gpu"],
		["facts", "`karpenter.k8s.aws/instance-gpu-name` is a key of EKS; this cluster is of provider `gcp`"],
		["write", "cloud.google.com/gke-accelerator: nvidia-h100-80gb    H100 (12 nodes)"],
	]
	count(findings(deployment({"spec": eks, "pools": none}))) == 1
}

test_wrong_value_of_no_known_family if {
	spec := {"nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-b200"}}
	some finding in findings(deployment({"spec": spec, "asks": {"nvidia.com/gpu": 1}, "pools": none}))
	finding.remediation == "write one of `cloud.google.com/gke-accelerator: nvidia-h100-80gb`, `cloud.google.com/gke-accelerator: nvidia-l4` instead of `cloud.google.com/gke-accelerator`"
}

test_only_pools_with_room_are_proposed if {
	spec := {"nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-b200"}}
	some finding in findings(deployment({"spec": spec, "pools": none}))
	finding.remediation == "write `cloud.google.com/gke-accelerator: nvidia-h100-80gb` instead of `cloud.google.com/gke-accelerator`"
}

test_toleration_goes_with_the_selector if {
	pools := [fixture.refused(fixture.tainted(fixture.h100, [fixture.gpu_taint]))]
	some finding in findings(deployment({"spec": eks, "pools": pools}))
	["write", "cloud.google.com/gke-accelerator: nvidia-h100-80gb    H100 (12 nodes); toleration: {key: nvidia.com/gpu, operator: Equal, value: present, effect: NoSchedule}"] in finding.details.lines
}

test_required_affinity if {
	spec := {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
		{"key": "cloud.google.com/gke-accelerator", "operator": "Exists"},
		{"key": "zone", "operator": "In", "values": ["a", "b"]},
	]}]}}}}
	some finding in findings(deployment({"spec": spec, "pools": none}))
	contains(finding.msg, "carries `zone: one of a, b`")
	array.slice(finding.path, 3, 9) == ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", 0, "matchExpressions"]
	finding.path[9] == 1
}

test_a_term_without_expressions_is_named if {
	spec := {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}}}
	{finding.msg | some finding in findings(deployment({"spec": spec, "pools": none}))} == {"the required node affinity has no term that a node can match, so pod `worker` would stay pending"}
}

test_labels_that_no_node_carries_together if {
	spec := {"nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-l4", "pool": "a"}}
	pools := [fixture.refused(fixture.l4), fixture.refused(object.union(fixture.h100, {"labels": {"pool": "a"}}))]
	some finding in findings(deployment({"spec": spec, "pools": pools}))
	finding.path == ["spec", "template", "spec", "nodeSelector"]
	contains(finding.msg, "carries all of `cloud.google.com/gke-accelerator: nvidia-l4`, `pool: a`")
}

test_resource_that_no_node_has if {
	spec := {"initContainers": [{"resources": {"limits": {"nvidia.com/mig-1g.5gb": 1}}}]}
	found := findings(deployment({"spec": spec, "asks": {"nvidia.com/mig-1g.5gb": 1}, "pools": [fixture.h100]}))
	{finding.msg | some finding in found} == {"no node of this cluster has `nvidia.com/mig-1g.5gb`, so pod `worker` would stay pending"}
	{finding.path | some finding in found} == {["spec", "template", "spec", "initContainers", 0, "resources", "limits", "nvidia.com/mig-1g.5gb"]}
	count(findings(deployment({"pools": []}))) == 1
	count(findings(deployment({"spec": eks, "pools": []}))) == 1
}

test_label_that_the_queue_adds if {
	pod := fixture.pod({"spec": {}, "effective": eks, "pools": none})
	some finding in findings(fixture.queued(fixture.document({}, [pod]), {}))
	contains(finding.msg, "which flavour `one` of queue `q` adds")
	finding.path == ["spec", "template", "spec"]
}

test_label_that_the_cluster_adds if {
	some finding in findings(deployment({"spec": {}, "effective": eks, "pools": none}))
	contains(finding.msg, ", which the cluster adds,")
}

test_a_pool_that_is_left if {
	findings(deployment({"pools": [fixture.h100]})) == set()
	findings(deployment({"spec": eks, "pools": [fixture.refused(fixture.l4), fixture.h100]})) == set()
}

test_silent_where_not_known if {
	findings(deployment({"spec": eks, "pools": null})) == set()
	findings(deployment({"spec": eks, "pools": [fixture.perhaps(fixture.h100)]})) == set()
	findings(deployment({"spec": eks, "asks": {"nvidia.com/gpu": fixture.unknown}, "pools": none})) == set()
}

test_silent_on_placeholders if {
	every text in fixture.placeholders {
		findings(deployment({"spec": {"nodeSelector": {"gpu": text}}, "pools": none})) == set()
		findings(deployment({"spec": {"nodeSelector": {text: "gpu"}}, "pools": none})) == set()
	}
	findings(deployment({"spec": {"nodeSelector": {"gpu": true}}, "pools": none})) == set()
}

test_silent_about_templates if {
	silent := object.union(deployment({"spec": eks, "count": 0, "pools": none}), {"workload": {"demand": []}})
	findings(silent) == set()
}

test_silent_about_daemon_sets_and_named_nodes if {
	findings(fixture.document({"kind": "DaemonSet"}, [fixture.pod({"spec": eks, "pools": none})])) == set()
	findings(deployment({"spec": object.union(eks, {"nodeName": "n"}), "pools": none})) == set()
}

test_silent_while_the_queue_has_a_choice if {
	document := deployment({"spec": eks, "pools": none})
	findings(fixture.queued(document, {"flavors": ["a", "b"]})) == set()
	findings(fixture.queued(document, {"certain": false})) == set()
	findings(fixture.queued(document, {"problem": "no such queue"})) == set()
	count(findings(fixture.queued(document, {}))) == 1
}

test_silent_about_fabric_and_classes if {
	findings(deployment({"asks": {"vpc.amazonaws.com/efa": 4}, "pools": []})) == set()
	findings(deployment({"asks": {"example.org/widget": 4}, "pools": []})) == set()
	findings(deployment({"asks": {}, "pools": []})) == set()
}

test_all_pods_are_judged if {
	pods := [
		fixture.pod({"path": ["spec", "head"], "asks": {}, "pools": []}),
		fixture.pod({"path": ["spec", "workers", 0], "pools": [fixture.h100]}),
		fixture.pod({"path": ["spec", "workers", 1], "spec": eks, "pools": none}),
	]
	found := findings(fixture.document({"kind": "RayCluster"}, pods))
	{array.slice(finding.path, 0, 3) | some finding in found} == {["spec", "workers", 1]}
}

test_no_workload if findings({"object": {"kind": "ConfigMap"}, "workload": null, "cluster": null}) == set()

test_unknown_provider if {
	document := object.union(deployment({"spec": eks, "pools": none}), {"cluster": null})
	some finding in findings(document)
	count(finding.details.lines) == 2
}

test_key_of_the_own_cloud_is_not_called_foreign if {
	spec := {"nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-b200"}}
	some finding in findings(deployment({"spec": spec, "pools": none}))
	{line[0] | some line in finding.details.lines} == {"holds", "write"}
}

test_unlabelled_pools if {
	pools := [fixture.refused(fixture.pool("H100", "nvidia.com/gpu", 8, {}))]
	some finding in findings(deployment({"spec": eks, "pools": pools}))
	finding.remediation == "remove the selector, or add the labels of the nodes to the cluster's `accelerators` in the fleet file"
}
