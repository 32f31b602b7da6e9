# METADATA
# title: Types of fields
# description: >-
#   Says in words that a field has another type than the one its reader wants.
package fleetgate.lib.types

import data.fleetgate.lib.values

# A finding if `value` is not of the type; undefined if it is, or is `null`, which is the same as
# absent. Types: text, texts, texts by name, map, maps, boolean, port.
mismatch(path, value, type) := {
	"msg": sprintf("`%s` is %s, not %s", [path[count(path) - 1], described(value), wanted[type]]),
	"path": path,
	"remediation": hint[type],
} if {
	not is_null(value)
	not has_type(value, type)
}

described(value) := sprintf("the %s `%s`", [name_of[type_name(value)], values.show(value)]) if {
	type_name(value) in {"string", "number", "boolean"}
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
	"port": "write the number without quotes",
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
