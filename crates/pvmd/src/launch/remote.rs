//! Starting the daemon of a new host on another computer.

use crate::launch::invitation::{Invitation, quoted};
use crate::launch::manual::{self, TYPING_SECONDS};
use crate::launch::places::Places;
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
use std::process::Stdio;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// How long the way to the reply line may take.
const REPLY_TIME: Duration = Duration::from_secs(9);
/// The same where ssh may ask a person.
const ASKING_TIME: Duration = Duration::from_secs(80);
/// The stages at which a copy of our own programs helps.
const PUSH_MENDS: [&str; 2] = ["pvmd", "version"];

/// How many are started at the same time; ssh and its server need a processor.
static TURNS: Semaphore = Semaphore::const_new(64);

/// Why there is no new host.
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
    let first = attempt(&target, &invited, &Places::of(line)).await;
    match first {
        Err((_, failure)) if line.push && PUSH_MENDS.contains(&failure.stage.as_str()) => {
            push(&target).await.map_err(|failure| (Code::CantStart, failure))?;
            let copy = Places::pushed();
            attempt(&target, &invited, &copy).await
        }
        other => other,
    }
}

async fn attempt(
    target: &Target,
    words: &Invitation,
    places: &Places,
) -> Result<HostFacts, NotStarted> {
    // Nobody closes it, so there is always a turn.
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

/// Why a daemon that was started has not called.
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

/// The same as one line for a shell there, for others who have means of their own.
pub(crate) fn command(line: &HostLine, invited: &Invitation) -> String {
    let script = Places::of(line).script(&invited.arguments());
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
        None => {}
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
