//! `fleetgate fleet sync`

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::cli::args::Sync;
use crate::cli::settings::rule_globs;
use crate::cli::term::Term;
use crate::error::Error;
use crate::fleet::sync::{Input, Options, Source, State, derive, state};
use crate::manifest;
use crate::model::Problem;

/// Largest input. Five thousand nodes are about a tenth of it.
const MOST_BYTES: u64 = 512 << 20;

pub(super) fn run(args: &Sync, term: &Term) -> Result<u8, Error> {
    let now = args.now.unwrap_or_else(jiff::Timestamp::now);
    let today = now.to_zoned_datetime(jiff::tz::TimeZone::UTC).date();
    let options = options(args)?;
    let derived = derive(inputs(args)?, &options)?;
    if !term.quiet {
        for remark in &derived.remarks {
            term.say(&format!("note: {remark}"));
        }
    }
    let Some(out) = &args.out else {
        if let State::New { text } = state(&derived, Utf8Path::new("-"), None, today)? {
            term.out(text.as_bytes())?;
        }
        return Ok(0);
    };
    match state(&derived, out, there(out)?.as_deref(), today)? {
        State::Current => {
            say(term, &format!("{out} is current"));
            Ok(0)
        }
        State::New { .. } if args.check => {
            term.out(format!("{out} is not there\n").as_bytes())?;
            Ok(1)
        }
        State::Changed { changes, .. } if args.check => {
            term.out(format!("{out} is not current\n  {}\n", changes.join("\n  ")).as_bytes())?;
            Ok(1)
        }
        State::New { text } => {
            write(out, &text)?;
            say(term, &format!("wrote {out}"));
            Ok(0)
        }
        State::Changed { text, changes } => {
            write(out, &text)?;
            say(term, &format!("wrote {out}"));
            say(term, &format!("  {}", changes.join("\n  ")));
            Ok(0)
        }
    }
}

fn say(term: &Term, line: &str) {
    if !term.quiet {
        term.say(line);
    }
}

/// The text of the file that is to be written, if it is there.
fn there(out: &Utf8Path) -> Result<Option<String>, Error> {
    match std::fs::read(out) {
        Ok(bytes) => {
            let text = manifest::text(&bytes).map_err(|error| {
                let message = format!("`{out}` cannot be read, so it is not replaced: {}", error.message);
                Problem::new("not-generated", message).help("write to another file").in_file(out)
            })?;
            Ok(Some(text.to_owned()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Problem::new("unreadable", format!("cannot read `{out}`: {error}")).in_file(out).into())
        }
    }
}

/// Writes beside the file and renames, so that nobody reads half of it.
fn write(out: &Utf8Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Write { what: out.to_string(), source };
    if let Some(dir) = out.parent().filter(|dir| !dir.as_str().is_empty()) {
        std::fs::create_dir_all(dir).map_err(failed)?;
    }
    let beside = Utf8PathBuf::from(format!("{out}.{}.tmp", std::process::id()));
    std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, out)).map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        failed(error)
    })
}

fn options(args: &Sync) -> Result<Options, Error> {
    Ok(Options {
        cluster: args.cluster.clone(),
        environment: args.environment.clone(),
        provider: args.provider.clone(),
        region: args.region.clone(),
        environment_label: args.environment_label.clone(),
        team_label: args.team_label.clone(),
        keep_labels: rule_globs("--keep-label", &args.keep_label)?,
        families: pairs("--family", "MODEL=FAMILY", &args.family)?,
        renames: pairs("--rename", "FROM=TO", &args.rename)?,
        skip: args.skip.clone(),
        counts: !args.no_counts,
    })
}

/// Options that assign something to something. The last `=` separates: servers may have one.
fn pairs(option: &str, shape: &str, words: &[String]) -> Result<BTreeMap<String, String>, Error> {
    let mut pairs = BTreeMap::new();
    for word in words {
        let Some((from, to)) = word.rsplit_once('=').filter(|(from, to)| !from.is_empty() && !to.is_empty())
        else {
            let problem = Problem::new("usage", format!("`{option} {word}` is no assignment"));
            return Err(problem.help(format!("write `{option} {shape}`")).into());
        };
        if pairs.insert(from.to_owned(), to.to_owned()).is_some() {
            let problem = Problem::new("usage", format!("`{option}` says twice what `{from}` is"));
            return Err(problem.help("keep one of the two").into());
        }
    }
    Ok(pairs)
}

/// Reads all inputs that the command line names.
fn inputs(args: &Sync) -> Result<Vec<Input>, Error> {
    let whole = |source, files: &[Utf8PathBuf]| -> Vec<_> {
        files.iter().map(|file| (source, None, file.clone())).collect()
    };
    let of_one = |source, words: &[String]| -> Vec<_> {
        let file = |word: &String| match word.split_once('=') {
            Some((of, file)) if !of.contains('/') => (source, Some(of.to_owned()), Utf8PathBuf::from(file)),
            _ => (source, None, Utf8PathBuf::from(word)),
        };
        words.iter().map(file).collect()
    };
    let named = [
        whole(Source::Clusters, &args.clusters),
        whole(Source::Terraform, &args.terraform),
        of_one(Source::Nodes, &args.nodes),
        of_one(Source::Karpenter, &args.karpenter),
        of_one(Source::Kueue, &args.kueue),
        whole(Source::Namespaces, &args.namespaces),
        whole(Source::Projects, &args.projects),
        whole(Source::CodeOwners, &args.codeowners),
        of_one(Source::GitHub, &args.github),
        of_one(Source::GitLab, &args.gitlab),
    ]
    .concat();
    let mut problems = Vec::new();
    if named.iter().filter(|(_, _, file)| file == "-").count() > 1 {
        let problem = Problem::new("usage", "two inputs cannot both be standard input");
        problems.push(problem.help("write all but one of them to files"));
        return Err(Error::Problems(problems));
    }
    let mut inputs = Vec::new();
    for (source, of, file) in named {
        match read(&file) {
            Ok(text) => inputs.push(Input { source, of, file: Arc::new(file), text: text.into() }),
            Err(message) => {
                let message = format!("cannot read `{file}` of `{}`: {message}", source.option());
                problems.push(Problem::new("unreadable", message).in_file(file));
            }
        }
    }
    if problems.is_empty() { Ok(inputs) } else { Err(Error::Problems(problems)) }
}

fn read(file: &Utf8Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = if file == "-" {
        std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("it has more than {MOST_BYTES} bytes"));
    }
    let text = manifest::text(&bytes).map_err(|error| error.message)?;
    Ok(text.to_owned())
}
