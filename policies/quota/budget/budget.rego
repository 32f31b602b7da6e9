# METADATA
# title: Teams keep their accelerator budgets
# description: >-
#   A budget of the fleet file limits how many devices of a family a team uses over all clusters of an
#   environment. It must hold the steady demand of all workloads and the largest rollouts that may go on
#   at the same time: otherwise a rollout waits for devices that it holds itself, or takes those of
#   another team.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#     description: Kubernetes, resource quotas (within one cluster)
# custom:
#   level: deny
#   target: fleet
#   needs: [fleet]
package fleetgate.quota.budget

deny contains finding if {
	some budget in input.budgets
	budget.fits == "no"
	over := fleetgate.over(budget.used, budget.limit)
	finding := object.union(place_of(budget), {
		"msg": sprintf("%s is over its %s budget%s by %s", [budget.team, budget.family, scope(budget), by(budget, over)]),
		"subject": budget.ref,
		"remediation": remediation(budget),
		"details": {
			"value": over,
			"used": budget.used,
			"limit": budget.limit,
			"lines": array.concat(facts(budget), [["fits", concat(" | ", fits(budget))]]),
		},
	})
}

# What is not known may be any number.
deny contains finding if {
	some budget in input.budgets
	budget.fits == "unknown"
	finding := object.union(place_of_unknown(budget), {
		"msg": sprintf("whether %s keeps its %s budget%s is not known: it uses %s of %d", [
			budget.team, budget.family, scope(budget), fleetgate.show(budget.used), budget.limit,
		]),
		"subject": budget.ref,
		"remediation": "make the numbers and families known that are named above",
		"details": {
			"used": budget.used,
			"limit": budget.limit,
			"lines": array.concat(facts(budget), reasons(budget)),
		},
	})
}

# `batch: queued` leaves workloads to the quota of their queue. Where the queue is not seen, nobody knows
# of one.
warn contains finding if {
	some budget in input.budgets
	count(budget.unseen) > 0
	finding := {
		"msg": sprintf("the %s budget of %s%s leaves out %s, whose queue no manifest holds: no quota that is known limits it", [
			budget.family, budget.team, scope(budget), more(budget.unseen),
		]),
		"subject": budget.ref,
		"remediation": "add the LocalQueue and its ClusterQueue to the manifests that are judged, correct the name of the queue, or remove `batch: queued` from the budget",
	}
}

more(names) := names[0] if {
	count(names) == 1
} else := sprintf("%s and %d more", [names[0], count(names) - 1])

scope(budget) := sprintf(" in %s", [budget.environment]) if {
	budget.environment != null
} else := sprintf(" on %s", [concat(", ", budget.clusters)])

by(budget, over) := sprintf("%d", [over]) if {
	fleetgate.known(budget.used)
} else := sprintf("at least %d", [over]) if {
	over > 0
} else := "any number: nothing bounds it"

# The largest contributor, where its number stands.
place_of(budget) := {"at": budget.contributors[0].ref, "path": budget.levers[0].path} if {
	count(budget.levers) > 0
} else := {"at": budget.contributors[0].ref}

place_of_unknown(budget) := {"at": first.ref} if {
	first := [contributor | some contributor in budget.contributors; count(contributor.reasons) > 0][0]
} else := {}

facts(budget) := [
	["budget", sprintf("%s, owner @%s%s", [budget.place, trim_left(budget.owner, "@"), capacity(budget)])],
	["", sum_line(budget)],
	["holds", sprintf("%s      (fleetgate demand)", [concat(", ", holds(budget))])],
]

capacity(budget) := sprintf(", %s", [budget.capacityType]) if {
	budget.capacityType != null
} else := ""

sum_line(budget) := sprintf("steady %s, + largest %s %s  =  %s of %d", [
	fleetgate.show(budget.steady), rollouts(budget), fleetgate.show(budget.surge), fleetgate.show(budget.used), budget.limit,
])

rollouts(budget) := "single rollout" if {
	budget.rolloutConcurrency == 1
} else := sprintf("%d rollouts", [budget.rolloutConcurrency])

# The five largest, and how many more there are.
holds(budget) := array.concat(
	[text |
		some row in array.slice(budget.holds, 0, 5)
		text := sprintf("%s%s %s", [row.what, times(row.clusters), fleetgate.show(row.steady)])
	],
	[sprintf("and %d more", [count(budget.holds) - 5]) | count(budget.holds) > 5],
)

times(1) := ""

times(clusters) := sprintf(" ×%d", [clusters]) if clusters > 1

fits(budget) := array.concat(
	array.concat(
		[text |
			some lever in array.slice(budget.levers, 0, 2)
			lever.fits != null
			text := sprintf("%s: %d → %s", [lever.field, lever.fits, fleetgate.show(lever.used)])
		],
		[sprintf("a rollout without more pods (%s) → %s", [how(budget), fleetgate.show(budget.steady)]) |
			budget.fitsSteady == "yes"
		],
	),
	[sprintf("@%s approves a raise to %s", [trim_left(budget.owner, "@"), fleetgate.show(budget.used)]) |
		fleetgate.known(budget.used)
	],
)

# How the kind with the largest rollout is replaced without more pods.
how(budget) := "`spec.upgradeStrategy.type: None`" if {
	budget.contributors[0].ref.kind == "RayService"
} else := "`maxSurge: 0` and `maxUnavailable: 1`"

remediation(budget) := sprintf("lower `%s` to %d, or ask @%s to raise the budget at %s", [
	budget.levers[0].field, budget.levers[0].fits, trim_left(budget.owner, "@"), budget.place,
]) if {
	budget.levers[0].fits != null
} else := sprintf("let the workloads ask for less, or ask @%s to raise the budget at %s", [
	trim_left(budget.owner, "@"), budget.place,
])

reasons(budget) := array.slice(lines, 0, 10) if {
	lines := [["unknown", text] |
		some contributor in budget.contributors
		some reason in contributor.reasons
		text := sprintf("%s%s: %s", [contributor.what, in_cluster(contributor), reason])
	]
}

in_cluster(contributor) := sprintf(" on %s", [contributor.cluster]) if {
	contributor.cluster != null
} else := ""
