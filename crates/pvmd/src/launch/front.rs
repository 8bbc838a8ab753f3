//! The process that another computer's ssh starts: it starts the host's parent, hands on the one
//! line that the parent answers, and ends, so that ssh ends too.

use crate::addresses;
use crate::config::{Front, Places};
use crate::launch::{reply, resident, sentences};
use crate::say;
use anyhow::{Context as _, Result};
use pvm_wire::request::Failure;
use pvm_wire::{Code, PROTOCOL_VERSION};
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// Most of what a daemon that failed says that is handed on.
const COMPLAINT_BYTES_MAX: u64 = 1024;

/// Most of a refusal that a hoster brings back, which has little room: two digits each.
const HOSTED_CHARS_MAX: usize = 70;

/// Starts the parent with the same arguments. False if there is none; the reason is printed.
pub(crate) fn run(words: &[String], front: &Front) -> Result<bool> {
    let version = crate::version::version();
    if let Some(theirs) = front.protocol.filter(|theirs| *theirs != PROTOCOL_VERSION) {
        let text = format!(
            "NeoPVM {version} there speaks protocol {PROTOCOL_VERSION}, the machine protocol \
             {theirs}"
        );
        return refuse(front, Code::BadVersion, "version", &text);
    }
    let mut places = Places::from_environment()?;
    if let Some(vmid) = &front.vmid {
        places.vmid.clone_from(vmid);
    }
    let resident = if front.again { None } else { resident::make_room(&places, &front.addresses) };
    if let Some(resident) = resident {
        let socket = resident.socket.display().to_string();
        let own = resident.name.as_deref();
        let (detail, remedy) = sentences::already(&places.vmid, &socket, own);
        if front.hosted {
            return refuse(front, Code::DupHost, "join", &detail);
        }
        let failure = Failure { stage: "join".to_owned(), detail, remedy };
        say::answer(reply::refused_with(Code::DupHost, &failure))?;
        return Ok(false);
    }
    let mut child = Command::new("/proc/self/exe")
        .arg0("pvmd")
        .args(words)
        .arg(format!("--join={}", seen(&front.addresses).join(",")))
        .arg("--foreground")
        .env("PVM_VMID", &places.vmid)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start the daemon")?;
    let stdout = child.stdout.take().context("no output of the daemon")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).context("the daemon's answer")?;
    if reply::answer_in(&line).is_some() {
        say::answer(line.trim_end_matches('\n'))?;
        return Ok(true);
    }
    let mut complaint = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(COMPLAINT_BYTES_MAX).read_to_string(&mut complaint);
    }
    let status = child.wait()?;
    let text = match complaint.trim() {
        "" => format!("pvmd ended with {status}"),
        complaint => complaint.strip_prefix("pvmd: ").unwrap_or(complaint).to_owned(),
    };
    refuse(front, Code::CantStart, "pvmd", &text)
}

/// The addresses of the inviter, first of all the one from which the connection came.
pub(crate) fn seen(told: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    let port = told.iter().find_map(|at| Some(at.parse::<SocketAddr>().ok()?.port()));
    if let (Some((client, _)), Some(port)) = (addresses::of_ssh(), port) {
        all.push(SocketAddr::from((client, port)).to_string());
    }
    for address in told {
        if !all.contains(address) {
            all.push(address.clone());
        }
    }
    all
}

fn refuse(front: &Front, code: Code, stage: &str, text: &str) -> Result<bool> {
    let most = if front.hosted { HOSTED_CHARS_MAX } else { usize::MAX };
    let text: String = text.chars().take(most).filter(|c| !front.hosted || c.is_ascii()).collect();
    let text = text.as_str();
    say::answer(reply::refused_line(code, stage, text))?;
    Ok(false)
}
