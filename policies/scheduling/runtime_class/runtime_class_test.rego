package fleetgate.scheduling.runtime_class_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.runtime_class as rule

usual := {"classes": ["nvidia", "nvidia-*"], "required": {}}

findings_with(spec, changes) := found if {
	params := object.union(object.remove(usual, object.keys(changes)), changes)
	document := fixture.document({}, [fixture.pod({"spec": spec})])
	found := rule.warn with input as document with data.params.scheduling.runtime_class as params
}

findings(spec) := findings_with(spec, {})

test_a_class_that_is_not_known if {
	some finding in findings({"runtimeClassName": "nvida"})
	finding.msg == "pod `worker` names the runtime class `nvida`, which is none that is known"
	finding.path == ["spec", "template", "spec", "runtimeClassName"]
}

test_known_classes_and_none_pass if {
	findings({}) == set()
	findings({"runtimeClassName": ""}) == set()
	findings({"runtimeClassName": null}) == set()
	findings({"runtimeClassName": "nvidia"}) == set()
	findings({"runtimeClassName": "nvidia-cdi"}) == set()
	findings_with({"runtimeClassName": "mine"}, {"classes": []}) == set()
}

test_a_class_that_is_required if {
	some finding in findings_with({}, {"required": {"nvidia.com/gpu": "nvidia"}})
	finding.remediation == "write `runtimeClassName: nvidia`"
	findings_with({"runtimeClassName": "nvidia"}, {"required": {"nvidia.com/gpu": "nvidia"}}) == set()
	findings_with({}, {"required": {"amd.com/gpu": "amd"}}) == set()
}

test_silent_where_not_known if {
	findings({"runtimeClassName": "${CLASS}"}) == set()
}

test_what_asks_for_nothing_is_left_alone if {
	one := fixture.pod({"spec": {"runtimeClassName": "mine"}})
	document := fixture.document({}, [object.union(object.remove(one, ["asks"]), {"asks": {}})])
	found := rule.warn with input as document with data.params.scheduling.runtime_class as usual
	found == set()
}
