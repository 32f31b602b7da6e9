//! The child's side.

use std::io::{self, BufReader, BufWriter, Read, Write};

use super::wire::{self, Bounds, Reply, Request, Setup};
use crate::policy::evaluate::STACK_SIZE;
use crate::policy::local::Local;

/// Evaluates what the parent sends until it closes the stream. Returns an error if the stream is
/// not understood, which only happens if something other than our parent started us.
pub fn run_child(input: impl Read + Send, output: impl Write + Send) -> io::Result<()> {
    std::thread::scope(|scope| {
        let serve = || serve(BufReader::new(input), BufWriter::new(output));
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, serve)?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the child panicked")))
    })
}

fn serve(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let Some(bounds) = wire::read::<Bounds>(&mut input)? else { return Ok(()) };
    confine(bounds)?;
    let Some(setup) = wire::read::<Setup>(&mut input)? else { return Ok(()) };
    let (groups, limits) = (setup.groups.clone(), setup.limits());
    let mut engine = match Local::new(&setup.into_policies(), &groups, &limits, true) {
        Ok(engine) => engine,
        Err(problems) => {
            return wire::write(
                &mut output,
                &Reply::Problems(problems.into_iter().map(Into::into).collect()),
            );
        }
    };
    wire::write(&mut output, &Reply::Ready)?;
    while let Some(request) = wire::read::<Request>(&mut input)? {
        let reply = match request {
            Request::Group(group, value) => {
                let outcomes = engine.group(group, &value);
                Reply::Group(outcomes.map(|outcomes| outcomes.into_iter().map(Into::into).collect()))
            }
            Request::Rule(group, rule, value) => Reply::Rule(engine.rule(group, rule, &value).into()),
        };
        wire::write(&mut output, &reply)?;
    }
    Ok(())
}

/// Gives up, for good, what a policy could misuse.
#[cfg(unix)]
fn confine(bounds: Bounds) -> io::Result<()> {
    use rlimit::Resource;
    let limit = |resource: Resource, value: u64| {
        let (_, hard) = resource.get()?;
        let value = value.min(hard);
        resource.set(value, value)
    };
    limit(Resource::AS, bounds.memory)?;
    // The signal at the soft limit says why the process ended; the one at the hard limit does not.
    Resource::CPU.set(bounds.cpu_seconds, bounds.cpu_seconds.saturating_add(1))?;
    limit(Resource::CORE, 0)?;
    limit(Resource::FSIZE, 0)?;
    // Open streams stay open; no further file or socket.
    limit(Resource::NOFILE, 3)?;
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    limit(Resource::NPROC, 0)?;
    Ok(())
}

#[cfg(not(unix))]
fn confine(_: Bounds) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "processes cannot be confined on this platform"))
}
