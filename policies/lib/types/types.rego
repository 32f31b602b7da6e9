# METADATA
# title: Types of fields
# description: >-
#   Says in words that a field has another type than the one its reader wants.
package fleetgate.lib.types

import data.fleetgate.lib.values

# The findings if `value`, or an entry of it, is not of the type. `null` is the same as absent. Types:
# text, texts, texts by name, map, maps, boolean, port.
mismatches(path, value, type) := set() if {
	fits(value, type)
} else := {message(array.concat(path, [key]), entry, entry_type[type]) |
	some key, entry in value
	not has_type(entry, entry_type[type])
} if {
	holds(value, type)
} else := {message(path, value, type)}

fits(value, _) if is_null(value)

fits(value, type) if has_type(value, type)

entry_type := {"texts": "text", "maps": "map", "texts by name": "text"}

# A list or map as wanted, so that only entries can be wrong.
holds(value, type) if {
	is_array(value)
	type in {"texts", "maps"}
}

holds(value, type) if {
	is_object(value)
	type == "texts by name"
}

message(path, value, type) := {
	"msg": sprintf("`%s` is %s, not %s", [name(path), described(value), wanted[type]]),
	"path": path,
	"remediation": hint[type],
}

name(path) := sprintf("%s[%d]", [path[count(path) - 2], last]) if {
	last := path[count(path) - 1]
	is_number(last)
} else := path[count(path) - 1]

described(value) := sprintf("the %s `%s`", [name_of[type_name(value)], values.show(value)]) if {
	type_name(value) in {"string", "number", "boolean"}
} else := "`null`" if {
	is_null(value)
} else := sprintf("a %s", [name_of[type_name(value)]])

name_of := {"string": "text", "number": "number", "boolean": "boolean", "array": "list", "object": "map"}

wanted := {
	"text": "a text",
	"texts": "a list of texts",
	"texts by name": "a map whose values are texts",
	"map": "a map",
	"maps": "a list of maps",
	"boolean": "`true` or `false`",
	"port": "a number from 1 to 65535",
}

hint := {
	"text": "put the value in quotes",
	"texts": "write a list and put each entry in quotes",
	"texts by name": "write `key: \"value\"` for each entry, the value in quotes",
	"map": "write `key: value` lines below it, or remove the field",
	"maps": "write a list whose entries are maps, `- name: …`, or remove the field",
	"boolean": "write `true` or `false` without quotes",
	"port": "write a number from 1 to 65535 without quotes",
}

has_type(value, "text") if is_string(value)

has_type(value, "boolean") if is_boolean(value)

has_type(value, "map") if is_object(value)

has_type(value, "texts") if {
	is_array(value)
	every entry in value {
		is_string(entry)
	}
}

has_type(value, "maps") if {
	is_array(value)
	every entry in value {
		is_object(entry)
	}
}

has_type(value, "texts by name") if {
	is_object(value)
	every _, entry in value {
		is_string(entry)
	}
}

has_type(value, "port") if {
	is_number(value)
	value >= 1
	value <= 65535
	floor(value) == value
}
