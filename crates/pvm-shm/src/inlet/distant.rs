//! Messages that have come and do not lie in memory yet.

use super::{Inlet, Payload, Unmapped, may_pass};
use crate::broker::Broker;
use crate::spill::SpillView;
use pvm_wire::Code;

impl Inlet {
    /// Reads a body out of its file; `None` for the whole, else from an offset on.
    ///
    /// # Errors
    /// [`Code::NoMem`]; [`Code::BadMsg`] if the file is gone or the disk fails.
    #[cold]
    pub fn load(
        &mut self,
        broker: &mut dyn Broker,
        view: &SpillView,
        from: Option<usize>,
    ) -> Result<Vec<u8>, Code> {
        let id = view.segment();
        let fd = match self.file.take() {
            Some((known, fd)) if known == id => fd,
            _ => broker.map_spill(id).map_err(no_room_or_gone)?.1,
        };
        let loaded = match from {
            None => view.load(&fd),
            Some(offset) => {
                let size = view.size().checked_sub(offset).filter(|_| view.is_in(&fd));
                let size = size.ok_or(Code::BadMsg)?;
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(size).map_err(|_| Code::NoMem)?;
                bytes.resize(size, 0);
                view.read_from(&fd, offset, &mut bytes).map(|()| bytes)
            }
        };
        self.file = Some((id, fd));
        loaded
    }

    /// Maps a body that could not be mapped when it came.
    ///
    /// # Errors
    /// [`Code::NoMem`] where that still fails; [`Code::BadMsg`] if it is gone.
    #[cold]
    pub fn map_now(&mut self, broker: &mut dyn Broker, body: &Unmapped) -> Result<Payload, Code> {
        let mapping = self.slabs.find(broker, body.descriptor.segment).map_err(no_room_or_gone)?;
        body.payload(mapping, self.me).ok_or(Code::BadMsg)
    }
}

/// A segment that cannot be mapped for want of memory or descriptors may be mapped later; any other
/// one is gone.
const fn no_room_or_gone(code: Code) -> Code {
    if may_pass(code) { Code::NoMem } else { Code::BadMsg }
}
