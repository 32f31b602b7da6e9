package fleetgate.scheduling.toleration_missing_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.toleration_missing as rule

findings(document) := found if {
	found := rule.deny with input as document
}

deployment(fields) := fixture.document({}, [fixture.pod(fields)])

sku := {"key": "sku", "value": "gpu", "effect": "NoSchedule"}

spot := {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}

tainted := fixture.tainted(fixture.h100, [sku])

test_taint_that_is_not_tolerated if {
	some finding in findings(deployment({"pools": [tainted]}))
	finding.msg == "pod `worker` does not tolerate the taint `sku=gpu:NoSchedule` of the nodes with H100, and would stay pending"
	finding.path == ["spec", "template", "spec", "tolerations"]
	finding.remediation == "write `{key: sku, operator: Equal, value: gpu, effect: NoSchedule}` under `tolerations`"
	finding.details.lines == [
		["holds", "worker, 2 × 8 nvidia.com/gpu"],
		["write", "{key: sku, operator: Equal, value: gpu, effect: NoSchedule}    H100 (12 nodes)"],
	]
}

test_least_is_proposed if {
	some finding in findings(deployment({"pools": [fixture.tainted(fixture.h100, [sku, spot]), tainted]}))
	finding.remediation == "write `{key: sku, operator: Equal, value: gpu, effect: NoSchedule}` under `tolerations`"
	count(finding.details.lines) == 3
}

test_several_taints_of_one_pool if {
	some finding in findings(deployment({"pools": [fixture.tainted(fixture.h100, [sku, spot])]}))
	contains(finding.msg, "the taints `sku=gpu:NoSchedule`, `kubernetes.azure.com/scalesetpriority=spot:NoSchedule` of")
}

test_a_tolerated_pool_without_room_does_not_help if {
	count(findings(deployment({"pools": [tainted, fixture.l4]}))) == 1
}

test_tolerated if {
	findings(deployment({"pools": [fixture.h100]})) == set()
	findings(deployment({"pools": [tainted, fixture.h100]})) == set()
	findings(deployment({"pools": [tainted, fixture.perhaps(fixture.h100)]})) == set()
}

test_silent_where_not_known if {
	findings(deployment({"pools": null})) == set()
	findings(deployment({"pools": [fixture.perhaps(tainted)]})) == set()
	findings(deployment({"asks": {"nvidia.com/gpu": fixture.unknown}, "pools": [tainted]})) == set()
}

test_silent_where_another_rule_speaks if {
	findings(deployment({"pools": []})) == set()
	findings(deployment({"pools": [fixture.refused(tainted)]})) == set()
	findings(deployment({"pools": [fixture.tainted(fixture.l4, [sku])]})) == set()
}

test_silent_on_placeholders if {
	every text in fixture.placeholders {
		findings(deployment({"spec": {"nodeSelector": {"a": text}}, "pools": [tainted]})) == set()
	}
	findings(deployment({"spec": {"tolerations": [{"key": "${TAINT}"}]}, "pools": [tainted]})) == set()
	findings(deployment({"spec": {"tolerations": "x"}, "pools": [tainted]})) == set()
}

test_silent_about_templates_daemon_sets_and_named_nodes if {
	findings(object.union(deployment({"count": 0, "pools": [tainted]}), {"workload": {"demand": []}})) == set()
	findings(fixture.document({"kind": "DaemonSet"}, [fixture.pod({"pools": [tainted]})])) == set()
	findings(deployment({"spec": {"nodeName": "n"}, "pools": [tainted]})) == set()
}

test_silent_where_the_queue_chooses if {
	document := deployment({"pools": [tainted]})
	findings(fixture.queued(document, {"flavors": ["a", "b"]})) == set()
	findings(fixture.queued(document, {"certain": false})) == set()
	findings(fixture.queued(document, {"problem": "no such queue"})) == set()
	count(findings(fixture.queued(document, {}))) == 1
}

test_all_pods_are_judged if {
	pods := [
		fixture.pod({"path": ["spec", "head"], "asks": {}}),
		fixture.pod({"path": ["spec", "workers", 0], "pools": [fixture.h100]}),
		fixture.pod({"path": ["spec", "workers", 1], "pools": [tainted]}),
	]
	{finding.path | some finding in findings(fixture.document({}, pods))} == {["spec", "workers", 1, "tolerations"]}
}

test_no_workload if findings({"object": {"kind": "ConfigMap"}, "workload": null}) == set()
