package fleetgate.lib.values_test

import data.fleetgate.lib.values

test_wrong_types_become_empty if {
	values.list("a") == []
	values.list([1]) == [1]
	values.map([1]) == {}
	values.map({"a": 1}) == {"a": 1}
	values.text(null) == ""
	values.text("a") == "a"
}

test_shown if {
	values.show("a") == "a"
	values.show(5) == "5"
	values.show(null) == "null"
	values.show(["a"]) == `["a"]`
}

test_numbers if {
	values.number("0") == 0
	values.number("007") == 7
	values.number("100") == 100
}

test_templated if {
	values.templated("{{ .x }}")
	values.templated("a-${X}")
	values.templated("$(X)")
	not values.templated("a$")
	not values.templated(5)
}

test_pattern_without_star_is_the_text if {
	values.matches("prod", "prod")
	not values.matches("prod", "prod-1")
	not values.matches("", "prod")
}

test_star_stands_for_any_run if {
	values.matches("*", "")
	values.matches("nvidia.com/*", "nvidia.com/mig-1g.5gb")
	values.matches("*-system", "a-system")
	values.matches("prod-*-*eu*", "prod-aws-weu-1")
	not values.matches("ab*ba", "aba")
	not values.matches("nvidia.com/*", "nvidiaXcom/gpu")
	not values.matches("a.*c*", "abbc")
	values.matches("a.*c*", "a.bcd")
}

test_other_types_match_nothing if not values.matches("*", 5)

test_empty_list_matches_nothing if not values.matches_any([], "prod")
