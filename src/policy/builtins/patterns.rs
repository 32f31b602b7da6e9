//! Regular expressions and globs. The engine keeps compiled ones in a global table behind a lock and
//! copies one for each call, which costs about a hundred times the match; these are kept by thread.

use std::cell::RefCell;
use std::collections::HashMap;

use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};

use super::{Function, TEXT_LIMIT, text};
use crate::model::Value;

pub(super) const FUNCTIONS: &[(&str, u8, Function)] = &[
    ("glob.match", 3, glob_match),
    ("regex.find_all_string_submatch_n", 3, find_all),
    ("regex.find_n", 3, find_n),
    ("regex.is_valid", 1, |a| Ok(Value::from(is_valid(a)))),
    ("regex.match", 2, is_match),
    ("regex.replace", 3, replace),
    ("regex.split", 2, split),
    ("regex.template_match", 4, template_match),
];

/// The most compiled patterns that a thread keeps.
const KEPT: usize = 256;

/// The longest pattern, in bytes.
const PATTERN_LIMIT: usize = 8 * 1024;

/// The largest compiled expression, in bytes; the engine's own limit.
const COMPILED_LIMIT: usize = 100 * 1024;

/// Compiled patterns by their text.
type Kept<T> = RefCell<HashMap<String, T>>;

thread_local! {
    static REGEXES: Kept<Regex> = RefCell::default();
    static GLOBS: Kept<GlobMatcher> = RefCell::default();
    static PATH_GLOBS: Kept<GlobMatcher> = RefCell::default();
}

/// Uses a compiled pattern, compiling it if this thread has not yet.
fn with<T, R>(
    kept: &Kept<T>,
    pattern: &str,
    compile: impl FnOnce(&str) -> Result<T, String>,
    use_it: impl FnOnce(&T) -> R,
) -> Result<R, String> {
    let mut kept = kept.borrow_mut();
    if let Some(compiled) = kept.get(pattern) {
        return Ok(use_it(compiled));
    }
    if pattern.len() > PATTERN_LIMIT {
        return Err(format!("a pattern has at most {PATTERN_LIMIT} bytes"));
    }
    let compiled = compile(pattern)?;
    if kept.len() >= KEPT {
        kept.clear();
    }
    Ok(use_it(kept.entry(pattern.to_owned()).or_insert(compiled)))
}

fn regex<R>(pattern: &str, use_it: impl FnOnce(&Regex) -> R) -> Result<R, String> {
    REGEXES.with(|kept| with(kept, pattern, compile_regex, use_it))
}

fn compile_regex(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).size_limit(COMPILED_LIMIT).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => {
            format!("the regular expression `{pattern}` is too large when compiled")
        }
        // The last line says what is wrong, those before show where.
        other => {
            let text = other.to_string();
            let why = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("`{pattern}` is not a regular expression: {why}")
        }
    })
}

/// Uses a compiled glob. Where `path`, `*` and `?` stop at a slash.
pub(super) fn glob<R>(
    pattern: &str,
    path: bool,
    use_it: impl FnOnce(&GlobMatcher) -> R,
) -> Result<R, String> {
    let compile = |pattern: &str| {
        GlobBuilder::new(pattern)
            .literal_separator(path)
            .build()
            .map(|glob| glob.compile_matcher())
            .map_err(|error| format!("`{pattern}` is not a glob: {}", error.kind()))
    };
    if path {
        PATH_GLOBS.with(|kept| with(kept, pattern, compile, use_it))
    } else {
        GLOBS.with(|kept| with(kept, pattern, compile, use_it))
    }
}

/// As the engine's own: delimiters become slashes, at which `*` stops.
fn glob_match(arguments: &[Value]) -> Result<Value, String> {
    let pattern = text("glob.match", arguments, 0)?;
    let value = text("glob.match", arguments, 2)?;
    let delimiters = match arguments.get(1) {
        Some(Value::Null) => None,
        Some(Value::Array(array)) => {
            let mut delimiters = Vec::with_capacity(array.len());
            for delimiter in array.iter() {
                let mut characters = delimiter.as_string().map(AsRef::as_ref).unwrap_or_default().chars();
                match (characters.next(), characters.next()) {
                    (Some(delimiter), None) => delimiters.push(delimiter),
                    _ => return Err("`glob.match` takes delimiters of one character".into()),
                }
            }
            Some(if delimiters.is_empty() { vec!['.'] } else { delimiters })
        }
        _ => return Err("`glob.match` takes an array of delimiters or `null` second".into()),
    };
    let (pattern, value) =
        (delimited(pattern, delimiters.as_deref())?, delimited(value, delimiters.as_deref())?);
    glob(&pattern, true, |matcher| matcher.is_match(&value)).map(Value::from)
}

fn delimited(text: &str, delimiters: Option<&[char]>) -> Result<String, String> {
    const NO_SLASH: &str = "\0";
    let Some(delimiters) = delimiters else { return Ok(text.replace('/', NO_SLASH)) };
    if text.contains(NO_SLASH) {
        return Err("`glob.match` takes no text with a NUL character".into());
    }
    let mut text = if delimiters.contains(&'/') { text.to_owned() } else { text.replace('/', NO_SLASH) };
    for &delimiter in delimiters {
        if delimiter == ':' {
            text = text.replace(delimiter, NO_SLASH);
        } else if delimiter != '/' {
            text = text.replace(delimiter, &format!("/{delimiter}/"));
        }
    }
    Ok(text)
}

fn is_match(arguments: &[Value]) -> Result<Value, String> {
    let value = text("regex.match", arguments, 1)?;
    regex(text("regex.match", arguments, 0)?, |regex| regex.is_match(value)).map(Value::from)
}

fn is_valid(arguments: &[Value]) -> bool {
    text("regex.is_valid", arguments, 0).is_ok_and(|pattern| regex(pattern, |_| ()).is_ok())
}

fn find_n(arguments: &[Value]) -> Result<Value, String> {
    let name = "regex.find_n";
    let value = text(name, arguments, 1)?;
    let limit = limit(name, arguments)?;
    regex(text(name, arguments, 0)?, |regex| {
        Value::from(
            regex.find_iter(value).take(limit).map(|found| Value::from(found.as_str())).collect::<Vec<_>>(),
        )
    })
}

fn find_all(arguments: &[Value]) -> Result<Value, String> {
    let name = "regex.find_all_string_submatch_n";
    let value = text(name, arguments, 1)?;
    let limit = limit(name, arguments)?;
    regex(text(name, arguments, 0)?, |regex| {
        let groups = |found: regex::Captures<'_>| {
            Value::from(
                found
                    .iter()
                    .map(|group| Value::from(group.map_or("", |group| group.as_str())))
                    .collect::<Vec<_>>(),
            )
        };
        Value::from(regex.captures_iter(value).take(limit).map(groups).collect::<Vec<_>>())
    })
}

/// How many matches are wanted; a negative number wants all.
fn limit(name: &str, arguments: &[Value]) -> Result<usize, String> {
    match arguments.get(2) {
        Some(Value::Number(number)) if number.is_integer() => {
            Ok(number.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX))
        }
        _ => Err(format!("`{name}` takes a whole number of matches third")),
    }
}

fn split(arguments: &[Value]) -> Result<Value, String> {
    let value = text("regex.split", arguments, 1)?;
    regex(text("regex.split", arguments, 0)?, |regex| {
        Value::from(regex.split(value).map(Value::from).collect::<Vec<_>>())
    })
}

/// An invalid pattern is an error; the engine's own is undefined.
fn replace(arguments: &[Value]) -> Result<Value, String> {
    let name = "regex.replace";
    let subject = text(name, arguments, 0)?;
    let with = text(name, arguments, 2)?;
    regex(text(name, arguments, 1)?, |regex| {
        let mut result = String::new();
        let mut last = 0;
        for found in regex.captures_iter(subject) {
            let whole = found.get_match();
            result.push_str(subject.get(last..whole.start()).unwrap_or_default());
            found.expand(with, &mut result);
            last = whole.end();
            if result.len() > TEXT_LIMIT {
                return Err(format!("`{name}` makes texts of at most {TEXT_LIMIT} bytes"));
            }
        }
        result.push_str(subject.get(last..).unwrap_or_default());
        Ok(Value::from(result))
    })?
}

/// A text with regular expressions between delimiters, such as `urn:foo:{.*}`, as one anchored
/// expression (open-policy-agent/opa `topdown/regex_template.go`). The engine's own does not go back
/// over a match, and panics where the value is shorter than the template's first literal.
fn template_match(arguments: &[Value]) -> Result<Value, String> {
    let name = "regex.template_match";
    let template = text(name, arguments, 0)?;
    let value = text(name, arguments, 1)?;
    let delimiter = |position| match text(name, arguments, position)?.as_bytes() {
        [delimiter] if delimiter.is_ascii() => Ok(char::from(*delimiter)),
        _ => Err(format!("`{name}` takes delimiters of one character")),
    };
    let (open, close) = (delimiter(2)?, delimiter(3)?);
    let (mut pattern, mut part, mut depth) = (String::from("^"), String::new(), 0_usize);
    for character in template.chars() {
        if character == open {
            depth += 1;
            if depth == 1 {
                pattern.push_str(&regex::escape(&std::mem::take(&mut part)));
                continue;
            }
        } else if character == close {
            depth = depth
                .checked_sub(1)
                .ok_or_else(|| format!("`{name}`: `{template}` has `{close}` without `{open}`"))?;
            if depth == 0 {
                // Alone first, so that it cannot close the group it is put into.
                regex(&part, |_| ())?;
                pattern.extend(["(", &std::mem::take(&mut part), ")"]);
                continue;
            }
        }
        part.push(character);
    }
    if depth > 0 {
        return Err(format!("`{name}`: `{template}` has `{open}` without `{close}`"));
    }
    pattern.push_str(&regex::escape(&part));
    pattern.push('$');
    regex(&pattern, |regex| regex.is_match(value)).map(Value::from)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{eval, eval_plain, json};

    #[test]
    fn the_engine_and_we_agree_where_the_engine_is_right() {
        for expression in [
            r#"regex.match(`^v[0-9]+\.[0-9]+$`, "v1.2")"#,
            r#"regex.match("b", "abc")"#,
            r#"regex.match("^b", "abc")"#,
            r#"regex.find_n("[a-z]+", "ab1cd2ef", 2)"#,
            r#"regex.find_n("[a-z]+", "ab1cd2ef", -1)"#,
            r#"regex.find_n("[a-z]+", "ab1cd2ef", 0)"#,
            r#"regex.find_all_string_submatch_n("([a-z])([0-9])?", "a1b", -1)"#,
            r#"regex.split("[,;]", "a,b;c")"#,
            r#"regex.split("", "ab")"#,
            r#"regex.replace("a1b2", "[0-9]", "<$0>")"#,
            r#"regex.replace("foobar", "(o+)b", "${1}-")"#,
            r#"regex.replace("aaa", "", "-")"#,
            r#"regex.replace("none", "x", "y")"#,
            r#"regex.is_valid("a(")"#,
            r#"regex.is_valid("a+")"#,
            "regex.is_valid(1)",
            r#"regex.template_match("urn:{[a-z]+}:x", "urn:abc:x", "{", "}")"#,
            r#"regex.template_match("urn:{[a-z]+}:x", "urn:1:x", "{", "}")"#,
            r#"glob.match("*.github.com", [], "api.github.com")"#,
            r#"glob.match("*.github.com", [], "api.cdn.github.com")"#,
            r#"glob.match("*hub.com", null, "api.cdn.github.com")"#,
            r#"glob.match("a/*", ["/"], "a/b/c")"#,
            r#"glob.match("a/**", ["/"], "a/b/c")"#,
            r#"glob.match("a:*", [":"], "a:b:c")"#,
            r#"glob.match("a/*", ["."], "a/b/c")"#,
            r#"glob.match("{cat,bat,[fr]at}", [], "rat")"#,
        ] {
            assert_eq!(eval(expression), eval_plain(expression), "{expression}");
            assert!(eval(expression).is_ok(), "{expression}");
        }
    }

    #[test]
    fn a_pattern_that_is_none_is_an_error() {
        for expression in [
            r#"regex.match("a(", "a")"#,
            r#"regex.replace("a", "a(", "b")"#,
            r#"regex.split("a(", "a")"#,
            r#"regex.find_n("a(", "a", 1)"#,
            r#"regex.match("(?=a)", "a")"#,
            r#"regex.template_match("a{(}b", "ab", "{", "}")"#,
            r#"regex.template_match("a{b", "ab", "{", "}")"#,
            r#"glob.match("[", [], "a")"#,
            r#"glob.match("a", [".."], "a")"#,
        ] {
            eval(expression).unwrap_err();
        }
    }

    #[test]
    fn an_expression_that_is_large_when_compiled_is_refused() {
        let message = eval(r#"regex.match(`(\w{1,1000}){1,1000}`, "a")"#).unwrap_err();
        assert!(message.contains("too large"), "{message}");
    }

    #[test]
    fn a_template_is_anchored_and_goes_back() {
        let matches = |template: &str, value: &str| {
            eval(&format!(r#"regex.template_match("{template}", "{value}", "{{", "}}")"#))
        };
        assert_eq!(matches("urn:{.*}:end", "urn:a:end"), Ok(json("true")));
        assert_eq!(matches("urn:foo", "urn"), Ok(json("false")));
        assert_eq!(matches("urn:{a{2}}", "urn:aa"), Ok(json("true")));
        assert_eq!(matches("a.b", "axb"), Ok(json("false")));
    }

    #[test]
    fn a_replacement_does_not_grow_without_bound() {
        let message = eval(
            r#"regex.replace(concat("", ["x" | some _ in numbers.range(1, 3000)]), "x", concat("", ["0123456789" | some _ in numbers.range(1, 3000)]))"#,
        );
        // 3,000 matches, 30,000 bytes for each.
        let message = message.unwrap_err();
        assert!(message.contains("at most"), "{message}");
    }
}
