//! Everything that a console command works on.

use crate::console::aliases::Aliases;
use crate::console::arrival::Arrival;
use crate::console::jobs::Jobs;
use crate::console::machine::Machine;
use crate::console::mask::Mask;
use crate::console::screen::Screen;
use crate::console::settings::Settings;
use crate::text;
use pvm_wire::request::{HostInfo, Reply, Request};
use pvm_wire::{Code, Tid};

/// The console's next step after a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// The next command.
    Go,
    /// The end; the machine goes on.
    Quit,
    /// The end of the machine too.
    Halt,
}

/// A console at work.
pub(crate) struct Session {
    /// The machine.
    pub(crate) machine: Box<dyn Machine>,
    /// The destination of output.
    pub(crate) screen: Box<dyn Screen>,
    /// Variables: the console's own copy of its environment, in its order.
    pub(crate) variables: Vec<(String, String)>,
    /// Short names.
    pub(crate) aliases: Aliases,
    /// PVM's options.
    pub(crate) settings: Settings,
    /// The mask of traced calls.
    pub(crate) mask: Mask,
    /// Running jobs.
    pub(crate) jobs: Jobs,
    /// Hosts that this console added itself: no news when the notice comes.
    pub(crate) added: Vec<Tid>,
}

impl Session {
    /// A session that has done nothing yet.
    pub(crate) fn new(
        machine: Box<dyn Machine>,
        screen: Box<dyn Screen>,
        variables: Vec<(String, String)>,
    ) -> Self {
        Self {
            machine,
            screen,
            variables,
            aliases: Aliases::default(),
            settings: Settings::default(),
            mask: Mask::default(),
            jobs: Jobs::default(),
            added: Vec::new(),
        }
    }

    /// Prints.
    pub(crate) fn say(&mut self, text: impl AsRef<str>) {
        self.screen.say(text.as_ref().as_bytes());
    }

    /// Prints the message of PVM's library when `call` fails, if `PvmAutoErr` asks for it.
    pub(crate) fn complain(&mut self, call: &str, code: Code) {
        if self.settings.value("PvmAutoErr") != 0 {
            let tid = self.machine.tid();
            self.screen.complain(&format!("libpvm [{tid}]: {call}(): {code}\n"));
        }
    }

    /// Asks the machine; a failure is reported as one of the call `call`.
    pub(crate) fn ask(&mut self, call: &str, request: &Request) -> Option<Reply> {
        let answer = self.machine.ask(request);
        answer.map_err(|code| self.complain(call, code)).ok()
    }

    /// The hosts; none if the daemon does not answer.
    pub(crate) fn hosts(&mut self) -> Vec<HostInfo> {
        match self.ask("pvm_config", &Request::Config) {
            Some(Reply::Hosts { hosts }) => hosts,
            _ => Vec::new(),
        }
    }

    /// A variable's value.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Sets a variable.
    pub(crate) fn set_variable(&mut self, name: &str, value: String) {
        match self.variables.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.variables.push((name.to_owned(), value)),
        }
    }

    /// The text that the console shows for a message that came.
    pub(crate) fn take(&mut self, arrival: Arrival) -> Vec<u8> {
        match arrival {
            Arrival::Output { job, tid, what } => {
                let marked = self.settings.value("PvmShowTids") != 0;
                self.jobs.take(job, tid, what, marked)
            }
            Arrival::Trace { job, words } => self.jobs.take_trace(job, &words),
            Arrival::HostsAdded(tids) => self.news_of_hosts(tids).into_bytes(),
            Arrival::Lost => Vec::new(),
        }
    }

    fn news_of_hosts(&mut self, mut tids: Vec<Tid>) -> String {
        let own: Vec<Tid> = self.added.extract_if(.., |tid| tids.contains(tid)).collect();
        tids.retain(|tid| !own.contains(tid));
        if tids.is_empty() {
            return String::new();
        }
        let (count, plural) = (tids.len(), if tids.len() == 1 { "" } else { "s" });
        let mut text = format!("\nConsole: {count} new host{plural} added\n");
        text += "                    HOST     DTID     ARCH   SPEED\n";
        for host in self.hosts().iter().filter(|host| tids.contains(&host.tid)) {
            let (name, arch) = (text::of(&host.name), text::of(&host.arch));
            text += &format!("{name:>24} {:>8x} {arch:>8} {:>7}\n", host.tid.0, host.speed);
        }
        text
    }
}
