//! A message between stations.

use crate::action::TaskNumber;
use crate::blame::{Chain, Phase, Told};
use crate::link::csma::Carried;
use crate::unit::Time;

/// A message between its begin and the taking of its last byte.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) serial: u64,
    pub(super) from: TaskNumber,
    pub(super) to: Box<[TaskNumber]>,
    pub(super) bytes: u64,
    /// Four times: its send began, it was handed over, it got the server, the server's work was
    /// done.
    pub(super) began: Time,
    pub(super) handed: Time,
    pub(super) granted: Time,
    pub(super) processed: Time,
    /// The chain of causes of its begin, and the causes of its delay since.
    pub(super) chain: Chain,
    pub(super) way: Told,
    /// The number of receivers that have not taken it.
    pub(super) open: usize,
}

impl Message {
    /// Adds the causes of the delay up to the arrival of a packet.
    pub(super) fn tell(&self, told: &mut Told, packet: &Carried) {
        told.until(Phase::Late, self.began);
        told.until(Phase::Host, self.handed);
        told.until(Phase::Queue, self.granted);
        told.until(Phase::Host, self.processed);
        told.until(Phase::Queue, packet.tried);
        told.until(Phase::Retransmission, packet.began);
        told.until(Phase::Wire, packet.ended);
    }
}
