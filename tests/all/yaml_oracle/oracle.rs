//! Builds and asks the Go program.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Answer;

/// The reference's answers, one a document.
pub(super) fn ask(texts: &[String]) -> Vec<Answer> {
    let mut child = Command::new(program())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the oracle starts");
    let mut input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let answers = std::thread::scope(|scope| {
        scope.spawn(move || {
            for text in texts {
                input.write_all(&u32::try_from(text.len()).unwrap().to_be_bytes()).unwrap();
                input.write_all(text.as_bytes()).unwrap();
            }
        });
        output.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect::<Vec<_>>()
    });
    assert!(child.wait().unwrap().success());
    assert_eq!(answers.len(), texts.len());
    answers
}

/// The built program, kept outside the checkout in a folder named by what it is built from.
fn program() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/tools/yamloracle");
    let mut hash = blake3::Hasher::new();
    for file in ["go.mod", "go.sum", "main.go"] {
        hash.update(&std::fs::read(source.join(file)).unwrap());
    }
    let cache = std::env::var_os("FLEETGATE_TOOLS_CACHE")
        .map_or_else(|| std::env::temp_dir().join("fleetgate-tools"), PathBuf::from);
    let folder = cache.join(format!("yamloracle-{}", hash.finalize().to_hex()));
    let program = folder.join("yamloracle");
    if !program.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        // Built beside it and moved, so that another test never starts half a program.
        let fresh = folder.join(format!("fresh-{}-{:?}", std::process::id(), std::thread::current().id()));
        let built =
            Command::new("go").args(["build", "-o"]).arg(&fresh).arg(".").current_dir(&source).status();
        assert!(built.expect("go is installed").success(), "the oracle does not build");
        std::fs::rename(&fresh, &program).unwrap();
    }
    program
}
