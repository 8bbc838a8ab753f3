//! The program `testbed`: `up` and `hosts` start a keeper, which makes the machine, prints the
//! environment, and stays until the caller ends.

use crate::words::{Arguments, UpOptions};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use testbed::hosts::{self, Network};
use testbed::keeper::{self, Caller};
use testbed::{HomeFolder, Place, eventually, machine, process, shell};

/// The variable that names the folder.
const FOLDER: &str = "TESTBED";
/// The file in it with the environment: `NAME=value`, each ended by a zero byte.
const ENVIRONMENT: &str = "environment";
/// The keeper's last line after the environment, where all is well.
const READY: &str = "# ready";
/// The first word of a keeper's line that has an exit status and the first line of a reason.
const FAILED: &str = "# failed ";
/// Hosts and keepers are gone within this.
const END: Duration = Duration::from_secs(60);

/// The reason why nothing was done, or the list of what was left.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: u8,
    pub(crate) words: String,
}

impl From<String> for Failure {
    fn from(words: String) -> Self {
        Self { status: 1, words }
    }
}

type Variables = Vec<(String, OsString)>;

/// The things that live as long as the keeper.
struct Resources {
    _place: Place,
    _daemons: Vec<Child>,
    _network: Option<Network>,
}

/// Starts a keeper and prints what it tells.
pub(crate) fn begin(what: &str, words: Arguments) -> Result<(), Failure> {
    let words = words.rest();
    let caller = std::os::unix::process::parent_id().to_string();
    let this = std::env::current_exe().map_err(|error| format!("testbed: {error}"))?;
    let mut keeper = Command::new(this);
    keeper.args([keeper::KEEP, &caller, what]).args(words);
    keeper.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut keeper = keeper.spawn().map_err(|error| format!("testbed: a keeper: {error}"))?;
    let mut told = Vec::new();
    for line in BufReader::new(keeper.stdout.take().expect("piped")).split(b'\n') {
        let line = line.map_err(|error| format!("testbed: the keeper: {error}"))?;
        if line == READY.as_bytes() {
            let printed = std::io::stdout().write_all(&told);
            return printed.map_err(|error| format!("testbed: standard output: {error}").into());
        }
        told.extend(line);
        told.push(b'\n');
    }
    Err(failure(&String::from_utf8_lossy(&told)))
}

/// The failure that a keeper has reported.
fn failure(told: &str) -> Failure {
    let reason = told.split_once(FAILED).and_then(|(_, reason)| reason.split_once(' '));
    let Some((status, words)) = reason else {
        return format!("testbed: the keeper ended before anything was ready: {told}").into();
    };
    Failure { status: status.parse().unwrap_or(1), words: words.trim_end().to_owned() }
}

/// The keeper: `keep PID [up|hosts WORDS]`.
pub(crate) fn keep(mut words: Arguments) -> Result<(), Failure> {
    let caller = words.next().and_then(|word| word.parse().ok());
    let caller: u32 = caller.ok_or_else(|| "testbed keep: no process".to_owned())?;
    let what = words.next();
    let wanted = UpOptions::read(words);
    let named = wanted.as_ref().ok().and_then(|wanted| wanted.caller);
    let caller = Caller::find(named.unwrap_or(caller))?;
    keeper::begin();
    let made = match what.as_deref() {
        None => None,
        Some(what) => match wanted.map_err(Failure::from).and_then(|wanted| make(what, &wanted)) {
            Ok((held, lines)) => {
                tell(&lines, READY);
                Some(held)
            }
            Err(failure) => {
                tell(b"", &format!("{FAILED}{} {}", failure.status, failure.words));
                keeper::end();
                return Err(failure);
            }
        },
    };
    caller.await_end();
    drop(made);
    keeper::end();
    Ok(())
}

/// Prints the lines; the reader may have gone.
fn tell(lines: &[u8], last: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(lines).and_then(|()| writeln!(out, "{last}")).and_then(|()| out.flush());
}

fn make(what: &str, wanted: &UpOptions) -> Result<(Resources, Vec<u8>), Failure> {
    let place = Place::of_keeper().map_err(|error| format!("testbed: a folder: {error}"))?;
    let mut variables = variables(&place, wanted);
    let (mut daemons, mut network) = (Vec::new(), None);
    if what == "hosts" {
        let made = Network::up(wanted.count()?, wanted.operands.get(1).map(String::as_str));
        let made = made.map_err(|refusal| Failure {
            status: if refusal.impossible { hosts::SKIPPED as u8 } else { 1 },
            words: refusal.words,
        })?;
        variables.push(("HOSTS_DIR".to_owned(), made.folder().into()));
        network = Some(made);
    } else if let Some(prefix) = &wanted.prefix {
        daemons = machine::start(&place, prefix, wanted.count()?, wanted.home)?;
    } else if wanted.count()? > 0 {
        return Err("testbed up: a machine needs --prefix FOLDER".to_owned().into());
    }
    write(&place, &variables).map_err(|error| format!("testbed: {error}"))?;
    Ok((Resources { _place: place, _daemons: daemons, _network: network }, lines(&variables)))
}

fn variables(place: &Place, wanted: &UpOptions) -> Variables {
    let owned = |(name, value): (&str, OsString)| (name.to_owned(), value);
    let mut all: Variables = place.environment(wanted.home).into_iter().map(owned).collect();
    all.push((FOLDER.to_owned(), place.folder().into()));
    if let Some(prefix) = &wanted.prefix {
        let mut path = prefix.join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        all.extend([("PVM_ROOT".to_owned(), prefix.into()), ("PATH".to_owned(), path)]);
    }
    all
}

/// The lines for a shell.
fn lines(variables: &Variables) -> Vec<u8> {
    let is_set = |name: &&&str| variables.iter().any(|(known, _)| known == **name);
    let cleared: Vec<&str> = Place::CLEARED.iter().filter(|name| !is_set(name)).copied().collect();
    let mut lines = format!("unset {}\n", cleared.join(" ")).into_bytes();
    lines.extend(shell::exports(variables));
    lines
}

fn write(place: &Place, variables: &Variables) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    for (name, value) in variables {
        bytes.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
    }
    std::fs::write(place.folder().join(ENVIRONMENT), bytes)
}

/// The folder that the environment names, and the variables that are noted in it.
fn found() -> Result<(PathBuf, Variables), Failure> {
    let none = || "testbed: TESTBED is not set: begin with `eval \"$(testbed up)\"`".to_owned();
    let folder = PathBuf::from(std::env::var_os(FOLDER).ok_or_else(none)?);
    let file = folder.join(ENVIRONMENT);
    let read = std::fs::read(&file);
    let bytes = read.map_err(|error| format!("testbed: {}: {error}", file.display()))?;
    let parts = bytes.split(|byte| *byte == 0).filter_map(|part| {
        let at = part.iter().position(|byte| *byte == b'=')?;
        let name = String::from_utf8_lossy(&part[..at]).into_owned();
        Some((name, OsString::from_vec(part[at + 1..].to_vec())))
    });
    Ok((folder.clone(), parts.collect()))
}

/// `env`
pub(crate) fn show() -> Result<(), Failure> {
    let (_, variables) = found()?;
    let printed = std::io::stdout().write_all(&lines(&variables));
    printed.map_err(|error| format!("testbed: standard output: {error}").into())
}

/// `clear`
pub(crate) fn clear() -> Result<(), Failure> {
    let (folder, _) = found()?;
    testbed::kill_all_of(&folder);
    Ok(())
}

/// `down`
pub(crate) fn down() -> Result<(), Failure> {
    let (folder, variables) = found()?;
    let value = |name: &str| {
        let found = variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| PathBuf::from(value))
    };
    let home = if value("HOME").is_some() { HomeFolder::Own } else { HomeFolder::Callers };
    let place = Place::found(folder);
    let keeper = place.keeper();
    let left = value("PVM_ROOT").map(|prefix| machine::halt(&place, &prefix, home));
    // The keeper ends last: without one another keeper would take the place for a left one, and
    // kill this process as one of it.
    drop(place);
    end_keeper(keeper, value("HOSTS_DIR").as_deref());
    match left {
        Some(left) if !left.is_empty() => {
            let list = left.join("\n  ");
            Err(format!("testbed: the machine has left behind\n  {list}").into())
        }
        _ => Ok(()),
    }
}

/// Ends the keeper, and with it the hosts, whose standard input it holds.
fn end_keeper(keeper: Option<u32>, hosts: Option<&Path>) {
    if let Some(keeper) = keeper.filter(|keeper| process::lives(*keeper)) {
        process::end(keeper);
        eventually(END, || !process::lives(keeper));
    }
    if let Some(hosts) = hosts {
        eventually(END, || !hosts.exists());
    }
}
