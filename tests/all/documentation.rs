//! What the README and `docs/` say, done: commands are run, files are written, snippets are loaded.
//!
//! A fenced block of kind `console` holds commands after `$ ` and what they print, standard error
//! first; a line `...` stands for any lines, and `$ echo $?` shows the status of the command before,
//! which is 0 otherwise. The commands of one page run one after the other in one copy of the
//! repository's `testdata`. Comments above a block say more:
//! `<!-- in: DIR -->` runs it there, `<!-- file: PATH -->` writes it to a file first,
//! `<!-- fleet -->` loads it as a part of a fleet file.

use std::fs;
use std::path::Path;

use crate::support::{Sandbox, command, root};

/// Blanks out what is different each time.
fn steady(text: &str) -> String {
    let time = regex::Regex::new(r" \(\d+\.\d+ s, \d+ threads?\)").unwrap();
    let text = time.replace_all(text, "");
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

#[derive(Debug)]
struct Block {
    line: usize,
    language: String,
    /// From the comment right above: word and value.
    directive: Option<(String, String)>,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut directive = None;
    let mut open = false;
    for (number, line) in page.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (open, fence) {
            (true, Some(_)) => open = false,
            (true, None) => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            (false, Some(language)) => {
                open = true;
                blocks.push(Block {
                    line: number + 1,
                    language: language.to_owned(),
                    directive: directive.take(),
                    text: String::new(),
                });
            }
            (false, None) => {
                let comment = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->"));
                if let Some(comment) = comment {
                    let (word, value) = comment.split_once(": ").unwrap_or((comment, ""));
                    directive = Some((word.to_owned(), value.to_owned()));
                }
            }
        }
    }
    assert!(!open, "a block is not closed");
    blocks
}

/// Whether `actual` is `expected`, where a line `...` stands for any lines.
fn alike(expected: &[&str], actual: &[&str]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((&"...", rest)) => (0..=actual.len()).any(|skipped| alike(rest, &actual[skipped..])),
        Some((first, rest)) => actual.first() == Some(first) && alike(rest, &actual[1..]),
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(target).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn shell(dir: &Path, line: &str) -> (i32, String) {
    let mut command = command(dir);
    let program = command.get_program().to_owned();
    let mut path = Path::new(&program).parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let environment: Vec<_> =
        command.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
    let mut shell = std::process::Command::new("sh");
    shell.env_clear();
    for (name, value) in environment {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    command = shell;
    let output = command
        .current_dir(dir)
        .args(["-c", line])
        .env("PATH", path)
        // What the pages say about dates stays true.
        .env("FLEETGATE_NOW", "2026-12-01T12:00:00Z")
        .output()
        .unwrap();
    let text = [output.stderr, output.stdout].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8(text).unwrap())
}

/// Runs the commands of one block and compares what they print.
fn run(block: &Block, dir: &Path, place: &str) {
    let mut lines = block.text.lines().peekable();
    while let Some(line) = lines.next() {
        let command =
            line.strip_prefix("$ ").unwrap_or_else(|| panic!("{place}: a command is missing: {line}"));
        let mut expected = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            expected.push(line);
        }
        // Building and testing is what is going on here.
        if command == "cargo test" {
            continue;
        }
        let mut status = 0;
        if lines.next_if_eq(&"$ echo $?").is_some() {
            status = lines
                .next()
                .and_then(|line| line.parse().ok())
                .unwrap_or_else(|| panic!("{place}: a status"));
        }
        let (actual, printed) = shell(dir, &command.replace("cargo run --release -- ", "fleetgate "));
        let printed = steady(&printed);
        assert_eq!(actual, status, "{place}: status of `{command}`\n{printed}");
        let expected = steady(&expected.join("\n"));
        let (expected, actual) = (expected.lines().collect::<Vec<_>>(), printed.lines().collect::<Vec<_>>());
        assert!(
            alike(&expected, &actual),
            "{place}: `{command}` printed\n{printed}--- where the page has\n{}",
            expected.join("\n")
        );
    }
}

/// Loads a snippet as a part of a fleet file, with the names that snippets use.
fn load(block: &Block, place: &str) {
    let mut text = block.text.clone();
    let defaults = [
        ("apiVersion", "apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\n"),
        ("environments", "environments: [dev, uat, prod]\n"),
        ("clusters", "clusters: {dev-gcp: dev, prod-aws-use1: prod, prod-gcp-euw4: prod}\n"),
        ("teams", "teams: {ml-search: [ml-search], ml-train: [ml-train]}\n"),
    ];
    for (key, part) in defaults {
        if !text.lines().any(|line| line.starts_with(&format!("{key}:"))) {
            text.insert_str(0, part);
        }
    }
    let sandbox = Sandbox::new(&[
        ("fleetgate.yaml", &text),
        ("fleet/clusters.yaml", "apiVersion: fleetgate.dev/v1alpha1\nkind: Fleet\n"),
        (
            "policies/a.rego",
            "package fleetgate.local.a\n\ndeny contains \"x\" if input.object.kind == \"Nothing\"\n",
        ),
        ("conftest/a.rego", "package main\n\ndeny contains \"x\" if input.kind == \"Nothing\"\n"),
    ]);
    for arguments in [&["config", "show"][..], &["rules"]] {
        let run = sandbox.run(arguments);
        assert_eq!(run.status, 0, "{place}: {}\n{text}", run.all());
    }
}

fn page(name: &str) {
    let text = fs::read_to_string(root().join(name)).unwrap();
    let sandbox = Sandbox::new(&[]);
    let blocks = blocks(&text);
    if blocks.iter().any(|block| block.language == "console") {
        copy(&root().join("testdata/fleet"), &sandbox.path().join("testdata/fleet"));
        copy(&root().join("testdata/sync"), &sandbox.path().join("testdata/sync"));
        copy(&root().join("policies"), &sandbox.path().join("policies"));
    }
    for block in &blocks {
        let place = format!("{name}:{}", block.line);
        let (word, value) = block.directive.as_ref().map_or(("", ""), |(word, value)| (word, value));
        match (word, &*block.language) {
            ("file", _) => sandbox.write(value, block.text.as_bytes()),
            ("fleet", _) => load(block, &place),
            ("in", "console") => run(block, &sandbox.path().join(value), &place),
            ("", "console") => run(block, sandbox.path(), &place),
            ("", "yaml") if block.text.contains("fleetgate check") => pipeline(block, &place),
            ("", "yaml" | "rego" | "json" | "text" | "") => {}
            _ => panic!("{place}: nobody runs `{word}` {}", block.language),
        }
    }
}

/// The commands of a CI configuration are accepted and judge the example fleet.
fn pipeline(block: &Block, place: &str) {
    let sandbox = Sandbox::new(&[]);
    copy(&root().join("testdata/fleet"), sandbox.path());
    for line in block.text.lines() {
        let Some((_, rest)) = line.split_once("fleetgate check") else { continue };
        let command = format!("fleetgate check{rest}");
        let (status, printed) = shell(sandbox.path(), &command);
        assert_eq!(status, 1, "{place}: `{command}`\n{printed}");
    }
}

macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        $(
            #[test]
            fn $test() {
                page($page);
            }
        )*

        #[test]
        fn no_page_is_left_out() {
            let tested = [$($page),*];
            let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
            for name in docs.map(|name| format!("docs/{}", name.to_str().unwrap())) {
                assert!(tested.contains(&&*name), "{name} is not tested");
            }
        }
    };
}

pages! {
    readme: "README.md",
    accelerators: "docs/accelerators.md",
    baseline_and_waivers: "docs/baseline-and-waivers.md",
    changes: "docs/changes.md",
    commands: "docs/commands.md",
    configuration: "docs/configuration.md",
    discovery: "docs/discovery.md",
    exit_codes: "docs/exit-codes.md",
    fleet_commands: "docs/fleet-commands.md",
    output_formats: "docs/output-formats.md",
    policies: "docs/policies.md",
}

/// Links between pages lead somewhere.
#[test]
fn links_lead_to_files() {
    let link = regex::Regex::new(r"\]\(([^)#:]+)(#[^)]*)?\)").unwrap();
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    for page in docs.chain([root().join("README.md")]) {
        for found in link.captures_iter(&fs::read_to_string(&page).unwrap()) {
            let target = page.parent().unwrap().join(&found[1]);
            assert!(target.exists(), "{}: {}", page.display(), &found[1]);
        }
    }
}

#[test]
fn an_elision_stands_for_any_lines() {
    assert!(alike(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(alike(&["..."], &[]));
    assert!(!alike(&["a", "...", "d"], &["a", "b", "c"]));
    assert!(!alike(&["a"], &["a", "b"]));
}
