//! Objects that are no workloads, and what all objects have in common.

use super::random::Random;
use super::{Cluster, workloads};

/// One object to be written.
#[derive(Debug)]
pub(super) struct Object<'a> {
    /// Its number in the cluster; the same number is the same object everywhere.
    pub(super) index: usize,
    /// Chart that it comes from.
    pub(super) chart: &'a str,
    /// The cluster that shows in its text; none if the text is the same everywhere.
    pub(super) cluster: Option<&'a Cluster>,
    /// Draws what is the same in every cluster.
    pub(super) random: Random,
    /// Draws what differs between clusters.
    pub(super) varied: Random,
}

impl Object<'_> {
    /// The document with the line that parts it from the one before.
    pub(super) fn document(mut self) -> String {
        let (template, body) = match self.random.below(100) {
            0..11 => ("serviceaccount", self.service_account()),
            11..24 => ("service", self.service()),
            24..44 => ("configmap", self.config_map()),
            44..64 => ("deployment", workloads::deployment(&mut self)),
            64..69 => ("role", self.role()),
            69..74 => ("rolebinding", self.role_binding()),
            74..78 => ("networkpolicy", self.network_policy()),
            78..81 => ("poddisruptionbudget", self.disruption_budget()),
            81..84 => ("horizontalpodautoscaler", self.autoscaler()),
            84..87 => ("cronjob", workloads::cron_job(&mut self)),
            87..89 => ("jobset", workloads::job_set(&mut self)),
            89..91 => ("leaderworkerset", workloads::leader_worker_set(&mut self)),
            91..92 => ("raycluster", workloads::ray_cluster(&mut self)),
            _ => ("crd", self.custom_resource_definition()),
        };
        format!("---\n# Source: {}/templates/{template}.yaml\n{body}", self.chart)
    }

    /// Name, unique in the cluster.
    pub(super) fn name(&self) -> String {
        format!("{}-{}", self.chart, self.index)
    }

    /// `team` of the chart, which is also the namespace.
    pub(super) fn namespace(&self) -> &str {
        self.chart.split('-').next().unwrap_or(self.chart)
    }

    /// From `apiVersion` to the end of `metadata`.
    pub(super) fn head(&self, api_version: &str, kind: &str) -> String {
        let namespace = format!("  namespace: {}\n", self.namespace());
        self.head_of(api_version, kind, &self.name(), &namespace)
    }

    fn head_of(&self, api_version: &str, kind: &str, name: &str, namespace: &str) -> String {
        let chart = self.chart;
        let cluster =
            self.cluster.map_or_else(String::new, |c| format!("    fleet.example.org/cluster: {}\n", c.name));
        format!(
            "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n{namespace}  labels:\n    \
             app.kubernetes.io/name: {chart}\n    app.kubernetes.io/instance: {chart}\n    \
             app.kubernetes.io/managed-by: Helm\n    app.kubernetes.io/version: \"4.2.1\"\n    \
             helm.sh/chart: {chart}-4.2.1\n  annotations:\n    meta.helm.sh/release-name: {chart}\n    \
             meta.helm.sh/release-namespace: {}\n{cluster}",
            self.namespace()
        )
    }

    fn service_account(&self) -> String {
        let head = self.head("v1", "ServiceAccount");
        format!(
            "{head}    iam.example.org/role: {}-{}\nautomountServiceAccountToken: false\n",
            self.namespace(),
            self.name()
        )
    }

    fn service(&self) -> String {
        let head = self.head("v1", "Service");
        format!(
            "{head}spec:\n  type: ClusterIP\n  selector:\n    app.kubernetes.io/instance: {}\n  ports:\n  - name: http\n    \
             port: 80\n    targetPort: http\n    protocol: TCP\n  - name: metrics\n    port: 9090\n    targetPort: metrics\n    \
             protocol: TCP\n",
            self.name()
        )
    }

    fn config_map(&mut self) -> String {
        let mut text = self.head("v1", "ConfigMap");
        text.push_str("data:\n");
        if let Some(cluster) = self.cluster {
            text.push_str(&format!("  cluster: {}\n  region: {}\n", cluster.name, cluster.region));
        }
        text.push_str("  settings.yaml: |\n");
        for number in 0..28 + self.random.below(40) {
            let (section, key, value) = (self.random.word(), self.random.word(), self.random.below(10_000));
            text.push_str(&format!("    {section}.{key}.{number}: {value}\n"));
        }
        text.push_str("  run.sh: |\n    #!/bin/sh\n    set -eu\n    # ---\n    exec /app/server --config /etc/app/settings.yaml\n");
        text
    }

    fn role(&mut self) -> String {
        let mut text = self.head("rbac.authorization.k8s.io/v1", "Role");
        text.push_str("rules:\n");
        for (group, resource) in
            [("\"\"", "configmaps"), ("\"\"", "pods"), ("apps", "deployments"), ("batch", "jobs")]
        {
            let write = if self.random.below(4) == 0 { "  - patch\n" } else { "" };
            text.push_str(&format!(
                "- apiGroups:\n  - {group}\n  resources:\n  - {resource}\n  verbs:\n  - get\n  - list\n  - watch\n{write}"
            ));
        }
        text
    }

    fn role_binding(&self) -> String {
        let head = self.head("rbac.authorization.k8s.io/v1", "RoleBinding");
        format!(
            "{head}roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: {name}\nsubjects:\n\
             - kind: ServiceAccount\n  name: {name}\n  namespace: {}\n",
            self.namespace(),
            name = self.name()
        )
    }

    fn network_policy(&mut self) -> String {
        let mut text = self.head("networking.k8s.io/v1", "NetworkPolicy");
        text.push_str(&format!(
            "spec:\n  podSelector:\n    matchLabels:\n      app.kubernetes.io/instance: {}\n  policyTypes:\n  - Ingress\n  ingress:\n",
            self.name()
        ));
        for _ in 0..=self.random.below(4) {
            text.push_str(&format!(
                "  - from:\n    - namespaceSelector:\n        matchLabels:\n          kubernetes.io/metadata.name: {}\n    \
                 ports:\n    - port: 8080\n      protocol: TCP\n",
                self.random.word()
            ));
        }
        text
    }

    fn disruption_budget(&self) -> String {
        let head = self.head("policy/v1", "PodDisruptionBudget");
        format!(
            "{head}spec:\n  maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/instance: {}\n",
            self.name()
        )
    }

    fn autoscaler(&mut self) -> String {
        let head = self.head("autoscaling/v2", "HorizontalPodAutoscaler");
        let most = 4 + self.varied.below(60);
        format!(
            "{head}spec:\n  scaleTargetRef:\n    apiVersion: apps/v1\n    kind: Deployment\n    name: {}\n  minReplicas: 2\n  \
             maxReplicas: {most}\n  metrics:\n  - type: Resource\n    resource:\n      name: cpu\n      target:\n        \
             type: Utilization\n        averageUtilization: 70\n",
            self.name()
        )
    }

    fn custom_resource_definition(&mut self) -> String {
        let plural = format!("{}{}s", self.random.word(), self.index);
        let name = format!("{plural}.{}.example.org", self.namespace());
        let mut text = self.head_of("apiextensions.k8s.io/v1", "CustomResourceDefinition", &name, "");
        text.push_str(&format!(
            "spec:\n  group: {group}.example.org\n  scope: Namespaced\n  names:\n    kind: Kind{index}\n    plural: {plural}\n  \
             versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        \
             type: object\n        properties:\n          spec:\n            type: object\n            properties:\n",
            group = self.namespace(),
            index = self.index
        ));
        for number in 0..13 + self.random.below(12) {
            let word = self.random.word();
            text.push_str(&format!(
                "              {word}{number}:\n                description: |-\n                  \
                 How many of each {word} the controller keeps before it gives one\n                  \
                 back; larger numbers need more memory.\n                type: integer\n                \
                 format: int32\n                minimum: 0\n"
            ));
        }
        text
    }
}
