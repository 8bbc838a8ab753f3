//! From a line to what it does.

use crate::console::aliases::Loop;
use crate::console::session::{Next, Session};
use crate::console::words::{Unmatched, integer, split};
use crate::console::{help, hosts, mailboxes, spawn, tasks, tracing, variables};
use std::ops::RangeInclusive;

/// A command: its name, how many arguments it takes, and what it does.
type Command = (&'static str, RangeInclusive<usize>, fn(&mut Session, &[String]) -> Next);

const MANY: usize = usize::MAX;
const VERSION: &str = "3.4.6";

const COMMANDS: [Command; 28] = [
    ("add", 1..=MANY, hosts::add),
    ("alias", 0..=MANY, variables::alias),
    ("conf", 0..=0, hosts::conf),
    ("delete", 1..=MANY, hosts::delete),
    ("echo", 0..=MANY, variables::echo),
    ("export", 0..=MANY, variables::export),
    ("getopt", 0..=1, variables::getopt),
    ("halt", 0..=0, |_, _| Next::Halt),
    ("help", 0..=1, help),
    ("id", 0..=0, id),
    ("jobs", 0..=1, tasks::jobs),
    ("kill", 1..=MANY, tasks::kill),
    ("mstat", 1..=MANY, hosts::mstat),
    ("names", 0..=1, mailboxes::names),
    ("ps", 0..=1, tasks::ps),
    ("pstat", 1..=MANY, tasks::pstat),
    ("put", 3..=3, mailboxes::put),
    ("quit", 0..=0, |_, _| Next::Quit),
    ("reset", 0..=3, mailboxes::reset),
    ("setenv", 0..=MANY, variables::setenv),
    ("setopt", 2..=2, variables::setopt),
    ("sig", 2..=MANY, tasks::sig),
    ("spawn", 1..=MANY, spawn::spawn),
    ("tickle", 1..=MANY, tickle),
    ("trace", 0..=MANY, tracing::trace),
    ("unalias", 1..=MANY, variables::unalias),
    ("unexport", 0..=MANY, variables::unexport),
    ("version", 0..=0, version),
];

/// Executes a line.
pub(crate) fn execute(session: &mut Session, line: &str) -> Next {
    let words = match split(line) {
        Ok(words) => words,
        Err(Unmatched(what)) => {
            session.say(format!("unmatched {what}\ncommand too long\n"));
            return Next::Go;
        }
    };
    let words = match session.aliases.expand(words) {
        Ok(words) => words,
        Err(Loop) => {
            session.say("alias loop\n");
            return Next::Go;
        }
    };
    let Some((name, args)) = words.split_first() else { return Next::Go };
    match COMMANDS.iter().find(|(known, _, _)| known == name) {
        None => session.say(format!("{name}: not found\n")),
        Some((_, counts, _)) if !counts.contains(&args.len()) => {
            session.say(format!("{name}: wrong #args\n"));
        }
        Some((_, _, run)) => return run(session, args),
    }
    Next::Go
}

fn help(session: &mut Session, args: &[String]) -> Next {
    session.say(help::page(args.first().map(String::as_str)));
    Next::Go
}

fn id(session: &mut Session, _: &[String]) -> Next {
    session.say(format!("{}\n", session.machine.tid()));
    Next::Go
}

fn version(session: &mut Session, _: &[String]) -> Next {
    session.say(format!("{VERSION}\n"));
    Next::Go
}

/// Our daemon has nothing to tickle; only the debug mask exists.
fn tickle(session: &mut Session, args: &[String]) -> Next {
    let mask = session.settings.value("PvmDebugMask");
    session.say(if integer(&args[0]) == 5 { format!("( {mask} )\n") } else { "( )\n".to_owned() });
    Next::Go
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::machine::Machine;
    use crate::console::screen::Screen;
    use pvm_wire::request::{Failure, HostInfo, HostResult, Reply, Request};
    use pvm_wire::{Blob, Code, Tid};
    use std::cell::RefCell;
    use std::rc::Rc;

    struct OneHost;

    impl Machine for OneHost {
        fn tid(&self) -> Tid {
            Tid(0x40001)
        }
        fn ask(&mut self, request: &Request) -> Result<Reply, Code> {
            match request {
                Request::Config => Ok(Reply::Hosts {
                    hosts: vec![HostInfo {
                        tid: Tid(0x40000),
                        name: "vm".into(),
                        arch: "LINUX64".into(),
                        speed: 1000,
                        signature: 0x0040_8c41,
                        cores: 2,
                        ..HostInfo::default()
                    }],
                }),
                Request::TaskStatus { tid: Tid(0x40001) } => Ok(Reply::Done),
                Request::TaskStatus { .. } => Err(Code::NoTask),
                Request::Spawn { .. } => {
                    Ok(Reply::Spawned { outcomes: vec![0x40002, -7], tried: Vec::new() })
                }
                Request::AddHosts { hosts } | Request::DelHosts { hosts } => {
                    let result = |name: &Blob| match name.0.first() {
                        Some(b'g') => HostResult { outcome: 0x80000, failure: None },
                        _ => HostResult { outcome: -29, failure: Some(Failure::of("ssh refused")) },
                    };
                    Ok(Reply::HostResults { results: hosts.iter().map(result).collect() })
                }
                _ => Ok(Reply::Done),
            }
        }
    }

    struct RecordedScreen(Rc<RefCell<String>>);

    impl Screen for RecordedScreen {
        fn say(&mut self, text: &[u8]) {
            self.0.borrow_mut().push_str(std::str::from_utf8(text).unwrap());
        }
        fn complain(&mut self, text: &str) {
            self.0.borrow_mut().push_str(text);
        }
    }

    fn said(lines: &[&str]) -> String {
        let kept = Rc::new(RefCell::new(String::new()));
        let screen = Box::new(RecordedScreen(Rc::clone(&kept)));
        let mut session = Session::new(Box::new(OneHost), screen, Vec::new());
        for line in lines {
            execute(&mut session, line);
        }
        kept.take()
    }

    #[test]
    fn commands_print_what_the_original_prints() {
        let conf = "1 host, 1 data format\n                    HOST     DTID     ARCH   \
                    SPEED       DSIG\n\
                    \x20                     vm    40000  LINUX64    1000 0x00408c41\n";
        assert_eq!(said(&["alias x conf", "x"]), conf);
        assert_eq!(said(&["conf extra"]), "conf: wrong #args\n");
        assert_eq!(said(&["foo bar", "", "# x"]), "foo: not found\n");
        assert_eq!(said(&["echo 'abc"]), "unmatched '\ncommand too long\n");
        let pstat = "t   40001  run\nlibpvm [t40001]: pvm_pstat(): Bad parameter\nt       0  Bad \
                     parameter\n";
        assert_eq!(said(&["pstat t40001 0"]), pstat);
        assert_eq!(said(&["pstat foo"]), "t       f  No such task\n");
        assert_eq!(
            said(&["setopt PvmAutoErr 0", "pstat 0"]),
            "PvmAutoErr Changed from 1 to 0\nt       0  Bad parameter\n"
        );
    }

    #[test]
    fn hosts_are_told_of_one_by_one() {
        let add = "1 successful\n                    HOST     DTID\n\
                   \x20                   good    80000\n                     bad Can't start \
                   pvmd\n\
                   \nAuto-Diagnosing Failed Hosts...\nbad...\nssh refused\n\n";
        assert_eq!(said(&["add good bad"]), add);
        let nonsense = "0 successful\n                    HOST     DTID\n                   g x=1 \
                        Bad parameter\n\
                        \nAuto-Diagnosing Failed Hosts...\ng x=1...\ng x=1: unknown option \
                        \"x=1\"\n\n";
        assert_eq!(said(&["add 'g x=1'"]), nonsense);
        let delete = "1 successful\n                    HOST  STATUS\n\
                      \x20                   good  deleted\n                     bad  Can't start \
                      pvmd\n";
        assert_eq!(said(&["delete good bad"]), delete);
    }

    #[test]
    fn a_spawn_tells_of_each_task_and_makes_a_job() {
        let text = "[1]\n1 successful\nt40002\nNo such file\n 1: t40002\n";
        assert_eq!(said(&["spawn -2 -> f", "jobs"]), text);
        assert_eq!(said(&["spawn ->", "spawn"]), "incorrect arg count\nspawn: wrong #args\n");
        assert_eq!(said(&["spawn -0 f"]), "libpvm [t40001]: pvm_spawn(): Bad parameter\n");
        assert_eq!(
            said(&["spawn ->/nowhere/x f", "jobs"]),
            "[1]\n/nowhere/x: No such file or directory\n"
        );
    }

    #[test]
    fn the_environment_is_the_consoles_own() {
        let lines = [
            "setenv FOO a b",
            "setenv FOO",
            "export FOO BAR FOO",
            "export",
            "unexport FOO",
            "export",
        ];
        assert_eq!(said(&lines), "a b\nPVM_EXPORT=FOO:BAR\nPVM_EXPORT=BAR\n");
    }
}
