# METADATA
# title: Runs of a schedule do not overlap
# description: >-
#   A CronJob starts a run at each of its times, also while the one before still runs, unless it is told
#   otherwise. How many accelerators it holds is then without bound: a run that hangs leaves one more set
#   of them taken each time.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#concurrency-policy
#     description: Kubernetes, concurrency policy
# custom:
#   level: deny
#   target: resource
#   match:
#     accelerators: true
#     kinds: [CronJob, CronWorkflow, RayCronJob]
#   needs: []
#   params: {}
package fleetgate.accelerators.cronjob_concurrency

import data.fleetgate.lib.accelerators
import data.fleetgate.lib.values

deny contains finding if {
	accelerators.kind(input.object) in {"batch/CronJob", "argoproj.io/CronWorkflow"}
	asks
	policy := object.get(values.map(input.object.spec), "concurrencyPolicy", null)
	overlapping[policy]
	finding := {
		"msg": sprintf("%s, so that runs overlap and accelerators are taken without bound", [overlapping[policy]]),
		"path": ["spec", "concurrencyPolicy"],
		"remediation": "write `concurrencyPolicy: Forbid`, or `Replace` to end the run before",
	}
}

warn contains finding if {
	accelerators.kind(input.object) == "ray.io/RayCronJob"
	asks
	job := values.map(input.object.spec.jobTemplate)
	not bounded(job)
	finding := {
		"msg": "runs of a RayCronJob overlap if one takes longer than the time to the next, and nothing ends them",
		"path": ["spec", "jobTemplate", "activeDeadlineSeconds"],
		"remediation": "write `activeDeadlineSeconds` with less than the time between two runs",
	}
}

overlapping := {
	null: "`concurrencyPolicy` is not set, which is `Allow`",
	"": "`concurrencyPolicy` is empty, which is `Allow`",
	"Allow": "`concurrencyPolicy` is `Allow`",
}

bounded(job) if is_number(job.activeDeadlineSeconds)

asks if {
	some pod in input.workload.pods
	accelerators.runs(pod)
	count(accelerators.asked(pod)) > 0
}
