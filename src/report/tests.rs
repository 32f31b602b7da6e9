//! Every format on the same reports: recorded output, hostile text, schemas, verdicts.

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
