//! Policies that are not trusted are evaluated in a child process: the same program, started again
//! with a hidden argument, with limits on memory and processor time, no environment, and no way to
//! write files. A policy can stop it (deep recursion, memory); it cannot stop us, and what it stops
//! is an error of the rule, never a pass.
//!
//! Over its standard input and output go frames of JSON, each after its length (four bytes, little
//! endian): bounds and policies once, then a request and a reply for each evaluation.

#![allow(clippy::disallowed_methods, reason = "it starts the child process")]

mod child;
mod parent;
mod wire;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

pub use child::run_child;
pub(super) use parent::Child;

/// The hidden argument that makes this program a child.
pub const COMMAND: &str = "__isolated";

/// How a child is started and what it may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Address space, in bytes.
    pub memory: u64,
    /// Processor time over the child's whole life, in seconds. A child that uses it up is replaced.
    pub cpu_seconds: u64,
}

impl Sandbox {
    /// This very program as its own child, with 1 GiB of memory.
    pub fn this_program() -> io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            arguments: vec![COMMAND.into()],
            memory: 1 << 30,
            cpu_seconds: 600,
        })
    }
}
