//! Policies that would take the process down, evaluated in a child process.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use fleetgate::model::{Level, Value};
use fleetgate::policy::isolate::{COMMAND, Sandbox};
use fleetgate::policy::{
    Entry, Evaluator, Isolation, Limits, Match, Module, PolicySet, Reads, Rule, Set, Style, Target,
};

const HARMLESS: &str = "package harmless\n\ndeny contains \"no\" if input.kind == \"Pod\"\n";

/// Each text is a module and a rule with `deny`.
fn policies(texts: &[&str]) -> PolicySet {
    let modules: Vec<Module> = texts
        .iter()
        .map(|text| {
            let package = text.lines().next().unwrap().strip_prefix("package ").unwrap();
            Module {
                file: Arc::new(format!("{package}.rego").into()),
                text: (*text).into(),
                package: package.into(),
            }
        })
        .collect();
    let rule = |module: &Module| Rule {
        id: Arc::clone(&module.package),
        package: Arc::clone(&module.package),
        entries: vec![Entry { name: "deny".into(), level: Level::Deny }],
        level: Level::Deny,
        title: "".into(),
        description: "".into(),
        url: None,
        page: None,
        target: Target::Resource,
        matches: Match::default(),
        needs: BTreeSet::new(),
        faces: Vec::new(),
        reads: Reads::Anything,
        reads_inventory: false,
        parameters: Vec::new(),
        set: 0,
        file: Arc::clone(&module.file),
    };
    let rules = modules.iter().map(rule).collect();
    let set = Set { style: Style::Conftest, modules, tests: Vec::new(), data: Value::new_object() };
    PolicySet { sets: vec![set], rules, digest: String::new() }
}

fn sandbox() -> Sandbox {
    Sandbox {
        program: env!("CARGO_BIN_EXE_fleetgate").into(),
        arguments: vec![COMMAND.into()],
        memory: 512 << 20,
        cpu_seconds: 60,
    }
}

fn pod() -> Value {
    Value::from_json_str(r#"{"kind": "Pod"}"#).unwrap()
}

/// Evaluates a hostile policy beside a harmless one, repeatedly: the harmless one always denies, the
/// hostile one is always an error. Returns that error.
fn error_beside_a_verdict(hostile: &str, time: Duration) -> String {
    let policies = policies(&[HARMLESS, hostile]);
    let limits = Limits { time, ..Limits::default() };
    let isolation = Isolation::Sandbox(sandbox());
    let mut evaluator = Evaluator::new(&policies, &[vec![0, 1]], &limits, &isolation).unwrap();
    let mut message = String::new();
    for _ in 0..5 {
        let outcomes = evaluator.evaluate(0, pod());
        assert_eq!(outcomes.len(), 2);
        assert_eq!(outcomes[0].result.as_ref().unwrap()[0].message, "no");
        message = outcomes[1].result.as_ref().unwrap_err().to_string();
    }
    message
}

#[test]
fn endless_recursion_of_functions() {
    // Far more time than it takes to fill the stack, also on a busy machine.
    let message = error_beside_a_verdict(
        "package hostile\n\nf(x) := f(x + 1)\n\ndeny contains \"x\" if f(0) == 1\n",
        Duration::from_mins(1),
    );
    assert!(message.contains("`hostile` stopped the process"), "{message}");
}

#[test]
fn values_without_end() {
    let message = error_beside_a_verdict(
        "package hostile\n\nxs := numbers.range(1, 400000)\n\ndeny contains \"x\" if {\n\tys := [[x, y] | some x in xs; y := array.concat(xs, xs)]\n\tcount(ys) == 0\n}\n",
        Duration::from_millis(500),
    );
    assert!(message.contains("`hostile`"), "{message}");
}

#[test]
fn values_that_are_compared_for_ever() {
    let mut text = String::from("package hostile\n\na0 := [input.kind]\n\nb0 := [input.kind]\n\n");
    for level in 1..=60 {
        let below = level - 1;
        writeln!(text, "a{level} := [a{below}, a{below}]\n\nb{level} := [b{below}, b{below}]\n").unwrap();
    }
    text.push_str("deny contains \"x\" if a60 == b60\n");
    let message = error_beside_a_verdict(&text, Duration::from_millis(300));
    assert!(message.contains("did not finish within 300 ms"), "{message}");
}

#[test]
fn a_verdict_is_the_same_in_a_child() {
    let texts = [
        HARMLESS,
        "package objects\n\ndeny contains {\"msg\": \"m\", \"id\": 7, \"list\": [1, {\"a\": null}]}\n",
        "package failing\n\ndeny contains \"x\" if to_number(input.kind) > 1\n",
        "package quiet\n\ndeny contains \"x\" if input.kind == \"Service\"\n",
    ];
    let policies = policies(&texts);
    let groups = [vec![0, 1], vec![2, 3]];
    let limits = Limits::default();
    let mut here = policies.evaluator(&groups, &limits).unwrap();
    let mut there = Evaluator::new(&policies, &groups, &limits, &Isolation::Sandbox(sandbox())).unwrap();
    for group in 0..groups.len() {
        let here = here.evaluate(group, pod());
        let there = there.evaluate(group, pod());
        assert_eq!(here.len(), 2);
        for (here, there) in here.iter().zip(&there) {
            assert_eq!(here.rule, there.rule);
            assert_eq!(here.result, there.result);
        }
    }
}

#[test]
fn policies_that_cannot_be_prepared_are_a_problem_with_its_place() {
    let policies = policies(&["package broken\n\ndeny contains \"x\" if unknown == 1\n"]);
    let problems = Evaluator::new(&policies, &[vec![0]], &Limits::default(), &Isolation::Sandbox(sandbox()))
        .unwrap_err();
    assert_eq!(problems[0].file.as_ref().unwrap().as_str(), "broken.rego");
    assert_eq!(problems[0].span.map(|span| span.line), Some(3));
}

#[test]
fn a_child_that_does_not_start_is_a_problem() {
    let sandbox = Sandbox { program: "/nonexistent/fleetgate".into(), ..sandbox() };
    let problems =
        Evaluator::new(&policies(&[HARMLESS]), &[vec![0]], &Limits::default(), &Isolation::Sandbox(sandbox))
            .unwrap_err();
    assert_eq!(problems[0].code, "isolation");
}

#[test]
fn a_program_that_is_no_child_of_ours_is_a_problem() {
    let sandbox = Sandbox { program: "/bin/false".into(), ..sandbox() };
    let problems =
        Evaluator::new(&policies(&[HARMLESS]), &[vec![0]], &Limits::default(), &Isolation::Sandbox(sandbox))
            .unwrap_err();
    assert_eq!(problems[0].code, "isolation");
}
