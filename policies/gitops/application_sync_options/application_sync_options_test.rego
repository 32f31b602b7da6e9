package fleetgate.gitops.application_sync_options_test

import data.fleetgate.gitops.application_sync_options as rule

result_with(manifest, params) := {"deny": denied, "warn": warned} if {
	complete := object.union({"denied": ["Force=true", "Replace=true"], "discouraged": ["Validate=false"], "known": []}, params)
	denied := {finding.path | some finding in rule.deny} with input as {"object": manifest}
		with data.params.gitops.application_sync_options as complete
	warned := {finding.path | some finding in rule.warn} with input as {"object": manifest}
		with data.params.gitops.application_sync_options as complete
}

result(manifest) := result_with(manifest, {})

application(options) := {"kind": "Application", "spec": {"syncPolicy": {"syncOptions": options}}}

none := {"deny": set(), "warn": set()}

at(i) := {["spec", "syncPolicy", "syncOptions", i]}

test_usual_options_pass if {
	result(application(["CreateNamespace=true", "PruneLast=true", "ServerSideApply=true", "PrunePropagationPolicy=foreground", "Prune=confirm"])) == none
	result(application([])) == none
	result({"kind": "Application", "spec": {}}) == none
	result({"kind": "Application"}) == none
}

test_destructive_options_are_denied if {
	result(application(["CreateNamespace=true", "Replace=true"])) == {"deny": at(1), "warn": set()}
	result(application(["Force=true"])) == {"deny": at(0), "warn": set()}
	result(application(["Force=false", "Replace=false"])) == none
}

test_validation_switched_off_is_a_warning if result(application(["Validate=false"])) == {"deny": set(), "warn": at(0)}

test_misspelt_options_are_a_warning if {
	result(application(["ServersideApply=true"])) == {"deny": set(), "warn": at(0)}
	result(application(["CreateNamespace: true"])) == {"deny": set(), "warn": at(0)}
	result(application([" PruneLast=true"])) == {"deny": set(), "warn": at(0)}
	result(application(["PruneLast"])) == {"deny": set(), "warn": at(0)}
}

test_templated_option_is_not_judged if result(application(["{{ .option }}"])) == none

test_template_and_overrides_are_judged if {
	policy := {"syncPolicy": {"syncOptions": ["Replace=true"]}}
	manifest := {"kind": "ApplicationSet", "spec": {"generators": [{"list": {"template": {"spec": policy}}}], "template": {"spec": policy}}}
	result(manifest).deny == {
		["spec", "template", "spec", "syncPolicy", "syncOptions", 0],
		["spec", "generators", 0, "list", "template", "spec", "syncPolicy", "syncOptions", 0],
	}
}

test_patch_is_judged if {
	result({"kind": "ApplicationSet", "spec": {"templatePatch": "spec:\n  syncPolicy:\n    syncOptions:\n    - Replace=true"}}).deny == {["spec", "templatePatch"]}
	result({"kind": "ApplicationSet", "spec": {"templatePatch": "spec: {}"}}) == none
}

test_parameters if {
	result_with(application(["Replace=true"]), {"denied": []}) == none
	result_with(application(["Prune=false"]), {"denied": ["Prune=*"]}) == {"deny": at(0), "warn": set()}
	result_with(application(["Validate=false"]), {"discouraged": []}) == none
	result_with(application(["NewOption=true"]), {"known": ["NewOption"]}) == none
}

test_wrong_types_are_left_to_argocd_fields if {
	result(application("Replace=true")) == none
	result(application([5, {"Replace": true}, null])) == none
	result({"kind": "Application", "spec": {"syncPolicy": []}}) == none
}
