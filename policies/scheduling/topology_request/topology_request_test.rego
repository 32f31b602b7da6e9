package fleetgate.scheduling.topology_request_test

import data.fleetgate.lib.scheduling_test as fixture
import data.fleetgate.scheduling.topology_request as rule

usual := {"pods": 4, "resources": ["nvidia.com/gpu"], "kinds": ["kubeflow.org/PyTorchJob"]}

findings_with(document, changes) := found if {
	params := object.union(object.remove(usual, object.keys(changes)), changes)
	found := rule.warn with input as document with data.params.scheduling.topology_request as params
}

findings(document) := findings_with(document, {})

job(fields) := fixture.queued(fixture.document({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}, [fixture.pod(object.union({"count": 8}, fields))]), {})

annotated(name) := job({"metadata": {"annotations": {name: "x"}}})

test_large_job_without_request if {
	some finding in findings(job({}))
	finding.msg == "8 pods compute together, and nothing asks for them to be near each other"
	finding.path == ["spec", "template", "metadata", "annotations", "kueue.x-k8s.io/podset-preferred-topology"]
	finding.details.value == 8
}

test_requests if {
	every name in ["kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-unconstrained-topology", "alpha.jobset.sigs.k8s.io/exclusive-topology", "kai.scheduler/topology-required-placement"] {
		findings(annotated(name)) == set()
	}
	findings(job({"spec": {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}}})) == set()
	findings(job({"spec": {"nodeSelector": {"cloud.google.com/gce-topology-block": "b"}}})) == set()
}

test_what_looks_like_a_request if {
	count(findings(job({"spec": {"affinity": {"podAffinity": {}}}}))) == 1
	count(findings(annotated("example.org/owner"))) == 1
	document := object.union(job({}), {"object": {"metadata": {"annotations": {"example.org/owner": "x"}}}})
	count(findings(document)) == 1
	volcano := object.union(job({}), {"object": {"spec": {"networkTopology": {"mode": "hard"}}}})
	findings(volcano) == set()
}

test_mistyped if {
	every name in [
		"kueue.x-k8s.io/podset-required-topolgy", "kueue.x-k8s.io/podset-required_topology",
		"kueue.x-k8s.io/podset-Required-Topology", "kueue.x-k8s.io/podset-requiredd-topology", "kueue.x-k8s.io/podset-requirad-topology",
	] {
		{finding.remediation | some finding in findings(annotated(name))} == {"write `kueue.x-k8s.io/podset-required-topology`"}
	}
	some finding in findings(annotated("kueue.x-k8s.io/podset-slice-sizes"))
	finding.msg == "Kueue ignores the annotation `kueue.x-k8s.io/podset-slice-sizes`"
	finding.path == ["spec", "template", "metadata", "annotations", "kueue.x-k8s.io/podset-slice-sizes"]
	findings(annotated("kueue.x-k8s.io/podset-something-new")) == set()
}

test_on_the_object if {
	name := "kueue.x-k8s.io/podset-required-topology"
	document := object.union(job({}), {"object": {"metadata": {"annotations": {name: "x"}}}})
	some finding in findings(document)
	finding.msg == "Kueue reads `kueue.x-k8s.io/podset-required-topology` from the pod template, not from the object"
	finding.path == ["metadata", "annotations", name]
	count(findings(document)) == 1
	findings(object.union(annotated(name), {"object": {"metadata": {"annotations": {name: "x"}}}})) == set()
	findings(object.union(document, {"object": {"kind": "Pod"}})) == set()
}

test_small_jobs_and_other_devices if {
	findings(job({"count": 3})) == set()
	count(findings(job({"count": 4}))) == 1
	findings(job({"asks": {"google.com/tpu": 4}})) == set()
	findings(fixture.queued(fixture.document({}, [fixture.pod({"count": 8})]), {})) == set()
	findings(fixture.document({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}, [fixture.pod({"count": 8})])) == set()
}

test_silent_where_not_known if {
	findings(job({"count": fixture.unknown})) == set()
	findings(job({"asks": {"nvidia.com/gpu": fixture.unknown}})) == set()
	findings(job({"metadata": {"annotations": "x"}, "count": 1})) == set()
}

test_parameters if {
	findings_with(job({}), {"pods": 0}) == set()
	findings_with(job({}), {"resources": []}) == set()
	findings_with(job({}), {"kinds": []}) == set()
}

test_silent_about_templates if {
	findings(object.union(annotated("kueue.x-k8s.io/podset-required-topolgy"), {"workload": {"demand": [], "pods": []}})) == set()
	findings({"object": {"apiVersion": "v1", "kind": "ConfigMap"}, "workload": null}) == set()
}
