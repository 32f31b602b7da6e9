//! Code frames: a head line, then the source lines with what is wrong marked, drawn by miette.

use std::collections::BTreeMap;
use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    Severity, SourceCode, SourceSpan, SpanContents, ThemeStyles,
};

use super::{Options, clean};

/// Characters of a source line that are shown; a JSON file can be one line of a megabyte.
const SHOWN: usize = 160;
/// Characters shown before the mark if a line is cut.
const BEFORE: usize = 60;

/// A stretch of text to point at.
#[derive(Debug)]
pub(super) struct Mark {
    /// Byte offset in the text.
    pub offset: usize,
    /// Length in bytes; what goes beyond the line is not marked.
    pub length: usize,
    /// What stands there.
    pub label: Option<String>,
}

/// What stands above the frame: `deny[gitops/image-digest]:` and the message, both clean.
#[derive(Debug)]
pub(super) struct Head<'a> {
    pub word: String,
    pub message: &'a str,
    pub severity: Severity,
}

/// A source line, clean and cut.
#[derive(Debug)]
struct Line {
    /// Number in the file, from 0.
    number: usize,
    /// Offset in the excerpt.
    offset: usize,
}

/// The few lines of a file that are shown.
#[derive(Debug)]
struct Excerpt<'a> {
    head: &'a Head<'a>,
    file: String,
    text: String,
    lines: Vec<Line>,
    labels: Vec<LabeledSpan>,
    /// The column in the file, from 0, of each mark, by its offset in the excerpt.
    columns: BTreeMap<usize, usize>,
    /// What stands for text that was cut off.
    cut: &'static str,
}

/// Draws the head, and the marked lines of `text`, whose first line is line `first_line` (from 1) of
/// `file`. The first mark is the one that the frame's title names. Ends with a line break.
pub(super) fn draw(
    head: &Head<'_>,
    file: &str,
    text: &str,
    first_line: usize,
    marks: &[Mark],
    options: &Options,
) -> String {
    let excerpt = Excerpt::new(head, file, text, first_line, marks, options);
    let mut drawn = String::new();
    // Writing to a string fails only if the excerpt contradicts itself.
    if handler(head, options).render_report(&mut drawn, &excerpt).is_err() {
        drawn.clear();
    }
    // miette leaves room for an icon; the head stands at the margin.
    match drawn.strip_prefix("  ") {
        Some(drawn) => drawn.to_owned(),
        None => format!("{} {}\n", head.word, head.message),
    }
}

fn handler(head: &Head<'_>, options: &Options) -> GraphicalReportHandler {
    let mut theme = if options.unicode { GraphicalTheme::unicode_nocolor() } else { GraphicalTheme::none() };
    if options.colour {
        theme.styles = ThemeStyles::ansi();
        theme.styles.error = theme.styles.error.bold();
        theme.styles.warning = theme.styles.warning.bold();
    }
    for icon in [&mut theme.characters.error, &mut theme.characters.warning, &mut theme.characters.advice] {
        icon.clone_from(&head.word);
    }
    GraphicalReportHandler::new_themed(theme)
        .with_context_lines(0)
        .with_wrap_lines(false)
        .with_urls(false)
        .without_syntax_highlighting()
}

impl<'a> Excerpt<'a> {
    fn new(
        head: &'a Head<'a>,
        file: &str,
        text: &str,
        first_line: usize,
        marks: &[Mark],
        options: &Options,
    ) -> Self {
        let mut excerpt = Self {
            head,
            file: clean::line(file),
            text: String::new(),
            lines: Vec::new(),
            labels: Vec::new(),
            columns: BTreeMap::new(),
            cut: if options.unicode { "…" } else { "..." },
        };
        // Lines in the order of the file, each once, with its marks.
        let mut by_line: BTreeMap<usize, Vec<(usize, &Mark)>> = BTreeMap::new();
        for (position, mark) in marks.iter().enumerate() {
            let start = text.get(..mark.offset).map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
            by_line.entry(start).or_default().push((position, mark));
        }
        for (start, marks) in by_line {
            excerpt.add_line(text, start, first_line, &marks);
        }
        excerpt
    }

    fn add_line(&mut self, text: &str, start: usize, first_line: usize, marks: &[(usize, &Mark)]) {
        let before = text.get(..start).unwrap_or_default();
        let line = text.get(start..).unwrap_or_default().split('\n').next().unwrap_or_default();
        let line = line.trim_end_matches('\r');
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let offset = self.text.len();
        let first = marks.iter().map(|(_, mark)| mark.offset - start).min().unwrap_or_default();
        self.lines.push(Line { number: first_line - 1 + before.matches('\n').count(), offset });
        let (from, to) = window(line, first);
        self.text.push_str(if from > 0 { self.cut } else { "" });
        let shown = line.get(from..to).unwrap_or_default();
        for (position, mark) in marks {
            let begin = (mark.offset - start).clamp(from, to) - from;
            let end = (mark.offset - start).saturating_add(mark.length).clamp(from, to) - from;
            let (_, [begin, end]) = clean::source(shown, [begin, end]);
            let span = SourceSpan::from((self.text.len() + begin, end - begin));
            let column = line.get(..mark.offset - start).map_or(0, |before| before.chars().count());
            self.columns.insert(span.offset(), column);
            let label = mark.label.as_deref().map(clean::line);
            self.labels.push(if *position == 0 {
                LabeledSpan::new_primary_with_span(label, span)
            } else {
                LabeledSpan::new_with_span(label, span)
            });
        }
        self.text.push_str(&clean::source(shown, []).0);
        self.text.push_str(if to < line.len() { self.cut } else { "" });
    }
}

/// The bytes of a line that are shown: all of a short line, else a stretch around the mark.
fn window(line: &str, mark: usize) -> (usize, usize) {
    let boundary = |from: usize, characters: usize| {
        line.get(from..)
            .and_then(|rest| rest.char_indices().nth(characters))
            .map_or(line.len(), |(at, _)| from + at)
    };
    if boundary(0, SHOWN) == line.len() {
        return (0, line.len());
    }
    let mark = mark.min(line.len());
    let from = line
        .get(..mark)
        .and_then(|before| before.char_indices().rev().take(BEFORE).last())
        .map_or(0, |(at, _)| at);
    (from, boundary(from, SHOWN))
}

impl SourceCode for Excerpt<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        _before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let first = self.lines.iter().rposition(|line| line.offset <= span.offset()).unwrap_or_default();
        let last =
            self.lines.iter().rposition(|line| line.offset <= span.offset() + span.len()).unwrap_or_default();
        let start = self.lines.get(first).ok_or(MietteError::OutOfBounds)?;
        let end = self.lines.get(last + 1).map_or(self.text.len(), |next| next.offset);
        let data = self.text.get(start.offset..end).ok_or(MietteError::OutOfBounds)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.file.clone(),
            data.as_bytes(),
            SourceSpan::from((start.offset, data.len())),
            start.number,
            self.columns.get(&span.offset()).copied().unwrap_or_default(),
            last + 1 - first,
        )))
    }
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.head.message)
    }
}

impl std::error::Error for Excerpt<'_> {}

impl Diagnostic for Excerpt<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(self.head.severity)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
