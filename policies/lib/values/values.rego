# METADATA
# title: Reading values of unknown type
# description: >-
#   Manifests are written by hand, so any field may have any type. These functions give a value of
#   the wanted type or an empty one, so that a rule neither stops with an error nor has to guard each
#   step; that the type itself is wrong is reported by the rules `gitops/argocd-fields` and
#   `gitops/pod-fields`.
package fleetgate.lib.values

list(value) := value if {
	is_array(value)
} else := []

map(value) := value if {
	is_object(value)
} else := {}

text(value) := value if {
	is_string(value)
} else := ""

# A value as it should stand in a message.
show(value) := value if {
	is_string(value)
} else := json.marshal(value)

# The number that a text of digits says; zeros in front do not count.
number(digits) := 0 if {
	trim_left(digits, "0") == ""
} else := to_number(trim_left(digits, "0"))

# A string that Helm, an ApplicationSet or a shell has still to fill in.
templated(value) if {
	is_string(value)
	some opening in ["{{", "${", "$("]
	contains(value, opening)
}

# In a pattern `*` stands for any run of characters, `/` and `.` included.
matches(pattern, value) if {
	is_string(value)
	fleetgate.glob(pattern, value)
}

# An empty list of patterns matches nothing.
matches_any(patterns, value) if {
	is_string(value)
	some pattern in patterns
	fleetgate.glob(pattern, value)
}
