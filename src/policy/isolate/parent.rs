//! The parent's side: a child that is started again when a policy has stopped it.

use std::io::{self, BufWriter};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use wait_timeout::ChildExt as _;

use super::Sandbox;
use super::wire::{self, Bounds, Reply, Request, Setup};
use crate::model::{Problem, Value};
use crate::policy::evaluate::{Limits, STACK_SIZE};
use crate::policy::outcome::{EvaluationError, Outcome};
use crate::policy::set::PolicySet;

/// How long a child may take to read and prepare the policies.
const SETUP_TIME: Duration = Duration::from_secs(30);

/// What an evaluation may take beyond its own limit, for the transport and a busy machine.
const GRACE: Duration = Duration::from_secs(1);

/// How long a child has to end by itself.
const PARTING_TIME: Duration = Duration::from_millis(500);

/// A child process that evaluates one set of policies.
#[derive(Debug)]
pub(crate) struct Child {
    policies: PolicySet,
    groups: Vec<Vec<usize>>,
    limits: Limits,
    sandbox: Sandbox,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    process: std::process::Child,
    /// Taken to tell the child that nothing follows.
    requests: Option<BufWriter<ChildStdin>>,
    replies: Receiver<io::Result<Option<Reply>>>,
}

/// Why there is no reply.
enum Lost {
    Time,
    Died(String),
}

impl Child {
    pub(crate) fn new(
        policies: &PolicySet,
        groups: &[Vec<usize>],
        limits: &Limits,
        sandbox: &Sandbox,
    ) -> Result<Self, Vec<Problem>> {
        let mut child = Self {
            policies: policies.clone(),
            groups: groups.to_vec(),
            limits: limits.clone(),
            sandbox: sandbox.clone(),
            running: None,
        };
        child.start()?;
        Ok(child)
    }

    /// Outcomes of all rules of a group; none if the group failed as a whole.
    pub(crate) fn group(&mut self, group: usize, input: &Value) -> Option<Vec<Outcome>> {
        match self.ask(&Request::Group(group, input.clone())) {
            Ok(Reply::Group(outcomes)) => Some(outcomes?.into_iter().map(Into::into).collect()),
            _ => None,
        }
    }

    pub(crate) fn rule(&mut self, group: usize, rule: usize, input: &Value) -> Outcome {
        let lost = match self.ask(&Request::Rule(group, rule, input.clone())) {
            Ok(Reply::Rule(outcome)) => return outcome.into(),
            Ok(_) => return Outcome::failed(rule, "the child process gave a wrong reply"),
            Err(lost) => lost,
        };
        let Some(own) = self.policies.rules.get(rule) else { return Outcome::failed(rule, "no such rule") };
        let message = match lost {
            Lost::Time => format!("`{}` did not finish within {} ms", own.id, self.limits.time.as_millis()),
            Lost::Died(how) => format!("`{}` stopped the process that evaluates it: {how}", own.id),
        };
        let error = EvaluationError::of(own, message)
            .help("the policy recurses too deeply, or makes values that are too large")
            .stopped();
        Outcome { rule, result: Err(error) }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, Lost> {
        if self.running.is_none() {
            self.start().map_err(|problems| {
                Lost::Died(problems.into_iter().next().map_or_else(String::new, |problem| problem.message))
            })?;
        }
        let deadline = self.limits.time + GRACE;
        let result = match &mut self.running {
            Some(running) => running.ask(request, deadline),
            None => Err(Lost::Died(String::from("it could not be started"))),
        };
        if result.is_err() {
            self.running = None;
        }
        result
    }

    fn start(&mut self) -> Result<(), Vec<Problem>> {
        let problem = |message: String| {
            vec![
                Problem::new("isolation", format!("the process for untrusted policies failed: {message}"))
                    .help("without `--untrusted-policies` they are evaluated in this process"),
            ]
        };
        let mut running = Running::start(&self.sandbox).map_err(|error| problem(error.to_string()))?;
        let bounds = Bounds { memory: self.sandbox.memory, cpu_seconds: self.sandbox.cpu_seconds };
        let setup = Setup::new(&self.policies, &self.groups, &self.limits);
        let sent = running.send(&bounds).and_then(|()| running.send(&setup));
        let reply = match sent {
            Ok(()) => running.receive(SETUP_TIME),
            Err(_) => Err(running.death()),
        };
        match reply {
            Ok(Reply::Ready) => {
                self.running = Some(running);
                Ok(())
            }
            Ok(Reply::Problems(problems)) => {
                Err(problems.into_iter().map(|problem| problem.into_problem(&self.policies)).collect())
            }
            Ok(_) => Err(problem(String::from("it gave a wrong reply"))),
            Err(Lost::Time) => Err(problem(format!("it was not ready within {} s", SETUP_TIME.as_secs()))),
            Err(Lost::Died(how)) => Err(problem(how)),
        }
    }
}

impl Running {
    fn start(sandbox: &Sandbox) -> io::Result<Self> {
        let mut process = Command::new(&sandbox.program)
            .args(&sandbox.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(input), Some(mut output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        // Pipes cannot be read with a time limit; channels can.
        let (sender, replies) = sync_channel(1);
        std::thread::Builder::new().stack_size(STACK_SIZE).spawn(move || {
            loop {
                let reply = wire::read::<Reply>(&mut output);
                let last = !matches!(reply, Ok(Some(_)));
                if sender.send(reply).is_err() || last {
                    break;
                }
            }
        })?;
        Ok(Self { process, requests: Some(BufWriter::new(input)), replies })
    }

    fn send<T: serde::Serialize>(&mut self, message: &T) -> io::Result<()> {
        match &mut self.requests {
            Some(requests) => wire::write(requests, message),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn ask(&mut self, request: &Request, deadline: Duration) -> Result<Reply, Lost> {
        match self.send(request) {
            Ok(()) => self.receive(deadline),
            Err(_) => Err(self.death()),
        }
    }

    fn receive(&mut self, deadline: Duration) -> Result<Reply, Lost> {
        match self.replies.recv_timeout(deadline) {
            Ok(Ok(Some(reply))) => Ok(reply),
            Ok(Err(error)) => Err(Lost::Died(format!("its reply was not understood: {error}"))),
            Ok(Ok(None)) | Err(RecvTimeoutError::Disconnected) => Err(self.death()),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.process.kill();
                Err(Lost::Time)
            }
        }
    }

    fn death(&mut self) -> Lost {
        self.requests = None;
        match self.process.wait_timeout(PARTING_TIME) {
            Ok(Some(status)) => Lost::Died(how(status)),
            _ => Lost::Died(String::from("it closed its output")),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.requests = None;
        if !matches!(self.process.wait_timeout(PARTING_TIME), Ok(Some(_))) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        match status.signal() {
            Some(6 | 11) => return String::from("out of memory, or too deep a recursion"),
            Some(24) => return String::from("out of processor time"),
            Some(signal) => return format!("killed by signal {signal}"),
            None => {}
        }
    }
    status.to_string()
}
