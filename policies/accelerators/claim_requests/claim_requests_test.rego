package fleetgate.accelerators.claim_requests_test

import data.fleetgate.accelerators.claim_requests as rule

defaults := {"classes": [], "namespaces": ["kube-system", "*-system"]}

result_in(object, params) := {"deny": denied, "warn": warned} if {
	denied := {finding.path | some finding in rule.deny} with input as {"object": object, "workload": null}
		with data.params.accelerators.claim_requests as object.union(defaults, params)
	warned := {finding.path | some finding in rule.warn} with input as {"object": object, "workload": null}
		with data.params.accelerators.claim_requests as object.union(defaults, params)
}

claim_of(version, namespace, request) := {
	"apiVersion": sprintf("resource.k8s.io/%s", [version]), "kind": "ResourceClaim",
	"metadata": {"namespace": namespace}, "spec": {"devices": {"requests": [request]}},
}

result(version, request) := result_in(claim_of(version, "search", request), {})

none := {"deny": set(), "warn": set()}

request(path) := array.concat(["spec", "devices", "requests", 0], path)

denied(path) := {"deny": {request(path)}, "warn": set()}

gpu := {"deviceClassName": "gpu.nvidia.com", "count": 2}

named(fields) := object.union({"name": "a"}, fields)

test_each_version_in_its_form if {
	result("v1", named({"exactly": gpu})) == none
	result("v1beta2", named({"exactly": gpu})) == none
	result("v1beta1", named(gpu)) == none
	result("v1alpha3", named(gpu)) == none
	result("v1", named({"firstAvailable": [named(gpu)]})) == none
	result("v1beta1", named({"firstAvailable": [named(gpu)]})) == none
}

test_the_form_of_another_version if {
	result("v1", named(gpu)) == denied(["deviceClassName"])
	result("v1beta2", named({})) == denied(["exactly"])
	result("v1beta1", named({"exactly": gpu})) == denied(["exactly"])
}

test_a_class_is_needed if {
	result("v1", named({"exactly": {"count": 1}})) == denied(["exactly", "deviceClassName"])
	result("v1beta1", named({"count": 1})) == denied(["deviceClassName"])
	result("v1", named({"firstAvailable": [named({})]})) == denied(["firstAvailable", 0, "deviceClassName"])
}

test_all_and_administrative_access if {
	result("v1", named({"exactly": {"deviceClassName": "g", "allocationMode": "All"}})) == {"deny": set(), "warn": {request(["exactly", "allocationMode"])}}
	result("v1beta1", named({"deviceClassName": "g", "adminAccess": true})) == denied(["adminAccess"])
	result("v1", named({"exactly": {"deviceClassName": "g", "adminAccess": false, "allocationMode": "ExactCount"}})) == none
}

test_administrative_namespaces if {
	all := named({"exactly": {"deviceClassName": "g", "allocationMode": "All", "adminAccess": true}})
	result_in(claim_of("v1", "gpu-system", all), {}) == none
	result_in(claim_of("v1", "gpu-system", all), {"namespaces": []}) != none
}

test_unknown_modes if {
	result("v1", named({"exactly": {"deviceClassName": "g", "allocationMode": "Some"}})) == denied(["exactly", "allocationMode"])
	result("v1", named({"exactly": {"deviceClassName": "g", "allocationMode": "${MODE}"}})) == none
}

test_classes if {
	result_in(claim_of("v1", "search", named({"exactly": gpu})), {"classes": ["*.nvidia.com"]}) == none
	result_in(claim_of("v1", "search", named({"exactly": gpu})), {"classes": ["neuron.aws.com"]}) == denied(["exactly", "deviceClassName"])
	result_in(claim_of("v1", "search", named({"firstAvailable": [named(gpu), named({"deviceClassName": "mig.nvidia.com"})]})), {"classes": ["gpu.nvidia.com"]}) == denied(["firstAvailable", 1, "deviceClassName"])
	result_in(claim_of("v1", "search", named({"exactly": {"deviceClassName": "{{ .class }}"}})), {"classes": ["gpu.nvidia.com"]}) == none
}

test_templates if {
	template := {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {}, "spec": {"spec": {"devices": {"requests": [named({"exactly": gpu}), named(gpu)]}}}}
	result_in(template, {}) == {"deny": {["spec", "spec", "devices", "requests", 1, "deviceClassName"]}, "warn": set()}
}

test_versions_that_are_not_known_and_wrong_types if {
	result("v2", named(gpu)) == none
	result("v1alpha2", named(gpu)) == none
	result("v1", "x") == none
	result("v1", named({"exactly": "x"})) == none
	result_in({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": "x"}, {}) == none
	result_in({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": {"devices": {"requests": {}}}}, {}) == none
}
