//! Console commands about named messages: `names`, `put`, `reset`.

use crate::console::session::{Next, Session};
use crate::console::words::integer;
use crate::text;
use pvm_wire::request::{MailboxInfo, Reply, Request};
use pvm_wire::{Address, Code, Envelope, Message, Tid};

/// `names [PATTERN]`
pub(crate) fn names(session: &mut Session, args: &[String]) -> Next {
    let pattern = args.first().map_or("*", |pattern| pattern.as_str());
    let mut shown = String::new();
    for mailbox in matching(session, pattern) {
        shown += &format!("<{}>:\n", text::of(&mailbox.name));
        for entry in &mailbox.entries {
            let (index, owner, flags) = (entry.index, entry.owner.0, entry.flags);
            shown += &format!("\tindex={index} owner=0x{owner:x}/{owner} flags=0x{flags:x}\n");
        }
        shown.push('\n');
    }
    session.say(shown);
    Next::Go
}

fn matching(session: &mut Session, pattern: &str) -> Vec<MailboxInfo> {
    let request = Request::MailboxInfo { pattern: pattern.into() };
    match session.ask("pvm_getmboxinfo", &request) {
        Some(Reply::Mailboxes { mailboxes }) => mailboxes,
        _ => Vec::new(),
    }
}

/// `put NAME FLAGS WORD`: the message holds one int, 0, whatever the third word is.
pub(crate) fn put(session: &mut Session, args: &[String]) -> Next {
    let own = session.machine.tid();
    if args[0].is_empty() {
        session.complain("pvm_putinfo", Code::BadParam);
        return Next::Go;
    }
    let message = Message::of_ints(Envelope::new(own, Address::untagged(own)), &[0]);
    let (name, flags) = (args[0].as_str().into(), integer(&args[1]));
    session.ask("pvm_putinfo", &Request::PutInfo { name, flags, message });
    Next::Go
}

/// `reset`, `reset info [NAME [INDEX]]`
pub(crate) fn reset(session: &mut Session, args: &[String]) -> Next {
    match args {
        [] => {
            session.ask("pvm_reset", &Request::Reset { kill: true });
        }
        [info] if info == "info" => {
            session.ask("pvm_reset", &Request::Reset { kill: false });
        }
        [info, name, index @ ..] if info == "info" => {
            let index = index.first().map(|index| integer(index));
            remove_orphans(session, name, index);
        }
        [other, ..] => session.say(format!("\"{other}\" arg to reset not valid\n")),
    }
    Next::Go
}

/// Entries of the name whose owner is gone. What is not there or not ours is passed over, as the
/// original does.
fn remove_orphans(session: &mut Session, name: &str, only: Option<i32>) {
    for mailbox in matching(session, name) {
        let orphans = mailbox.entries.iter().filter(|entry| entry.owner == Tid::NONE);
        for entry in orphans.filter(|entry| only.is_none_or(|only| only == entry.index)) {
            let (name, index) = (mailbox.name.clone(), entry.index);
            let _ = session.machine.ask(&Request::DelInfo { name, index, flags: 0 });
        }
    }
}
