//! A message on its way to another host.

use crate::Payload;
use crate::slab::SlabView;
use pvm_wire::spread::{self, Receiver};
use pvm_wire::{Code, Envelope};

/// A message on its way to another host.
#[derive(Debug)]
pub struct Parcel {
    /// Its envelope.
    pub envelope: Envelope,
    /// Its body.
    pub payload: Payload,
    /// The receivers, if it is for several.
    pub receivers: Vec<Receiver>,
    /// The list of receivers is needed again by a daemon that takes over.
    #[expect(dead_code, reason = "held, not read")]
    pub(super) list: Option<SlabView>,
}

impl Parcel {
    /// A message that holds no list of receivers in a slab.
    pub const fn new(envelope: Envelope, payload: Payload, receivers: Vec<Receiver>) -> Self {
        Self { envelope, payload, receivers, list: None }
    }
}

/// Bytes of the body and of the list of receivers behind it; none if nothing can be that long.
pub(super) fn sizes(envelope: &Envelope) -> Option<(usize, usize)> {
    let size = usize::try_from(envelope.body_size()).ok()?;
    let receivers = if envelope.is_spread() { envelope.sequence } else { 0 };
    let list_size = usize::try_from(receivers).ok()?.checked_mul(Receiver::SIZE)?;
    size.checked_add(list_size).map(|_| (size, list_size))
}

/// The receivers of a list in a slab.
pub(super) fn read_list(view: &SlabView, at: usize, size: usize) -> Result<Vec<Receiver>, Code> {
    let mut list = vec![0; size];
    view.read(at, &mut list);
    receivers(&list)
}

pub(super) fn receivers(list: &[u8]) -> Result<Vec<Receiver>, Code> {
    if list.is_empty() { Ok(Vec::new()) } else { spread::from_bytes(list).ok_or(Code::BadMsg) }
}
