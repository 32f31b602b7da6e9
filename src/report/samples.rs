//! Reports for the tests of the formats.

use std::sync::Arc;

use crate::model::{
    Counts, Finding, Identity, Level, ObjectId, Place, Problem, Report, Route, RuleInfo, Span, Standing,
    Subject, UnevaluatedRule, Unjudged, UnjudgedClass, Value,
};

use super::{Format, Options, render, resolve};

const RANKER: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ranker
  namespace: ml-search
spec:
  template:
    spec:
      containers:
        - name: web
          image: registry.example.org/ranker:v2
          resources:
            requests: {nvidia.com/gpu: 1}
";

const LIST: &str = "\
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Pod
    metadata: {name: probe, namespace: ml-train}
    spec:
      containers:
        - {name: probe, image: registry.example.org/probe@sha256:9a1c}
";

const TWICE: &str = "apiVersion: v1\nkind: Pod\nkind: Secret\nmetadata: {name: x}\n";

/// A finding about an object, to be completed.
pub(super) fn finding(rule: &str, level: Level, cluster: &str, object: &str, message: &str) -> Finding {
    let object = (!object.is_empty()).then(|| {
        let (kind, name) = object.split_once(' ').unwrap();
        let (namespace, name) = name.split_once('/').unwrap();
        let group = if kind == "Deployment" { "apps" } else { "" };
        ObjectId {
            group: group.into(),
            version: "v1".into(),
            kind: kind.into(),
            namespace: Some(namespace.into()),
            name: name.into(),
            generated: false,
        }
    });
    let cluster: Option<Arc<str>> = (!cluster.is_empty()).then(|| cluster.into());
    Finding {
        rule: rule.into(),
        level,
        identity: Identity {
            rule: rule.into(),
            cluster: cluster.clone().unwrap_or_else(|| "-".into()),
            object: object.as_ref().map_or_else(|| "-".into(), |id| id.to_string().into()),
            route: "".into(),
        },
        subject: Subject { environment: Some("prod".into()), cluster, object },
        message: message.into(),
        at: None,
        route: None,
        details: None,
        remediation: None,
        place: None,
        text: None,
        item: Route::root(),
        standing: Standing::New,
    }
}

pub(super) fn place(file: &str, document: usize, line: usize) -> Place {
    Place { file: Arc::new(file.into()), document, line, offset: 0 }
}

fn web() -> Route {
    Route::root().key("spec").key("template").key("spec").key("containers").index(0)
}

fn with_route(mut finding: Finding, route: Route) -> Finding {
    finding.identity.route = route.to_string().into();
    finding.route = Some(route);
    finding
}

fn rule(id: &str, title: &str, level: Level, url: Option<&str>) -> RuleInfo {
    RuleInfo {
        id: id.into(),
        title: title.into(),
        level,
        description: format!("{title}, because.").into(),
        url: url.map(Into::into),
    }
}

/// A run over three clusters with all that a report can hold.
pub(super) fn fleet() -> Report {
    let text: Arc<str> = RANKER.into();
    let mut findings = Vec::new();
    for cluster in ["prod-aws-use1", "prod-az-weu", "prod-gcp-euw4"] {
        let message = "image `registry.example.org/ranker:v2` has no digest";
        let mut digest =
            finding("gitops/image-digest", Level::Deny, cluster, "Deployment ml-search/ranker", message);
        digest.place = Some(place(&format!("rendered/{cluster}/ranker.yaml"), 1, 15));
        digest.text = Some(text.clone());
        digest.remediation = Some(
            "write `registry.example.org/ranker:v2@sha256:<digest>` with the digest that was tested".into(),
        );
        findings.push(with_route(digest, web().key("image")));
    }
    let mut limits = finding(
        "accelerators/limits",
        Level::Deny,
        "prod-aws-use1",
        "Deployment ml-search/ranker",
        "container `web` requests `nvidia.com/gpu` without a limit",
    );
    limits.place = Some(place("rendered/prod-aws-use1/ranker.yaml", 1, 15));
    limits.text = Some(text.clone());
    limits.details = Some(Value::from_json_str(r#"{"resource": "nvidia.com/gpu", "value": 1}"#).unwrap());
    limits.remediation = Some("limits:\n  nvidia.com/gpu: 1".into());
    limits.standing = Standing::Worse;
    findings.push(with_route(limits, web().key("resources").key("limits").key("nvidia.com/gpu")));

    let mut probe = finding(
        "gitops/requests",
        Level::Warn,
        "prod-gcp-euw4",
        "Pod ml-train/probe",
        "container `probe` has no `resources`",
    );
    probe.place = Some(place("rendered/prod-gcp-euw4/list.yaml", 0, 1));
    probe.text = Some(LIST.into());
    probe.item = Route::root().key("items").index(0);
    findings.push(with_route(probe, Route::root().key("spec").key("containers").index(0).key("resources")));

    findings.push(finding("quota/age", Level::Info, "", "", "capacity of `prod-az-weu` was read 9 days ago"));

    let mut waived = finding(
        "gitops/image-digest",
        Level::Deny,
        "prod-az-weu",
        "Deployment ops/legacy",
        "image `legacy:1` has no digest",
    );
    waived.place = Some(place("rendered/prod-az-weu/legacy.yaml", 0, 1));
    waived.standing =
        Standing::Waived { reason: "vendor image, replaced in March".into(), owner: "@platform".into() };
    findings.push(waived);
    for name in ["one", "two"] {
        let object = format!("Deployment old/{name}");
        let mut accepted = finding("gitops/requests", Level::Warn, "prod-aws-use1", &object, "no requests");
        accepted.standing = Standing::Accepted;
        findings.push(accepted);
    }

    let mut twice = Problem::new("duplicate-key", "key `kind` is set twice")
        .help("one `kind`: a scanner and the cluster could read different ones")
        .in_file("rendered/prod-aws-use1/twice.yaml")
        .at(Span { offset: 25, length: 4, line: 3, column: 1 });
    twice.source = Some(TWICE.into());
    twice.related = vec![("first here".to_owned(), Span { offset: 15, length: 4, line: 2, column: 1 })];
    let mut failed = Problem::new("policy-error", "`units.parse`: `4GiB` is no quantity")
        .in_file("policies/local/memory.rego");
    failed.rule = Some("local/memory".into());
    failed.cluster = Some("prod-az-weu".into());

    Report {
        findings,
        problems: vec![twice, failed],
        comparison: None,
        accepted_problems: 1,
        rules: vec![
            rule("accelerators/limits", "Accelerators have limits", Level::Deny, None),
            rule(
                "gitops/image-digest",
                "Images are pinned",
                Level::Deny,
                Some("https://example.org/rules/image-digest"),
            ),
            rule("gitops/no-privileged", "No privileged containers", Level::Deny, None),
            rule("gitops/requests", "Containers request what they need", Level::Warn, None),
            rule("gitops/sync-window", "AppProjects have sync windows", Level::Warn, None),
            rule("local/memory", "Memory is bounded", Level::Deny, None),
            rule("quota/age", "Capacity is fresh", Level::Info, None),
            rule("quota/budget", "Teams stay in their budgets", Level::Deny, None),
        ],
        unevaluated: vec![UnevaluatedRule {
            id: "quota/budget".into(),
            reason: "needs `inventory`: none is configured".into(),
        }],
        notes: vec![
            "policies and waivers come from the change under judgement: pass `--base` in pull-request jobs"
                .to_owned(),
        ],
        counts: Counts {
            files: 40,
            judged_files: 20,
            seen_through: 12,
            unrendered: 2,
            excluded: 3,
            skipped: 3,
            documents: 64,
            distinct_documents: 30,
            resources: 66,
            clusters: 3,
            rules: 8,
            evaluations: 310,
            evaluations_by_rule: [
                ("accelerators/limits", 60),
                ("gitops/image-digest", 60),
                ("gitops/no-privileged", 60),
                ("gitops/requests", 60),
                ("local/memory", 60),
                ("quota/age", 10),
            ]
            .map(|(rule, evaluations)| (rule.into(), evaluations))
            .into(),
            unjudged: vec![
                Unjudged {
                    class: UnjudgedClass::SeenThrough,
                    what: "kustomization `apps/ranker`".into(),
                    files: 12,
                },
                Unjudged { class: UnjudgedClass::Unrendered, what: "chart `charts/old`".into(), files: 2 },
                Unjudged {
                    class: UnjudgedClass::Excluded,
                    what: "`legacy/**` until 2027-01-31: moving (@platform)".into(),
                    files: 3,
                },
                Unjudged { class: UnjudgedClass::Skipped, what: "CI workflow".into(), files: 3 },
            ],
        },
        fail_on: Level::Deny,
    }
}

/// Nothing was found to judge.
pub(super) fn nothing() -> Report {
    Report {
        findings: Vec::new(),
        problems: Vec::new(),
        comparison: None,
        accepted_problems: 0,
        rules: vec![rule("gitops/image-digest", "Images are pinned", Level::Deny, None)],
        unevaluated: Vec::new(),
        notes: Vec::new(),
        counts: Counts { files: 3, skipped: 3, rules: 1, ..Counts::default() },
        fail_on: Level::Deny,
    }
}

/// Text that attacks terminals, logs, pages and parsers.
pub(super) const HOSTILE: &str = "\u{1b}[2J\u{9b}K\u{202e}evil\u{200b}\r\n::error::pwned ##[error]x ]]> <script>alert(1)</script> `a`|b|`` @team #1 https://evil.example ![x](y) 1..1";

/// Hostile text wherever a change under judgement can put it.
pub(super) fn hostile() -> Report {
    let file = format!("rendered/{HOSTILE}.yaml");
    let mut bad = finding("gitops/image-digest", Level::Deny, HOSTILE, "Pod a/b", HOSTILE);
    if let Some(object) = &mut bad.subject.object {
        object.name = HOSTILE.into();
        object.namespace = Some(HOSTILE.into());
    }
    bad.place = Some(place(&file, 0, 1));
    bad.text = Some(format!("{HOSTILE}\n").into());
    bad.remediation = Some(HOSTILE.into());
    bad.details = Some(Value::String(HOSTILE.into()));
    let bad = with_route(bad, Route::root().key(HOSTILE));
    let mut problem = Problem::new("syntax", HOSTILE).help(HOSTILE).in_file(file).at(Span {
        offset: 2,
        length: 5,
        line: 1,
        column: 3,
    });
    problem.source = Some(HOSTILE.into());
    problem.related = vec![(HOSTILE.to_owned(), Span { offset: 0, length: 1, line: 1, column: 1 })];
    problem.rule = Some(HOSTILE.into());
    problem.cluster = Some(HOSTILE.into());
    let mut report = nothing();
    report.findings = vec![bad];
    report.problems = vec![problem];
    report.unevaluated = vec![UnevaluatedRule { id: "x/y".into(), reason: HOSTILE.into() }];
    report.notes = vec![HOSTILE.to_owned()];
    report.counts.resources = 1;
    report.counts.unjudged = vec![Unjudged { class: UnjudgedClass::Skipped, what: HOSTILE.into(), files: 1 }];
    report
}

/// Many findings of one rule and one of another.
pub(super) fn many(number: usize) -> Report {
    let mut report = nothing();
    report.counts.resources = number;
    report.findings = (0..number)
        .map(|at| {
            let object = format!("Deployment ml/app-{at:05}");
            let mut finding =
                finding("gitops/image-digest", Level::Deny, "prod-a", &object, "image has no digest");
            finding.place = Some(place(&format!("rendered/prod-a/{at:05}.yaml"), 0, 1));
            finding.text = Some(RANKER.into());
            finding
        })
        .collect();
    report.findings.push(finding(
        "gitops/requests",
        Level::Warn,
        "prod-a",
        "Deployment ml/other",
        "no requests",
    ));
    report
}

/// The bytes of a report in a format.
pub(super) fn rendered(report: &Report, format: Format, options: &Options) -> String {
    let mut out = Vec::new();
    render(&resolve(report), format, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
