//! Console commands about its own state: `setenv`, `export`, `unexport`, `getopt`, `setopt`,
//! `alias`, `unalias`, `echo`.

use crate::console::session::{Next, Session};
use crate::console::words::integer;
use pvm_wire::request::Request;

const EXPORT: &str = "PVM_EXPORT";

/// `setenv [NAME [VALUE ...]]`
pub(crate) fn setenv(session: &mut Session, args: &[String]) -> Next {
    match args {
        [] => {
            let lines = session.variables.iter().map(|(name, value)| format!("{name}={value}\n"));
            let text: String = lines.collect();
            session.say(text);
        }
        [name] => {
            if let Some(value) = session.variable(name).map(|value| format!("{value}\n")) {
                session.say(value);
            }
        }
        [name, values @ ..] => session.set_variable(name, values.join(" ")),
    }
    Next::Go
}

fn exported(session: &Session) -> Vec<String> {
    let list = session.variable(EXPORT).unwrap_or_default();
    list.split(':').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// `export [NAME ...]`
pub(crate) fn export(session: &mut Session, args: &[String]) -> Next {
    let mut names = exported(session);
    if args.is_empty() {
        session.say(format!("{EXPORT}={}\n", names.join(":")));
        return Next::Go;
    }
    for name in args {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    session.set_variable(EXPORT, names.join(":"));
    Next::Go
}

/// `unexport [NAME ...]`
pub(crate) fn unexport(session: &mut Session, args: &[String]) -> Next {
    let mut names = exported(session);
    names.retain(|name| !args.contains(name));
    if !args.is_empty() {
        session.set_variable(EXPORT, names.join(":"));
    }
    Next::Go
}

/// `getopt [NAME]`
pub(crate) fn getopt(session: &mut Session, args: &[String]) -> Next {
    let line = |(name, value): &(&str, i32)| format!("{name} Currently Set to {value}\n");
    let text = match args.first() {
        None => session.settings.all().iter().map(line).collect(),
        Some(name) => match session.settings.find(name) {
            Some(value) => line(&(name, value)),
            None => format!("PVM Option \"{name}\" Unknown.\n"),
        },
    };
    session.say(text);
    Next::Go
}

/// `setopt NAME VALUE`
pub(crate) fn setopt(session: &mut Session, args: &[String]) -> Next {
    let (name, value) = (args[0].as_str(), integer(&args[1]));
    if session.settings.find(name).is_none() {
        session.say(format!("PVM Option \"{name}\" Unknown.\n"));
        return Next::Go;
    }
    let old = match session.settings.set(name, value) {
        Ok(old) => {
            tell_machine(session, name, value);
            old
        }
        Err(code) => {
            session.complain("pvm_setopt", code);
            code.number()
        }
    };
    session.say(format!("{name} Changed from {old} to {value}\n"));
    Next::Go
}

/// Some options are the daemon's business.
fn tell_machine(session: &mut Session, name: &str, value: i32) {
    let request = match name {
        "PvmNoReset" => Request::SetReset { reset: value == 0 },
        "PvmSelfOutputTid" | "PvmSelfOutputCode" => {
            Request::SetOutput { output: session.settings.target("SelfOutput") }
        }
        _ => return,
    };
    session.ask("pvm_setopt", &request);
}

/// `alias [NAME [COMMAND ARGS]]`
pub(crate) fn alias(session: &mut Session, args: &[String]) -> Next {
    match args {
        [] => session.say(session.aliases.list(None)),
        [name] => session.say(session.aliases.list(Some(name))),
        [name, words @ ..] => session.aliases.define(name, words),
    }
    Next::Go
}

/// `unalias NAME ...`
pub(crate) fn unalias(session: &mut Session, args: &[String]) -> Next {
    for name in args {
        session.aliases.forget(name);
    }
    Next::Go
}

/// `echo [ARGS]`
pub(crate) fn echo(session: &mut Session, args: &[String]) -> Next {
    session.say(args.join(" ") + "\n");
    Next::Go
}
