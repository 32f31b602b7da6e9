//! The program: arguments in, exit status out.

use std::process::ExitCode;

use fleetgate::policy::isolate;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == isolate::COMMAND) {
        return match isolate::run_child(std::io::stdin(), std::io::stdout()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    ExitCode::SUCCESS
}
