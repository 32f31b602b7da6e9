//! Many files to objects: each distinct document is read once, however often it occurs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use camino::Utf8PathBuf;
use rayon::prelude::*;

use super::resource::{Objects, Resource, resources};
use super::{
    SyntaxError, positions, source,
    split::{Slice, split},
};
use crate::model::{Context, Place, Problem};

/// Where a file's bytes are.
#[derive(Debug, Clone)]
pub enum Content {
    /// On disk: absolute, or relative to the working directory.
    Path(Utf8PathBuf),
    /// In memory: standard input, or a Git object.
    Memory(Arc<[u8]>),
}

/// A file to read.
#[derive(Debug, Clone)]
pub struct InputFile {
    /// Path as shown to people.
    pub path: Arc<Utf8PathBuf>,
    /// Where its bytes are.
    pub content: Content,
    /// Where its objects go; at least one.
    pub contexts: Vec<Arc<Context>>,
    /// Whether it must hold manifests: it was named, or is part of a rendered tree. Another file
    /// is passed over, and listed, if none of its documents means to be a manifest.
    pub strict: bool,
}

/// A distinct document.
#[derive(Debug, Clone)]
pub struct Document {
    /// BLAKE3 of the text.
    pub digest: [u8; 32],
    /// The text, without the `---` line before it.
    pub text: Arc<str>,
    /// Its objects.
    pub resources: Arc<[Resource]>,
    /// Where it stands, in the order of the files.
    pub occurrences: Vec<Occurrence>,
}

/// One place where a document stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// Index into [`Corpus::files`].
    pub file: usize,
    /// Where in the file.
    pub place: Place,
}

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    /// The files, as given.
    pub files: Vec<InputFile>,
    /// Distinct documents that hold objects, in the order in which they first occur.
    pub documents: Vec<Document>,
    /// What could not be read, in the order of files and lines.
    pub problems: Vec<Problem>,
    /// Files that hold no manifest, by index, each with the reason.
    pub not_manifests: Vec<(usize, String)>,
    /// Documents that are not empty, in all files but [`Corpus::not_manifests`].
    pub document_count: usize,
    /// Objects, each occurrence counted.
    pub resource_count: usize,
}

/// Bounds of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest file, in bytes.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_bytes: 64 << 20 }
    }
}

/// Reads files in parallel. The result depends on the files and their order alone.
pub fn read(files: Vec<InputFile>, limits: &Limits) -> Corpus {
    let pool = Pool::default();
    let readings: Vec<Reading> = files.par_iter().map(|file| read_file(file, *limits, &pool)).collect();
    let mut corpus = Corpus { files, ..Corpus::default() };
    let mut indexes: HashMap<[u8; 32], usize> = HashMap::new();
    for (file, reading) in readings.into_iter().enumerate() {
        corpus.problems.extend(reading.problems);
        if let Some(reason) = reading.not_a_manifest {
            corpus.not_manifests.push((file, reason));
            continue;
        }
        corpus.document_count += reading.documents.len();
        for (parsed, place) in reading.documents {
            if parsed.resources.is_empty() {
                continue;
            }
            corpus.resource_count += parsed.resources.len();
            let documents = &mut corpus.documents;
            let index = *indexes.entry(parsed.digest).or_insert_with(|| {
                documents.push(Document {
                    digest: parsed.digest,
                    text: Arc::clone(&parsed.text),
                    resources: Arc::clone(&parsed.resources),
                    occurrences: Vec::new(),
                });
                documents.len() - 1
            });
            if let Some(document) = documents.get_mut(index) {
                document.occurrences.push(Occurrence { file, place });
            }
        }
    }
    corpus
}

/// What one file gave.
#[derive(Default)]
struct Reading {
    documents: Vec<(Arc<Parsed>, Place)>,
    problems: Vec<Problem>,
    not_a_manifest: Option<String>,
}

/// A distinct document, parsed.
struct Parsed {
    digest: [u8; 32],
    text: Arc<str>,
    resources: Arc<[Resource]>,
    errors: Vec<SyntaxError>,
    manifest: bool,
}

impl Parsed {
    fn new(digest: [u8; 32], text: &str) -> Self {
        let Objects { resources, errors, manifest } = resources(text);
        Self { digest, text: Arc::from(text), resources: resources.into(), errors, manifest }
    }
}

/// All distinct documents, each parsed by whoever comes to it first.
struct Pool {
    shards: Vec<Mutex<Shard>>,
}

/// A document's cell is filled by the first thread that comes; others wait for it.
type Shard = HashMap<[u8; 32], Arc<OnceLock<Arc<Parsed>>>>;

impl Default for Pool {
    /// Enough shards that threads seldom wait for each other.
    fn default() -> Self {
        Self { shards: (0..64).map(|_| Mutex::default()).collect() }
    }
}

impl Pool {
    fn parse(&self, text: &str) -> Arc<Parsed> {
        let digest = *blake3::hash(text.as_bytes()).as_bytes();
        let new = || Arc::new(Parsed::new(digest, text));
        let shard = digest.first().map(|byte| usize::from(*byte) % self.shards.len().max(1));
        let Some(shard) = shard.and_then(|shard| self.shards.get(shard)) else { return new() };
        let cell = {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(shard.entry(digest).or_default())
        };
        Arc::clone(cell.get_or_init(new))
    }
}

fn read_file(file: &InputFile, limits: Limits, pool: &Pool) -> Reading {
    let owned;
    let bytes: &[u8] = match &file.content {
        Content::Memory(bytes) if bytes.len() as u64 > limits.file_bytes => {
            return Reading::failed(file, source::too_large(limits.file_bytes));
        }
        Content::Memory(bytes) => bytes,
        Content::Path(path) => match source::read(path, limits.file_bytes) {
            Ok(bytes) => {
                owned = bytes;
                &owned
            }
            Err(error) => return Reading::failed(file, error),
        },
    };
    let text = match source::text(bytes) {
        Ok(text) => text,
        Err(error) => return Reading::failed(file, error),
    };
    let split = split(text);
    let parsed: Vec<(Slice<'_>, Arc<Parsed>)> =
        split.documents.par_iter().map(|slice| (*slice, pool.parse(slice.text))).collect();
    if !file.strict && !parsed.is_empty() && parsed.iter().all(|(_, parsed)| !parsed.manifest) {
        return Reading { not_a_manifest: Some(why_no_manifest(&parsed)), ..Reading::default() };
    }
    let mut reading = Reading::default();
    let mut errors: Vec<(SyntaxError, Option<Place>)> =
        split.errors.into_iter().map(|error| (error, None)).collect();
    for (slice, parsed) in parsed {
        let place = Place {
            file: Arc::clone(&file.path),
            document: slice.index,
            line: slice.line,
            offset: slice.offset,
        };
        for error in &parsed.errors {
            errors.push((moved(error, &slice, text), Some(place.clone())));
        }
        reading.documents.push((parsed, place));
    }
    if !errors.is_empty() {
        errors.sort_by_key(|(error, _)| error.span.map(|span| span.offset));
        // One copy for all problems of the file.
        let source: Arc<str> = Arc::from(text);
        reading.problems = errors
            .into_iter()
            .map(|(error, place)| Problem {
                place,
                source: Some(Arc::clone(&source)),
                ..problem(error, file)
            })
            .collect();
    }
    reading
}

/// Why a file is passed over. That it cannot be read as YAML either is said too.
fn why_no_manifest(parsed: &[(Slice<'_>, Arc<Parsed>)]) -> String {
    let errors = || parsed.iter().flat_map(|(_, parsed)| &parsed.errors);
    if let Some(configuration) = errors().find(|error| error.code == super::resource::CONFIGURATION) {
        return configuration.message.clone();
    }
    let unreadable = parsed.iter().find_map(|(slice, parsed)| {
        let error = parsed.errors.iter().find(|error| !error.code.starts_with("no-"))?;
        let line = error.span.map_or(slice.line, |span| slice.line + span.line - 1);
        Some(format!(", and line {line} cannot be read: {}", error.message))
    });
    format!("no document has `apiVersion` or `kind`{}", unreadable.unwrap_or_default())
}

impl Reading {
    fn failed(file: &InputFile, error: SyntaxError) -> Self {
        Self { problems: vec![problem(error, file)], ..Self::default() }
    }
}

fn problem(error: SyntaxError, file: &InputFile) -> Problem {
    Problem {
        help: error.help,
        file: Some(Arc::clone(&file.path)),
        span: error.span,
        related: error.related,
        ..Problem::new(error.code, error.message)
    }
}

/// An error of a document as an error of its file.
fn moved(error: &SyntaxError, slice: &Slice<'_>, text: &str) -> SyntaxError {
    let moved = |span: crate::model::Span| positions::span(text, slice.offset + span.offset, span.length);
    SyntaxError {
        span: error.span.map(moved),
        related: error.related.iter().map(|(what, span)| (what.clone(), moved(*span))).collect(),
        ..error.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, content: &[u8], strict: bool) -> InputFile {
        InputFile {
            path: Arc::new(path.into()),
            content: Content::Memory(content.into()),
            contexts: vec![Arc::default()],
            strict,
        }
    }

    fn on_disk(path: &std::path::Path) -> InputFile {
        let path = Utf8PathBuf::from_path_buf(path.to_owned()).unwrap();
        InputFile { content: Content::Path(path), ..file("shown.yaml", b"", true) }
    }

    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";

    #[test]
    fn equal_documents_are_read_once_and_keep_their_places() {
        let two = format!("---\n{POD}---\n{}", POD.replace("p}", "q}"));
        let corpus = read(
            vec![file("a.yaml", POD.as_bytes(), true), file("b.yaml", two.as_bytes(), true)],
            &Limits::default(),
        );
        assert_eq!(corpus.problems, []);
        assert_eq!((corpus.documents.len(), corpus.document_count, corpus.resource_count), (2, 3, 3));
        let places: Vec<_> = corpus.documents[0]
            .occurrences
            .iter()
            .map(|o| (o.file, o.place.file.as_str(), o.place.document, o.place.line, o.place.offset))
            .collect();
        assert_eq!(places, [(0, "a.yaml", 0, 1, 0), (1, "b.yaml", 0, 2, 4)]);
    }

    #[test]
    fn the_same_broken_text_is_a_problem_in_each_file_at_its_line() {
        let broken = "kind: Pod\nkind: Secret\n";
        let later = format!("---\n{POD}---\n{broken}");
        let corpus = read(
            vec![file("a.yaml", broken.as_bytes(), true), file("b.yaml", later.as_bytes(), true)],
            &Limits::default(),
        );
        let found: Vec<_> = corpus
            .problems
            .iter()
            .map(|p| (p.file.as_ref().unwrap().as_str(), p.code, p.span.unwrap().line, p.related[0].1.line))
            .collect();
        assert_eq!(found, [("a.yaml", "duplicate-key", 2, 1), ("b.yaml", "duplicate-key", 7, 6)]);
        let problem = &corpus.problems[1];
        let span = problem.span.unwrap();
        let marked = problem.source.as_ref().unwrap().get(span.offset..span.offset + span.length);
        assert_eq!(marked, Some("kind"));
    }

    #[test]
    fn a_file_without_manifests_is_an_error_only_where_manifests_are_expected() {
        let values = b"replicas: 2\n";
        let corpus = read(
            vec![file("values.yaml", values, false), file("named.yaml", values, true)],
            &Limits::default(),
        );
        assert_eq!(corpus.not_manifests, [(0, "no document has `apiVersion` or `kind`".to_owned())]);
        let codes: Vec<_> = corpus.problems.iter().map(|p| p.code).collect();
        assert_eq!(codes, ["no-api-version", "no-kind"]);
        let corpus = read(vec![file("broken.yaml", b"a: 1\nb: [\n", false)], &Limits::default());
        assert!(
            corpus.not_manifests[0].1.contains(", and line 3 cannot be read: "),
            "{:?}",
            corpus.not_manifests
        );
        // One that cannot be read but says `kind:` is not passed over.
        let corpus = read(vec![file("t.yaml", b"kind: {{ .Values.kind }}\n", false)], &Limits::default());
        assert_eq!(corpus.problems[0].code, "unrendered-template");
    }

    #[test]
    fn o07_o08_files_that_cannot_be_read_are_problems() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone.yaml");
        let large = folder.path().join("large.yaml");
        std::fs::File::create(&large).unwrap().set_len(200 << 20).unwrap();
        let link = folder.path().join("loop.yaml");
        let files = vec![
            file("utf16.yaml", b"\xFF\xFEk\0", false),
            file("latin1.yaml", b"name: caf\xE9\n", false),
            on_disk(&gone),
            on_disk(&large),
            on_disk(folder.path()),
        ];
        let corpus = read(files, &Limits::default());
        let codes: Vec<_> = corpus.problems.iter().map(|p| p.code).collect();
        assert_eq!(codes, ["encoding", "encoding", "unreadable-file", "file-too-large", "unreadable-file"]);
        assert!(corpus.problems.iter().all(|p| p.file.is_some()));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&link, &link).unwrap();
            let corpus = read(vec![on_disk(&link), on_disk("/dev/zero".as_ref())], &Limits::default());
            assert_eq!(corpus.problems[0].message, "too many levels of symbolic links");
            assert_eq!(corpus.problems[1].message, "no regular file");
        }
    }

    #[test]
    fn the_result_is_the_same_with_one_thread_and_with_many() {
        let files: Vec<_> = (0..200)
            .map(|n| {
                let text = format!("{POD}---\nkind: [\n---\n{}", POD.replace("p}", &format!("p{}}}", n % 7)));
                file(&format!("{n}.yaml"), text.as_bytes(), true)
            })
            .collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let corpus = pool.install(|| read(files.clone(), &Limits::default()));
            format!("{:?} {:?}", corpus.documents, corpus.problems)
        };
        assert_eq!(run(1), run(8));
    }
}
