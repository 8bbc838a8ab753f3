//! `pvm bench`: starts the program that measures.

use crate::failure::{Failure, Status};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

const PROGRAM: &str = "pvm-bench";

/// Becomes `pvm-bench` with the arguments behind the word `bench`. It returns only if that fails.
pub(crate) fn bench() -> Failure {
    let places = places();
    let Some(program) = places.iter().find(|place| place.is_file()) else {
        let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        let text = format!(
            "the program {PROGRAM} is not installed (looked for {})\n  \
             install it beside pvm: `make install PREFIX=DIR`",
            looked.join(", ")
        );
        return Failure::new(Status::Daemon, text);
    };
    let arguments = std::env::args_os().skip_while(|word| word != "bench").skip(1);
    let error = Command::new(program).args(arguments).exec();
    Failure::new(Status::Daemon, format!("{}: {error}", program.display()))
}

/// The paths of the program: in an installation, and where cargo builds it.
fn places() -> Vec<PathBuf> {
    let Ok(pvm) = std::env::current_exe() else { return Vec::new() };
    let installed = pvm.parent().map(|bin| bin.with_file_name("libexec/neopvm").join(PROGRAM));
    installed.into_iter().chain([pvm.with_file_name(PROGRAM)]).collect()
}
