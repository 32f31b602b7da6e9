package fleetgate.gitops.appproject_sync_windows_test

import data.fleetgate.gitops.appproject_sync_windows as rule

result_of(manifest) := {"deny": denied, "warn": warned} if {
	denied := {finding.path | some finding in rule.deny} with input as {"object": manifest}
	warned := {finding.path | some finding in rule.warn} with input as {"object": manifest}
}

usual := {"kind": "allow", "schedule": "0 9 * * 1-5", "duration": "8h", "applications": ["*"]}

result(changes) := result_of({"kind": "AppProject", "spec": {"syncWindows": [object.union(usual, changes)]}})

none := {"deny": set(), "warn": set()}

denied(field) := {"deny": {["spec", "syncWindows", 0, field]}, "warn": set()}

schedule(text) := result({"schedule": text})

duration(text) := result({"duration": text})

test_usual_window_passes if {
	result({}) == none
	result({"kind": "deny"}) == none
	result_of({"kind": "AppProject", "spec": {}}) == none
	result_of({"kind": "AppProject"}) == none
}

test_kinds if {
	result({"kind": "Allow"}) == denied("kind")
	result({"kind": "block"}) == denied("kind")
	result({"kind": null}) == denied("kind")
	result_of({"kind": "AppProject", "spec": {"syncWindows": [object.remove(usual, ["kind"])]}}) == denied("kind")
}

test_readable_schedules_pass if {
	schedule("*/15 0-6 1,15 jan-MAR mon-fri") == none
	schedule("0 22 * * *") == none
	schedule("00 08 ? * 0") == none
	schedule("5/10 * * * *") == none
	schedule("0  9 * * 1") == none
	schedule("TZ=Europe/Berlin 0 9 * * 1-5") == none
	schedule("CRON_TZ=UTC 0 9 * * 1-5") == none
}

test_unreadable_schedules_fail if {
	bad := denied("schedule")
	schedule("0 9 * *") == bad
	schedule("0 0 9 * * 1-5") == bad
	schedule("@daily") == bad
	schedule("60 9 * * *") == bad
	schedule("0 24 * * *") == bad
	schedule("0 9 0 * *") == bad
	schedule("0 9 * 13 *") == bad
	schedule("0 9 * * 7") == bad
	schedule("0 9 * * fri-mon") == bad
	schedule("0 17-9 * * *") == bad
	schedule("*/0 * * * *") == bad
	schedule("0 9 * * mon,") == bad
	schedule("0 9 * * 1-2-3") == bad
	schedule("0 9 * * x") == bad
	schedule("") == bad
	schedule(null) == bad
	schedule(9) == bad
}

test_durations if {
	duration("1h30m") == none
	duration("90m") == none
	duration("1.5h") == none
	bad := denied("duration")
	duration("1d") == bad
	duration("8") == bad
	duration("0h") == bad
	duration("-8h") == bad
	duration("8 h") == bad
	duration("") == bad
	duration(8) == bad
	duration(null) == bad
}

test_window_without_selectors_fails if {
	result({"applications": []}) == {"deny": {["spec", "syncWindows", 0]}, "warn": set()}
	result({"applications": null}) == {"deny": {["spec", "syncWindows", 0]}, "warn": set()}
	result({"applications": [], "clusters": ["prod-1"]}) == none
}

test_selectors_are_alternatives if {
	both := {"applications": ["search-*"], "clusters": ["prod-*"]}
	result(both) == {"deny": set(), "warn": {["spec", "syncWindows", 0, "clusters"]}}
	result(object.union(both, {"andOperator": false})).warn == {["spec", "syncWindows", 0, "clusters"]}
	result(object.union(both, {"andOperator": true})) == none
	result({"clusters": ["prod-*"]}) == none
	result({"applications": ["a"], "namespaces": ["b"], "clusters": ["c"]}).warn == {["spec", "syncWindows", 0, "namespaces"]}
}

test_freeze_that_lets_manual_syncs_pass_is_a_warning if {
	result({"kind": "deny", "manualSync": true}) == {"deny": set(), "warn": {["spec", "syncWindows", 0, "manualSync"]}}
	result({"kind": "deny", "manualSync": false}) == none
	result({"manualSync": true}) == none
}

test_each_window_is_judged if {
	manifest := {"kind": "AppProject", "spec": {"syncWindows": [usual, "x", object.union(usual, {"duration": "x"})]}}
	result_of(manifest) == {"deny": {["spec", "syncWindows", 2, "duration"]}, "warn": set()}
}

test_wrong_types_are_left_to_argocd_fields if {
	result_of({"kind": "AppProject", "spec": {"syncWindows": "x"}}) == none
	result_of({"kind": "AppProject", "spec": []}) == none
}
