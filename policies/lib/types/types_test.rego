package fleetgate.lib.types_test

import data.fleetgate.lib.types

fits(value, type) if types.mismatches(["a"], value, type) == set()

test_right_types if {
	fits("a", "text")
	fits(["a"], "texts")
	fits({"a": "b"}, "texts by name")
	fits({}, "map")
	fits([{}], "maps")
	fits([], "maps")
	fits(false, "boolean")
	fits(65535, "port")
	fits(null, "port")
}

test_wrong_types if {
	not fits(1.1, "text")
	not fits(["a", 1], "texts")
	not fits("a", "texts")
	not fits({"a": 1}, "texts by name")
	not fits([], "map")
	not fits([1], "maps")
	not fits({}, "maps")
	not fits("false", "boolean")
	not fits("80", "port")
	not fits(0, "port")
	not fits(65536, "port")
	not fits(1.5, "port")
}

test_words if {
	types.mismatches(["spec", "targetRevision"], 1.1, "text") == {{
		"msg": "`targetRevision` is the number `1.1`, not a text",
		"path": ["spec", "targetRevision"],
		"remediation": "put the value in quotes",
	}}
	{finding.msg | some finding in types.mismatches(["sources"], {}, "maps")} == {"`sources` is a map, not a list of maps"}
}

test_wrong_entries_are_named if {
	found := types.mismatches(["args"], ["a", 1, null], "texts")
	{finding.path | some finding in found} == {["args", 1], ["args", 2]}
	{finding.msg | some finding in found} == {"`args[1]` is the number `1`, not a text", "`args[2]` is `null`, not a text"}
	named := types.mismatches(["nodeSelector"], {"gpu": true, "a": "b"}, "texts by name")
	{finding.path | some finding in named} == {["nodeSelector", "gpu"]}
}
