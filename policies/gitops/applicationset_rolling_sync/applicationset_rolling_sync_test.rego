package fleetgate.gitops.applicationset_rolling_sync_test

import data.fleetgate.gitops.applicationset_rolling_sync as rule

result_with(spec, environment, params) := {"deny": denied, "warn": warned} if {
	document := {"object": {"kind": "ApplicationSet", "spec": spec}, "environment": environment}
	complete := object.union({"environments": ["prod"], "maxPercent": 100}, params)
	denied := {finding.path | some finding in rule.deny} with input as document
		with data.params.gitops.applicationset_rolling_sync as complete
	warned := {finding.path | some finding in rule.warn} with input as document
		with data.params.gitops.applicationset_rolling_sync as complete
}

result(spec) := result_with(spec, "prod", {})

none := {"deny": set(), "warn": set()}

step(changes) := object.union({"matchExpressions": [{"key": "wave", "operator": "In", "values": ["1"]}]}, changes)

rolling(steps) := {
	"strategy": {"type": "RollingSync", "rollingSync": {"steps": steps}},
	"template": {"metadata": {"labels": {"wave": "1"}}},
}

denied(path) := {"deny": {path}, "warn": set()}

warned(path) := {"deny": set(), "warn": {path}}

step_path(rest) := array.concat(["spec", "strategy", "rollingSync", "steps"], rest)

test_usual_strategies_pass if {
	result({}) == none
	result({"strategy": {"type": "AllAtOnce"}}) == none
	result(rolling([step({}), step({"maxUpdate": 1}), step({"maxUpdate": "25%"})])) == none
	result("x") == none
}

test_steps_without_type_are_denied if {
	result({"strategy": {"rollingSync": {"steps": [step({})]}}}) == denied(["spec", "strategy", "type"])
	result({"strategy": {"type": "rollingSync", "rollingSync": {"steps": [step({})]}}}) == denied(["spec", "strategy", "type"])
}

test_steps_that_are_ignored_are_not_judged if {
	bad := [{"matchExpressions": [{"operator": "Exists"}], "maxUpdate": "x"}, step({"maxUpdate": 0}), {}]
	spec := {"strategy": {"type": "AllAtOnce", "rollingSync": {"steps": bad}}}
	result_with(spec, "prod", {"maxPercent": 20}) == denied(["spec", "strategy", "type"])
}

test_no_steps_are_denied if {
	result(rolling([])) == denied(["spec", "strategy", "rollingSync", "steps"])
	result({"strategy": {"type": "RollingSync"}}) == denied(["spec", "strategy", "rollingSync", "steps"])
	result({"strategy": {"type": "RollingSync", "rollingSync": {"steps": null}}}) == denied(["spec", "strategy", "rollingSync", "steps"])
}

test_unknown_operators_are_denied if {
	bad := {"matchExpressions": [{"key": "wave", "operator": "Exists"}]}
	result(rolling([step({}), bad])) == denied(step_path([1, "matchExpressions", 0, "operator"]))
}

test_unreadable_limits_are_denied if {
	result(rolling([step({"maxUpdate": "ten"})])) == denied(step_path([0, "maxUpdate"]))
	result(rolling([step({"maxUpdate": "10 %"})])) == denied(step_path([0, "maxUpdate"]))
	result(rolling([step({"maxUpdate": -1})])) == denied(step_path([0, "maxUpdate"]))
	result(rolling([step({"maxUpdate": 1.5})])) == denied(step_path([0, "maxUpdate"]))
	result(rolling([step({"maxUpdate": null})])) == none
}

test_steps_that_wait_for_a_person_are_a_warning if {
	result(rolling([step({"maxUpdate": 0})])) == warned(step_path([0, "maxUpdate"]))
	result(rolling([step({"maxUpdate": "0%"})])) == warned(step_path([0, "maxUpdate"]))
	result(rolling([step({"maxUpdate": "00%"})])) == warned(step_path([0, "maxUpdate"]))
}

test_applications_that_no_step_selects_are_denied if {
	place := denied(["spec", "template", "metadata", "labels"])
	result(object.union(rolling([step({})]), {"template": {"metadata": {"labels": {"wave": "2"}}}})) == place
	result({"strategy": rolling([step({})]).strategy, "template": {"metadata": {}}}) == place
	result({"strategy": rolling([step({})]).strategy}) == place
	both := step({"matchExpressions": [{"key": "wave", "operator": "In", "values": ["1"]}, {"key": "wave", "operator": "NotIn", "values": ["1"]}]})
	result(rolling([both])) == place
}

test_absent_label_fits_not_in if {
	other := {"matchExpressions": [{"key": "canary", "operator": "NotIn", "values": ["true"]}]}
	result({"strategy": {"type": "RollingSync", "rollingSync": {"steps": [other]}}}) == none
}

test_step_without_expressions_selects_all if result({"strategy": {"type": "RollingSync", "rollingSync": {"steps": [{}]}}}) == none

test_labels_that_are_not_known_are_not_judged if {
	result(object.union(rolling([step({})]), {"template": {"metadata": {"labels": {"wave": "{{.wave}}"}}}})) == none
	result({"strategy": rolling([step({})]).strategy, "templatePatch": "metadata: {}"}) == none
	override := [{"list": {"template": {"metadata": {"labels": {"wave": "1"}}}}}]
	result({"strategy": rolling([step({})]).strategy, "generators": override}) == none
}

test_override_without_labels_changes_nothing if {
	override := [{"list": {"template": {"metadata": {}, "spec": {}}}}]
	found := result({"strategy": rolling([step({})]).strategy, "generators": override})
	found == denied(["spec", "template", "metadata", "labels"])
}

test_share_is_limited_where_asked if {
	steps := [step({"maxUpdate": "20%"}), step({"maxUpdate": "50%"}), step({"maxUpdate": 3}), step({})]
	found := {step_path([1, "maxUpdate"]), step_path([3, "maxUpdate"])}
	result_with(rolling(steps), "prod", {"maxPercent": 20}) == {"deny": found, "warn": set()}
	result_with(rolling(steps), null, {"maxPercent": 20}) == {"deny": set(), "warn": found}
	result_with(rolling(steps), "dev", {"maxPercent": 20}) == none
	result_with(rolling(steps), "prod", {"maxPercent": 20, "environments": []}) == none
	result_with(rolling(steps), "prod", {}) == none
}

test_wrong_types_are_left_to_argocd_fields if {
	result({"strategy": "RollingSync"}) == none
	result({"strategy": {"type": "AllAtOnce", "rollingSync": {"steps": "x"}}}) == none
}
