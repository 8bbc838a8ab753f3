//! The rules for two hosts.

use super::{Handler, OrderInput};
use crate::pending::Asker;
use pvm_wire::Blob;
use pvm_wire::hostfile::parse_line;
use pvm_wire::peer::Command;

impl Handler<'_> {
    /// Proposes the rules that lines of hosts name for the machine itself: for each rule the last
    /// line that names it counts.
    pub(super) fn propose_rules(&mut self, lines: &[Blob]) {
        let (mut witness, mut survive) = (None, None);
        for line in lines.iter().filter_map(|line| parse_line(&line.0).ok()) {
            witness = line.witness.or(witness);
            survive = line.survive.or(survive);
        }
        if witness.is_some() || survive.is_some() {
            self.propose(Asker::Nobody, Command::SetRules { witness, survive });
        }
    }

    /// Tells the order of commands the rules.
    pub(super) fn tell_rules(&mut self) {
        self.tell_order(OrderInput::Rules { rules: self.agreed.rules().clone() });
    }

    /// A command has taken out the last other host: if that one led, this one has to.
    pub(super) fn alone_now(&mut self) {
        if self.agreed.hosts().indices() == [self.me()] {
            self.tell_order(OrderInput::Alone);
        }
    }
}
