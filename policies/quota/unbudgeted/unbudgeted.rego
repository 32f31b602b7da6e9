# METADATA
# title: Accelerators are counted in somebody's budget
# description: >-
#   Where the fleet file has budgets, each workload that uses accelerators belongs to a team, by its
#   namespace. What belongs to nobody is counted in no budget, so that a new namespace would be a way
#   around all of them. A team without a budget for a family that others have one for is told.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
#     description: Kubernetes, namespaces
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#   needs: [fleet]
#   params:
#     namespaces:
#       type: array
#       items: {type: string}
#       default: [kube-system, "gpu-operator*", "nvidia-*", gmp-system]
#       description: Globs of namespaces whose pods count in no budget.
package fleetgate.quota.unbudgeted

import data.fleetgate.lib.values

params := data.params.quota.unbudgeted

deny contains finding if {
	uses
	input.team == null
	finding := {
		"msg": sprintf("%s belongs to no team, so its accelerators count in no budget", [where]),
		"path": ["metadata", "namespace"],
		"remediation": remediation,
	}
}

warn contains finding if {
	uses
	input.team != null
	some family in families
	some other in data.fleet.budgets
	other.family == family
	concerns(other)
	not budgeted(family)
	finding := {
		"msg": sprintf("%s has no budget for %s%s", [input.team, family, environment]),
		"path": ["metadata", "namespace"],
		"remediation": sprintf("add a budget of %s for %s to the fleet file, with the owner who answers for it", [input.team, family]),
	}
}

# Templates run nothing; what is counted through another object is counted there.
uses if {
	count(data.fleet.budgets) > 0
	some row in input.workload.demand
	row.unit in {"device", "slice", "share", "thousandth"}
	not exempt
}

exempt if {
	values.matches_any(params.namespaces, input.object.metadata.namespace)
}

families contains row.family if {
	some row in input.workload.demand
	row.family != null
}

budgeted(family) if {
	some budget in data.fleet.budgets
	budget.team == input.team
	budget.family == family
	concerns(budget)
}

# Whether a budget may hold here. One that names clusters is taken to: which clusters is for the budget
# itself to say.
concerns(budget) if budget.environment == input.environment

concerns(budget) if not budget.environment

environment := sprintf(" in %s", [input.environment]) if {
	input.environment != null
} else := ""

where := sprintf("namespace `%s`", [input.object.metadata.namespace]) if {
	input.object.metadata.namespace
} else := "a workload without a namespace"

# The namespaces of all teams that claim it.
remediation := sprintf("let only one of the teams %s claim the namespace", [concat(", ", claimants)]) if {
	count(claimants) > 1
} else := sprintf("add `%s` to the namespaces of a team under `teams` in the fleet file", [input.object.metadata.namespace]) if {
	input.object.metadata.namespace
} else := "write `metadata.namespace`, so that it is known whose it is"

claimants := [name |
	some name, team in data.fleet.teams
	values.matches_any(team.namespaces, input.object.metadata.namespace)
]
