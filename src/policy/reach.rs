//! Which modules a rule can reach. At each look-up under `data` the engine goes through all of its
//! modules, so that a rule gets slower with every module that it has nothing to do with. A group is
//! therefore evaluated in an engine that has only what its rules can reach.

use std::collections::BTreeSet;

use regorus::unstable::{Lexer, Source, TokenKind};

use super::set::Module;

/// What each module of a set is called, and which parts of `data` it names.
#[derive(Debug)]
pub(super) struct Reach(Vec<Node>);

#[derive(Debug)]
struct Node {
    package: Path,
    /// The static beginnings of its references to `data`, without `data`.
    references: BTreeSet<Path>,
}

/// Keys below `data`; empty for `data` itself.
type Path = Vec<String>;

impl Reach {
    pub(super) fn new(modules: &[Module]) -> Self {
        let node = |module: &Module| Node {
            package: paths(&format!("data.{}", module.package)).into_iter().next().unwrap_or_default(),
            references: paths(&module.text),
        };
        Self(modules.iter().map(node).collect())
    }

    /// For each module, whether evaluating rules of these packages can need it.
    pub(super) fn from<'a>(&self, packages: impl Iterator<Item = &'a str>) -> Vec<bool> {
        let mut wanted: Vec<Path> = packages
            .map(|package| paths(&format!("data.{package}")).into_iter().next().unwrap_or_default())
            .collect();
        let mut reached = vec![false; self.0.len()];
        while let Some(path) = wanted.pop() {
            for (node, reached) in self.0.iter().zip(&mut reached) {
                if !*reached && (node.package.starts_with(&path) || path.starts_with(&node.package)) {
                    *reached = true;
                    // Modules of one package see each other's rules without naming `data`.
                    wanted.push(node.package.clone());
                    wanted.extend(node.references.iter().cloned());
                }
            }
        }
        reached
    }
}

/// The static beginnings of all references to `data` in a text: `data.a["b"][c]` is `a`, `b`. A text
/// that cannot be read to its end may refer to anything.
fn paths(text: &str) -> BTreeSet<Path> {
    read(text).unwrap_or_else(|| BTreeSet::from([Path::new()]))
}

fn read(text: &str) -> Option<BTreeSet<Path>> {
    let source = Source::from_contents(String::new(), text.to_owned()).ok()?;
    let mut lexer = Lexer::new(&source);
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next_token().ok()?;
        if token.0 == TokenKind::Eof {
            break;
        }
        tokens.push(token);
    }
    let mut paths = BTreeSet::new();
    let mut rest = tokens.as_slice();
    let mut after_dot = false;
    while let Some((token, following)) = rest.split_first() {
        rest = following;
        if token.0 == TokenKind::Ident && token.1.text() == "data" && !after_dot {
            let mut path = Path::new();
            let mut end = token.1.end;
            // What stands apart may be another expression.
            loop {
                match rest {
                    [dot, key, following @ ..]
                        if dot.1.text() == "." && dot.1.start == end && key.0 == TokenKind::Ident =>
                    {
                        path.push(key.1.text().to_owned());
                        end = key.1.end;
                        rest = following;
                    }
                    [open, key, close, following @ ..]
                        if open.1.text() == "["
                            && open.1.start == end
                            && key.0 == TokenKind::String
                            && close.1.text() == "]"
                            && !key.1.text().contains('\\') =>
                    {
                        path.push(key.1.text().trim_matches('"').to_owned());
                        end = close.1.end;
                        rest = following;
                    }
                    _ => break,
                }
            }
            paths.insert(path);
        }
        after_dot = token.0 == TokenKind::Symbol && token.1.text() == ".";
    }
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::module;
    use super::*;

    fn reached(modules: &[(&str, &str)], from: &str) -> Vec<String> {
        let modules: Vec<Module> = modules.iter().map(|(file, text)| module(file, text)).collect();
        let reached = Reach::new(&modules).from([from].into_iter());
        modules.iter().zip(reached).filter(|(_, reached)| *reached).map(|(m, _)| m.file.to_string()).collect()
    }

    const LIBRARY: [(&str, &str); 5] = [
        ("a", "package p.a\n\nimport data.lib.one\n\ndeny contains 1 if one.x\n"),
        ("a2", "package p.a\n\nhelper := data.lib[\"two\"].x\n"),
        ("one", "package lib.one\n\n# data\nx := input.object.data.lib.three\n"),
        ("two", "package lib.two\n\nx := \"data\"\n"),
        ("three", "package lib.three\n\nx := 1\n"),
    ];

    #[test]
    fn a_rule_reaches_its_package_and_what_that_names() {
        assert_eq!(reached(&LIBRARY, "p.a"), ["a", "a2", "one", "two"]);
        assert_eq!(reached(&LIBRARY, "lib.one"), ["one"]);
    }

    #[test]
    fn a_reference_with_a_computed_key_reaches_all_below() {
        for text in
            ["y := data.lib[x].x", "y := data.lib", "some x in data.lib", "y := data\t.lib", "y := data[x]"]
        {
            let mut modules = LIBRARY.to_vec();
            let text = format!("package q\n\nx := \"a\"\n\n{text}\n");
            modules.push(("q", &text));
            let found = reached(&modules, "q");
            for library in ["one", "two", "three", "q"] {
                assert!(found.contains(&library.to_owned()), "{text}: {found:?}");
            }
        }
    }

    #[test]
    fn a_reference_into_a_package_reaches_it_and_packages_below_it() {
        let modules = [
            ("q", "package q\n\ny := data.lib.one.x.y.z\n"),
            ("one", "package lib.one\n\nx := 1\n"),
            ("below", "package lib.one.x\n\ny := 1\n"),
            ("other", "package lib.onex\n\ny := 1\n"),
        ];
        assert_eq!(reached(&modules, "q"), ["q", "one", "below"]);
    }

    #[test]
    fn an_array_on_the_next_line_is_no_key() {
        let modules = [
            ("q", "package q\n\ny if {\n\tx := data.lib\n\t[\"one\"]\n}\n"),
            ("one", "package lib.one\n\nx := 1\n"),
            ("two", "package lib.two\n\nx := 1\n"),
        ];
        assert_eq!(reached(&modules, "q"), ["q", "one", "two"]);
    }
}
