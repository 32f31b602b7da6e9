# METADATA
# title: Automated sync does what it says
# description: >-
#   `automated: {}` switches automated sync on, `enabled: false` switches it off whatever else is
#   written, and an absent `prune` or `selfHeal` is off. With `allowEmpty` and `prune` an empty
#   rendering, a wrong path for instance, removes the whole application. What else an organisation
#   wants of automated sync is set by parameters.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/user-guide/auto_sync/
#     description: Argo CD, automated sync
# custom:
#   level: deny
#   target: resource
#   match:
#     kinds: [Application, ApplicationSet]
#     apiGroups: [argoproj.io]
#   needs: []
#   params:
#     environments:
#       type: array
#       items: {type: string}
#       default: [prod, production]
#       description: Environments in which `automated`, `prune` and `selfHeal` hold; `*` stands for any text. An empty list switches these three off.
#     automated:
#       type: string
#       enum: [any, required, forbidden]
#       default: any
#       description: Whether automated sync must be on, must be off, or may be either.
#     prune:
#       type: string
#       enum: [any, required, forbidden]
#       default: any
#       description: Whether automated sync must remove what left Git, must not, or may do either.
#     selfHeal:
#       type: string
#       enum: [any, required, forbidden]
#       default: any
#       description: Whether automated sync must undo changes made in the cluster, must not, or may do either.
package fleetgate.gitops.application_sync_policy

import data.fleetgate.lib.argocd
import data.fleetgate.lib.environment
import data.fleetgate.lib.values

params := data.params.gitops.application_sync_policy

deny contains finding if {
	some entry in argocd.all_specs(input.object)
	automated := settings(entry)
	automated.allowEmpty == true
	automated.prune == true
	not automated.enabled == false
	finding := {
		"msg": "`allowEmpty` with `prune` removes the whole application when nothing is rendered",
		"path": array.concat(entry.path, ["syncPolicy", "automated", "allowEmpty"]),
		"remediation": "remove `allowEmpty: true`",
	}
}

deny contains finding if {
	environment.selected(params.environments, input.environment)
	some finding in broken_wishes
}

warn contains finding if {
	environment.unknown(params.environments, input.environment)
	some finding in broken_wishes
}

warn contains finding if {
	some entry in argocd.all_specs(input.object)
	automated := settings(entry)
	automated.enabled == false
	some field in ["prune", "selfHeal"]
	automated[field] == true
	finding := {
		"msg": sprintf("`%s: true` does nothing, because `enabled: false` switches automated sync off", [field]),
		"path": array.concat(entry.path, ["syncPolicy", "automated", field]),
		"remediation": sprintf("remove `enabled: false`, or remove `%s`", [field]),
	}
}

broken_wishes contains finding if {
	some entry in argocd.specs(input.object)
	params.automated == "required"
	not on(entry)
	finding := {
		"msg": "automated sync is off",
		"path": array.concat(entry.path, ["syncPolicy", "automated", "enabled"]),
		"remediation": "write `automated: {}` under `syncPolicy`, without `enabled: false`",
	}
}

broken_wishes contains finding if {
	some entry in argocd.specs(input.object)
	params.automated == "forbidden"
	on(entry)
	finding := {
		"msg": "automated sync is on",
		"path": array.concat(entry.path, ["syncPolicy", "automated"]),
		"remediation": "remove `automated`, or write `enabled: false` below it; `automated: {}` is on",
	}
}

broken_wishes contains finding if {
	some entry in argocd.specs(input.object)
	some field in ["prune", "selfHeal"]
	params[field] == "required"
	on(entry)
	not settings(entry)[field] == true
	finding := {
		"msg": sprintf("automated sync is on, but `%s` is %s", [field, state(settings(entry), field)]),
		"path": array.concat(entry.path, ["syncPolicy", "automated", field]),
		"remediation": sprintf("write `%s: true` under `automated`", [field]),
	}
}

broken_wishes contains finding if {
	some entry in argocd.specs(input.object)
	some field in ["prune", "selfHeal"]
	params[field] == "forbidden"
	on(entry)
	settings(entry)[field] == true
	finding := {
		"msg": sprintf("automated sync is on with `%s: true`", [field]),
		"path": array.concat(entry.path, ["syncPolicy", "automated", field]),
		"remediation": sprintf("remove `%s`", [field]),
	}
}

settings(entry) := values.map(values.map(entry.spec.syncPolicy).automated)

# On if `automated` is there, even empty, and not switched off.
on(entry) if {
	is_object(entry.spec.syncPolicy.automated)
	not entry.spec.syncPolicy.automated.enabled == false
}

state(automated, field) := "absent, which is off" if {
	object.get(automated, field, null) == null
} else := "off"
