//! Runs that are written down: a paragraph that says what the run proves, at most twelve
//! commands, and the conversation that follows from each.
//!
//! ```text
//! # What it proves.
//! --- commands
//! add 1 2            an operator on host 1 adds two daemons
//! task a 1           a process on host 1 enrols and is called a
//! a spawn worker 2   and so on: see `Script::command`
//! kill 2 | kill 3    both at once, without waiting for what follows
//! --- conversation
//! ...
//! ```

use crate::random::spawn_of;
use crate::show;
use crate::time::MS;
use crate::world::{Happening, World};
use pvm_core::io::{Event, News};
use pvm_wire::request::{Request, Role};
use pvm_wire::{Address, Blob, Envelope, HostIndex, Message, Tid};
use std::collections::BTreeMap;

/// A script longer than this is no longer read as a whole.
const COMMAND_COUNT_MAX: usize = 12;

const COMMANDS: &str = "--- commands\n";
const CONVERSATION: &str = "--- conversation\n";

struct Script {
    world: World,
    /// Host and connection of each named client.
    named: BTreeMap<String, (HostIndex, u64)>,
}

/// Runs the commands of a script; returns the script with the conversation that came of it.
///
/// # Errors
/// What is wrong with the script, or the invariant that did not hold.
pub fn replay(text: &str) -> Result<String, String> {
    let (head, rest) = text.split_once(COMMANDS).ok_or("no commands")?;
    if !head.starts_with("# ") {
        return Err("it does not begin with what it proves".to_owned());
    }
    let commands = rest.split(CONVERSATION).next().unwrap_or(rest);
    let lines: Vec<&str> = commands.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.len() > COMMAND_COUNT_MAX {
        return Err(format!("more than {COMMAND_COUNT_MAX} commands"));
    }
    let mut world = World::new("vm");
    world.journal = Some(Vec::new());
    let mut script = Script { world, named: BTreeMap::new() };
    let mut conversation = String::new();
    for line in lines {
        // Things apart by a bar begin at the same time.
        for command in line.split('|') {
            script.command(command)?;
        }
        script.world.run_until_quiet();
        conversation.push_str(&format!("> {line}\n"));
        for line in script.world.journal.replace(Vec::new()).unwrap_or_default() {
            conversation.push_str(&format!("  {line}\n"));
        }
        if let Some(violation) = script.world.checks.violation() {
            return Err(violation.to_owned());
        }
    }
    Ok(format!("{head}{COMMANDS}{commands}{CONVERSATION}{conversation}"))
}

fn parse<T: std::str::FromStr>(words: &[&str], at: usize) -> Result<T, String> {
    let word = words.get(at).ok_or_else(|| format!("{words:?}: a word is missing"))?;
    word.parse().map_err(|_| format!("{word}: not what is expected here"))
}

impl Script {
    fn host(&self, words: &[&str], at: usize) -> Result<HostIndex, String> {
        parse(words, at).map(HostIndex)
    }

    /// A task by its name or its id.
    fn client(&self, name: &str) -> Result<(HostIndex, u64), String> {
        let enrolled = || {
            self.world.nodes.iter().find_map(|(&host, node)| {
                let connection = node.tasks().find(|(_, tid)| tid.to_string() == name)?.0;
                Some((host, connection))
            })
        };
        self.named.get(name).copied().or_else(enrolled).ok_or_else(|| format!("who is {name}?"))
    }

    fn tid(&self, name: &str) -> Result<Tid, String> {
        let number = name.strip_prefix('t').and_then(|hex| u32::from_str_radix(hex, 16).ok());
        if let Some(number) = number {
            return Ok(Tid(number));
        }
        let (host, connection) = self.client(name)?;
        let node = self.world.nodes.get(&host).ok_or("its host is gone")?;
        node.tasks()
            .find(|task| task.0 == connection)
            .map(|task| task.1)
            .ok_or_else(|| "not enrolled".to_owned())
    }

    /// One command: an event of hosts and links, or a request.
    fn command(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "add" => {
                let host = self.host(&words, 1)?;
                let count = parse(&words, 2)?;
                let operator = self.connect(host, Role::Operator, "operator")?;
                self.world.request(host, operator, Request::AddLocal { count });
            }
            "task" | "operator" => {
                let role = if words[0] == "task" { Role::Task } else { Role::Operator };
                let host = self.host(&words, 2)?;
                self.connect(host, role, words[1])?;
            }
            "crash" => self.world.crash(self.host(&words, 1)?),
            "kill" => self.world.kill(self.host(&words, 1)?),
            // One host takes another for dead.
            "doubt" => {
                let (host, dead) = (self.host(&words, 1)?, self.host(&words, 2)?);
                let news = News::HostDead { host: dead };
                self.world.later(0, Happening::News(host, news));
            }
            "cut" => {
                let heal = parse::<u64>(&words, 3)? * MS;
                self.world.cut(self.host(&words, 1)?, self.host(&words, 2)?, Some(heal));
            }
            "wait" => {
                let until = self.world.now() + parse::<u64>(&words, 1)? * MS;
                self.world.run_until(until);
            }
            who => {
                let (host, connection) = self.client(who)?;
                match self.ask(who, &words)? {
                    Some(request) => self.world.request(host, connection, request),
                    None => self.happen(host, connection, who, &words)?,
                }
            }
        }
        Ok(())
    }

    fn connect(&mut self, host: HostIndex, role: Role, name: &str) -> Result<u64, String> {
        let connection = self.world.connect(host, role).ok_or("no such host")?;
        self.named.insert(name.to_owned(), (host, connection));
        Ok(connection)
    }

    /// An event of a task that is no request: it writes, or its process ends.
    fn happen(
        &mut self,
        host: HostIndex,
        connection: u64,
        who: &str,
        words: &[&str],
    ) -> Result<(), String> {
        let node = self.world.nodes.get(&host).ok_or("its host is gone")?;
        let pid = *node.connections.get(&connection).ok_or("not connected")?;
        match *words.get(1).ok_or("what?")? {
            "ends" => self.world.end_process(host, pid, parse(words, 2)?),
            "writes" => {
                let tid = self.tid(who)?;
                let bytes = Blob::from(words[2..].join(" ").replace("\\n", "\n"));
                let event = Event::Wrote { tid, stream: 1, bytes };
                self.world.later(0, Happening::Event(host, event));
            }
            other => return Err(format!("{other}: no such command")),
        }
        Ok(())
    }

    fn ask(&self, who: &str, words: &[&str]) -> Result<Option<Request>, String> {
        let text =
            |at: usize| -> Result<Blob, String> { parse::<String>(words, at).map(Blob::from) };
        Ok(Some(match *words.get(1).ok_or("what?")? {
            // The second catches no output.
            "spawn" | "spawn-mute" => {
                let flags = parse(words, 4).unwrap_or(0);
                let place = words.get(5).copied().unwrap_or("");
                let output = if words[1] == "spawn" { self.tid(who)? } else { Tid::NONE };
                let spawn = spawn_of(words[2], parse(words, 3)?, flags, place, output);
                Request::Spawn { spawn }
            }
            "run" => Request::Run { spawn: spawn_of(words[2], parse(words, 3)?, 0, "", Tid::NONE) },
            "notify" => {
                let kind = match words[2] {
                    "exit" => 1,
                    "delete" => 2,
                    _ => 3,
                };
                let tids: Result<_, _> = words[4..].iter().map(|name| self.tid(name)).collect();
                let tag = parse(words, 3)?;
                Request::Notify { kind, cancel: false, context: 0, tag, count: -1, tids: tids? }
            }
            "join" => Request::JoinGroup { group: text(2)? },
            "lvgroup" => Request::LeaveGroup { group: text(2)? },
            "members" => Request::GroupMembers { group: text(2)? },
            "barrier" => Request::Barrier { group: text(2)?, count: parse(words, 3)? },
            "put" => {
                let tid = self.tid(who)?;
                let message = Message::of_ints(
                    Envelope::new(tid, Address::untagged(tid)),
                    &[parse(words, 4)?],
                );
                Request::PutInfo { name: text(2)?, flags: parse(words, 3)?, message }
            }
            "get" => Request::RecvInfo {
                name: text(2)?,
                index: parse(words, 3)?,
                flags: parse(words, 4)?,
                context: 0,
            },
            "tasks" => Request::Tasks { place: Tid::NONE },
            "addhost" => Request::AddHosts { hosts: lines(&words[2..]) },
            "known" => Request::KnowHosts { lines: lines(&words[2..]) },
            "delhost" => Request::DelHosts { hosts: lines(&words[2..]) },
            "drain" => Request::DrainHosts { hosts: lines(&words[2..]) },
            "conf" => Request::Config,
            "kill" => Request::Signal { tid: self.tid(words[2])?, signal: 15 },
            "leave" => Request::Leave,
            "route" => Request::OpenRoute { to: self.tid(words[2])? },
            "routes" => Request::SetRoute { allowed: text(2)?.0 == b"on" },
            "broken" => Request::RouteBroken { peer: self.tid(words[2])? },
            "halt" => Request::Halt,
            _ => return Ok(None),
        }))
    }
}

/// Host file lines: in a script `,` stands for the space between a name and its options.
fn lines(words: &[&str]) -> Vec<Blob> {
    words.iter().map(|word| Blob::from(word.replace(',', " "))).collect()
}

/// A message, as a script shows it from an inbox.
pub fn shown(message: &Message) -> String {
    show::message(message)
}
