//! The walk over the engine's syntax tree: which names a rule mentions, with the scopes of Rego.

use std::collections::BTreeSet;
use std::sync::Arc;

use regorus::unstable::{AssignOp, Expr, Literal, LiteralStmt, Query, Rule, RuleBody, RuleHead};

use crate::model::Span;

use super::syntax::{Imports, Part, Use, UseKind, parts, span_of};
use super::text::SourceFile;

/// Figures that are an object instead of a number where they are not known exactly, and that no
/// policy may therefore compare or add up by itself.
const FIGURES: [&str; 8] = ["steady", "rollout", "autoscaled", "used", "base", "delta", "count", "surge"];
/// The parts of `input` whose rows carry them.
const FIGURE_ROWS: [&str; 4] = ["demand", "budgets", "quotas", "pods"];
/// Their fields that hold a figure for each name.
const FIGURE_MAPS: [&str; 1] = ["asks"];
/// Functions that reckon with numbers.
const RECKONING: [&str; 6] = ["abs", "max", "min", "product", "sort", "sum"];

/// The mentions in a rule, and its raw demand figures.
pub(super) fn rule(
    file: &SourceFile,
    package: &[Arc<str>],
    imports: &Imports,
    rule: &Rule,
) -> (Vec<Use>, Vec<(String, Span)>) {
    let mut walk = Walk {
        file,
        package,
        imports,
        scopes: Vec::new(),
        rows: BTreeSet::new(),
        uses: Vec::new(),
        figures: Vec::new(),
    };
    match rule {
        Rule::Default { args, value, .. } => walk.scoped(args, |walk| walk.expr(value)),
        Rule::Spec { head, bodies, .. } => walk.spec(head, bodies),
    }
    (walk.uses, walk.figures)
}

struct Walk<'a> {
    file: &'a SourceFile,
    package: &'a [Arc<str>],
    imports: &'a Imports,
    /// Names of local variables, from the outside in.
    scopes: Vec<BTreeSet<Arc<str>>>,
    /// Local variables that hold rows of demand figures.
    rows: BTreeSet<Arc<str>>,
    uses: Vec<Use>,
    figures: Vec<(String, Span)>,
}

impl Walk<'_> {
    fn spec(&mut self, head: &RuleHead, bodies: &[RuleBody]) {
        let (refr, args, key, value) = match head {
            RuleHead::Compr { refr, assign, .. } => (refr, None, None, assign.as_ref()),
            RuleHead::Set { refr, key, .. } => (refr, None, key.as_ref(), None),
            RuleHead::Func { refr, args, assign, .. } => (refr, Some(args), None, assign.as_ref()),
        };
        self.scoped(args.map_or(&[][..], Vec::as_slice), |walk| {
            let head = |walk: &mut Self| {
                walk.indexes(refr);
                if let Some(key) = key {
                    walk.expr(key);
                }
                if let Some(value) = value {
                    walk.expr(&value.value);
                }
            };
            if bodies.is_empty() {
                head(walk);
            }
            for body in bodies {
                walk.query(&body.query, |walk| match &body.assign {
                    Some(assign) => walk.expr(&assign.value),
                    None => head(walk),
                });
            }
        });
    }

    /// What stands in brackets of a rule's own name.
    fn indexes(&mut self, refr: &Expr) {
        match refr {
            Expr::RefDot { refr, .. } => self.indexes(refr),
            Expr::RefBrack { refr, index, .. } => {
                self.indexes(refr);
                self.expr(index);
            }
            _ => {}
        }
    }

    /// With the variables of some patterns as local names.
    fn scoped<P: AsRef<Expr>>(&mut self, patterns: &[P], inside: impl FnOnce(&mut Self)) {
        let mut names = BTreeSet::new();
        for pattern in patterns {
            declare(pattern.as_ref(), &mut names);
        }
        self.scopes.push(names);
        for pattern in patterns {
            self.pattern(pattern.as_ref());
        }
        inside(self);
        self.scopes.pop();
    }

    /// What a pattern reads: the keys of objects in it.
    fn pattern(&mut self, expr: &Expr) {
        match expr {
            Expr::Var { .. } => {}
            Expr::Array { items, .. } => items.iter().for_each(|item| self.pattern(item)),
            Expr::Object { fields, .. } => {
                for (_, key, value) in fields {
                    self.expr(key);
                    self.pattern(value);
                }
            }
            other => self.expr(other),
        }
    }

    /// A body; `result` is what is computed in its scope.
    fn query(&mut self, query: &Query, result: impl FnOnce(&mut Self)) {
        let mut names = BTreeSet::new();
        for statement in &query.stmts {
            match &statement.literal {
                Literal::SomeVars { vars, .. } => {
                    names.extend(vars.iter().map(|span| Arc::from(span.text())));
                }
                Literal::SomeIn { key, value, .. } => {
                    if let Some(key) = key {
                        declare(key, &mut names);
                    }
                    declare(value, &mut names);
                }
                Literal::Expr { expr, .. } => {
                    if let Expr::AssignExpr { op: AssignOp::ColEq, lhs, .. } = &**expr {
                        declare(lhs, &mut names);
                    }
                }
                Literal::NotExpr { .. } | Literal::Every { .. } => {}
            }
        }
        self.scopes.push(names);
        query.stmts.iter().for_each(|statement| self.statement(statement));
        result(self);
        self.scopes.pop();
    }

    fn statement(&mut self, statement: &LiteralStmt) {
        match &statement.literal {
            Literal::SomeVars { .. } => {}
            Literal::SomeIn { key, value, collection, .. } => {
                self.bind(value, collection);
                if let Some(key) = key {
                    self.pattern(key);
                }
                self.pattern(value);
                self.expr(collection);
            }
            Literal::Expr { expr, .. } | Literal::NotExpr { expr, .. } => self.expr(expr),
            Literal::Every { key, value, domain, query, .. } => {
                self.expr(domain);
                let name: Arc<str> = value.text().into();
                if self.is_rows(domain) {
                    self.rows.insert(Arc::clone(&name));
                }
                let mut names = BTreeSet::from([name]);
                names.extend(key.as_ref().map(|span| Arc::from(span.text())));
                self.scopes.push(names);
                self.query(query, |_| {});
                self.scopes.pop();
            }
        }
        for modifier in &statement.with_mods {
            if let Some((root, parts)) = parts(&modifier.refr) {
                let span = span_of(self.file, &modifier.span);
                for path in self.absolute(&root, &parts) {
                    self.uses.push(Use { kind: UseKind::With, path, span, shadowed: false });
                }
            }
            self.expr(&modifier.r#as);
        }
    }

    /// Remembers that a variable holds a row of demand figures.
    fn bind(&mut self, pattern: &Expr, from: &Expr) {
        if let Expr::Var { span, .. } = pattern
            && self.is_rows(from)
        {
            self.rows.insert(span.text().into());
        }
    }

    fn is_rows(&self, expr: &Expr) -> bool {
        let Some((root, parts)) = parts(expr) else { return false };
        let rows = |part: &Part| matches!(part, Part::Key(key) if FIGURE_ROWS.contains(&&**key));
        let ours = self.rows.contains(&root);
        let given = &*root == "input" && !starts_with_object(&parts) && parts.iter().any(rows);
        ours || given
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::String { .. }
            | Expr::RawString { .. }
            | Expr::Number { .. }
            | Expr::Bool { .. }
            | Expr::Null { .. } => {}
            Expr::Var { .. } | Expr::RefDot { .. } | Expr::RefBrack { .. } => self.reference(expr),
            Expr::Array { items, .. } | Expr::Set { items, .. } => {
                for item in items {
                    self.expr(item);
                }
            }
            Expr::Object { fields, .. } => {
                for (_, key, value) in fields {
                    self.expr(key);
                    self.expr(value);
                }
            }
            Expr::ArrayCompr { term, query, .. } | Expr::SetCompr { term, query, .. } => {
                self.query(query, |walk| walk.expr(term));
            }
            Expr::ObjectCompr { key, value, query, .. } => self.query(query, |walk| {
                walk.expr(key);
                walk.expr(value);
            }),
            Expr::Call { fcn, params, .. } => self.call(fcn, params),
            Expr::UnaryExpr { expr, .. } => {
                self.figure(expr);
                self.expr(expr);
            }
            Expr::BinExpr { lhs, rhs, .. } => {
                self.expr(lhs);
                self.expr(rhs);
            }
            Expr::BoolExpr { lhs, rhs, .. } | Expr::ArithExpr { lhs, rhs, .. } => {
                for side in [lhs, rhs] {
                    self.figure(side);
                    self.expr(side);
                }
            }
            Expr::AssignExpr { op, lhs, rhs, .. } => {
                self.bind(lhs, rhs);
                match op {
                    AssignOp::ColEq => self.pattern(lhs),
                    AssignOp::Eq => self.expr(lhs),
                }
                self.expr(rhs);
            }
            Expr::Membership { key, value, collection, .. } => {
                if let Some(key) = key {
                    self.expr(key);
                }
                self.expr(value);
                self.expr(collection);
            }
        }
    }

    fn call(&mut self, function: &Expr, arguments: &[impl AsRef<Expr>]) {
        if let Some((root, parts)) = parts(function) {
            let name: Vec<_> =
                parts.iter().map(|part| if let Part::Key(key) = part { key } else { "?" }).collect();
            let name: Arc<str> = name.join(".").into();
            if RECKONING.contains(&&*name) {
                for argument in arguments {
                    match argument.as_ref() {
                        Expr::ArrayCompr { term, .. } | Expr::SetCompr { term, .. } => {
                            self.late_figure(term, argument.as_ref());
                        }
                        Expr::Array { items, .. } | Expr::Set { items, .. } => {
                            for item in items {
                                self.figure(item);
                            }
                        }
                        other => self.figure(other),
                    }
                }
            }
            let kind = UseKind::Call { name, arguments: arguments.len() };
            let span = span_of(self.file, function.span());
            for path in self.absolute(&root, &parts) {
                self.uses.push(Use { kind: kind.clone(), path, span, shadowed: false });
            }
        }
        for argument in arguments {
            self.expr(argument.as_ref());
        }
    }

    fn reference(&mut self, expr: &Expr) {
        let mut rest = expr;
        // What stands in the brackets, and a call or comprehension at the start.
        loop {
            match rest {
                Expr::RefDot { refr, .. } => rest = refr,
                Expr::RefBrack { refr, index, .. } => {
                    self.expr(index);
                    rest = refr;
                }
                Expr::Var { .. } => break,
                other => {
                    self.expr(other);
                    return;
                }
            }
        }
        let Some((root, parts)) = parts(expr) else { return };
        let shadowed = self.scopes.iter().any(|names| names.contains(&root));
        let span = span_of(self.file, expr.span());
        for path in self.absolute(&root, &parts) {
            self.uses.push(Use { kind: UseKind::Read, path, span, shadowed });
        }
    }

    /// What a name can stand for, from `input` or `data` on.
    fn absolute(&self, root: &str, parts: &[Part]) -> Vec<Vec<Part>> {
        if root == "input" || root == "data" {
            return vec![parts.to_vec()];
        }
        let keys = |path: &[Arc<str>]| path.iter().cloned().map(Part::Key).collect::<Vec<_>>();
        let mut own = vec![Part::Key("data".into())];
        own.extend(keys(self.package));
        own.extend_from_slice(parts);
        let mut paths = vec![own];
        if let Some(target) = self.imports.get(root) {
            let mut path = keys(target);
            path.extend(parts.iter().skip(1).cloned());
            paths.push(path);
        }
        paths
    }

    /// Notes a demand figure that is used as a number.
    fn figure(&mut self, expr: &Expr) {
        let (Expr::RefDot { refr, .. } | Expr::RefBrack { refr, .. }) = expr else { return };
        let Some((root, parts)) = parts(expr) else { return };
        let figure = match parts.as_slice() {
            [.., Part::Key(map), _] if FIGURE_MAPS.contains(&&**map) => map,
            [.., Part::Key(last)] => last,
            _ => return,
        };
        let named = FIGURES.contains(&&**figure) || FIGURE_MAPS.contains(&&**figure);
        if named && (self.rows.contains(&root) || self.is_rows(refr)) {
            self.figures.push((figure.to_string(), span_of(self.file, expr.span())));
        }
    }

    /// A figure in the term of a comprehension, whose variables are bound behind it.
    fn late_figure(&mut self, term: &Expr, comprehension: &Expr) {
        if let Expr::ArrayCompr { query, .. } | Expr::SetCompr { query, .. } = comprehension {
            for statement in &query.stmts {
                match &statement.literal {
                    Literal::SomeIn { value, collection, .. } => self.bind(value, collection),
                    Literal::Expr { expr, .. } => {
                        if let Expr::AssignExpr { lhs, rhs, .. } = &**expr {
                            self.bind(lhs, rhs);
                        }
                    }
                    Literal::SomeVars { .. } | Literal::NotExpr { .. } | Literal::Every { .. } => {}
                }
            }
        }
        self.figure(term);
    }
}

fn starts_with_object(parts: &[Part]) -> bool {
    matches!(parts.get(1), Some(Part::Key(key)) if matches!(&**key, "object" | "old"))
}

/// Collects the variables of a pattern.
fn declare(pattern: &Expr, names: &mut BTreeSet<Arc<str>>) {
    match pattern {
        Expr::Var { span, .. } if span.text() != "_" => {
            names.insert(span.text().into());
        }
        Expr::Array { items, .. } => items.iter().for_each(|item| declare(item, names)),
        Expr::Object { fields, .. } => fields.iter().for_each(|(_, _, value)| declare(value, names)),
        _ => {}
    }
}
