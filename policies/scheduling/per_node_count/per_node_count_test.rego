package fleetgate.scheduling.per_node_count_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.per_node_count as rule

findings(document) := found if {
	found := rule.deny with input as document
}

deployment(fields) := fixture.document({}, [fixture.pod(fields)])

test_more_than_a_node_has if {
	spec := {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}}]}
	some finding in findings(deployment({"spec": spec, "pools": [fixture.l4]}))
	finding.msg == "pod `worker` asks for 8 `nvidia.com/gpu`, but no node that it can go to has more than 1"
	finding.path == ["spec", "template", "spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"]
	finding.remediation == "write 1 at most, and split the work over several pods"
	finding.details.value == 7
	finding.details.lines == [["holds", "worker, 2 × 8 nvidia.com/gpu"], ["facts", "L4 (12 nodes): 1 on a node"]]
}

test_larger_nodes_that_the_selector_leaves_out if {
	some finding in findings(deployment({"pools": [fixture.l4, fixture.refused(fixture.h100)]}))
	finding.remediation == "write 1 at most, and split the work over several pods; or select `cloud.google.com/gke-accelerator: nvidia-h100-80gb`, whose nodes have 8"
}

test_at_least_more_than_a_node_has if {
	amount := {"atLeast": 16, "unknown": ["a placeholder"]}
	some finding in findings(deployment({"asks": {"nvidia.com/gpu": amount}, "pools": [fixture.h100]}))
	contains(finding.msg, "asks for at least 16")
}

test_pools_that_may_be_selected_are_too_small_as_well if {
	count(findings(deployment({"pools": [fixture.perhaps(fixture.l4)]}))) == 1
}

test_enough if {
	findings(deployment({"pools": [fixture.h100]})) == set()
	findings(deployment({"pools": [fixture.l4, fixture.perhaps(fixture.h100)]})) == set()
	findings(deployment({"asks": {"nvidia.com/gpu": 1}, "pools": [fixture.l4]})) == set()
}

test_silent_where_not_known if {
	findings(deployment({"pools": null})) == set()
	findings(deployment({"asks": {"nvidia.com/gpu": fixture.unknown}, "pools": [fixture.l4]})) == set()
	findings(deployment({"asks": {"nvidia.com/gpu": {"atLeast": 1, "unknown": ["x"]}}, "pools": [fixture.l4]})) == set()
}

test_silent_where_another_rule_speaks if {
	findings(deployment({"pools": []})) == set()
	findings(deployment({"pools": [fixture.refused(fixture.l4)]})) == set()
}

test_silent_about_templates_daemon_sets_and_named_nodes if {
	findings(object.union(deployment({"count": 0, "pools": [fixture.l4]}), {"workload": {"demand": []}})) == set()
	findings(fixture.document({"kind": "DaemonSet"}, [fixture.pod({"pools": [fixture.l4]})])) == set()
	findings(deployment({"spec": {"nodeName": "n"}, "pools": [fixture.l4]})) == set()
}

test_fabric_and_other_resources_are_not_judged if {
	pool := fixture.pool("H100", "vpc.amazonaws.com/efa", 4, {})
	findings(deployment({"asks": {"vpc.amazonaws.com/efa": 32}, "pools": [pool]})) == set()
}

test_all_pods_are_judged if {
	pods := [
		fixture.pod({"path": ["spec", "head"], "asks": {}}),
		fixture.pod({"path": ["spec", "workers", 0], "pools": [fixture.h100]}),
		fixture.pod({"path": ["spec", "workers", 1], "pools": [fixture.l4]}),
	]
	{finding.path | some finding in findings(fixture.document({}, pods))} == {["spec", "workers", 1]}
}

test_init_containers_count if {
	spec := {"initContainers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}}]}
	{finding.path[3] | some finding in findings(deployment({"spec": spec, "pools": [fixture.l4]}))} == {"initContainers"}
}

test_no_workload if findings({"object": {"kind": "ConfigMap"}, "workload": null}) == set()
