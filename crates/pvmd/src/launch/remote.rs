//! Starting the daemon of a new host on another computer.

use crate::launch::invitation::{Invitation, expanding, quoted};
use crate::launch::manual::{self, TYPING_SECONDS};
use crate::launch::places::DaemonPaths;
use crate::launch::push::push;
use crate::launch::reach::Reached;
use crate::launch::reply::Answer;
use crate::launch::sentences;
use crate::launch::ssh::{Heard, Target};
use crate::launch::stages;
use pvm_wire::Code;
use pvm_wire::hostfile::HostLine;
use pvm_wire::peer::HostFacts;
use pvm_wire::request::Failure;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// The time that may pass until the reply line.
const REPLY_TIME: Duration = Duration::from_secs(9);
/// Like `REPLY_TIME`, where ssh may ask a person.
const ASKING_TIME: Duration = Duration::from_secs(80);
/// The stages at which a copy of our own programs helps.
const PUSH_MENDS: [&str; 2] = ["pvmd", "version"];

/// The number of hosts that are started at the same time; ssh and its server need a processor.
static TURNS: Semaphore = Semaphore::const_new(64);

/// The reason why there is no new host.
pub(crate) type NotStarted = (Code, Failure);

/// Starts the daemon that this line names. It will call the inviter.
pub(crate) async fn start(line: &HostLine, invited: Invitation) -> Result<HostFacts, NotStarted> {
    let target = Target::new(line);
    if line.so.as_ref().is_some_and(|so| so.0 == b"ms") {
        let words = Invitation { patience: TYPING_SECONDS, ..invited };
        return manual::start(&target.name, &words).await.map_err(|detail| {
            let remedy = "start `pvmd HOSTFILE` on a terminal, not in the background".to_owned();
            (Code::CantStart, Failure { stage: "pvmd".to_owned(), detail, remedy })
        });
    }
    let first = attempt(&target, &invited, &DaemonPaths::of(line)).await;
    match first {
        Err((_, failure)) if line.push && PUSH_MENDS.contains(&failure.stage.as_str()) => {
            push(&target).await.map_err(|failure| (Code::CantStart, failure))?;
            let copy = DaemonPaths::pushed();
            attempt(&target, &invited, &copy).await
        }
        other => other,
    }
}

async fn attempt(
    target: &Target,
    words: &Invitation,
    places: &DaemonPaths,
) -> Result<HostFacts, NotStarted> {
    // The semaphore is never closed, so there is always a turn.
    let _turn = TURNS.acquire().await;
    let until = Instant::now() + if target.may_ask { ASKING_TIME } else { REPLY_TIME };
    let script = places.script(&words.arguments());
    let heard = target.verbose().run(&script, Stdio::null(), until).await;
    if heard.shell.is_none() && heard.answer.is_none() {
        // Something on the way: the stages tell which.
        if let Some(failed) = stages::up_to_shell(target, &heard).await.failure() {
            return Err(failed);
        }
    }
    judge(target, heard)
}

/// Finds out why a daemon that was started has not called.
pub(crate) async fn no_call(line: &HostLine, invited: &Invitation) -> NotStarted {
    let target = Target::new(line);
    let mut reached = stages::reach(line, &target, (&invited.addresses, &invited.vmid)).await;
    let found = reached.said.iter().find_map(|line| Reached::in_line(line));
    reached.said.clear();
    let name = &target.name;
    let (detail, remedy) = match found {
        Some(found) if invited.via > 0 && found.running.is_some() => (
            format!(
                "nothing comes through the tunnel from {name} (its sshd may forbid forwarding)"
            ),
            format!("on {name}: set AllowTcpForwarding yes in sshd_config"),
        ),
        Some(found) if !found.any() => {
            (sentences::no_call(name, &found.addresses), format!("pvm add --tunnel {name}"))
        }
        Some(found) if found.running.is_none() => {
            (format!("the daemon on {name} ended before it joined"), format!("pvm add {name}"))
        }
        _ => (format!("the daemon on {name} did not call in time"), format!("pvm add {name}")),
    };
    (Code::CantStart, Failure { stage: "callback".to_owned(), detail, remedy })
}

/// Longest command for a hoster: PVM's own sample holds it, and more, in 512 bytes.
const COMMAND_BYTES_MAX: usize = 400;

/// The command as one line for a shell there, for users with means of their own. Parts that it does
/// not need are left out until it is short: further addresses, then the folder of pvmd here.
pub(crate) fn command(line: &HostLine, invited: &Invitation) -> String {
    let here = std::env::current_exe().ok().and_then(|path| path.parent().map(PathBuf::from));
    let mut folder = here.map(|folder| folder.to_string_lossy().into_owned());
    let mut invited = invited.clone();
    loop {
        let command = short_command(line, &invited, folder.as_deref());
        if command.len() <= COMMAND_BYTES_MAX {
            return command;
        }
        if invited.addresses.len() > 1 {
            invited.addresses.pop();
        } else if folder.take().is_none() {
            // Its options are the user's, and needed.
            return command;
        }
    }
}

fn short_command(line: &HostLine, invited: &Invitation, folder: Option<&str>) -> String {
    let arguments: Vec<String> = invited.arguments().iter().map(|word| quoted(word)).collect();
    let arguments = arguments.join(" ");
    let script = match &line.dx {
        Some(told) => format!("exec {} {arguments}", expanding(&told.to_text())),
        None => {
            let here = folder.map(|folder| format!("{}:", quoted(folder))).unwrap_or_default();
            format!(
                "PATH={here}${{PVM_ROOT:+$PVM_ROOT/bin:}}$HOME/.local/bin:$PATH; exec pvmd \
                 {arguments}"
            )
        }
    };
    format!("exec /bin/sh -c {}", quoted(&script))
}

/// The words of a line that the new host needs itself.
pub(crate) fn options(line: &HostLine) -> String {
    let own = HostLine {
        ep: line.ep.clone(),
        wd: line.wd.clone(),
        bx: line.bx.clone(),
        sp: line.sp,
        ..HostLine::named("")
    };
    own.to_line().to_text().trim().to_owned()
}

fn judge(target: &Target, heard: Heard) -> Result<HostFacts, NotStarted> {
    let name = &target.name;
    let failed = |code, stage: &str, detail: String, remedy: String| {
        Err((code, Failure { stage: stage.to_owned(), detail, remedy }))
    };
    match heard.answer {
        Some(Answer::Ready(facts)) => return Ok(*facts),
        Some(Answer::Refused(code, failure)) => {
            let remedy = match failure.stage.as_str() {
                _ if !failure.remedy.is_empty() => failure.remedy.clone(),
                "version" => format!("pvm add --push {name}"),
                "join" => sentences::already_remedy(target),
                _ => format!("pvm doctor {name}"),
            };
            let detail = format!("{name}: {}", failure.detail);
            return Err((code, Failure { detail, remedy, ..failure }));
        }
        Some(Answer::Foreign { protocol, version }) => {
            let detail = sentences::versions(name, &version, protocol);
            return failed(Code::BadVersion, "version", detail, format!("pvm add --push {name}"));
        }
        // That was not asked for here.
        Some(Answer::Key(_)) | None => {}
    }
    let Some(system) = &heard.shell else {
        return failed(
            Code::CantStart,
            "key",
            format!("{name}: {}", heard.complaint()),
            target.typed(),
        );
    };
    let remedy = sentences::push_remedy(name, system);
    if let Some(tried) = &heard.missing {
        return failed(Code::CantStart, "pvmd", sentences::looked_for(name, tried), remedy);
    }
    if heard.complaint.contains("unknown argument") {
        let detail = sentences::other_version(name);
        return failed(Code::BadVersion, "version", detail, remedy);
    }
    let detail = format!("the pvmd on {name} gave no answer: {}", heard.complaint());
    failed(Code::CantStart, "pvmd", detail, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invited(addresses: usize) -> Invitation {
        Invitation {
            addresses: (0..addresses).map(|n| format!("192.168.100.1{n}:54321")).collect(),
            fingerprint: vec![0xab; 32],
            name: "node0123.cluster".into(),
            vmid: "default".into(),
            options: "sp=2000".into(),
            again: false,
            via: 0,
            patience: 60,
            hosted: 1234,
        }
    }

    #[test]
    fn a_hoster_with_room_for_512_bytes_holds_the_whole_command() {
        for addresses in [1, 2, 10] {
            let command = command(&HostLine::named("node0123"), &invited(addresses));
            assert!(command.len() <= COMMAND_BYTES_MAX, "{} {command}", command.len());
            assert!(command.contains("192.168.100.10:54321") && command.contains("--hosted=1234"));
        }
        let words = Invitation { options: format!("wd=/{}", "x".repeat(500)), ..invited(3) };
        assert!(command(&HostLine::named("a"), &words).contains("wd=/"), "it is needed");
    }

    #[test]
    fn the_command_runs_what_lies_where_it_looks() {
        let folder = std::env::temp_dir().join(format!("pvmd-hosted-{}", std::process::id()));
        std::fs::create_dir_all(folder.join(".local/bin")).unwrap();
        let pvmd = folder.join(".local/bin/pvmd");
        std::fs::write(&pvmd, "#!/bin/sh\necho \"$2\"\n").unwrap();
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&pvmd, all).unwrap();
        let line = HostLine::named("a");
        let mut sh = std::process::Command::new("/bin/sh");
        sh.args(["-c", &short_command(&line, &invited(1), Some("/no/such"))]);
        let output = sh.env("HOME", &folder).env_remove("PVM_ROOT").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said.trim(), format!("--fingerprint={}", "ab".repeat(32)));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
