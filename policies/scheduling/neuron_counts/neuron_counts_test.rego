package fleetgate.scheduling.neuron_counts_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.neuron_counts as rule

findings_with(document, machines) := found if {
	found := rule.warn with input as document with data.params.scheduling.neuron_counts as {"machines": machines}
}

findings(document) := findings_with(document, {"trn1.32xlarge": [1, 4, 8, 16]})

neuron := "aws.amazon.com/neuron"

key := "node.kubernetes.io/instance-type"

spec(quantity) := {"nodeSelector": {key: "trn1.32xlarge"}, "containers": [{"name": "train", "resources": {"limits": {neuron: quantity}}}]}

job(quantity, fields) := fixture.document({"kind": "Job"}, [fixture.pod(object.union({"asks": {neuron: 2}, "spec": spec(quantity)}, fields))])

loose(quantity, pools) := fixture.document({"kind": "Job"}, [fixture.pod({
	"asks": {neuron: 2}, "spec": object.remove(spec(quantity), ["nodeSelector"]), "pools": pools,
})])

pool(type) := fixture.pool("Trainium", neuron, 16, {key: type})

test_numbers_that_are_not_connected if {
	some finding in findings(job(2, {}))
	finding.msg == "container `train` asks for 2 `aws.amazon.com/neuron`, which are not connected with each other on trn1.32xlarge"
	finding.path == ["spec", "template", "spec", "containers", 0, "resources", "limits", neuron]
	finding.remediation == "write 1 or 4 or 8 or 16"
	count(findings(job("12", {}))) == 1
}

test_numbers_that_are_connected if {
	every number in [1, 4, 8, "16", 0] {
		findings(job(number, {})) == set()
	}
}

test_machine_of_the_pools if {
	count(findings(loose(2, [pool("trn1.32xlarge")]))) == 1
	findings(loose(2, [pool("trn2.48xlarge")])) == set()
	findings(loose(2, [pool("trn1.32xlarge"), pool("trn2.48xlarge")])) == set()
}

test_silent_where_not_known if {
	findings(loose(2, null)) == set()
	findings(loose(2, [])) == set()
	findings(loose(2, [fixture.pool("Trainium", neuron, 16, {})])) == set()
	findings(loose(2, [fixture.perhaps(pool("trn1.32xlarge"))])) == set()
	every quantity in ["${N}", null, "0.5", "x", [2]] {
		findings(job(quantity, {})) == set()
	}
	findings(fixture.queued(job(2, {}), {"flavors": ["a", "b"]})) == set()
	findings(job(2, {"spec": {"nodeSelector": {key: "${TYPE}"}}})) == set()
}

test_init_containers_are_judged if {
	one := {"nodeSelector": {key: "trn1.32xlarge"}, "initContainers": [{"resources": {"limits": {neuron: 3}}}]}
	{finding.path[3] | some finding in findings(fixture.document({}, [fixture.pod({"asks": {neuron: 3}, "spec": one})]))} == {"initContainers"}
}

test_other_machines_devices_and_switched_off if {
	findings_with(job(2, {}), {}) == set()
	findings_with(job(2, {}), {"trn2.48xlarge": [1]}) == set()
	other := {"nodeSelector": {key: "trn1.32xlarge"}, "containers": [{"resources": {"limits": {"nvidia.com/gpu": 2}}}]}
	findings(fixture.document({}, [fixture.pod({"spec": other})])) == set()
}

test_silent_about_templates if {
	findings(object.union(job(2, {"count": 0}), {"workload": {"demand": []}})) == set()
	findings({"object": {"kind": "ConfigMap"}, "workload": null}) == set()
}
