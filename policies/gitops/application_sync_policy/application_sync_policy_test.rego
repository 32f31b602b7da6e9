package fleetgate.gitops.application_sync_policy_test

import data.fleetgate.gitops.application_sync_policy as rule

result(manifest, environment, params) := {"deny": denied, "warn": warned} if {
	defaults := {"environments": ["prod"], "automated": "any", "prune": "any", "selfHeal": "any"}
	document := {"object": manifest, "environment": environment}
	complete := object.union(defaults, params)
	denied := {last(finding.path) | some finding in rule.deny} with input as document
		with data.params.gitops.application_sync_policy as complete
	warned := {last(finding.path) | some finding in rule.warn} with input as document
		with data.params.gitops.application_sync_policy as complete
}

last(path) := path[count(path) - 1]

application(policy) := {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "spec": {"syncPolicy": policy}}

none := {"deny": set(), "warn": set()}

denied(fields) := {"deny": fields, "warn": set()}

test_defaults_leave_choices_free if {
	result(application({}), "prod", {}) == none
	result(application({"automated": {}}), "prod", {}) == none
	result(application({"automated": {"prune": true, "selfHeal": true}}), "prod", {}) == none
	result(application({"automated": {"enabled": false}}), "prod", {}) == none
}

test_allow_empty_with_prune_is_denied_everywhere if {
	bad := application({"automated": {"allowEmpty": true, "prune": true}})
	result(bad, "dev", {}) == denied({"allowEmpty"})
	result(bad, null, {}) == denied({"allowEmpty"})
	result(application({"automated": {"allowEmpty": true}}), "prod", {}) == none
	result(application({"automated": {"allowEmpty": true, "prune": false}}), "prod", {}) == none
}

test_settings_that_do_nothing_are_reported if {
	result(application({"automated": {"enabled": false, "prune": true, "selfHeal": true}}), "dev", {}) == {"deny": set(), "warn": {"prune", "selfHeal"}}
	result(application({"automated": {"enabled": null, "prune": true}}), "dev", {}) == none
	result(application({"automated": {"enabled": false, "allowEmpty": true, "prune": true}}), "dev", {}).deny == set()
}

test_empty_map_is_on if {
	result(application({"automated": {}}), "prod", {"automated": "required"}) == none
	result(application({"automated": {}}), "prod", {"automated": "forbidden"}) == denied({"automated"})
	result(application({"automated": {"enabled": null}}), "prod", {"automated": "forbidden"}) == denied({"automated"})
}

test_off_if_absent_null_or_switched_off if {
	result(application({}), "prod", {"automated": "required"}) == denied({"enabled"})
	result(application({"automated": null}), "prod", {"automated": "required"}) == denied({"enabled"})
	result(application({"automated": {"enabled": false}}), "prod", {"automated": "required"}) == denied({"enabled"})
	result({"kind": "Application"}, "prod", {"automated": "required"}) == denied({"enabled"})
	result(application({"automated": {"enabled": false}}), "prod", {"automated": "forbidden"}) == none
	result(application({}), "prod", {"automated": "forbidden"}) == none
}

test_required_prune_tells_missing_from_false if {
	missing := application({"automated": {}})
	off := application({"automated": {"prune": false}})
	result(missing, "prod", {"prune": "required"}) == denied({"prune"})
	result(off, "prod", {"prune": "required"}) == denied({"prune"})
	messages(missing, {"prune": "required"}) == {"automated sync is on, but `prune` is absent, which is off"}
	messages(off, {"prune": "required"}) == {"automated sync is on, but `prune` is off"}
	result(application({"automated": {"prune": true}}), "prod", {"prune": "required"}) == none
}

messages(manifest, params) := found if {
	defaults := {"environments": ["prod"], "automated": "any", "prune": "any", "selfHeal": "any"}
	found := {finding.msg | some finding in rule.deny} with input as {"object": manifest, "environment": "prod"}
		with data.params.gitops.application_sync_policy as object.union(defaults, params)
}

test_wishes_about_automated_sync_do_not_hold_without_it if {
	result(application({}), "prod", {"prune": "required", "selfHeal": "required"}) == none
	result(application({"automated": {"enabled": false}}), "prod", {"prune": "required"}) == none
}

test_forbidden_self_heal if {
	result(application({"automated": {"selfHeal": true}}), "prod", {"selfHeal": "forbidden"}) == denied({"selfHeal"})
	result(application({"automated": {"selfHeal": false}}), "prod", {"selfHeal": "forbidden"}) == none
	result(application({"automated": {}}), "prod", {"selfHeal": "forbidden"}) == none
	result(application({"automated": {"enabled": false, "selfHeal": true}}), "prod", {"selfHeal": "forbidden"}).deny == set()
}

test_environments if {
	bad := application({"automated": {}})
	result(bad, "dev", {"automated": "forbidden"}) == none
	result(bad, null, {"automated": "forbidden"}) == {"deny": set(), "warn": {"automated"}}
	result(bad, "prod", {"automated": "forbidden", "environments": []}) == none
	result(bad, null, {"automated": "forbidden", "environments": []}) == none
}

test_template_is_judged if {
	manifest := {"kind": "ApplicationSet", "spec": {"template": {"spec": {"syncPolicy": {"automated": {}}}}}}
	result(manifest, "prod", {"selfHeal": "required"}) == denied({"selfHeal"})
}

test_override_is_judged if {
	policy := {"automated": {"allowEmpty": true, "prune": true}}
	manifest := {"kind": "ApplicationSet", "spec": {"generators": [{"git": {"template": {"spec": {"syncPolicy": policy}}}}]}}
	result(manifest, "dev", {}) == denied({"allowEmpty"})
}

test_wrong_types_are_left_to_argocd_fields if {
	result(application("x"), "prod", {"selfHeal": "required"}) == none
	result(application({"automated": true}), "prod", {"selfHeal": "required"}) == none
}
