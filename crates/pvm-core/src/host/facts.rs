//! The consequences on this host of a change of the agreed state.

use super::Handler;
use crate::agreed::Fact;
use crate::io::Act;

impl Handler<'_> {
    /// Acts on what a command has changed. `mark` is that of a proposal of this host.
    pub(super) fn follow(&mut self, facts: Vec<Fact>, mark: Option<u64>) {
        for fact in facts {
            let out = matches!(fact, Fact::HostOut { host, .. } if host == self.me());
            self.follow_one(fact, mark);
            if out {
                // This host ends: what else has changed concerns the others.
                return;
            }
        }
    }

    fn follow_one(&mut self, fact: Fact, mark: Option<u64>) {
        match fact {
            Fact::HostIn { host } => self.host_is_in(host, mark),
            Fact::HostRefused { key, code } => self.host_refused(key, code, mark),
            Fact::HostOut { host, name, exit } => self.host_is_out(host, &name, exit),
            Fact::LastStays => self.host.departure.stop(),
            Fact::Draining { host, on, changed } => self.host_drained(host, on, changed),
            Fact::HostChanged => self.tell_shell_hosts(),
            Fact::RulesChanged => self.tell_rules(),
            Fact::Departed { group, tid, gone, left } => self.member_gone(&group, tid, gone, left),
            Fact::Frozen { group, asks, size } => self.frozen(&group, asks, size),
            Fact::TaskGone { tid } => self.host.tracers.forget(tid),
            Fact::Group { name, group, departure } => {
                self.act(Act::Group { name, group, departure });
            }
        }
    }
}
