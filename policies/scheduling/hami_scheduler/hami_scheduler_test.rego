package fleetgate.scheduling.hami_scheduler_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.hami_scheduler as rule

usual := {"resources": ["nvidia.com/gpumem", "nvidia.com/gpucores"], "schedulers": ["hami*", "default-scheduler"]}

findings_with(document, changes) := found if {
	params := object.union(object.remove(usual, object.keys(changes)), changes)
	found := rule.warn with input as document with data.params.scheduling.hami_scheduler as params
}

findings(document) := findings_with(document, {})

limits := {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 4000, "nvidia.com/gpucores": 30}}}]}

deployment(fields) := fixture.document({}, [fixture.pod({"spec": object.union(limits, fields)})])

test_another_scheduler if {
	some finding in findings(deployment({"schedulerName": "yunikorn"}))
	finding.msg == "pod `worker` asks for `nvidia.com/gpumem`, which scheduler `yunikorn` does not keep"
	finding.path == ["spec", "template", "spec", "schedulerName"]
	count(findings(deployment({"schedulerName": "yunikorn"}))) == 1
}

test_init_containers_too if {
	spec := {"schedulerName": "yunikorn", "initContainers": [{"resources": {"limits": {"nvidia.com/gpucores": 30}}}]}
	count(findings(fixture.document({}, [fixture.pod({"spec": spec})]))) == 1
}

test_schedulers_that_keep_it if {
	findings(deployment({})) == set()
	findings(deployment({"schedulerName": ""})) == set()
	findings(deployment({"schedulerName": "hami-scheduler"})) == set()
	findings(deployment({"schedulerName": "default-scheduler"})) == set()
	count(findings_with(deployment({"schedulerName": "hami-scheduler"}), {"schedulers": []})) == 1
}

test_silent_where_not_known if {
	findings(deployment({"schedulerName": "${SCHEDULER}"})) == set()
	findings(deployment({"schedulerName": 5})) == set()
	findings(fixture.document({}, [fixture.pod({"spec": {"schedulerName": "x", "containers": [{"resources": {"limits": "x"}}]}})])) == set()
}

test_whole_devices_need_no_hami if {
	spec := {"schedulerName": "yunikorn", "containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}
	findings(fixture.document({}, [fixture.pod({"spec": spec})])) == set()
	findings_with(deployment({"schedulerName": "yunikorn"}), {"resources": []}) == set()
}

test_each_pod_is_judged if {
	pods := [fixture.pod({"path": ["a"], "spec": limits}), fixture.pod({"path": ["b"], "spec": object.union(limits, {"schedulerName": "x"})})]
	{finding.path | some finding in findings(fixture.document({}, pods))} == {["b", "schedulerName"]}
}

test_silent_about_templates if {
	document := fixture.document({}, [fixture.pod({"count": 0, "spec": object.union(limits, {"schedulerName": "x"})})])
	findings(object.union(document, {"workload": {"demand": []}})) == set()
	findings({"object": {"kind": "ConfigMap"}, "workload": null}) == set()
}
