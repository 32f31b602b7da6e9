//! What the checks need to know of a module, taken from the engine's syntax tree in one walk. The
//! only checks that know that tree are in here and in [`super::walk`].

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use regorus::unstable::{Expr, Module, Parser, Rule, RuleHead};

use crate::model::{Problem, Span};

use super::scan;
use super::text::{self, SourceFile};
use super::walk;

/// A module, parsed.
#[derive(Debug)]
pub(super) struct Syntax {
    /// The file.
    pub(super) file: SourceFile,
    /// Package without `data`.
    pub(super) package: Vec<Arc<str>>,
    /// The package statement.
    pub(super) package_span: Span,
    /// Its rules and functions, in order.
    pub(super) rules: Vec<RuleSyntax>,
}

impl Syntax {
    /// The package as written, without `data.`.
    pub(super) fn package_name(&self) -> String {
        self.package.join(".")
    }
}

/// One rule or function, one of several that may share a name.
#[derive(Debug)]
pub(super) struct RuleSyntax {
    /// Its name inside the package; several parts for `a.b := 1`.
    pub(super) path: Vec<Arc<str>>,
    /// What it yields.
    pub(super) shape: Shape,
    /// Its head.
    pub(super) span: Span,
    /// What it mentions.
    pub(super) uses: Vec<Use>,
    /// Demand figures that it compares or adds up, with the figure's name.
    pub(super) raw_numbers: Vec<(String, Span)>,
}

/// What a rule yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `x contains y`.
    Set,
    /// `x := {…}` with a set.
    SetValue,
    /// `x[key] := y`.
    Object,
    /// `x := y`.
    Value,
    /// `x if …`, true or undefined.
    Boolean,
    /// `f(x) := y`.
    Function,
}

/// One part of a [`Use`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// A known key.
    Key(Arc<str>),
    /// Something computed.
    Any,
}

/// A mention of `input`, `data`, a rule or a function.
#[derive(Debug, Clone)]
pub(super) struct Use {
    /// How.
    pub(super) kind: UseKind,
    /// What: begins with `input` or `data`.
    pub(super) path: Vec<Part>,
    /// Where.
    pub(super) span: Span,
    /// The name is a local variable here; it only looks like the rule.
    pub(super) shadowed: bool,
}

/// How something is mentioned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UseKind {
    /// Its value is used.
    Read,
    /// It is called.
    Call {
        /// The name as written.
        name: Arc<str>,
        /// Number of arguments.
        arguments: usize,
    },
    /// `with` replaces it.
    With,
}

/// Reads a module.
pub(super) fn parse(file: SourceFile) -> Result<Syntax, Problem> {
    scan::check(&file)?;
    let source = regorus::unstable::Source::from_contents(file.path.to_string(), file.text.to_string())
        .map_err(|error| syntax_problem(&file, &error.to_string()))?;
    let mut parser = Parser::new(&source).map_err(|error| syntax_problem(&file, &error.to_string()))?;
    let module = parser
        .enable_rego_v1()
        .and_then(|()| parser.parse())
        .map_err(|error| syntax_problem(&file, &error.to_string()))?;
    Ok(describe(file, &module))
}

fn describe(file: SourceFile, module: &Module) -> Syntax {
    let package_span = span_of(&file, &module.package.span);
    let package = static_path(&module.package.refr);
    let imports = imports(module);
    let mut rules = Vec::new();
    for rule in &module.policy {
        let refr = match &**rule {
            Rule::Spec { head, .. } => head_ref(head),
            Rule::Default { refr, .. } => refr,
        };
        let (uses, raw_numbers) = walk::rule(&file, &package, &imports, rule);
        rules.push(RuleSyntax {
            path: static_path(refr),
            shape: shape(rule),
            span: span_of(&file, refr.span()),
            uses,
            raw_numbers,
        });
    }
    Syntax { file, package, package_span, rules }
}

fn head_ref(head: &RuleHead) -> &Expr {
    match head {
        RuleHead::Compr { refr, .. } | RuleHead::Set { refr, .. } | RuleHead::Func { refr, .. } => refr,
    }
}

fn shape(rule: &Rule) -> Shape {
    match rule {
        Rule::Default { args, .. } if !args.is_empty() => Shape::Function,
        Rule::Default { .. } => Shape::Value,
        Rule::Spec { head: RuleHead::Func { .. }, .. } => Shape::Function,
        Rule::Spec { head: RuleHead::Set { .. }, .. } => Shape::Set,
        Rule::Spec { head: RuleHead::Compr { refr, assign, .. }, .. } => {
            if matches!(&**refr, Expr::RefBrack { .. }) {
                return Shape::Object;
            }
            match assign.as_ref().map(|assign| &*assign.value) {
                None | Some(Expr::Bool { .. }) => Shape::Boolean,
                Some(Expr::Set { .. } | Expr::SetCompr { .. }) => Shape::SetValue,
                Some(_) => Shape::Value,
            }
        }
    }
}

/// Alias → what it stands for, beginning with `data` or `input`.
pub(super) type Imports = BTreeMap<Arc<str>, Vec<Arc<str>>>;

fn imports(module: &Module) -> Imports {
    let mut imports = Imports::new();
    for import in &module.imports {
        let path = static_path(&import.refr);
        let alias = import.r#as.as_ref().map(|span| Arc::from(span.text())).or_else(|| path.last().cloned());
        if let Some(alias) = alias
            && matches!(path.first().map(AsRef::as_ref), Some("data" | "input"))
        {
            imports.insert(alias, path);
        }
    }
    imports
}

/// The leading part of a reference that is known without evaluating it.
pub(super) fn static_path(expr: &Expr) -> Vec<Arc<str>> {
    let mut path = Vec::new();
    for part in parts(expr).map(|(_, parts)| parts).unwrap_or_default() {
        match part {
            Part::Key(key) => path.push(key),
            Part::Any => break,
        }
    }
    path
}

/// The parts of a reference and the variable it begins with; `None` if it begins with something
/// else, such as a call.
pub(super) fn parts(expr: &Expr) -> Option<(Arc<str>, Vec<Part>)> {
    let mut parts = Vec::new();
    let mut rest = expr;
    loop {
        match rest {
            Expr::Var { span, .. } => {
                let root: Arc<str> = span.text().into();
                parts.push(Part::Key(Arc::clone(&root)));
                parts.reverse();
                return Some((root, parts));
            }
            Expr::RefDot { refr, field, .. } => {
                parts.push(Part::Key(field.0.text().into()));
                rest = refr;
            }
            Expr::RefBrack { refr, index, .. } => {
                parts.push(match &**index {
                    Expr::String { value, .. } | Expr::RawString { value, .. } => {
                        value.as_string().map_or(Part::Any, |key| Part::Key(Arc::clone(key)))
                    }
                    _ => Part::Any,
                });
                rest = refr;
            }
            _ => return None,
        }
    }
}

/// A span of the engine's in our terms. The engine knows the line; its columns count a tab as four.
pub(super) fn span_of(file: &SourceFile, span: &regorus::unstable::Span) -> Span {
    let number = |value: u32| usize::try_from(value).unwrap_or_default();
    let (start, end) = (number(span.start), number(span.end));
    let before = file.text.get(..start).unwrap_or_default();
    let line = before.get(before.rfind('\n').map_or(0, |newline| newline + 1)..).unwrap_or_default();
    Span {
        offset: start,
        length: end.saturating_sub(start),
        line: number(span.line),
        column: 1 + line.chars().count(),
    }
}

#[expect(clippy::unwrap_used, reason = "the expression is constant and a test parses with it")]
static PLACE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"--> .*:(\d+):(\d+)\n").unwrap());

/// The engine reports where and what in one text.
fn syntax_problem(file: &SourceFile, error: &str) -> Problem {
    let number = |group: Option<regex::Match<'_>>| group.and_then(|found| found.as_str().parse().ok());
    let place = PLACE.captures(error);
    let line: usize = place.as_ref().and_then(|found| number(found.get(1))).unwrap_or(1);
    let column: usize = place.as_ref().and_then(|found| number(found.get(2))).unwrap_or(1);
    let message = error.trim().lines().last().unwrap_or_default().trim();
    let message = message.strip_prefix("error: ").unwrap_or(message).trim_end_matches('.');
    let problem = file.problem("policy-syntax", message, place_of(&file.text, line, column));
    if message.contains("`if` keyword is required") || message.contains("`contains` keyword is required") {
        return problem.help(
            "this is Rego of before 1.0; write `deny contains msg if { … }`, or convert the file with \
             `opa fmt --write --v0-v1`",
        );
    }
    problem
}

/// The engine counts a tab as four columns and other characters by their bytes.
fn place_of(text: &str, line: usize, column: usize) -> Span {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut offset = start;
    let mut at = 1;
    for character in text.get(start..).unwrap_or_default().chars() {
        if at >= column || character == '\n' {
            break;
        }
        at += if character == '\t' { 4 } else { character.len_utf8() };
        offset += character.len_utf8();
    }
    text::span(text, offset, 1)
}
