# METADATA
# title: Sync windows open and close when they should
# description: >-
#   A sync window that selects nothing holds nothing back, and one whose kind, schedule or duration
#   cannot be read cannot be kept. The selectors of a window are alternatives unless `andOperator` is
#   set, so that a window often holds for more than its author meant.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/user-guide/sync_windows/
#     description: Argo CD, sync windows
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [AppProject]
#     apiGroups: [argoproj.io]
#   needs: []
package fleetgate.gitops.appproject_sync_windows

import data.fleetgate.lib.values

selectors := ["applications", "namespaces", "clusters"]

deny contains finding if {
	some window in windows
	kind := object.get(window.window, "kind", null)
	not kind in {"allow", "deny"}
	finding := {
		"msg": sprintf("the window's kind is `%s`", [values.show(kind)]),
		"path": array.concat(window.path, ["kind"]),
		"remediation": "write `kind: allow` or `kind: deny`, in lower case",
	}
}

deny contains finding if {
	some window in windows
	schedule := object.get(window.window, "schedule", null)
	not valid_schedule(schedule)
	finding := {
		"msg": sprintf("the window's schedule `%s` is no cron expression of five fields", [values.show(schedule)]),
		"path": array.concat(window.path, ["schedule"]),
		"remediation": "write minute, hour, day of the month, month and day of the week, such as `0 9 * * 1-5`",
	}
}

deny contains finding if {
	some window in windows
	duration := object.get(window.window, "duration", null)
	not valid_duration(duration)
	finding := {
		"msg": sprintf("the window's duration `%s` is no length of time", [values.show(duration)]),
		"path": array.concat(window.path, ["duration"]),
		"remediation": "write hours and minutes, such as `8h` or `1h30m`; days are not known",
	}
}

deny contains finding if {
	some window in windows
	used(window.window) == []
	finding := {
		"msg": "the window selects nothing, so that it neither allows nor denies anything",
		"path": window.path,
		"remediation": "write `applications: ['*']`, or name applications, namespaces or clusters",
	}
}

warn contains finding if {
	some window in windows
	chosen := used(window.window)
	count(chosen) > 1
	not window.window.andOperator == true
	not everything(window.window, chosen)
	finding := {
		"msg": sprintf("the window holds for what matches any of %s, not all of them", [concat(" or ", [sprintf("`%s`", [selector]) | some selector in chosen])]),
		"path": array.concat(window.path, [chosen[1]]),
		"remediation": "write `andOperator: true` if all must match, or split the window if any is meant",
	}
}

warn contains finding if {
	some window in windows
	window.window.kind == "deny"
	window.window.manualSync == true
	finding := {
		"msg": "the window denies automated sync only; a promotion that a person starts counts as manual and passes",
		"path": array.concat(window.path, ["manualSync"]),
		"remediation": "remove `manualSync: true` if the window is a freeze",
	}
}

windows contains window if {
	some i, item in values.list(input.object.spec.syncWindows)
	is_object(item)
	window := {"path": ["spec", "syncWindows", i], "window": item}
}

used(window) := [selector |
	some selector in selectors
	count(values.list(object.get(window, selector, []))) > 0
]

# A selector that matches everything makes the others pointless but not misleading.
everything(window, chosen) if {
	some selector in chosen
	"*" in window[selector]
}

valid_duration(duration) if {
	is_string(duration)
	regex.match(`^([0-9]+(\.[0-9]*)?|\.[0-9]+)(h|m|s)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(h|m|s))*$`, duration)
	regex.match(`[1-9]`, duration)
}

valid_schedule(schedule) if {
	is_string(schedule)
	fields := [field |
		some field in split(bare(schedule), " ")
		field != ""
	]
	count(fields) == 5
	every i, field in fields {
		valid_field(field, i)
	}
}

# A time zone may stand in front.
bare(schedule) := regex.replace(schedule, `^(CRON_)?TZ=[^ ]+ `, "")

ranges := [[0, 59], [0, 23], [1, 31], [1, 12], [0, 6]]

names := [
	{},
	{},
	{},
	{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12},
	{"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6},
]

valid_field(field, i) if {
	every part in split(field, ",") {
		valid_part(part, i)
	}
}

valid_part(part, i) if {
	halves := split(part, "/")
	count(halves) == 1
	valid_range(halves[0], i)
}

valid_part(part, i) if {
	halves := split(part, "/")
	count(halves) == 2
	valid_range(halves[0], i)
	regex.match(`^0*[1-9][0-9]{0,3}$`, halves[1])
}

valid_range(text, _) if text in {"*", "?"}

valid_range(text, i) if {
	ends := split(text, "-")
	count(ends) == 1
	number(ends[0], i)
}

valid_range(text, i) if {
	ends := split(text, "-")
	count(ends) == 2
	number(ends[0], i) <= number(ends[1], i)
}

number(text, i) := value if {
	regex.match(`^[0-9]{1,3}$`, text)
	value := values.number(text)
	value >= ranges[i][0]
	value <= ranges[i][1]
}

number(text, i) := names[i][lower(text)]
