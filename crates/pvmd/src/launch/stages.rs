//! The reasons why a host cannot be added: the stages of joining, each with one test, one sentence
//! and one remedy.
//!
//! `name route port key shell pvmd version callback join`, in this order; what comes behind the
//! first that fails is not tried. All of it takes at most 15 seconds.

use crate::launch::places::DaemonPaths;
use crate::launch::reach::Reached;
use crate::launch::sentences::{
    already, already_remedy, looked_for, no_call, other_version, push_remedy, versions,
};
use crate::launch::ssh::{self, Heard, Target};
use crate::starter;
use pvm_wire::hostfile::HostLine;
use pvm_wire::request::{Failure, STAGES};
use pvm_wire::{Code, PROTOCOL_VERSION};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// The time in which a name must resolve, an address answer, and an ssh server say its name.
const NAME_TIME: Duration = Duration::from_secs(3);
const ROUTE_TIME: Duration = Duration::from_secs(3);
const BANNER_TIME: Duration = Duration::from_secs(2);
/// The time that the part behind the login may take.
const SSH_TIME: Duration = Duration::from_secs(7);

/// One stage that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    /// One of [`STAGES`].
    pub(crate) name: &'static str,
    /// None: not tried.
    pub(crate) good: Option<bool>,
    /// The finding, in one sentence.
    pub(crate) detail: String,
    /// The next command.
    pub(crate) remedy: String,
}

/// The stages so far, in their order.
#[derive(Debug, Default)]
pub(crate) struct Report(pub(crate) Vec<Stage>);

impl Report {
    fn good(&mut self, name: &'static str, detail: impl Into<String>) {
        let stage = Stage { name, good: Some(true), detail: detail.into(), remedy: String::new() };
        self.0.push(stage);
    }

    fn bad(
        &mut self,
        name: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Stopped {
        let (detail, remedy) = (detail.into(), remedy.into());
        self.0.push(Stage { name, good: Some(false), detail, remedy });
        Stopped
    }

    /// Names the stages that were not tried.
    pub(crate) fn complete(mut self) -> Self {
        for name in STAGES.iter().skip(self.0.len()) {
            let (detail, remedy) = (String::new(), String::new());
            self.0.push(Stage { name, good: None, detail, remedy });
        }
        self
    }

    /// The first stage that failed.
    pub(crate) fn failure(&self) -> Option<(Code, Failure)> {
        let stage = self.0.iter().find(|stage| stage.good == Some(false))?;
        let code = match stage.name {
            "name" => Code::NoHost,
            "version" => Code::BadVersion,
            "join" => Code::DupHost,
            _ => Code::CantStart,
        };
        let failure = Failure {
            stage: stage.name.to_owned(),
            detail: stage.detail.clone(),
            remedy: stage.remedy.clone(),
        };
        Some((code, failure))
    }
}

/// A stage failed.
#[derive(Debug)]
struct Stopped;

/// Tries all stages up to the one that would change something. `addresses` is where this side
/// would be called, `vmid` the machine's name.
pub(crate) async fn try_all(line: &HostLine, addresses: &[String], vmid: &str) -> Report {
    let target = Target::new(line);
    let mut report = Report::default();
    if network(&target, &mut report).await.is_ok() {
        let _ = login(line, &target, (addresses, vmid), &mut report).await;
    }
    report
}

/// Finds out why no shell has answered: from the stages of the way, then from ssh's own output.
pub(crate) async fn up_to_shell(target: &Target, heard: &Heard) -> Report {
    let mut report = Report::default();
    if network(target, &mut report).await.is_ok() {
        let _ = shell(target, heard, &mut report);
    }
    report
}

/// Asks pvmd there what it sees.
pub(crate) async fn reach(
    line: &HostLine,
    target: &Target,
    (addresses, vmid): (&[String], &str),
) -> Heard {
    let arguments = [format!("--vmid={vmid}"), format!("--reach={}", addresses.join(","))];
    let script = DaemonPaths::of(line).script(&arguments);
    target.verbose().run(&script, Stdio::null(), Instant::now() + SSH_TIME).await
}

/// Up to the ssh server's first words.
async fn network(target: &Target, report: &mut Report) -> Result<(), Stopped> {
    if !ssh::is_ssh() {
        for stage in ["name", "route", "port"] {
            report.good(stage, format!("left to {}, as PVM_RSH says", ssh::program().display()));
        }
        return Ok(());
    }
    let route =
        SshRoute::of(target).await.map_err(|error| report.bad("name", error, ssh::remedy()))?;
    let name = &target.name;
    if let Some(proxy) = &route.proxy {
        for stage in ["name", "route", "port"] {
            report.good(stage, format!("left to {proxy}, as ssh_config says"));
        }
        return Ok(());
    }
    let found =
        timeout(NAME_TIME, tokio::net::lookup_host((route.host.as_str(), route.port))).await;
    let addresses: Vec<SocketAddr> = match found {
        Ok(Ok(addresses)) => addresses.collect(),
        Ok(Err(_)) => Vec::new(),
        Err(_) => {
            let detail = format!("the name {} took too long to look up", route.host);
            return Err(report.bad("name", detail, format!("pvm add '{name} ip=ADDRESS'")));
        }
    };
    let Some(first) = addresses.first() else {
        let detail = format!("the name {} is not known here", route.host);
        return Err(report.bad("name", detail, format!("pvm add '{name} ip=ADDRESS'")));
    };
    report.good("name", format!("{} is {}", route.host, first.ip()));
    let (at, stream) = match connect(&addresses).await {
        Connected::Open(at, stream) => (at, stream),
        Connected::Refused(at) => {
            report.good("route", format!("{} answers", at.ip()));
            let detail = format!("nothing listens on port {} of {name} ({})", at.port(), at.ip());
            let remedy = format!("on {name}: sudo apt install openssh-server (or start sshd)");
            return Err(report.bad("port", detail, remedy));
        }
        Connected::Silent(at, why) => {
            let detail = format!("no way to {name} ({}): {why}", at.ip());
            return Err(report.bad("route", detail, format!("ping -c 3 {}", at.ip())));
        }
    };
    report.good("route", format!("{} answers", at.ip()));
    if !is_ssh(stream).await {
        let detail = format!("what listens on port {} of {name} is no ssh server", at.port());
        let remedy = format!("put the right Port for {name} into ~/.ssh/config");
        return Err(report.bad("port", detail, remedy));
    }
    report.good("port", format!("an ssh server listens on port {}", at.port()));
    Ok(())
}

/// The destination that ssh would connect to.
struct SshRoute {
    host: String,
    port: u16,
    /// The jump host or command that stands between.
    proxy: Option<String>,
}

impl SshRoute {
    /// As `ssh_config` says.
    async fn of(target: &Target) -> Result<Self, String> {
        let mut ssh = target.ssh();
        ssh.args(["-G", "--", &target.at]).stdin(Stdio::null());
        ssh.stdout(Stdio::piped()).stderr(Stdio::null());
        let asked = async { starter::spawn(ssh).await?.wait_with_output().await };
        let output = timeout(NAME_TIME, asked).await.map_err(|_| "ssh -G takes too long")?;
        let output = output.map_err(|error| {
            format!("{} cannot be started here: {error}", ssh::program().display())
        })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let value = |key: &str| {
            let line = text.lines().find(|line| line.split(' ').next() == Some(key))?;
            Some(line.split_once(' ')?.1.trim().to_owned())
        };
        let proxy = value("proxyjump").map(|jump| format!("jump host {jump}"));
        let command = || Some(format!("ProxyCommand {}", value("proxycommand")?));
        Ok(Self {
            host: value("hostname").unwrap_or_else(|| target.at.clone()),
            port: value("port").and_then(|port| port.parse().ok()).unwrap_or(22),
            proxy: proxy.or_else(command).filter(|proxy| !proxy.ends_with(" none")),
        })
    }
}

enum Connected {
    Open(SocketAddr, TcpStream),
    Refused(SocketAddr),
    Silent(SocketAddr, String),
}

/// Tries all at the same time; the best outcome counts.
async fn connect(addresses: &[SocketAddr]) -> Connected {
    let mut tries = tokio::task::JoinSet::new();
    for at in addresses.iter().copied() {
        tries.spawn(async move { (at, timeout(ROUTE_TIME, TcpStream::connect(at)).await) });
    }
    let mut best = None;
    while let Some(Ok((at, outcome))) = tries.join_next().await {
        match outcome {
            Ok(Ok(stream)) => return Connected::Open(at, stream),
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                best = Some(Connected::Refused(at));
            }
            Ok(Err(error)) if best.is_none() => {
                best = Some(Connected::Silent(at, plain(&error)));
            }
            Err(_) if best.is_none() => {
                let why = format!("no answer within {} s", ROUTE_TIME.as_secs());
                best = Some(Connected::Silent(at, why));
            }
            _ => {}
        }
    }
    let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
    best.unwrap_or_else(|| Connected::Silent(nowhere, "no address".to_owned()))
}

/// Without the number of the error.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

async fn is_ssh(mut stream: TcpStream) -> bool {
    let mut banner = [0; 4];
    matches!(timeout(BANNER_TIME, stream.read_exact(&mut banner)).await, Ok(Ok(_)))
        && &banner == b"SSH-"
}

/// The checks after the login: the shell, the installation and the network, as seen from there.
async fn login(
    line: &HostLine,
    target: &Target,
    (addresses, vmid): (&[String], &str),
    report: &mut Report,
) -> Result<(), Stopped> {
    let id = line.id.as_ref().map_or_else(|| vmid.to_owned(), |id| id.to_text());
    let heard = reach(line, target, (addresses, &id)).await;
    let system = shell(target, &heard, report)?;
    let reached = heard.said.iter().find_map(|line| Reached::in_line(line));
    let reached = pvmd(target, &heard, reached, &system, report)?;
    let name = &target.name;
    report.good("pvmd", format!("NeoPVM {} is installed on {name}", reached.version));
    if reached.protocol != PROTOCOL_VERSION {
        let detail = versions(name, &reached.version, reached.protocol);
        return Err(report.bad("version", detail, format!("pvm add --push {name}")));
    }
    report.good("version", format!("both speak protocol {PROTOCOL_VERSION}"));
    if line.tunnel {
        report.good("callback", "left to the tunnel");
    } else if !reached.any() {
        let detail = no_call(name, &reached.addresses);
        return Err(report.bad("callback", detail, format!("pvm add --tunnel {name}")));
    } else {
        report.good("callback", format!("{name} can call this host"));
    }
    if let Some(socket) = &reached.running {
        let (detail, remedy) = already(&id, socket, reached.member.as_deref());
        let remedy = if remedy.is_empty() { already_remedy(target) } else { remedy };
        return Err(report.bad("join", format!("{name}: {detail}"), remedy));
    }
    Ok(())
}

/// The login and the first words of a shell there; gives the system's name.
fn shell(target: &Target, heard: &Heard, report: &mut Report) -> Result<String, Stopped> {
    let name = &target.name;
    if let Some(system) = &heard.shell {
        report.good("key", format!("the login on {name} works"));
        let noise = heard.said.iter().filter(|line| Reached::in_line(line).is_none()).count();
        let detail = match noise {
            0 => "the shell there runs commands".to_owned(),
            n => format!("the shell there runs commands, after {n} lines of noise (harmless)"),
        };
        report.good("shell", detail);
        return Ok(system.clone());
    }
    if heard.authenticated() {
        report.good("key", format!("the login on {name} works"));
        let said = heard.said.first().cloned().unwrap_or_else(|| heard.complaint());
        let detail = format!("the login shell on {name} runs no command: {said}");
        let remedy = format!("{} true (and mend what its start files do)", target.typed());
        return Err(report.bad("shell", detail, remedy));
    }
    let complaint = heard.complaint();
    if !ssh::is_ssh() {
        return Err(other_shell(target, heard, &complaint, report));
    }
    let all = &heard.complaint;
    let (what, remedy) = if all.contains("HAS CHANGED") {
        ("it has another host key than before", format!("ssh-keygen -R {}", target.at))
    } else if all.contains("Host key verification failed") || all.contains("host key is known") {
        ("its host key is not known here", format!("{} true (and accept its key)", target.typed()))
    } else if all.contains("Permission denied") {
        let copy = target.typed().replacen("ssh ", "ssh-copy-id ", 1);
        ("it does not accept any key of this user", copy)
    } else {
        ("ssh cannot log in", format!("{} -v true", target.typed()))
    };
    Err(report.bad("key", format!("{name}: {what} ({complaint})"), remedy))
}

/// Another program than ssh, which `PVM_RSH` names, has brought no shell.
fn other_shell(target: &Target, heard: &Heard, complaint: &str, report: &mut Report) -> Stopped {
    let (name, program) = (&target.name, ssh::program().display().to_string());
    if heard.no_ssh.is_some() {
        let detail =
            format!("{program}, which PVM_RSH names, cannot be started here ({complaint})");
        return report.bad("key", detail, ssh::remedy());
    }
    let detail = format!(
        "{name}: {program}, which PVM_RSH names, has run no command there ({complaint}); it is \
         given the arguments of ssh"
    );
    report.bad("key", detail, format!("{} true", target.typed()))
}

/// The script's findings about pvmd.
fn pvmd(
    target: &Target,
    heard: &Heard,
    reached: Option<Reached>,
    system: &str,
    report: &mut Report,
) -> Result<Reached, Stopped> {
    if let Some(reached) = reached {
        return Ok(reached);
    }
    let name = &target.name;
    if let Some(tried) = &heard.missing {
        let remedy = push_remedy(name, system);
        return Err(report.bad("pvmd", looked_for(name, tried), remedy));
    }
    // One of before this protocol knows no such question.
    if heard.complaint.contains("unknown argument") {
        report.good("pvmd", format!("there is a pvmd on {name}"));
        return Err(report.bad("version", other_version(name), push_remedy(name, system)));
    }
    let detail = format!("the pvmd on {name} does not run: {}", heard.complaint());
    Err(report.bad("pvmd", detail, push_remedy(name, system)))
}
