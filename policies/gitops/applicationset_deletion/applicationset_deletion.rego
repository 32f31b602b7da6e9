# METADATA
# title: A generator that finds nothing deletes nothing in production
# description: >-
#   An ApplicationSet deletes the Applications that its generators no longer yield, and with them all
#   that they deployed. A renamed folder, a label that is gone or a moved file then takes an
#   application off every cluster at once.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Controlling-Resource-Modification/
#     description: Argo CD, controlling what an ApplicationSet may modify
# custom:
#   level: warn
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
#       description: Environments of the cluster that holds the ApplicationSet in which the rule holds; `*` stands for any text. An empty list switches the rule off.
package fleetgate.gitops.applicationset_deletion

import data.fleetgate.lib.environment
import data.fleetgate.lib.values

params := data.params.gitops.applicationset_deletion

policies := {"create-only", "create-update", "create-delete", "sync"}

warn contains finding if {
	environment.advised(params.environments, input.environment)
	policy := object.get(values.map(object.get(input.object, "spec", {})), "syncPolicy", null)
	not kept(policy)
	finding := {
		"msg": "an Application that is no longer generated is deleted, with all that it deployed",
		"path": ["spec", "syncPolicy", "preserveResourcesOnDeletion"],
		"remediation": "write `preserveResourcesOnDeletion: true` under `syncPolicy`, or `applicationsSync: create-update`",
	}
}

deny contains finding if {
	policy := input.object.spec.syncPolicy.applicationsSync
	is_string(policy)
	not policy in policies
	finding := {
		"msg": sprintf("`applicationsSync` is `%s`", [policy]),
		"path": ["spec", "syncPolicy", "applicationsSync"],
		"remediation": sprintf("write one of %s", [concat(", ", sort(policies))]),
	}
}

kept(policy) if policy.preserveResourcesOnDeletion == true

kept(policy) if policy.applicationsSync in {"create-only", "create-update"}
