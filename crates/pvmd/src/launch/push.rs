//! Copies this installation to another computer that has none.

use crate::launch::places::pushed_folder;
use crate::launch::sentences::here;
use crate::launch::ssh::Target;

use crate::starter;
use pvm_wire::request::Failure;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// The time that the copy may take.
const PUSH_TIME: Duration = Duration::from_secs(60);
/// Said there when it is done.
const DONE: &str = "neopvm-pushed-1";
/// Said there if our programs cannot run there.
const OTHER: &str = "neopvm-other-system-1";
/// The parts that a host needs for its tasks, as far as they are installed here.
const PARTS: [&str; 7] = [
    "bin/pvmd",
    "bin/pvm",
    "bin/pvmgs",
    "lib/libpvm3.so",
    "lib/libpvm3.so.3",
    "lib/libgpvm3.so",
    "lib/libgpvm3.so.3",
];

/// Copies it below the user's home there.
pub(crate) async fn push(target: &Target) -> Result<(), Failure> {
    let failed = |detail: String, remedy: String| Failure {
        stage: "pvmd".to_owned(),
        detail: format!("{}: the copy of NeoPVM failed: {detail}", target.name),
        remedy,
    };
    let mut tar =
        pack().await.map_err(|error| failed(error.to_string(), "sudo apt install tar".into()))?;
    let stream: Option<Stdio> = tar.stdout.take().and_then(|stdout| stdout.try_into().ok());
    let stream = stream.ok_or_else(|| failed("no output of tar".into(), String::new()))?;
    let heard = target.run(&script(), stream, Instant::now() + PUSH_TIME).await;
    let said = |word: &str| heard.said.iter().any(|line| line.contains(word));
    if said(DONE) {
        return Ok(());
    }
    if said(OTHER) {
        let theirs = heard.shell.unwrap_or_default();
        let detail = format!("our programs are for {}, but that computer is {theirs}", here());
        return Err(failed(detail, format!("install NeoPVM for {theirs} on {}", target.name)));
    }
    Err(failed(heard.complaint(), format!("{} df -h .", target.typed())))
}

/// Puts it in its place when it is complete, so that a copy that broke off is no harm.
fn script() -> String {
    format!(
        "test \"$(uname -sm)\" = \"{}\" || {{ echo {OTHER}; exit 1; }}; cd && d={} && n=$d.new.$$ \
         && \
         mkdir -p $n && tar -xzf - -C $n && rm -rf $d && mv $n $d && echo {DONE} || rm -rf $n",
        here(),
        pushed_folder(),
    )
}

/// A stream of the installation that this program is part of, or of this program alone.
async fn pack() -> std::io::Result<Child> {
    let program = std::env::current_exe()?;
    let mut tar = Command::new("tar");
    match root_of(&program) {
        Some(root) => {
            tar.arg("-C").arg(root).args(["-chzf", "-"]);
            tar.args(PARTS.iter().filter(|part| root.join(part).exists()));
        }
        None => {
            let folder = program.parent().map_or_else(PathBuf::new, Path::to_path_buf);
            tar.arg("-C").arg(folder).args(["--transform=s,^,bin/,", "-chzf", "-", "pvmd"]);
        }
    }
    tar.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    tar.kill_on_drop(true);
    starter::spawn(tar).await
}

/// PREFIX of `PREFIX/bin/pvmd`.
fn root_of(program: &Path) -> Option<&Path> {
    let folder = program.parent()?;
    (folder.file_name()? == "bin").then(|| folder.parent())?
}
