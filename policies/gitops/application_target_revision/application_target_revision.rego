# METADATA
# title: An Application follows a fixed revision
# description: >-
#   An Application that follows a branch, `HEAD` or a range of versions takes each commit or chart as
#   it appears. What runs is then not what was promoted, and the Application's own history shows no
#   change.
# related_resources:
#   - ref: https://argo-cd.readthedocs.io/en/stable/user-guide/tracking_strategies/
#     description: Argo CD, tracking strategies
# custom:
#   level: warn
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
#       description: Environments of the cluster that holds the Application in which the rule holds; `*` stands for any text. An empty list switches the rule off.
#     branches:
#       type: array
#       items: {type: string}
#       default: [main, master, trunk, develop, dev]
#       description: Names that are branches, which cannot be told from tags by their look; `*` stands for any text. With an empty list only `HEAD`, `refs/heads/…`, ranges and missing revisions are reported.
#     allowed:
#       type: array
#       items: {type: string}
#       default: []
#       description: Revisions that may be followed nevertheless, such as `environment/*`; `*` stands for any text. An empty list allows none.
package fleetgate.gitops.application_target_revision

import data.fleetgate.lib.argocd
import data.fleetgate.lib.environment
import data.fleetgate.lib.values

params := data.params.gitops.application_target_revision

warn contains finding if {
	environment.advised(params.environments, input.environment)
	some entry in argocd.specs(input.object)
	some source in argocd.sources(entry)
	not object.get(source.source, "targetRevision", null) in {null, ""}
	finding := judged(entry, source)
}

warn contains finding if {
	environment.advised(params.environments, input.environment)
	some entry in argocd.overrides(input.object)
	some source in argocd.sources(entry)
	not object.get(source.source, "targetRevision", null) in {null, ""}
	finding := judged(entry, source)
}

# A revision that is missing may still come from a generator or a patch.
warn contains finding if {
	environment.advised(params.environments, input.environment)
	not set_elsewhere
	some entry in argocd.specs(input.object)
	some source in argocd.sources(entry)
	object.get(source.source, "targetRevision", null) in {null, ""}
	finding := judged(entry, source)
}

warn contains finding if {
	environment.advised(params.environments, input.environment)
	some revision in argocd.patched(input.object, "targetRevision")
	fault := moving({}, revision)
	finding := message(fault, argocd.patch_path, "a tag or a commit")
}

judged(entry, source) := message(fault, array.concat(source.path, ["targetRevision"]), fixed(source.source)) if {
	not waits(entry.spec)
	fault := moving(source.source, object.get(source.source, "targetRevision", null))
}

message(fault, path, wanted) := {
	"msg": fault,
	"path": path,
	"remediation": sprintf("write `targetRevision: <%s>` and change it by a promotion", [wanted]),
}

fixed(source) := "exact version" if is_chart(source)

fixed(source) := "tag or commit" if not is_chart(source)

# Why a revision moves; undefined if it does not, or if it is a template that a generator fills in.
moving(source, revision) := "no revision is named, so that each new chart is taken" if {
	revision in {null, ""}
	is_chart(source)
} else := "no revision is named, so that each commit on the default branch is taken" if {
	revision in {null, ""}
} else := sprintf("revision `%s` is a range, so that each new version in it is taken", [revision]) if {
	is_string(revision)
	not accepted(revision)
	is_range(revision)
} else := sprintf("revision `%s` is a branch, so that each commit on it is taken", [revision]) if {
	is_string(revision)
	not is_chart(source)
	not accepted(revision)
	is_branch(revision)
}

accepted(revision) if values.templated(revision)

accepted(revision) if values.matches_any(params.allowed, revision)

is_chart(source) if not object.get(source, "chart", null) in {null, ""}

is_range(revision) if regex.match(`[*^~<>|,]|^=|(^|\.)[xX](\.|$)| - `, revision)

is_branch("HEAD") := true

is_branch(revision) if startswith(revision, "refs/heads/")

is_branch(revision) if values.matches_any(params.branches, revision)

# The hydrator's dry source may move if its output waits on a branch of its own to be merged.
waits(spec) if spec.sourceHydrator.hydrateTo.targetBranch != ""

set_elsewhere if count(argocd.patched(input.object, "targetRevision")) > 0

set_elsewhere if {
	some entry in argocd.overrides(input.object)
	some source in argocd.sources(entry)
	source.source.targetRevision
}
