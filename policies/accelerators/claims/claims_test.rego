package fleetgate.accelerators.claims_test

import data.fleetgate.accelerators.claims as rule

findings_in(object, pods, classes) := found if {
	found := rule.deny with input as {"object": object, "workload": {"pods": pods}}
		with data.params.accelerators.claims as {"classes": classes}
}

paths(spec) := {finding.path | some finding in findings_in({"apiVersion": "v1", "kind": "Pod"}, [{"path": ["spec"], "spec": spec}], [])}

template := {"name": "gpu", "resourceClaimTemplateName": "one-gpu"}

test_claims_of_the_pod_pass if {
	paths({"resourceClaims": [template], "containers": [{"resources": {"claims": [{"name": "gpu"}]}}]}) == set()
	paths({"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}], "containers": [{"resources": {"claims": [{"name": "gpu", "request": "a"}]}}, {}]}) == set()
	paths({"resourceClaims": [template], "containers": [{}]}) == set()
	paths({"containers": [{}]}) == set()
}

test_a_claim_that_the_pod_does_not_have if {
	found := findings_in({"apiVersion": "v1", "kind": "Pod"}, [{"path": ["spec"], "spec": {"resourceClaims": [template], "containers": [{"name": "a", "resources": {"claims": [{"name": "gpus"}]}}]}}], [])
	some finding in found
	finding.msg == "container `a` uses the claim `gpus`, which its pod does not have"
	finding.path == ["spec", "containers", 0, "resources", "claims", 0, "name"]
	finding.remediation == "write `gpu`, or add the claim to `resourceClaims` in the pod spec"
}

test_a_pod_without_claims if {
	paths({"containers": [{"resources": {"claims": [{"name": "gpu"}]}}]}) == {["spec", "containers", 0, "resources", "claims", 0, "name"]}
	paths({"initContainers": [{"resources": {"claims": [{"name": "gpu"}]}}], "containers": [{}]}) == {["spec", "initContainers", 0, "resources", "claims", 0, "name"]}
}

test_the_form_that_was_removed if {
	paths({"resourceClaims": [{"name": "gpu", "source": {"resourceClaimTemplateName": "x"}}]}) == {["spec", "resourceClaims", 0, "source"]}
	paths({"resourceClaims": [{"name": "gpu", "source": {"resourceClaimName": "x"}, "resourceClaimName": "x"}]}) == {["spec", "resourceClaims", 0, "source"]}
}

test_neither_and_both if {
	paths({"resourceClaims": [{"name": "gpu"}]}) == {["spec", "resourceClaims", 0]}
	paths({"resourceClaims": [object.union(template, {"resourceClaimName": "x"})]}) == {["spec", "resourceClaims", 0]}
	paths({"resourceClaims": [object.union(template, {"resourceClaimName": null})]}) == set()
}

# A runtime may bring the claim.
test_pods_that_are_completed_elsewhere if {
	spec := {"containers": [{"resources": {"claims": [{"name": "gpu"}]}}]}
	findings_in({"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService"}, [{"path": ["spec", "predictor"], "spec": spec}], []) == set()
}

test_all_pods if {
	bad := {"containers": [{"resources": {"claims": [{"name": "gpu"}]}}]}
	found := findings_in({"kind": "X"}, [{"path": ["head"], "spec": {}}, {"path": ["worker"], "spec": bad}], [])
	{finding.path | some finding in found} == {["worker", "containers", 0, "resources", "claims", 0, "name"]}
}

test_classes_as_resources if {
	spec := {"containers": [{"resources": {"limits": {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": 1, "nvidia.com/gpu": 1}}}]}
	pods := [{"path": ["spec"], "spec": spec}]
	findings_in({"kind": "Pod"}, pods, []) == set()
	findings_in({"kind": "Pod"}, pods, ["gpu.nvidia.com"]) == set()
	findings_in({"kind": "Pod"}, pods, ["*.nvidia.com"]) == set()
	{finding.path | some finding in findings_in({"kind": "Pod"}, pods, ["mig.nvidia.com"])} == {["spec", "containers", 0, "resources", "limits", "deviceclass.resource.kubernetes.io/gpu.nvidia.com"]}
}

test_wrong_types if {
	paths({"resourceClaims": "x", "containers": [{"resources": {"claims": "x"}}, {"resources": "x"}, {"resources": {"claims": ["x", {"name": 5}]}}]}) == set()
	paths({"resourceClaims": ["x"], "containers": []}) == set()
	count(rule.deny) == 0 with input as {"object": {}, "workload": null} with data.params.accelerators.claims as {"classes": []}
}
