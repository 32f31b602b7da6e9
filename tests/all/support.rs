//! Runs the program as a user would, in a directory of the test's own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Fails with everything that was printed unless the exit status is `status`.
    #[track_caller]
    pub(crate) fn exits(self, status: i32) -> Self {
        assert_eq!(
            self.status, status,
            "exit status\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout, self.stderr
        );
        self
    }

    /// Everything that was printed.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// The report of `-o json`.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!("{error}\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr)
        })
    }
}

/// A temporary directory with files in it.
#[derive(Debug)]
pub(crate) struct Sandbox(tempfile::TempDir);

impl Sandbox {
    /// Files by path; directories are made as needed.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let sandbox = Self(tempfile::tempdir().expect("temporary directory"));
        // Upward discovery of a fleet file ends at a Git root.
        std::fs::create_dir(sandbox.path().join(".git")).expect(".git");
        for (path, text) in files {
            sandbox.write(path, text.as_bytes());
        }
        sandbox
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("directories");
        std::fs::write(path, bytes).expect("file");
    }

    /// The same directory with one file written anew.
    pub(crate) fn also(self, path: &str, text: &str) -> Self {
        self.write(path, text.as_bytes());
        self
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).expect("file")
    }

    /// `fleetgate` with these arguments, here.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        run(self.path(), arguments, None)
    }

    /// The same with text on standard input.
    pub(crate) fn pipe(&self, arguments: &[&str], input: &str) -> Run {
        run(self.path(), arguments, Some(input))
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The program with an environment that says nothing about where it runs.
pub(crate) fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetgate"));
    command.current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

pub(crate) fn run(dir: &Path, arguments: &[&str], input: Option<&str>) -> Run {
    let mut child = command(dir)
        .args(arguments)
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("fleetgate starts");
    if let Some(input) = input {
        // The program may refuse before it has read everything.
        let _ = child.stdin.take().expect("stdin").write_all(input.as_bytes());
    }
    let output = child.wait_with_output().expect("fleetgate ends");
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}
