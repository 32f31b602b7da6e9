# METADATA
# title: Rules for some environments
# description: >-
#   A rule with a parameter `environments` concerns resources whose environment matches one of its
#   patterns. A loose file has no known environment: there the finding is a warning, neither silent
#   nor a denial. An empty list switches the rule off.
package fleetgate.lib.environment

import data.fleetgate.lib.values

selected(patterns, environment) if {
	is_string(environment)
	values.matches_any(patterns, environment)
}

unknown(patterns, environment) if {
	is_null(environment)
	count(patterns) > 0
}

# For rules that only warn.
advised(patterns, environment) if selected(patterns, environment)

advised(patterns, environment) if unknown(patterns, environment)
