//! Messages of daemons about the order of commands, to a member that follows, leads or has just
//! been let in, in any order and with any gaps. Each piece of the input is a byte that says what
//! happens, one for its length, and what is said.

use pvm_core::Time;
use pvm_core::quorum::{Member, Quorum, QuorumInput, QuorumOutput};
use pvm_quorum::Core;
use pvm_wire::{Blob, HostIndex, Wire};

const MS: u64 = 1_000_000;
const ME: Member = Member::new(1, HostIndex(1));
const OTHERS: [Member; 2] = [Member::new(2, HostIndex(2)), Member::new(3, HostIndex(3))];

pub(crate) fn run(bytes: &[u8]) {
    let Some((&begins, mut rest)) = bytes.split_first() else { return };
    let mut core = Core::new(begins.into());
    let mut now = 1000 * MS;
    if begins & 1 == 0 {
        core.handle(Time(now), QuorumInput::Begin { me: ME });
        core.handle(Time(now), QuorumInput::Members { members: vec![ME, OTHERS[0], OTHERS[1]] });
    }
    for host in [HostIndex(2), HostIndex(3)] {
        core.handle(Time(now), QuorumInput::Linked { host, up: true });
    }
    let mut applied = 0;
    while let [what, length, more @ ..] = rest {
        let (said, behind) = more.split_at(usize::from(*length).min(more.len()));
        rest = behind;
        now += u64::from(*what >> 4) * 50 * MS;
        match what & 0xf {
            0 => core.handle_timeout(Time(now)),
            1 => core.handle(
                Time(now),
                QuorumInput::Propose { command: Blob(said.to_vec()), without: None },
            ),
            2 => core.handle(Time(now), QuorumInput::Transfer { to: None }),
            3 => core.handle(Time(now), QuorumInput::Gone { host: OTHERS[0].host() }),
            _ => core.handle(Time(now), heard(*what, said)),
        }
        while let Some(output) = core.poll_output() {
            if let QuorumOutput::Apply { number, .. } | QuorumOutput::Adopt { number, .. } = output
            {
                assert!(number > applied, "{number} is applied behind {applied}");
                applied = number;
            }
        }
        let _ = (core.poll_timeout(), core.is_current(Time(now)), core.is_arranged());
    }
}

/// One of the others says this, in a term that the first byte of it chooses.
fn heard(what: u8, said: &[u8]) -> QuorumInput {
    let from = OTHERS[usize::from(what & 1)];
    let (term, word) = said.split_first().map_or((0, said), |(&term, word)| (term, word));
    let mut bytes = (from, ME).to_bytes();
    u64::from(term).encode(&mut bytes);
    bytes.extend_from_slice(word);
    QuorumInput::Heard { host: from.host(), bytes: Blob(bytes) }
}
