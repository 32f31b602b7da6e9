//! The program: arguments in, exit status out.

use std::process::ExitCode;

// Reading and evaluating allocate many small trees.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    fleetgate::cli::main()
}
