//! The `# METADATA` block above a package: YAML in comments, which the engine does not read.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::manifest;
use crate::model::{Face, Level, Problem, Span, Value};

use super::params;
use super::set::{Match, Need, Parameter, Target};
use super::syntax::Syntax;
use super::text::{self, SourceFile};

/// What a block says; what it does not say is `None`.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub(super) title: Option<Arc<str>>,
    pub(super) description: Option<Arc<str>>,
    pub(super) url: Option<Arc<str>>,
    pub(super) level: Option<Level>,
    pub(super) target: Option<Target>,
    pub(super) matches: Match,
    pub(super) needs: BTreeSet<Need>,
    pub(super) faces: Vec<Face>,
    pub(super) parameters: Vec<Parameter>,
}

/// Keys of OPA's annotations.
const KEYS: [&str; 10] = [
    "authors",
    "compile",
    "custom",
    "description",
    "entrypoint",
    "organizations",
    "related_resources",
    "schemas",
    "scope",
    "title",
];
const CUSTOM: [&str; 6] = ["faces", "level", "match", "needs", "params", "target"];
const MATCH: [&str; 8] = [
    "accelerators",
    "apiGroups",
    "environments",
    "kinds",
    "namespaces",
    "operations",
    "providers",
    "workloads",
];
const OPERATIONS: [&str; 4] = ["CONNECT", "CREATE", "DELETE", "UPDATE"];

/// Reads the block above a module's package statement; an empty one if there is none.
pub(super) fn read(module: &Syntax) -> Result<Metadata, Vec<Problem>> {
    let Some((yaml, span)) = block(&module.file.text, module.package_span.line) else {
        return Ok(Metadata::default());
    };
    let value = manifest::value(&yaml).map_err(|error| {
        let mut problem = module.file.problem(
            "policy-metadata",
            format!("metadata cannot be read: {}", error.message),
            error.span.unwrap_or(span),
        );
        problem.help = error.help;
        problem.related = error.related;
        vec![problem]
    })?;
    let mut reader = Reader { file: &module.file, yaml: &yaml, whole: span, problems: Vec::new() };
    let metadata = reader.metadata(&value);
    if reader.problems.is_empty() { Ok(metadata) } else { Err(reader.problems) }
}

/// The block as YAML in which each byte keeps its place, so that spans in it are spans in the file,
/// and the span of its first line.
fn block(source: &str, package_line: usize) -> Option<(String, Span)> {
    let mut yaml = String::with_capacity(source.len());
    let mut start = None;
    for (index, line) in source.split_inclusive('\n').enumerate().take(package_line.saturating_sub(1)) {
        let comment = line.strip_prefix('#');
        match comment {
            Some(text) if text.trim() == "METADATA" => {
                // The last one counts; what stood before is no part of it.
                yaml = yaml.chars().map(blank).collect();
                yaml.extend(line.chars().flat_map(spaces));
                start = Some(index + 1);
            }
            Some(text) if start.is_some() => {
                yaml.push(' ');
                yaml.push_str(text);
            }
            _ => {
                // A block ends at the first line that is no comment.
                yaml.extend(line.chars().flat_map(spaces));
                if start.is_some() {
                    return start.map(|line| (yaml, text::line_span(source, line)));
                }
            }
        }
    }
    start.map(|line| (yaml, text::line_span(source, line)))
}

fn blank(character: char) -> char {
    if matches!(character, '\n' | '\r') { character } else { ' ' }
}

/// As many spaces as the character has bytes; line ends stay.
fn spaces(character: char) -> impl Iterator<Item = char> {
    std::iter::repeat_n(blank(character), character.len_utf8())
}

struct Reader<'a> {
    file: &'a SourceFile,
    yaml: &'a str,
    whole: Span,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn metadata(&mut self, value: &Value) -> Metadata {
        let mut metadata = Metadata::default();
        for (key, value) in self.fields(value, &[], &KEYS) {
            match &*key {
                "title" => metadata.title = self.text(value, &["title"]),
                "description" => metadata.description = self.text(value, &["description"]),
                "related_resources" => metadata.url = self.url(value),
                "custom" => self.custom(value, &mut metadata),
                _ => {}
            }
        }
        metadata
    }

    fn custom(&mut self, value: &Value, metadata: &mut Metadata) {
        for (key, value) in self.fields(value, &["custom"], &CUSTOM) {
            let at = ["custom", &*key];
            match &*key {
                "level" => {
                    metadata.level =
                        self.word(value, &at, &[Level::Deny, Level::Warn, Level::Info], |level| {
                            level.as_str()
                        });
                }
                "target" => metadata.target = self.word(value, &at, &Target::ALL, Target::as_str),
                "needs" => {
                    metadata.needs = self.words(value, &at, &Need::ALL, Need::as_str).into_iter().collect();
                }
                "faces" => {
                    let faces = [Face::Ci, Face::Cmp, Face::Admission];
                    metadata.faces = self.words(value, &at, &faces, |face| match face {
                        Face::Ci => "ci",
                        Face::Cmp => "cmp",
                        Face::Admission => "admission",
                    });
                    metadata.faces.sort_unstable();
                }
                "match" => metadata.matches = self.matches(value),
                "params" => metadata.parameters = self.parameters(value),
                _ => {}
            }
        }
    }

    fn matches(&mut self, value: &Value) -> Match {
        let mut matches = Match::default();
        for (key, value) in self.fields(value, &["custom", "match"], &MATCH) {
            let at = ["custom", "match", &*key];
            if let "workloads" | "accelerators" = &*key {
                let flag =
                    if &*key == "workloads" { &mut matches.workloads } else { &mut matches.accelerators };
                match value.as_bool() {
                    Ok(value) => *flag = *value,
                    Err(_) => self.wrong(&at, "must be `true` or `false`"),
                }
                continue;
            }
            if &*key == "operations" {
                matches.operations =
                    self.words(value, &at, &OPERATIONS, |word| word).into_iter().map(Arc::from).collect();
                continue;
            }
            let Some(texts) = self.texts(value, &at) else { continue };
            match &*key {
                "kinds" => matches.kinds = texts,
                "apiGroups" => matches.api_groups = texts,
                "environments" => matches.environments = texts,
                "providers" => matches.providers = texts,
                _ => {
                    for (pattern, error) in
                        texts.iter().filter_map(|text| Some((text, globset::Glob::new(text).err()?)))
                    {
                        self.wrong(&at, &format!("has `{pattern}`, which is no glob: {}", error.kind()));
                    }
                    matches.namespaces = texts;
                }
            }
        }
        matches
    }

    fn parameters(&mut self, value: &Value) -> Vec<Parameter> {
        let Ok(parameters) = value.as_object() else {
            self.wrong(&["custom", "params"], "must map each parameter to its schema");
            return Vec::new();
        };
        let mut found = Vec::new();
        for (name, schema) in parameters.iter_sorted() {
            let Ok(name) = name.as_string() else { continue };
            let errors = params::check_schema(name, schema);
            for error in &errors {
                self.wrong(&["custom", "params", name], error);
            }
            let field = |key: &str| params::field(schema, key);
            if errors.is_empty() {
                found.push(Parameter {
                    name: Arc::clone(name),
                    description: field("description")
                        .and_then(|text| text.as_string().ok().cloned())
                        .unwrap_or_default(),
                    schema: schema.clone(),
                    default: field("default").cloned().unwrap_or(Value::Null),
                });
            }
        }
        found
    }

    fn url(&mut self, value: &Value) -> Option<Arc<str>> {
        let first = value.as_array().ok().and_then(|resources| resources.first());
        let url = match first {
            Some(Value::String(url)) => Some(Arc::clone(url)),
            Some(resource) => params::field(resource, "ref").and_then(|url| url.as_string().ok().cloned()),
            None => None,
        };
        if url.is_none() {
            self.wrong(&["related_resources"], "must be a list of `{ref: URL, description: TEXT}`");
        }
        url
    }

    /// The fields of a mapping whose keys are known; the others are problems.
    fn fields<'v>(&mut self, value: &'v Value, at: &[&str], known: &[&str]) -> Vec<(Arc<str>, &'v Value)> {
        let Ok(object) = value.as_object() else {
            self.wrong(at, "must be a mapping");
            return Vec::new();
        };
        let mut fields = Vec::new();
        for (key, value) in object.iter_sorted() {
            match key.as_string() {
                Ok(key) if known.contains(&&**key) => fields.push((Arc::clone(key), value)),
                Ok(key) => {
                    let place = [at, &[&**key]].concat();
                    let span = self.span(&place);
                    let message = format!("unknown key `{}` in the metadata", place.join("."));
                    let help = text::suggestion(key, known.iter().copied());
                    self.problems.push(self.file.problem("policy-metadata", message, span).help(help));
                }
                Err(_) => self.wrong(at, "must have texts as keys"),
            }
        }
        fields
    }

    fn text(&mut self, value: &Value, at: &[&str]) -> Option<Arc<str>> {
        let text = value.as_string().ok().map(|text| Arc::from(text.trim()));
        if text.is_none() {
            self.wrong(at, "must be a text");
        }
        text
    }

    fn texts(&mut self, value: &Value, at: &[&str]) -> Option<Vec<Arc<str>>> {
        let list = value.as_array().ok();
        let texts = list.and_then(|list| list.iter().map(|item| item.as_string().ok().cloned()).collect());
        if texts.is_none() {
            self.wrong(at, "must be a list of texts");
        }
        texts
    }

    fn word<T: Copy>(
        &mut self,
        value: &Value,
        at: &[&str],
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let text = self.text(value, at)?;
        let found = all.iter().copied().find(|word| name(*word) == &*text);
        if found.is_none() {
            let known: Vec<_> = all.iter().map(|word| name(*word)).collect();
            let message = format!("`{}` cannot be `{text}`", at.join("."));
            let help = text::suggestion(&text, known);
            let span = self.span(at);
            self.problems.push(self.file.problem("policy-metadata", message, span).help(help));
        }
        found
    }

    fn words<T: Copy>(
        &mut self,
        value: &Value,
        at: &[&str],
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Vec<T> {
        let Ok(items) = value.as_array() else {
            self.wrong(at, "must be a list");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.word(item, at, all, &name)).collect()
    }

    fn wrong(&mut self, at: &[&str], what: &str) {
        let span = self.span(at);
        let message =
            if at.is_empty() { format!("metadata {what}") } else { format!("`{}` {what}", at.join(".")) };
        self.problems.push(self.file.problem("policy-metadata", message, span));
    }

    /// Where a key of the block is written.
    fn span(&self, at: &[&str]) -> Span {
        text::key_span(self.yaml, at).unwrap_or(self.whole)
    }
}
