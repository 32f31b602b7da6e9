package fleetgate.lib.quota_test

import data.fleetgate.lib.quota

limit := {
	"row": "limit", "system": "kai", "unit": "thousandth", "limit": 1500, "key": "gpu", "owner": "@gpu",
	"ref": {"group": "scheduling.run.ai", "kind": "Queue", "namespace": null, "name": "team"},
	"contributors": [contributor("b", 500), contributor("a", 500), contributor("c", {"atLeast": 2000, "unknown": ["x"]})],
}

contributor(name, n) := {"ref": {"group": "", "kind": "Pod", "namespace": "ml", "name": name}, "steady": n}

test_rows_by_kind_and_system if {
	rows := [limit, {"row": "problem", "system": "kai"}, {"row": "admission", "system": "kueue"}]
	quota.limits("kai") == [limit] with input as {"quotas": rows}
	quota.problems("kai") == [rows[1]] with input as {"quotas": rows}
	quota.admissions("kueue") == [rows[2]] with input as {"quotas": rows}
	quota.limits("kai") == [] with input as {}
}

test_thousandths_are_shown_in_devices if {
	quota.shown(limit, 1500) == "1.5"
	quota.shown(limit, 2000) == "2"
	quota.shown(limit, 50) == "0.05"
	quota.shown({"unit": "unit"}, 8) == "8"
	quota.shown(limit, {"atLeast": 500, "unknown": ["x"]}) == "at least 0.5"
	quota.shown(limit, {"atLeast": 227000, "unknown": ["x"]}) == "at least 227"
	quota.shown(limit, {"atLeast": 8000, "unbounded": true}) == "8 or more, without bound"
	quota.shown(limit, {"atLeast": 0, "unbounded": true}) == "any number, without bound"
	quota.shown(limit, {"atLeast": 0, "unknown": ["x"]}) == "an unknown number"
}

test_objects_have_their_namespace_if_they_state_one if {
	quota.called(limit.ref) == "Queue team"
	quota.called({"kind": "Pod", "namespace": "ml", "name": "p"}) == "Pod ml/p"
}

test_who_may_raise_it if {
	quota.who(limit) == "@gpu"
	quota.who(object.union(limit, {"owner": null})) == "whoever owns the file of Queue team"
	quota.who({"owner": null, "ref": null}) == "whoever owns the queue"
}

test_the_largest_stand_first if {
	quota.holds(limit, "steady") == "Pod ml/c at least 2, Pod ml/a 0.5, Pod ml/b 0.5"
	many := object.union(limit, {"contributors": [contributor(sprintf("p%d", [n]), 1000) | some n in numbers.range(1, 7)]})
	endswith(quota.holds(many, "steady"), "Pod ml/p5 1, and 2 more")
}
