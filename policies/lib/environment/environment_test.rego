package fleetgate.lib.environment_test

import data.fleetgate.lib.environment

test_selected_by_pattern if {
	environment.selected(["prod*"], "prod-eu")
	not environment.selected(["prod"], "dev")
	not environment.selected(["prod"], null)
}

test_unknown_is_not_selected if {
	environment.unknown(["prod"], null)
	not environment.unknown(["prod"], "dev")
}

test_empty_list_switches_off if {
	not environment.selected([], "prod")
	not environment.unknown([], null)
	not environment.advised([], null)
}

test_advised if {
	environment.advised(["prod"], "prod")
	environment.advised(["prod"], null)
	not environment.advised(["prod"], "dev")
}
