//! Refuses, before the engine's parser sees them, sources on which it would hang, exhaust the stack
//! or stop reading half-way.
//!
//! The parser tries a bracket as a comprehension first and reads it again if it is none. The first
//! element of nested arrays, sets and objects is therefore read twice for each level: 22 levels
//! take seconds. So this counts how often the parser will at worst come across each token, and
//! refuses a source in which that sum is too large. It also bounds the depth of the syntax tree,
//! which the parser, the evaluator and our checks walk recursively.

use crate::model::{Problem, Span};

use super::text::{self, SourceFile};

/// The engine refuses longer sources too, without naming what to do.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// As above.
const MAX_LINES: usize = 20_000;
/// Brackets inside brackets. The deepest pods in real manifests need 16.
const MAX_BRACKETS: usize = 40;
/// Depth of the syntax tree of one expression: operators and brackets.
const MAX_DEPTH: usize = 250;
/// Tokens, each counted as often as the parser may read it: two seconds at half a microsecond each.
const MAX_WORK: u64 = 4_000_000;

/// Whether the parser can be given this source.
pub(super) fn check(file: &SourceFile) -> Result<(), Problem> {
    let text = &*file.text;
    let whole = text::span(text, 0, 0);
    let refuse = |message: String, span: Span| file.problem("policy-too-large", message, span);
    if text.len() > MAX_BYTES {
        return Err(refuse(format!("policy is larger than {MAX_BYTES} bytes"), whole)
            .help("move tables into a data document"));
    }
    if text.lines().count() > MAX_LINES {
        return Err(refuse(format!("policy has more than {MAX_LINES} lines"), whole)
            .help("move tables into a data document, or split the package"));
    }
    // The lexer takes a zero byte for the end of the file and would drop the rules after it.
    if let Some(offset) = text.find('\0') {
        return Err(file
            .problem("policy-syntax", "policy contains a zero byte", text::span(text, offset, 1))
            .help("the file is damaged or no text"));
    }
    Scanner {
        text,
        offset: 0,
        previous: Previous::Operator,
        newline: false,
        work: 0,
        stack: vec![Level::root()],
    }
    .run()
    .map_err(|(message, offset)| {
        refuse(message.to_owned(), text::span(text, offset, 1))
            .help("name the inner parts in rules of their own, or move them into a data document")
    })
}

/// What stands before the present token.
#[derive(Clone, Copy, PartialEq)]
enum Previous {
    /// An operator, a separator or an opening bracket: a value must follow.
    Operator,
    /// A word after which a value must follow, such as `not`.
    Keyword,
    /// `as`: what follows is read once.
    As,
    /// A value or a closing bracket.
    Value,
}

/// An open bracket.
struct Level {
    /// How often the parser may read a token in here.
    weight: u64,
    /// A body of a rule or of `every`: statements, each of which can be read twice.
    query: bool,
    /// A comma was seen: what follows is no first element.
    comma: bool,
    /// A `|` was seen: a union, or the statements of a comprehension.
    pipe: bool,
    /// Operators since the last separator.
    chain: usize,
    /// The longest chain.
    longest: usize,
}

impl Level {
    const fn root() -> Self {
        Self { weight: 1, query: true, comma: false, pipe: false, chain: 0, longest: 0 }
    }
}

struct Scanner<'a> {
    text: &'a str,
    offset: usize,
    previous: Previous,
    newline: bool,
    work: u64,
    stack: Vec<Level>,
}

type Refusal = (&'static str, usize);

impl Scanner<'_> {
    fn run(mut self) -> Result<(), Refusal> {
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\n' => {
                    self.newline = true;
                    self.offset += 1;
                }
                b' ' | b'\t' | b'\r' => self.offset += 1,
                b'#' => self.skip_until(b'\n'),
                b'"' => {
                    self.start_value()?;
                    if !self.string() {
                        // The parser reports the open end and reads no further.
                        return Ok(());
                    }
                }
                b'`' => {
                    self.start_value()?;
                    self.offset += 1;
                    self.skip_until(b'`');
                    self.offset += 1;
                }
                b'(' | b'[' | b'{' => self.open(byte)?,
                b')' | b']' | b'}' => self.close()?,
                b',' | b';' => self.separator(byte)?,
                byte if byte.is_ascii_alphanumeric() || byte == b'_' => self.word()?,
                _ => self.operator(byte)?,
            }
        }
        Ok(())
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.offset + ahead).copied()
    }

    fn skip_until(&mut self, end: u8) {
        while self.byte(0).is_some_and(|byte| byte != end) {
            self.offset += 1;
        }
    }

    /// Moves behind a string; whether it ends.
    fn string(&mut self) -> bool {
        self.offset += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'"' => {
                    self.offset += 1;
                    return true;
                }
                b'\\' => self.offset += 2,
                b'\n' => return false,
                _ => self.offset += 1,
            }
        }
        false
    }

    fn count(&mut self) -> Result<&mut Level, Refusal> {
        let offset = self.offset;
        let weight = self.stack.last().map_or(1, |level| level.weight);
        self.work = self.work.saturating_add(weight);
        if self.work > MAX_WORK {
            return Err(("brackets are nested too deeply for the Rego parser", offset));
        }
        self.stack.last_mut().ok_or(("more brackets are closed than opened", offset))
    }

    /// A value starts a new expression if it stands on a new line behind another value.
    fn start_value(&mut self) -> Result<(), Refusal> {
        let fresh = self.newline && self.previous == Previous::Value;
        let level = self.count()?;
        if fresh {
            level.chain = 0;
        }
        self.newline = false;
        self.previous = Previous::Value;
        Ok(())
    }

    fn word(&mut self) -> Result<(), Refusal> {
        let start = self.offset;
        while self.byte(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.offset += 1;
        }
        let word = self.text.get(start..self.offset).unwrap_or_default();
        match word {
            "in" => self.link(start),
            "as" | "contains" | "not" | "some" | "with" => {
                self.start_value()?;
                self.previous = if word == "as" { Previous::As } else { Previous::Keyword };
                Ok(())
            }
            "if" | "else" => {
                self.start_value()?;
                if let Some(level) = self.stack.last_mut() {
                    level.chain = 0;
                }
                Ok(())
            }
            _ => self.start_value(),
        }
    }

    fn operator(&mut self, byte: u8) -> Result<(), Refusal> {
        let start = self.offset;
        self.offset += 1;
        if byte == b'|' {
            self.count()?.pipe = true;
        }
        self.link(start)
    }

    /// One more operator in the present expression.
    fn link(&mut self, start: usize) -> Result<(), Refusal> {
        let below: usize = self.stack.iter().map(|level| level.chain).sum();
        let level = self.count()?;
        level.chain += 1;
        level.longest = level.longest.max(level.chain);
        if below >= MAX_DEPTH {
            return Err(("expression has too many operators", start));
        }
        self.newline = false;
        self.previous = Previous::Operator;
        Ok(())
    }

    fn separator(&mut self, byte: u8) -> Result<(), Refusal> {
        self.offset += 1;
        let level = self.count()?;
        level.chain = 0;
        level.comma |= byte == b',';
        self.newline = false;
        self.previous = Previous::Operator;
        Ok(())
    }

    fn open(&mut self, byte: u8) -> Result<(), Refusal> {
        let query = byte == b'{' && self.previous == Previous::Value;
        let once = self.previous == Previous::As || (query && self.stack.len() == 1);
        if self.newline
            && self.previous == Previous::Value
            && let Some(level) = self.stack.last_mut()
        {
            level.chain = 0;
        }
        self.link(self.offset)?;
        let parent = self.count()?;
        let times = match byte {
            _ if once => 1,
            // Read once, except at the start of a statement.
            b'(' if !parent.query && !parent.pipe => 1,
            b'(' => 2,
            // As statements of a comprehension, then as a union.
            _ if parent.pipe => 3,
            b'[' | b'{' if parent.comma && !parent.query => 1,
            _ => 2,
        };
        let weight = parent.weight.saturating_mul(times);
        if self.stack.len() > MAX_BRACKETS {
            return Err(("brackets are nested too deeply", self.offset));
        }
        self.stack.push(Level { weight, query, comma: false, pipe: false, chain: 0, longest: 0 });
        self.offset += 1;
        Ok(())
    }

    fn close(&mut self) -> Result<(), Refusal> {
        self.count()?;
        self.offset += 1;
        if self.stack.len() > 1
            && let Some(closed) = self.stack.pop()
            && let Some(level) = self.stack.last_mut()
        {
            level.chain += closed.longest;
            level.longest = level.longest.max(level.chain);
        }
        self.newline = false;
        self.previous = Previous::Value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn scan(text: &str) -> Result<(), String> {
        let file = SourceFile { path: Arc::new("a.rego".into()), text: text.into() };
        check(&file).map_err(|problem| problem.message)
    }

    fn nested(open: &str, close: &str, depth: usize) -> String {
        format!("package a\n\nx := {}1{}\n", open.repeat(depth), close.repeat(depth))
    }

    #[test]
    fn nesting_is_bounded_by_what_it_costs() {
        for (open, close) in
            [("[", "]"), ("{", "}"), ("[1 | ", "]"), ("{\"a\": ", "}"), ("{a | ", "}"), ("f([", "])")]
        {
            assert_eq!(scan(&nested(open, close, 5)), Ok(()), "{open}");
            assert!(scan(&nested(open, close, 22)).is_err(), "{open}");
            assert!(scan(&nested(open, close, 100)).is_err(), "{open}");
            assert!(scan(&nested(open, close, 100_000)).is_err(), "{open}");
        }
        assert!(scan(&nested("(", ")", 100)).is_err());
    }

    #[test]
    fn brackets_in_texts_and_comments_do_not_count() {
        let brackets = "[".repeat(100);
        assert_eq!(
            scan(&format!("package a\n\n# {brackets}\nx := \"{brackets}\"\ny := `{brackets}`\n")),
            Ok(())
        );
        assert_eq!(scan(&format!("package a\n\nx := \"\\\"{brackets}\"\n")), Ok(()));
        assert!(scan(&format!("package a\n\nx := \"\\\\\" {brackets}\n")).is_err());
    }

    #[test]
    fn a_deep_manifest_in_a_test_is_no_attack() {
        let pod = r#"{"spec": {"affinity": {"nodeAffinity": {"required": {"terms": [{"expressions": [{"key": "a", "values": ["b"]}]}]}}}, "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}"#;
        let ray = format!(
            r#"{{"target": "resource", "object": {{"kind": "RayService", "spec": {{"rayClusterConfig": {{"workerGroupSpecs": [{{"template": {pod}}}]}}}}}}}}"#
        );
        let test = format!("\ntest_a if {{\n\tcount(deny) == 1 with input as {ray}\n}}\n");
        assert_eq!(scan(&format!("package a\n{}", test.repeat(50))), Ok(()));
    }

    #[test]
    fn long_chains_are_refused_and_long_lists_are_not() {
        assert!(scan(&format!("package a\n\nx := 1{}\n", "\n + 1".repeat(300))).is_err());
        assert!(scan(&format!("package a\n\nx := {}1\n", "- ".repeat(300))).is_err());
        assert!(scan(&format!("package a\n\nx := a{}\n", ".b".repeat(300))).is_err());
        assert!(
            scan(&format!("package a\n\nx := {}\n", "(1 + ".repeat(20) + "1" + &" + 1)".repeat(20))).is_ok()
        );
        assert_eq!(scan(&format!("package a\n\nx := [{}]\n", "f(a.b) + 1, ".repeat(5_000))), Ok(()));
        assert_eq!(scan(&format!("package a\n{}", "\nx := a.b.c[0] + 1".repeat(5_000))), Ok(()));
        assert_eq!(
            scan(&format!("package a\n\nx := 1 if {{ a.b }}{}", " else := 2 if { a.b == c.d }".repeat(300))),
            Ok(())
        );
    }

    #[test]
    fn sizes_are_bounded() {
        assert!(scan(&"#".repeat(2 << 20)).is_err());
        assert!(scan(&"\n".repeat(20_001)).is_err());
    }

    #[test]
    fn a_zero_byte_does_not_end_a_policy_unseen() {
        assert_eq!(
            scan("package a\n\0\ndeny contains \"x\"\n"),
            Err("policy contains a zero byte".to_owned())
        );
    }
}
