package fleetgate.scheduling.whole_nodes_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.whole_nodes as rule

findings_with(document, kinds) := found if {
	found := rule.warn with input as document with data.params.scheduling.whole_nodes as {"kinds": kinds}
}

findings(document) := findings_with(document, ["kubeflow.org/PyTorchJob"])

kind := {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}

job(asked, number, fields) := fixture.document(kind, [fixture.pod(object.union({"asks": {"nvidia.com/gpu": asked}, "count": number}, fields))])

here := {"pools": [fixture.h100]}

test_parts_of_nodes if {
	spec := {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 2}}}]}
	some finding in findings(job(2, 8, object.union(here, {"spec": spec})))
	finding.msg == "pod `worker` takes 2 of the 8 `nvidia.com/gpu` of a node, and 8 such pods compute together"
	finding.path == ["spec", "template", "spec", "containers", 0, "resources", "limits", "nvidia.com/gpu"]
	finding.remediation == "write `nvidia.com/gpu: 8` and 2 pods instead"
	finding.details.lines == [["holds", "worker, 8 × 2 nvidia.com/gpu"], ["facts", "H100 (12 nodes): 8 on a node"]]
}

test_no_whole_number_of_nodes if {
	some finding in findings(job(4, 3, here))
	finding.remediation == "write `nvidia.com/gpu: 8`, and pods for a whole number of nodes"
}

test_whole_nodes if {
	findings(job(8, 4, here)) == set()
	findings(job(1, 4, {"pools": [fixture.l4]})) == set()
	findings(job(1, 64, {"pools": [fixture.h100, fixture.l4]})) == set()
}

test_what_fits_into_one_node if {
	findings(job(4, 2, here)) == set()
	findings(job(2, 1, here)) == set()
}

test_silent_where_not_known if {
	findings(job(2, 8, {})) == set()
	findings(job(2, 8, {"pools": []})) == set()
	findings(job(2, 8, {"pools": [fixture.perhaps(fixture.h100)]})) == set()
	findings(job(2, fixture.unknown, here)) == set()
	findings(job(fixture.unknown, 8, here)) == set()
	findings(job({"atLeast": 2, "unknown": ["a placeholder"]}, 8, here)) == set()
	findings(fixture.queued(job(2, 8, here), {"flavors": ["a", "b"]})) == set()
	findings(fixture.queued(job(2, 8, here), {"elsewhere": true})) == set()
	every text in fixture.placeholders {
		findings(job(2, 8, object.union(here, {"spec": {"nodeSelector": {"a": text}}}))) == set()
	}
}

test_silent_about_shared_devices if {
	findings(job(2, 8, {"pools": [object.union(fixture.h100, {"sharing": "time-slicing"})]})) == set()
}

test_more_than_a_node_has_is_reported_elsewhere if findings(job(16, 2, here)) == set()

test_kinds if {
	document := fixture.document({}, [fixture.pod({"asks": {"nvidia.com/gpu": 2}, "count": 8, "pools": [fixture.h100]})])
	findings(document) == set()
	count(findings_with(document, ["apps/Deployment"])) == 1
	findings_with(job(2, 8, here), []) == set()
}

test_silent_about_templates if {
	findings(object.union(job(2, 0, here), {"workload": {"demand": []}})) == set()
	findings({"object": {"apiVersion": "v1", "kind": "ConfigMap"}, "workload": null}) == set()
}
