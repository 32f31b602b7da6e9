//! SARIF 2.1.0, for code scanning. What could not be judged are notifications of a run that was not
//! successful, as the standard wants it; waived findings are suppressed results.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use camino::Utf8Path;
use serde_json::json;
use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Location, LogicalLocation, Message, MultiformatMessageString, Notification,
    PhysicalLocation, PropertyBag, Region, ReportingConfiguration, ReportingDescriptor,
    ReportingDescriptorReference, Result as SarifResult, ResultLevel, Run, Sarif, Suppression, Tool,
    ToolComponent,
};

use crate::model::{Level, Problem, RuleInfo, Standing, UnevaluatedRule, Verdict};

use super::{Entry, Options, Position, Resolved, clean, facts, json_text, summary};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The root of the repository, whose place the reader knows.
const ROOT: &str = "%SRCROOT%";

pub(super) fn render(resolved: &Resolved<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let driver = ToolComponent::builder()
        .name("fleetgate")
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .rules(resolved.report.rules.iter().map(rule).collect::<Vec<_>>())
        .build();
    let results: Vec<_> = resolved
        .entries
        .iter()
        .chain(&resolved.waived)
        .map(|entry| result(entry, resolved, options))
        .collect();
    let root = ArtifactLocation::builder().description(message("the root of the repository")).build();
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .invocations(vec![invocation(resolved, options)])
        .column_kind(json!("unicodeCodePoints"))
        .original_uri_base_ids(BTreeMap::from([(ROOT.to_owned(), root)]))
        .results(results)
        .build();
    json_text::write(&Sarif::builder().schema(SCHEMA).version(json!("2.1.0")).runs(vec![run]).build(), out)
}

fn rule(rule: &RuleInfo) -> ReportingDescriptor {
    let mut descriptor = ReportingDescriptor::builder()
        .id(rule.id.to_string())
        .short_description(text(&rule.title))
        .full_description(text(&rule.description))
        .help(text(&rule.description))
        .default_configuration(ReportingConfiguration::builder().level(json!(level(rule.level))).build())
        .build();
    descriptor.help_uri = rule.url.as_ref().map(ToString::to_string);
    descriptor
}

/// The standard's word for a level.
const fn level(level: Level) -> &'static str {
    match level {
        Level::Deny => "error",
        Level::Warn => "warning",
        Level::Info => "note",
    }
}

fn result(entry: &Entry<'_>, resolved: &Resolved<'_>, options: &Options) -> SarifResult {
    let finding = entry.finding;
    let mut text = format!("{}{}", finding.message, facts::subject(entry));
    if let Some(remediation) = &finding.remediation {
        text.push_str("\nhelp: ");
        text.push_str(remediation);
    }
    let positions = entry.positions();
    let mut first = match positions.first() {
        Some((position, _)) => location(position.file, Some(region(position)), options),
        // Readers refuse results without a file.
        None => location(&options.fleet_file, None, options),
    };
    first.logical_locations = facts::object(entry).map(|object| {
        let kind = LogicalLocation::builder().fully_qualified_name(clean::line(&object)).kind("resource");
        vec![kind.build()]
    });
    let related = positions.iter().skip(1).map(|(position, clusters)| {
        let mut location = location(position.file, Some(region(position)), options);
        let clusters = facts::cluster_list(clusters.iter().copied(), true);
        location.message = Some(message(if clusters.is_empty() { "also here" } else { &clusters }));
        location
    });
    let related: Vec<_> = related.collect();
    let mut result = SarifResult::builder()
        .rule_id(finding.rule.to_string())
        .level(match finding.level {
            Level::Deny => ResultLevel::Error,
            Level::Warn => ResultLevel::Warning,
            Level::Info => ResultLevel::Note,
        })
        .message(message(&text))
        .locations(vec![first])
        .partial_fingerprints(BTreeMap::from([("fleetgate/v1".to_owned(), entry.fingerprint.clone())]))
        .properties(properties(entry))
        .build();
    let index = resolved.report.rules.iter().position(|rule| rule.id == finding.rule);
    result.rule_index = index.and_then(|index| i64::try_from(index).ok());
    result.related_locations = (!related.is_empty()).then_some(related);
    if let Standing::Waived { reason, owner } = &finding.standing {
        let justification = clean::line(&format!("{reason} ({owner})"));
        let suppression = Suppression::builder()
            .kind(json!("external"))
            .status(json!("accepted"))
            .justification(justification);
        result.suppressions = Some(vec![suppression.build()]);
    }
    result
}

fn properties(entry: &Entry<'_>) -> PropertyBag {
    let finding = entry.finding;
    let mut properties = BTreeMap::from([("clusters".to_owned(), json!(entry.clusters()))]);
    if let Some(route) = &finding.route {
        properties.insert("route".to_owned(), json!(route.to_string()));
    }
    if let Some(details) = &finding.details {
        properties.insert("details".to_owned(), json!(details));
    }
    PropertyBag::builder().additional_properties(properties).build()
}

fn invocation(resolved: &Resolved<'_>, options: &Options) -> Invocation {
    let report = resolved.report;
    let mut execution: Vec<_> =
        report.problems.iter().map(|problem| self::problem(problem, options)).collect();
    if resolved.verdict == Verdict::Nothing {
        let text = format!("nothing to judge: {}", summary::nothing(report));
        execution.push(Notification::builder().message(message(&text)).level(json!("error")).build());
    }
    let configuration: Vec<_> = report.unevaluated.iter().map(unevaluated).collect();
    Invocation::builder()
        .execution_successful(matches!(resolved.verdict, Verdict::Pass | Verdict::Deny))
        .exit_code(i64::from(resolved.verdict.exit_status()))
        .exit_code_description(summary::verdict(resolved))
        .tool_execution_notifications(execution)
        .tool_configuration_notifications(configuration)
        .build()
}

fn problem(problem: &Problem, options: &Options) -> Notification {
    let mut text = problem.message.clone();
    if let Some(help) = &problem.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    let mut notification = Notification::builder()
        .message(message(&text))
        .level(json!("error"))
        .descriptor(reference(problem.code))
        .build();
    notification.associated_rule = problem.rule.as_deref().map(reference);
    notification.locations = facts::problem_file(problem).map(|file| {
        let (line, column) = facts::problem_at(problem);
        let mut region = Region::builder().build();
        region.start_line = line.and_then(|line| i64::try_from(line).ok());
        region.start_column = column.and_then(|column| i64::try_from(column).ok());
        vec![location(file, line.map(|_| region), options)]
    });
    notification
}

fn unevaluated(rule: &UnevaluatedRule) -> Notification {
    Notification::builder()
        .message(message(&format!("not evaluated: {}", rule.reason)))
        .level(json!("note"))
        .associated_rule(reference(&rule.id))
        .build()
}

fn reference(id: &str) -> ReportingDescriptorReference {
    ReportingDescriptorReference::builder().id(id).build()
}

fn region(position: &Position<'_>) -> Region {
    let mut region = Region::builder().build();
    region.start_line = i64::try_from(position.line).ok();
    region.start_column = i64::try_from(position.column).ok();
    // The end is exclusive; only what ends on its first line is given.
    let marked = position.text.and_then(|text| {
        text.get(position.span.offset..position.span.offset.saturating_add(position.span.length))
    });
    region.end_column = marked
        .filter(|marked| !marked.is_empty() && !marked.contains('\n'))
        .and_then(|marked| i64::try_from(position.column + marked.chars().count()).ok());
    region
}

fn location(file: &Utf8Path, region: Option<Region>, options: &Options) -> Location {
    let path = options.repository_path(file);
    let mut artifact = ArtifactLocation::builder().uri(uri(&path)).build();
    if !path.starts_with('/') {
        artifact.uri_base_id = Some(ROOT.to_owned());
    }
    let mut physical = PhysicalLocation::builder().artifact_location(artifact).build();
    physical.region = region;
    Location::builder().physical_location(physical).build()
}

/// A path as a URI reference: relative, or `file://` for an absolute path.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => write!(uri, "%{byte:02X}").unwrap_or_default(),
        }
    }
    uri
}

/// A message; several lines are allowed.
fn message(text: &str) -> Message {
    Message::builder().text(clean::lines(text).collect::<Vec<_>>().join("\n")).build()
}

fn text(text: &str) -> MultiformatMessageString {
    MultiformatMessageString::builder().text(clean::lines(text).collect::<Vec<_>>().join("\n")).build()
}
