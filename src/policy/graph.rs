//! Which rule mentions which: calls that nothing answers, cycles, and what a rule can reach.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{Problem, Span};

use super::functions::{self, Arity};
use super::set::Style;
use super::syntax::{Part, RuleSyntax, Shape, Syntax, Use, UseKind};
use super::text;

/// How many rules may stand one behind the other. The evaluator recurses with them, and its stack
/// ends: measured, at about 200 for 2 MiB and beyond 3,000 for the stack that we give it.
const DEEPEST: usize = 500;

/// Parts of a rule's name from `data` on.
pub(super) type Path = Vec<Arc<str>>;

/// All rules of a set of modules by name.
pub(super) struct Graph<'a> {
    nodes: BTreeMap<Path, Vec<(&'a Syntax, &'a RuleSyntax)>>,
}

impl<'a> Graph<'a> {
    /// The rules of some modules.
    pub(super) fn new(modules: impl IntoIterator<Item = &'a Syntax>) -> Self {
        let mut nodes: BTreeMap<Path, Vec<_>> = BTreeMap::new();
        for module in modules {
            for rule in &module.rules {
                let mut path = vec![Arc::from("data")];
                path.extend(module.package.iter().cloned());
                path.extend(rule.path.iter().cloned());
                nodes.entry(path).or_default().push((module, rule));
            }
        }
        Self { nodes }
    }

    /// The rules that a mention can touch: those at it, above it and below it.
    fn touched(&self, path: &[Part]) -> Vec<&Path> {
        let known: Path = path
            .iter()
            .map_while(|part| if let Part::Key(key) = part { Some(Arc::clone(key)) } else { None })
            .collect();
        let above = (1..known.len()).filter_map(|length| {
            let prefix = known.get(..length)?;
            self.nodes.get_key_value(prefix).map(|(path, _)| path)
        });
        let below = self.nodes.range(known.clone()..).map(|(path, _)| path);
        above.chain(below.take_while(|path| path.starts_with(&known))).collect()
    }

    /// The rules of a package and all that they can reach, with what they mention. Mentions that
    /// only look like a rule are followed too: to reach too much costs time, too little a verdict.
    pub(super) fn reachable(&self, package: &[Arc<str>]) -> Vec<(&'a Syntax, &'a RuleSyntax)> {
        let mut root = vec![Part::Key("data".into())];
        root.extend(package.iter().cloned().map(Part::Key));
        let mut seen: BTreeSet<&Path> = BTreeSet::new();
        let mut pending: Vec<&Path> =
            self.touched(&root).into_iter().filter(|path| path.len() > package.len() + 1).collect();
        while let Some(path) = pending.pop() {
            if seen.insert(path) {
                for (_, rule) in self.nodes.get(path).into_iter().flatten() {
                    for mention in &rule.uses {
                        pending.extend(self.touched(&mention.path));
                    }
                }
            }
        }
        seen.into_iter().filter_map(|path| self.nodes.get(path)).flatten().copied().collect()
    }

    /// Demand figures that a package, or what it reaches, uses as numbers.
    pub(super) fn figures(&self, package: &[Arc<str>]) -> Vec<(&'a Syntax, &'a str, Span)> {
        let rules = self.reachable(package).into_iter();
        let figures = rules.flat_map(|(module, rule)| {
            rule.raw_numbers.iter().map(move |(figure, span)| (module, figure.as_str(), *span))
        });
        figures.collect()
    }

    /// Calls of functions that do not exist or are refused.
    pub(super) fn calls(&self, style: Style) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (module, rule) in self.nodes.values().flatten() {
            // One call can stand for several paths; they share a span.
            let mut calls: BTreeMap<_, Vec<&Use>> = BTreeMap::new();
            for mention in &rule.uses {
                if let UseKind::Call { .. } = mention.kind {
                    calls.entry(mention.span).or_default().push(mention);
                }
            }
            problems.extend(calls.values().filter_map(|uses| self.call(style, module, uses)));
        }
        problems
    }

    fn call(&self, style: Style, module: &Syntax, uses: &[&Use]) -> Option<Problem> {
        let first = uses.first()?;
        let UseKind::Call { name, arguments } = &first.kind else { return None };
        let refused = functions::refused(name).filter(|_| style == Style::Native || &**name != "time.now_ns");
        let mut rule_of_that_name = false;
        for mention in uses {
            let path: Option<Path> = mention
                .path
                .iter()
                .map(|part| if let Part::Key(key) = part { Some(Arc::clone(key)) } else { None })
                .collect();
            if let Some(rules) = path.and_then(|path| self.nodes.get(&path)) {
                if rules.iter().any(|(_, rule)| rule.shape == Shape::Function) {
                    return None;
                }
                rule_of_that_name = true;
            }
        }
        if let Some(help) = refused {
            let message = format!("`{name}` is refused");
            return Some(module.file.problem("refused-function", message, first.span).help(help));
        }
        if rule_of_that_name {
            let message = format!("`{name}` is called but is no function");
            return Some(module.file.problem("unknown-function", message, first.span));
        }
        match functions::arity(name) {
            // A last argument more takes the result.
            Some(Arity::Exactly(arity))
                if (usize::from(arity)..=usize::from(arity) + 1).contains(arguments) =>
            {
                None
            }
            Some(Arity::Any) => None,
            Some(Arity::Exactly(arity)) => {
                let message = format!("`{name}` takes {arity} argument(s), not {arguments}");
                Some(module.file.problem("wrong-arguments", message, first.span))
            }
            None => Some(self.unknown(module, name, first)),
        }
    }

    fn unknown(&self, module: &Syntax, name: &str, mention: &Use) -> Problem {
        let own = self.nodes.iter().flat_map(|(path, rules)| {
            rules
                .iter()
                .filter(|(_, rule)| rule.shape == Shape::Function)
                .flat_map(|(defined, rule)| {
                    let local = (defined.package == module.package).then(|| rule.path.join("."));
                    // As called behind `import data.lib.k8s`, and in full.
                    let imported =
                        defined.package.last().map(|last| format!("{last}.{}", rule.path.join(".")));
                    [local, imported, Some(path.join("."))]
                })
                .flatten()
                .collect::<Vec<_>>()
        });
        let mut known: BTreeSet<String> = own.collect();
        known.extend(functions::names().into_iter().map(str::to_owned));
        let problem = module.file.problem(
            "unknown-function",
            format!("`{name}` is called but neither the engine nor a loaded module has it"),
            mention.span,
        );
        match text::nearest(name, known.iter().map(String::as_str)) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help("import the package that defines it, or define it"),
        }
    }

    /// Rules that mention themselves, directly or through others. The evaluator would exhaust the
    /// stack on functions of that kind.
    pub(super) fn cycles(&self) -> Vec<Problem> {
        let edges: BTreeMap<&Path, BTreeSet<&Path>> = self
            .nodes
            .iter()
            .map(|(path, rules)| {
                let mentions = rules.iter().flat_map(|(_, rule)| &rule.uses);
                let followed = mentions.filter(|mention| !mention.shadowed && mention.kind != UseKind::With);
                (path, followed.flat_map(|mention| self.touched(&mention.path)).collect())
            })
            .collect();
        let mut state = Visits::default();
        for path in self.nodes.keys() {
            state.visit(path, &edges);
        }
        let cycles = state.cycles.iter().filter_map(|cycle| self.cycle_problem(cycle));
        cycles.chain(state.too_deep.and_then(|path| self.depth_problem(path))).collect()
    }

    fn depth_problem(&self, path: &Path) -> Option<Problem> {
        let (module, rule) = self.nodes.get(path)?.first()?;
        let message = format!("more than {DEEPEST} rules stand one behind the other");
        Some(
            module
                .file
                .problem("too-deep", message, rule.span)
                .help("let rules use data or a comprehension instead of one another"),
        )
    }

    fn cycle_problem(&self, cycle: &[&Path]) -> Option<Problem> {
        // Named from its first module on, so that the message does not depend on the walk.
        let start = (0..cycle.len()).min_by_key(|index| cycle.get(*index).copied())?;
        let names: Vec<_> = (0..=cycle.len())
            .filter_map(|step| cycle.get((start + step) % cycle.len()))
            .map(|path| format!("`{}`", path.get(1..).unwrap_or_default().join(".")))
            .collect();
        let (module, rule) = self.nodes.get(*cycle.get(start)?)?.first()?;
        Some(
            module
                .file
                .problem(
                    "recursion",
                    format!("rules call each other in a circle: {}", names.join(" → ")),
                    rule.span,
                )
                .help("Rego has no recursion; use `walk` for trees, or name each level"),
        )
    }
}

/// A depth-first walk without recursion that collects one cycle for each edge that closes one.
#[derive(Default)]
struct Visits<'p> {
    /// Rules that were walked, with how many stand behind each, itself included.
    done: BTreeMap<&'p Path, usize>,
    cycles: BTreeSet<Vec<&'p Path>>,
    /// The first rule with too many behind it.
    too_deep: Option<&'p Path>,
}

impl<'p> Visits<'p> {
    fn visit(&mut self, from: &'p Path, edges: &BTreeMap<&'p Path, BTreeSet<&'p Path>>) {
        let targets = |path: &'p Path| edges.get(path).into_iter().flatten().copied().collect::<Vec<_>>();
        if self.done.contains_key(from) {
            return;
        }
        let mut trail = vec![(from, targets(from))];
        let mut open = BTreeSet::from([from]);
        while let Some((_, pending)) = trail.last_mut() {
            match pending.pop() {
                Some(next) if open.contains(next) => {
                    let on_trail = trail.iter().map(|(path, _)| *path);
                    let mut cycle: Vec<_> = on_trail.skip_while(|path| *path != next).collect();
                    let first =
                        cycle.iter().enumerate().min_by_key(|(_, path)| **path).map_or(0, |(at, _)| at);
                    cycle.rotate_left(first);
                    self.cycles.insert(cycle);
                }
                Some(next) if !self.done.contains_key(next) => {
                    open.insert(next);
                    trail.push((next, targets(next)));
                }
                Some(_) => {}
                None => {
                    if let Some((path, _)) = trail.pop() {
                        open.remove(path);
                        let behind = targets(path).into_iter().filter_map(|target| self.done.get(target));
                        let depth = 1 + behind.max().copied().unwrap_or(0);
                        if depth > DEEPEST {
                            self.too_deep.get_or_insert(path);
                        }
                        self.done.insert(path, depth);
                    }
                }
            }
        }
    }
}
