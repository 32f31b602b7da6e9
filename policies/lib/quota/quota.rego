# METADATA
# title: What findings about quota say
# description: >-
#   How messages call the objects of `input.quotas`, what holds a limit, and who may raise it.
package fleetgate.lib.quota

import data.fleetgate.lib.values

limits(system) := [row | some row in values.list(input.quotas); row.row == "limit"; row.system == system]

admissions(system) := [row | some row in values.list(input.quotas); row.row == "admission"; row.system == system]

problems(system) := [row | some row in values.list(input.quotas); row.row == "problem"; row.system == system]

called(ref) := sprintf("%s %s/%s", [ref.kind, ref.namespace, ref.name]) if {
	is_string(ref.namespace)
} else := sprintf("%s %s", [ref.kind, ref.name])

# Amounts of rows in thousandths are shown in devices.
shown(row, amount) := fleetgate.show(amount) if {
	row.unit == "unit"
} else := devices(amount) if {
	fleetgate.known(amount)
} else := sprintf("%s or more, without bound", [devices(amount.atLeast)]) if {
	amount.unbounded == true
	amount.atLeast > 0
} else := sprintf("at least %s", [devices(amount.atLeast)]) if {
	not amount.unbounded == true
	amount.atLeast > 0
} else := fleetgate.show(amount)

devices(thousandths) := sprintf("%d", [whole]) if {
	thousandths % 1000 == 0
	whole := (thousandths - (thousandths % 1000)) / 1000
} else := sprintf("%d.%s", [whole, trim_right(substring(sprintf("%d", [1000 + rest]), 1, 3), "0")]) if {
	rest := thousandths % 1000
	whole := (thousandths - rest) / 1000
}

# Who may raise the limit: the owner that its object names, or whoever owns the file in which it stands.
who(row) := sprintf("@%s", [trim_left(row.owner, "@")]) if {
	is_string(row.owner)
} else := sprintf("whoever owns the file of %s", [called(row.ref)]) if {
	is_object(row.ref)
} else := "whoever owns the queue"

# The five largest contributors and how many more there are; `number` names the figure to show.
holds(row, number) := concat(", ", array.concat(
	[text |
		some entry in array.slice(largest(row, number), 0, 5)
		text := sprintf("%s %s", [called(entry.ref), shown(row, entry[number])])
	],
	[sprintf("and %d more", [count(row.contributors) - 5]) | count(row.contributors) > 5],
))

# By size, then by name, so that the order is always the same.
largest(row, number) := [ranked[2] | some ranked in sort(ranks(row, number))]

ranks(row, number) := [rank |
	some entry in row.contributors
	rank := [0 - at_least(entry[number]), called(entry.ref), entry]
]

at_least(amount) := fleetgate.over(amount, 0)

quota_line(row) := ["quota", sprintf("%s allows %s of %s; %s may raise it", [
	called(row.ref), shown(row, row.limit), row.key, who(row),
])]

holds_line(row, number) := ["holds", sprintf("%s      (fleetgate demand)", [holds(row, number)])]

# Reasons of an admission as lines.
reason_lines(row) := [["queue", reason.message] | some reason in row.reasons]

# The worst reason that is about an amount, if there is one.
too_large(row) := [reason | some reason in row.reasons; reason.code == "too-large"; is_number(reason.most)]

# A finding about a fault of a quota object.
fault(row) := {
	"msg": sprintf("%s: %s", [called(row.ref), row.message]),
	"subject": row.ref,
	"path": row.path,
	"remediation": row.remediation,
}
