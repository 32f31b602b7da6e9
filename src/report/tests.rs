//! Every format on the same reports: recorded output, hostile text, schemas, verdicts.

#![expect(clippy::string_slice, reason = "a test may panic")]

use super::samples::{self, rendered};
use super::*;

fn record(name: &str, output: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/cases/report"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(concat!("\"", env!("CARGO_PKG_VERSION"), "\""), "\"[version]\"");
    settings.bind(|| insta::assert_snapshot!(name, output));
}

#[test]
fn every_format_says_what_is_wrong_where_and_what_to_write() {
    for format in Format::ALL {
        record(format.as_str(), &rendered(&samples::fleet(), format, &Options::default()));
    }
}

#[test]
fn formats_are_found_by_name() {
    for format in Format::ALL {
        assert_eq!(format.as_str().parse(), Ok(format));
    }
    let error = "sariff".parse::<Format>().unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown format `sariff`, did you mean `sarif`?; the formats are text, concise, json, sarif, \
         junit, github, gitlab, markdown, tap, table"
    );
    assert!("xml".parse::<Format>().unwrap_err().to_string().starts_with("unknown format `xml`; the"));
}

#[test]
fn paths_are_named_from_the_root_of_the_repository() {
    let options = Options { prefix: "clusters/prod".into(), ..Options::default() };
    assert_eq!(options.repository_path("a.yaml".into()), "clusters/prod/a.yaml");
    assert_eq!(options.repository_path("./../dev/a.yaml".into()), "clusters/dev/a.yaml");
    assert_eq!(options.repository_path("/tmp/a.yaml".into()), "/tmp/a.yaml");
    assert_eq!(Options::default().repository_path("../../a.yaml".into()), "../../a.yaml");
}

/// The formats that a person looks at in a terminal or a log.
const SEEN: [Format; 5] = [Format::Text, Format::Concise, Format::Github, Format::Tap, Format::Table];

#[test]
fn hostile_text_reaches_no_terminal_or_runner() {
    for format in Format::ALL {
        let output = rendered(&samples::hostile(), format, &Options { verbose: true, ..Options::default() });
        let acts = |c: char| clean::is_hidden(c) && c != '\n';
        // Markdown sets a zero-width space itself, to end mentions and links.
        let found = output.find(|c| acts(c) && !(format == Format::Markdown && c == '\u{200b}'));
        assert_eq!(found, None, "{format}: {output}");
        assert!(output.contains("u{1b}") || output.contains("\\u001b"), "{format} hides what was there");
    }
    for format in SEEN {
        let output = rendered(&samples::hostile(), format, &Options { verbose: true, ..Options::default() });
        for line in output.lines() {
            let ours = ["::error file=", "::error title=", "::warning ", "::notice "];
            assert!(!line.contains("##["), "{format}: {line}");
            assert!(
                !line.trim_start().starts_with("::")
                    || (format == Format::Github && ours.iter().any(|own| line.starts_with(own))),
                "{format}: {line}"
            );
        }
    }
}

#[test]
fn hostile_text_is_not_markup() {
    let markdown = rendered(&samples::hostile(), Format::Markdown, &Options::default());
    for row in markdown.lines().filter(|line| line.starts_with("| ")) {
        // Outside code, nothing is left that GitHub reads as markup.
        let prose: String = without_code(row);
        for markup in ["<script", " @team", "https://evil", "![x]", " #1"] {
            assert!(!prose.contains(markup), "{markup} in {prose}");
        }
        let cells = row.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert!(cells == 4 || cells == 5, "{row}");
    }
    let junit = rendered(&samples::hostile(), Format::Junit, &Options::default());
    assert!(!junit.contains("<script") && !junit.contains("<![CDATA["), "{junit}");
    let read = quick_junit::Report::deserialize_from_str(&junit).unwrap();
    assert_eq!((read.failures, read.errors), (1, 1));
}

/// The text of a line that stands in no code span.
fn without_code(line: &str) -> String {
    let (mut prose, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('`') {
        // A backslash before a backtick outside code makes it a plain one.
        if rest[..at].ends_with('\\') {
            prose.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        let fence = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let (open, body) = rest[at..].split_at(fence);
        let end = (0..body.len())
            .find(|&end| {
                body.is_char_boundary(end)
                    && body[end..].starts_with(open)
                    && !body[end + fence..].starts_with('`')
                    && !body[..end].ends_with('`')
            })
            .expect("a code span is closed");
        prose.push_str(&rest[..at]);
        rest = &body[end + fence..];
    }
    prose + rest
}

#[test]
fn json_keeps_every_character_and_follows_its_schema() {
    let schema = jsonschema::validator_for(json_schema().as_value()).unwrap();
    for report in [samples::fleet(), samples::nothing(), samples::hostile()] {
        let json: serde_json::Value =
            serde_json::from_str(&rendered(&report, Format::Json, &Options::default())).unwrap();
        let errors: Vec<_> = schema.iter_errors(&json).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(json["verdict"], report.verdict().as_str());
    }
    let json: serde_json::Value =
        serde_json::from_str(&rendered(&samples::hostile(), Format::Json, &Options::default())).unwrap();
    assert_eq!(json["findings"][0]["message"], samples::HOSTILE);
    assert_eq!(json["findings"][0]["route"][0], samples::HOSTILE);
    assert_eq!(json["findings"][0]["details"], samples::HOSTILE);
    let broken = serde_json::json!({"version": 1, "verdict": "green"});
    assert!(!schema.is_valid(&broken), "the schema refuses what is no report");
}

#[test]
fn sarif_follows_the_official_schema() {
    let Some(schema) = sarif_schema() else { return };
    let schema = jsonschema::validator_for(&schema).unwrap();
    for report in [samples::fleet(), samples::nothing(), samples::hostile(), samples::many(3)] {
        let sarif: serde_json::Value =
            serde_json::from_str(&rendered(&report, Format::Sarif, &Options::default())).unwrap();
        let errors: Vec<_> =
            schema.iter_errors(&sarif).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert_eq!(errors, Vec::<String>::new());
        let invocation = &sarif["runs"][0]["invocations"][0];
        assert_eq!(invocation["exitCode"], report.verdict().exit_status());
        assert_eq!(invocation["executionSuccessful"], report.verdict().exit_status() < 2);
    }
    assert!(
        !schema.is_valid(&serde_json::json!({"version": "2.1.0", "runs": [{}]})),
        "the schema refuses a run without a tool"
    );
}

/// The schema as OASIS publishes it; it comes with the source of the `serde-sarif` crate.
fn sarif_schema() -> Option<serde_json::Value> {
    let run = |program: &str, arguments: &[&str]| {
        let output = std::process::Command::new(program).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
    };
    let find = || -> Option<serde_json::Value> {
        let rustc = run(option_env!("RUSTC").unwrap_or("rustc"), &["-vV"])?;
        let host = rustc.lines().find_map(|line| line.strip_prefix("host: "))?;
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let arguments = [
            "metadata",
            "--offline",
            "--format-version",
            "1",
            "--filter-platform",
            host,
            "--manifest-path",
            manifest,
        ];
        let metadata: serde_json::Value = serde_json::from_str(&run(env!("CARGO"), &arguments)?).ok()?;
        let package =
            metadata["packages"].as_array()?.iter().find(|package| package["name"] == "serde-sarif")?;
        let path =
            Utf8Path::new(package["manifest_path"].as_str()?).with_file_name("src").join("schema.json");
        serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
    };
    let mut schema = find();
    if let Some(schema) = &mut schema {
        // A stray bracket makes this pattern no regular expression; we write no `language`.
        schema["definitions"]["run"]["properties"]["language"] = serde_json::json!({});
        schema["definitions"]["toolComponent"]["properties"]["language"] = serde_json::json!({});
    }
    if schema.is_none() {
        assert_ne!(
            std::env::var("FLEETGATE_E2E").as_deref(),
            Ok("1"),
            "the source of serde-sarif was not found"
        );
        eprintln!("skipped: the source of serde-sarif was not found");
    }
    schema
}

#[test]
fn nothing_judged_looks_green_nowhere() {
    let show = |format| rendered(&samples::nothing(), format, &Options::default());
    assert!(show(Format::Text).ends_with("\nnothing to judge: no Kubernetes object in 3 files\n"));
    assert_eq!(show(Format::Concise), "nothing to judge: no Kubernetes object in 3 files\n");
    assert_eq!(
        show(Format::Github),
        "::error title=Fleetgate::nothing to judge: no Kubernetes object in 3 files\n\
         fleetgate: nothing to judge: no Kubernetes object in 3 files\n"
    );
    assert_eq!(
        show(Format::Tap),
        "TAP version 13\n1..1\nnot ok 1 - nothing to judge: no Kubernetes object in 3 files\n\
         # nothing to judge: no Kubernetes object in 3 files\n"
    );
    assert_eq!(quick_junit::Report::deserialize_from_str(&show(Format::Junit)).unwrap().errors, 1);
    assert!(show(Format::Gitlab).contains("\"severity\": \"blocker\""));
    assert!(show(Format::Markdown).contains("### ⚠️ Fleetgate: nothing to judge"));
    assert!(show(Format::Json).contains("\"verdict\": \"nothing\""));
    assert_eq!(show(Format::Table), "nothing to judge: no Kubernetes object in 3 files\n");
}

#[test]
fn what_is_equal_on_many_clusters_is_one_entry() {
    let report = samples::fleet();
    let resolved = resolve(&report);
    let rules: Vec<_> =
        resolved.entries.iter().map(|entry| (&*entry.finding.rule, entry.sites.len())).collect();
    assert_eq!(
        rules,
        [("gitops/image-digest", 3), ("accelerators/limits", 1), ("gitops/requests", 1), ("quota/age", 1)]
    );
    let text = rendered(&report, Format::Text, &Options::default());
    assert_eq!(text.matches("has no digest").count(), 1, "{text}");
    assert!(text.contains("in      3 clusters: prod-aws-use1, prod-az-weu, prod-gcp-euw4\n"), "{text}");
}

#[test]
fn findings_point_at_what_is_wrong() {
    let report = samples::fleet();
    let resolved = resolve(&report);
    let at = |entry: usize| {
        let position = resolved.entries[entry].position().unwrap();
        let span = position.span;
        let text = &position.text.unwrap()[span.offset..span.offset + span.length];
        (position.line, position.column, text, position.missing.as_deref())
    };
    // The document begins on line 15 of its file; `image` is its 11th line.
    assert_eq!(at(0), (25, 18, "registry.example.org/ranker:v2", None));
    // There are no `limits`: the nearest parent is shown.
    assert_eq!(at(1), (26, 11, "resources", Some("limits")));
    // An item of a list; a parent in a flow mapping.
    let container = "{name: probe, image: registry.example.org/probe@sha256:9a1c}";
    assert_eq!(at(2), (9, 11, container, Some("resources")));
    assert_eq!(resolved.entries[3].position(), None);

    let mut report = samples::many(1);
    report.findings[0].route = None;
    let resolved = resolve(&report);
    let position = resolved.entries[0].position().unwrap();
    assert_eq!((position.line, position.column), (4, 9), "an object as a whole is shown by its name");
    report.findings[0].text = Some("a: [".into());
    let resolved = resolve(&report);
    let position = resolved.entries[0].position().unwrap();
    assert_eq!((position.line, position.column), (1, 1), "a text that cannot be read");
}

#[test]
fn a_different_message_remediation_or_object_is_another_entry() {
    let base = || samples::finding("a/b", crate::model::Level::Deny, "one", "Pod x/y", "bad");
    let mut message = base();
    message.message = "worse".into();
    let mut remediation = base();
    remediation.remediation = Some("write this".into());
    let mut details = base();
    details.details = Some(crate::model::Value::from(7));
    let object = samples::finding("a/b", crate::model::Level::Deny, "one", "Pod x/z", "bad");
    let mut report = samples::nothing();
    report.findings = vec![base(), message, remediation, details, object, base()];
    let resolved = resolve(&report);
    assert_eq!(resolved.entries.len(), 5);
    let fingerprints: std::collections::BTreeSet<_> =
        resolved.entries.iter().map(|entry| &entry.fingerprint).collect();
    assert_eq!(fingerprints.len(), 5, "fingerprints are unique even where identities are equal");
}

#[test]
fn a_fingerprint_survives_moves_and_new_words() {
    let fingerprint = |change: &dyn Fn(&mut crate::model::Finding)| {
        let mut finding = samples::finding("a/b", crate::model::Level::Deny, "one", "Pod x/y", "bad");
        change(&mut finding);
        let mut report = samples::nothing();
        report.findings = vec![finding];
        resolve(&report).entries[0].fingerprint.clone()
    };
    let same = fingerprint(&|_| {});
    assert_eq!(same, fingerprint(&|finding| finding.message = "very bad".into()));
    assert_eq!(same, fingerprint(&|finding| finding.place = Some(samples::place("elsewhere.yaml", 3, 99))));
    assert_eq!(same, fingerprint(&|finding| finding.level = crate::model::Level::Warn));
    assert_ne!(same, fingerprint(&|finding| finding.subject.cluster = Some("two".into())));
    assert_ne!(same, fingerprint(&|finding| finding.identity.object = "Pod x/z".into()));
    assert_ne!(same, fingerprint(&|finding| finding.identity.route = "spec".into()));
    assert_ne!(same, fingerprint(&|finding| finding.identity.rule = "a/c".into()));
}

#[test]
fn the_order_of_findings_does_not_matter() {
    let forwards = samples::fleet();
    let mut backwards = samples::fleet();
    backwards.findings.reverse();
    for format in Format::ALL {
        let options = Options::default();
        assert_eq!(rendered(&forwards, format, &options), rendered(&backwards, format, &options), "{format}");
    }
}

#[test]
fn many_findings_are_shortened_and_the_rest_is_counted() {
    let text = rendered(&samples::many(250), Format::Text, &Options::default());
    assert_eq!(text.matches("deny[gitops/image-digest]:").count(), 3, "framed");
    assert_eq!(text.matches("deny[gitops/image-digest] ").count(), 10, "listed");
    assert!(
        text.contains("… and 237 more of gitops/image-digest (all: -v, -o concise or -o json)\n"),
        "{text}"
    );
    assert!(text.contains("warn[gitops/requests]: no requests"), "a rare rule is not lost among many");
    assert!(text.ends_with("denied: 250 denials, 1 warning in 1 of 1 cluster\n"), "{text}");
    let all = rendered(&samples::many(250), Format::Text, &Options { verbose: true, ..Options::default() });
    assert_eq!(all.matches("deny[gitops/image-digest]:").count(), 250);
    let ascii =
        rendered(&samples::many(250), Format::Text, &Options { unicode: false, ..Options::default() });
    assert!(ascii.is_ascii() && ascii.contains("\n... and 237 more of gitops/image-digest"), "{ascii}");
    let few = rendered(&samples::many(49), Format::Text, &Options::default());
    assert_eq!(few.matches("deny[gitops/image-digest]:").count(), 49);
}

#[test]
fn many_problems_are_shortened_by_kind() {
    let mut problems: Vec<_> =
        (0..100).map(|at| crate::model::Problem::new("syntax", "no").in_file(format!("{at}.yaml"))).collect();
    problems.push(crate::model::Problem::new("no-rule", "nothing matched"));
    let mut out = Vec::new();
    problems_text(&problems, &Options::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!((text.matches("error[syntax]:").count(), text.matches("error[syntax] ").count()), (3, 10));
    assert!(text.contains("error[no-rule]: nothing matched\n"), "{text}");
    assert!(text.ends_with("… and 87 more of syntax (all: -v, -o concise or -o json)\n\n"), "{text}");
}

#[test]
fn github_is_not_given_more_than_it_shows() {
    let output = rendered(&samples::many(10), Format::Github, &Options::default());
    assert_eq!(output.matches("::error ").count(), 10);
    assert!(!output.contains("more not shown"));
    let output = rendered(&samples::many(30), Format::Github, &Options::default());
    assert_eq!(output.matches("::error ").count(), 10);
    assert!(
        output.contains("::error title=Fleetgate::and 21 more not shown as annotations: see the log"),
        "{output}"
    );
    assert_eq!(output.matches("::warning ").count(), 1);
}

#[test]
fn a_comment_stays_below_the_limit_and_says_what_was_cut() {
    for number in [10, 11, 500] {
        let mut report = samples::many(number);
        report.notes = vec!["x`|".repeat(1_000); 50];
        for finding in &mut report.findings {
            finding.remediation = Some(("`a`".to_owned() + &"&".repeat(9_000)).into());
        }
        let page = rendered(&report, Format::Markdown, &Options::default());
        assert!(page.len() < 65_536, "{} bytes", page.len());
        assert_eq!(page.matches("<details>").count(), page.matches("</details>").count());
        assert!(page.contains(" more did not fit into this comment: see the log of the job.**"));
    }
    let page = rendered(&samples::many(20), Format::Markdown, &Options::default());
    assert!(page.contains("<details><summary>11 more</summary>"), "{page}");
    assert!(!page.contains("did not fit"));
}

#[test]
fn only_what_blocks_fails_in_tap_and_junit() {
    let mut report = samples::many(1);
    let failures = |report: &crate::model::Report| {
        let junit = rendered(report, Format::Junit, &Options::default());
        let tap = rendered(report, Format::Tap, &Options::default());
        let tap = tap.lines().filter(|line| line.starts_with("not ok") && !line.contains("# TODO")).count();
        (quick_junit::Report::deserialize_from_str(&junit).unwrap().failures, tap)
    };
    assert_eq!(failures(&report), (1, 1));
    report.fail_on = crate::model::Level::Warn;
    assert_eq!(failures(&report), (2, 2));
}

#[test]
fn a_long_line_is_cut_around_the_mark() {
    let mut report = samples::nothing();
    let before = "ü".repeat(5_000);
    let source = format!("first: 1\n{before}HERE{}\n", "y".repeat(5_000));
    let mut problem = crate::model::Problem::new("syntax", "no").in_file("a.json").at(crate::model::Span {
        offset: 9 + before.len(),
        length: 4,
        line: 2,
        column: 5_001,
    });
    problem.source = Some(source.into());
    report.problems = vec![problem];
    let text = rendered(&report, Format::Text, &Options { quiet: true, ..Options::default() });
    assert!(text.contains("[a.json:2:5001]"), "{text}");
    assert!(text.contains("üHEREy") && text.lines().all(|line| line.chars().count() < 200), "{text}");
    let marked = text.lines().skip_while(|line| !line.contains("HERE")).nth(1).unwrap();
    let column = |line: &str, what: &str| line.find(what).map(|at| line[..at].chars().count());
    let source = text.lines().find(|line| line.contains("HERE")).unwrap();
    assert_eq!(column(source, "HERE"), column(marked, "────"), "{text}");
}

#[test]
fn a_span_outside_its_text_is_no_panic() {
    for (offset, length) in [(99, 4), (3, 99), (usize::MAX, 1), (1, usize::MAX), (4, 0)] {
        let mut problem = crate::model::Problem::new("syntax", "no").in_file("a").at(crate::model::Span {
            offset,
            length,
            line: 1,
            column: 1,
        });
        problem.source = Some("üüb".into());
        let mut out = Vec::new();
        problems_text(&[problem], &Options::default(), &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().starts_with("error[syntax]: no\n"));
    }
}

#[test]
fn colour_only_adds_escapes() {
    let colour = Options { colour: true, ..Options::default() };
    for format in Format::ALL {
        let coloured = rendered(&samples::fleet(), format, &colour);
        let stripped = anstream::adapter::strip_str(&coloured).to_string();
        assert_eq!(stripped, rendered(&samples::fleet(), format, &Options::default()), "{format}");
        assert_eq!(coloured != stripped, matches!(format, Format::Text | Format::Concise), "{format}");
    }
    let links = rendered(&samples::fleet(), Format::Text, &Options { links: true, ..Options::default() });
    let link = "deny[\u{1b}]8;;https://example.org/rules/image-digest\u{1b}\\gitops/image-digest\u{1b}]8;;\u{1b}\\]: image";
    assert!(links.contains(link), "{links:?}");
    let ascii = Options { unicode: false, ..Options::default() };
    assert!(rendered(&samples::many(2), Format::Table, &ascii).is_ascii());
    assert!(rendered(&samples::many(2), Format::Text, &ascii).is_ascii());
}
