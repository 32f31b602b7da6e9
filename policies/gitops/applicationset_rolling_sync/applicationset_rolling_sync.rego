# METADATA
# title: A rolling sync reaches every Application, in steps
# description: >-
#   Under `RollingSync` Argo CD switches automated sync off for the generated Applications and syncs
#   them step by step. An Application that no step selects, or a step that may update none, is never
#   synced again; steps without `type: RollingSync` are ignored, so that all clusters change at once.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Progressive-Syncs/
#     description: Argo CD, progressive syncs
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [ApplicationSet]
#     apiGroups: [argoproj.io]
#   needs: []
#   params:
#     environments:
#       type: array
#       items: {type: string}
#       default: [prod, production]
#       description: Environments in which `maxPercent` holds; `*` stands for any text. An empty list switches it off.
#     maxPercent:
#       type: integer
#       default: 100
#       description: Largest share of a step's Applications that may be updated at once; 100 sets no limit. A step without `maxUpdate` updates all at once, that is 100.
package fleetgate.gitops.applicationset_rolling_sync

import data.fleetgate.lib.argocd
import data.fleetgate.lib.environment
import data.fleetgate.lib.values

params := data.params.gitops.applicationset_rolling_sync

strategy := values.map(values.map(input.object.spec).strategy)

steps := values.list(values.map(strategy.rollingSync).steps)

rolling if strategy.type == "RollingSync"

step_path(i) := ["spec", "strategy", "rollingSync", "steps", i]

deny contains finding if {
	count(steps) > 0
	not rolling
	finding := {
		"msg": sprintf("the steps are ignored, because the strategy is `%s`", [values.show(object.get(strategy, "type", "AllAtOnce"))]),
		"path": ["spec", "strategy", "type"],
		"remediation": "write `type: RollingSync`, or remove `rollingSync`",
	}
}

deny contains finding if {
	rolling
	no_steps
	finding := {
		"msg": "the rolling sync has no steps, so that no Application is synced",
		"path": ["spec", "strategy", "rollingSync", "steps"],
		"remediation": "write at least one step with `matchExpressions`",
	}
}

deny contains finding if {
	rolling
	some i, step in steps
	some j, expression in values.list(values.map(step).matchExpressions)
	operator := object.get(values.map(expression), "operator", null)
	not operator in {"In", "NotIn"}
	finding := {
		"msg": sprintf("the step's operator `%s` selects nothing", [values.show(operator)]),
		"path": array.concat(step_path(i), ["matchExpressions", j, "operator"]),
		"remediation": "write `In` or `NotIn`; a rolling sync knows no other",
	}
}

deny contains finding if {
	rolling
	some i, step in steps
	limit := values.map(step).maxUpdate
	not is_null(limit)
	not is_share(limit)
	not is_whole(limit)
	finding := {
		"msg": sprintf("`maxUpdate` is `%s`, neither a number nor a share", [values.show(limit)]),
		"path": array.concat(step_path(i), ["maxUpdate"]),
		"remediation": "write a whole number such as `2`, or a share such as `25%` in quotes",
	}
}

warn contains finding if {
	rolling
	some i, step in steps
	limit := values.map(step).maxUpdate
	zero(limit)
	finding := {
		"msg": "the step updates no Application by itself; each must be synced by hand before later steps begin",
		"path": array.concat(step_path(i), ["maxUpdate"]),
		"remediation": "write a number above 0, unless the step is meant to be done by hand",
	}
}

deny contains finding if {
	environment.selected(params.environments, input.environment)
	some finding in too_many
}

warn contains finding if {
	environment.unknown(params.environments, input.environment)
	some finding in too_many
}

too_many contains finding if {
	rolling
	some i, step in steps
	share := share_of(step)
	share > params.maxPercent
	finding := {
		"msg": sprintf("the step updates %d%% of its Applications at once, more than %d%%", [share, params.maxPercent]),
		"path": array.concat(step_path(i), ["maxUpdate"]),
		"remediation": sprintf("write `maxUpdate: %d%%` or less, in quotes", [params.maxPercent]),
		"details": {"value": share},
	}
}

# Only labels that stand in the template can be judged here.
deny contains finding if {
	rolling
	count(steps) > 0
	labels_are_known
	not selected_by_a_step
	finding := {
		"msg": "no step selects the generated Applications, so that they are never synced",
		"path": ["spec", "template", "metadata", "labels"],
		"remediation": "give the template a label that a step selects, or add a step that selects these Applications",
	}
}

no_steps if not strategy.rollingSync.steps

no_steps if strategy.rollingSync.steps in [[], null]

labels := values.map(object.get(input.object, ["spec", "template", "metadata", "labels"], {}))

labels_are_known if {
	not input.object.spec.templatePatch
	not overridden
	every key, value in labels {
		not values.templated(key)
		not values.templated(value)
	}
}

overridden if {
	some generator in argocd.generators(input.object)
	generator.generator.template.metadata.labels
}

selected_by_a_step if {
	some step in steps
	selects(values.map(step))
}

selects(step) if {
	every expression in values.list(object.get(step, "matchExpressions", [])) {
		fits(expression)
	}
}

# A label that is absent fits `NotIn` only.
fits(expression) if {
	expression.operator == "In"
	listed(expression)
}

fits(expression) if {
	expression.operator == "NotIn"
	not listed(expression)
}

listed(expression) if labels[expression.key] in values.list(expression.values)

percent(limit) := share if {
	is_string(limit)
	regex.match(`^[0-9]{1,3}%$`, limit)
	share := values.number(trim_suffix(limit, "%"))
}

is_share(limit) if percent(limit) >= 0

is_whole(limit) if {
	is_number(limit)
	floor(limit) == limit
	limit >= 0
}

zero(limit) if limit == 0

zero(limit) if percent(limit) == 0

share_of(step) := percent(step.maxUpdate)

share_of(step) := 100 if {
	is_object(step)
	is_null(object.get(step, "maxUpdate", null))
}
