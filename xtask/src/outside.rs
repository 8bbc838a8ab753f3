//! Running other programs.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `program` in `folder` with its output on the terminal.
pub(crate) fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<(), String> {
    status(Command::new(program).args(arguments).current_dir(folder))
}

/// Runs a prepared command; an exit status other than 0 is an error.
pub(crate) fn status(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|e| format!("cannot run {name}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed: {status}")) }
}

/// Runs a command as it was prepared, with its output on the terminal.
pub(crate) fn quietly(command: &Command) -> Result<(), String> {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args());
    copy.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    status(copy.current_dir(command.get_current_dir().unwrap_or_else(|| Path::new("."))))
}

/// The output of `program`.
pub(crate) fn output(folder: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot run {program}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{program} {} failed: {}", arguments.join(" "), output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program can be found on the search path, a file where its path says, a target of
/// Rust's (`rust:TARGET`), or a toolchain of Rust's (`toolchain:NAME`).
pub(crate) fn is_there(name: &str) -> bool {
    if let Some(toolchain) = name.strip_prefix("toolchain:") {
        return output(Path::new("."), "rustc", &[&format!("+{toolchain}"), "-V"]).is_ok();
    }
    if let Some(target) = name.strip_prefix("rust:") {
        let folder =
            output(Path::new("."), "rustc", &["--print=target-libdir", "--target", target]);
        return folder.is_ok_and(|folder| Path::new(folder.trim()).exists());
    }
    if name.starts_with('/') {
        return Path::new(name).exists();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Programs for the administrator are not on everybody's path.
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(name)).any(|file| file.is_file())
}
