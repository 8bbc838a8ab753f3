//! The console command `trace`: which calls of spawned tasks are traced, and how.

use crate::console::mask::Mask;
use crate::console::session::{Next, Session};
use crate::console::words::integer;

/// `PvmTraceFull`, `PvmTraceTime`, `PvmTraceCount`.
const OPTIONS: [&str; 3] = ["full", "time", "count"];

/// `trace [+|-] NAME|* ...`, `trace xpvm`, `trace buf [BYTES]`, `trace opt [full|time|count]`
pub(crate) fn trace(session: &mut Session, args: &[String]) -> Next {
    if args.is_empty() {
        let table = session.mask.table();
        session.say(table);
    }
    let mut on = true;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "+" => on = true,
            "-" => on = false,
            "*" => session.mask.set_all(on),
            "xpvm" => session.mask = Mask::default(),
            "buf" => buffer(session, words.next()),
            "opt" => option(session, words.next()),
            name => {
                if !session.mask.set(name, on) {
                    session.say(format!("no such event \"{name}\"\n"));
                }
            }
        }
    }
    Next::Go
}

fn buffer(session: &mut Session, bytes: Option<&String>) {
    match bytes {
        // Every number is taken: the library has no rule for this one.
        Some(bytes) => drop(session.settings.set("PvmTraceBuffer", integer(bytes))),
        None => {
            let bytes = session.settings.value("PvmTraceBuffer");
            session.say(format!("\nTrace Buffering set to {bytes} bytes\n\n"));
        }
    }
}

fn option(session: &mut Session, name: Option<&String>) {
    let Some(name) = name else {
        let number = session.settings.value("PvmTraceOptions");
        let name = usize::try_from(number - 1).ok().and_then(|at| OPTIONS.get(at));
        session.say(format!("\nTrace Options set to \"{}\"\n\n", name.unwrap_or(&"full")));
        return;
    };
    match (1..).zip(OPTIONS).find(|(_, known)| known == name) {
        Some((number, _)) => drop(session.settings.set("PvmTraceOptions", number)),
        None => session.say(format!("\nError:  Unknown Trace Option \"{name}\"\n\n")),
    }
}
