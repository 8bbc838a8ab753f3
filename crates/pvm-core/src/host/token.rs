//! A host joins by a token: it is not started from here, so no request waits for it either.

use super::{Handler, SECOND_NS};
use crate::deadline::Precedence;
use crate::io::Act;
use crate::pending::{Addition, Asker, Start};
use pvm_wire::request::Reply;
use pvm_wire::route::Secret;
use pvm_wire::{Blob, Code, HostIndex, Wire as _};

/// No token is good for longer.
const SECONDS_MAX: u32 = 24 * 3600;
/// The time that a host that has used its token may take to become a member.
const JOIN_NS: u64 = 20 * SECOND_NS;
/// Tokens and other hosts that may be waited for: as many as a machine has places.
const STARTS_MAX: usize = HostIndex::MAX.0 as usize;

impl Handler<'_> {
    /// [`pvm_wire::request::Request::Token`].
    pub(super) fn token(&mut self, asker: Asker, seconds: u32) {
        if !(1..=SECONDS_MAX).contains(&seconds) {
            return self.fail(asker, Code::BadParam);
        }
        if self.host.pending.starts.values().count() >= STARTS_MAX {
            return self.fail(asker, Code::OutOfRes);
        }
        let addition = self.host.pending.number();
        let nobody = Addition {
            asker: Asker::Nobody,
            results: vec![None],
            precedence: Precedence::Open,
            new: Vec::new(),
        };
        self.host.pending.additions.insert(addition, nobody);
        let ticket = self.host.pending.number();
        let deadline = self.after(u64::from(seconds) * SECOND_NS + JOIN_NS);
        // Without a line it keeps the name that it has.
        let line = Blob::default();
        let start = Start { addition, place: 0, deadline, facts: None, proposed: false, line };
        self.host.pending.starts.insert(ticket, start);
        self.act(Act::Token { ticket, mark: Blob(asker.to_bytes()), seconds });
    }

    /// The shell has made it.
    pub(super) fn token_made(&mut self, mark: &Blob, token: Secret) {
        if let Ok(asker) = Asker::from_bytes(&mark.0) {
            self.answer(asker, Reply::Token { token });
        }
    }
}
