//! Text to formula.

use super::{Formula, Function, Operator};
use crate::model::{Route, Step};

/// Keeps the recursion of parser and evaluation shallow.
const MAX_LENGTH: usize = 600;

impl Formula {
    /// Parses a formula.
    pub(in crate::accelerators) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_LENGTH {
            return Err(format!("a formula has at most {MAX_LENGTH} bytes"));
        }
        let mut parser = Parser { tokens: tokens(text)?, position: 0 };
        let formula = parser.or()?;
        match parser.next() {
            None => Ok(formula),
            Some(token) => Err(format!("unexpected {token}")),
        }
    }
}

impl Function {
    fn named(name: &str) -> Option<(Self, usize)> {
        Some(match name {
            "min" => (Self::Min, 2),
            "max" => (Self::Max, 2),
            "clamp" => (Self::Clamp, 3),
            "surge" => (Self::Surge, 2),
            "if" => (Self::If, 3),
            "has" => (Self::Has, 1),
            "lower" => (Self::Lower, 1),
            "unknown" => (Self::Unknown, 1),
            "gpus" => (Self::Gpus, 1),
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Number(u64),
    Percent(u64),
    Text(String),
    Word(String),
    Mark(&'static str),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(n) => write!(f, "`{n}`"),
            Self::Percent(n) => write!(f, "`{n}%`"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Mark(mark) => write!(f, "`{mark}`"),
        }
    }
}

const MARKS: [&str; 16] =
    ["||", "&&", "==", "!=", "??", "+", "-", "*", "/", "!", "(", ")", ",", ".", "[", "]"];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_ascii_digit() {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let number = digits.parse().map_err(|_| format!("`{digits}` is too large"))?;
            if rest.strip_prefix(&digits).is_some_and(|rest| rest.starts_with('%')) {
                (Token::Percent(number), digits.len() + 1)
            } else {
                (Token::Number(number), digits.len())
            }
        } else if first == '"' {
            let inner: String = rest.chars().skip(1).take_while(|c| *c != '"').collect();
            let length = inner.len() + 2;
            if rest.len() < length {
                return Err("a text has no end".into());
            }
            (Token::Text(inner), length)
        } else if first.is_ascii_alphabetic() {
            let word: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            let length = word.len();
            (Token::Word(word), length)
        } else if let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            (Token::Mark(mark), mark.len())
        } else {
            return Err(format!("unexpected `{first}`"));
        };
        tokens.push(token);
        rest = rest.split_at_checked(length).unwrap_or_default().1.trim_start();
    }
    Ok(tokens)
}

struct Parser {
    tokens: Vec<Token>,
    position: usize,
}

impl Parser {
    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.position).cloned();
        self.position += 1;
        token
    }

    fn takes(&mut self, mark: &str) -> bool {
        let found = matches!(self.tokens.get(self.position), Some(Token::Mark(found)) if *found == mark);
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &str) -> Result<(), String> {
        if self.takes(mark) { Ok(()) } else { Err(format!("expected `{mark}`")) }
    }

    fn or(&mut self) -> Result<Formula, String> {
        let mut left = self.and()?;
        while self.takes("||") {
            left = Formula::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Formula, String> {
        self.chain(&[("&&", Operator::And)], |parser| {
            parser.chain(&[("==", Operator::Equal), ("!=", Operator::Unequal)], |parser| {
                parser.chain(&[("+", Operator::Add), ("-", Operator::Subtract)], |parser| {
                    parser.chain(&[("*", Operator::Multiply), ("/", Operator::Divide)], Self::default)
                })
            })
        })
    }

    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        operand: impl Fn(&mut Self) -> Result<Formula, String>,
    ) -> Result<Formula, String> {
        let mut left = operand(self)?;
        while let Some((_, operator)) = operators.iter().find(|(mark, _)| self.takes(mark)) {
            left = Formula::Binary(*operator, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn default(&mut self) -> Result<Formula, String> {
        let left = self.unary()?;
        if self.takes("??") {
            return Ok(Formula::Default(Box::new(left), Box::new(self.default()?)));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Formula, String> {
        if self.takes("!") {
            return Ok(Formula::Not(Box::new(self.unary()?)));
        }
        if self.takes("(") {
            let inner = self.or()?;
            self.expect(")")?;
            return Ok(inner);
        }
        match self.next() {
            Some(Token::Number(n)) => Ok(Formula::Number(n)),
            Some(Token::Percent(n)) => Ok(Formula::Percent(n)),
            Some(Token::Text(text)) => Ok(Formula::Text(text.into())),
            Some(Token::Word(word)) => self.word(&word),
            Some(token) => Err(format!("unexpected {token}")),
            None => Err("the formula ends too early".into()),
        }
    }

    fn word(&mut self, word: &str) -> Result<Formula, String> {
        if self.takes("(") {
            let Some((function, count)) = Function::named(word) else {
                return Err(format!("there is no function `{word}`"));
            };
            let mut arguments = vec![self.or()?];
            while self.takes(",") {
                arguments.push(self.or()?);
            }
            self.expect(")")?;
            if arguments.len() != count {
                return Err(format!("`{word}` takes {count} arguments, not {}", arguments.len()));
            }
            return Ok(Formula::Call(function, arguments));
        }
        match word {
            "true" => return Ok(Formula::Bool(true)),
            "false" => return Ok(Formula::Bool(false)),
            "unbounded" => return Ok(Formula::Unbounded),
            "n" => return Ok(Formula::N),
            "key" => return Ok(Formula::Key),
            _ => {}
        }
        let of_item = word == "item";
        let mut route = if of_item { Route::root() } else { Route::root().key(word) };
        loop {
            if self.takes(".") {
                match self.next() {
                    Some(Token::Word(key)) => route.0.push(Step::Key(key.into())),
                    _ => return Err("a key belongs after `.`".into()),
                }
            } else if self.takes("[") {
                match self.next() {
                    Some(Token::Text(key)) => route.0.push(Step::Key(key.into())),
                    _ => return Err("a key in quotes belongs between `[` and `]`".into()),
                }
                self.expect("]")?;
            } else {
                return Ok(Formula::Field { of_item, route });
            }
        }
    }
}
