package fleetgate.gitops.applicationset_deletion_test

import data.fleetgate.gitops.applicationset_deletion as rule

result_with(spec, environment, environments) := {"deny": denied, "warn": warned} if {
	document := {"object": {"kind": "ApplicationSet", "spec": spec}, "environment": environment}
	denied := {finding.path | some finding in rule.deny} with input as document
		with data.params.gitops.applicationset_deletion as {"environments": environments}
	warned := {finding.path | some finding in rule.warn} with input as document
		with data.params.gitops.applicationset_deletion as {"environments": environments}
}

result(spec) := result_with(spec, "prod", ["prod"])

none := {"deny": set(), "warn": set()}

place := ["spec", "syncPolicy", "preserveResourcesOnDeletion"]

test_kept_resources_pass if {
	result({"syncPolicy": {"preserveResourcesOnDeletion": true}}) == none
	result({"syncPolicy": {"applicationsSync": "create-only"}}) == none
	result({"syncPolicy": {"applicationsSync": "create-update"}}) == none
}

test_deletion_is_a_warning if {
	result({"syncPolicy": {}}) == {"deny": set(), "warn": {place}}
	result({"syncPolicy": {"applicationsSync": "sync"}}) == {"deny": set(), "warn": {place}}
	result({"syncPolicy": {"applicationsSync": "create-delete"}}) == {"deny": set(), "warn": {place}}
	result({"syncPolicy": {"preserveResourcesOnDeletion": false}}) == {"deny": set(), "warn": {place}}
}

test_missing_policy_is_a_warning if {
	result({}).warn == {place}
	result({"syncPolicy": null}).warn == {place}
	result("x").warn == {place}
}

test_unknown_policy_is_denied_everywhere if {
	result_with({"syncPolicy": {"applicationsSync": "create", "preserveResourcesOnDeletion": true}}, "dev", ["prod"]) == {"deny": {["spec", "syncPolicy", "applicationsSync"]}, "warn": set()}
}

test_environments if {
	result_with({}, "dev", ["prod"]) == none
	count(result_with({}, null, ["prod"]).warn) == 1
	result_with({}, "prod", []) == none
	result_with({}, null, []) == none
}
