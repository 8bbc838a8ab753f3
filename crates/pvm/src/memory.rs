//! Exposed memory as a task knows it: its own, and that of others which it has mapped.

use crate::sys::gate::Gate;
use pvm_shm::exposed::Exposed;
use pvm_shm::recent::Recent;
use pvm_wire::{Code, Tid};
use std::collections::BTreeMap;

/// Mappings of other tasks' memory that are kept.
const KEPT: usize = 256;

/// A task's exposed memory. The address is good until it is withdrawn, in this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// Its address. Other tasks read and write there at any time: form no reference.
    pub address: *mut u8,
    /// The size in bytes.
    pub bytes: usize,
}

/// A task's own exposed memory, which stays mapped while this lives: also when it is withdrawn, and
/// nobody else reaches it any more.
#[derive(Clone, Debug)]
pub struct ExposedMemory(pub(crate) Exposed);

impl ExposedMemory {
    /// Its address and its size.
    pub fn memory(&self) -> Memory {
        Memory { address: self.0.address(), bytes: self.0.bytes() }
    }
}

/// The memory that is mapped here.
#[derive(Debug)]
pub(crate) struct Memories(Gate<Mapped>);

#[derive(Debug)]
struct Mapped {
    own: BTreeMap<u32, Exposed>,
    others: Recent<(Tid, u32), Exposed>,
    count: usize,
}

impl Memories {
    pub(crate) const fn new() -> Self {
        Self(Gate::new(Mapped { own: BTreeMap::new(), others: Recent::new(), count: 0 }))
    }

    /// Memory of another task, if it is known. Of no more use: forgotten, and asked for again.
    #[inline]
    pub(crate) fn find(&self, key: (Tid, u32)) -> Result<Option<Exposed>, Code> {
        let mut mapped = self.0.enter()?;
        let Some(found) = mapped.others.get_mut(key) else { return Ok(None) };
        if found.check().is_ok() {
            return Ok(Some(found.clone()));
        }
        mapped.others.remove(key);
        mapped.count -= 1;
        Ok(None)
    }

    pub(crate) fn keep(&self, key: (Tid, u32), exposed: Exposed) -> Result<(), Code> {
        let mut mapped = self.0.enter()?;
        if mapped.count >= KEPT {
            mapped.others = Recent::new();
            mapped.count = 0;
        }
        if mapped.others.get(key).is_none() {
            mapped.count += 1;
        }
        mapped.others.insert(key, exposed);
        Ok(())
    }

    pub(crate) fn own(&self, number: u32) -> Result<Option<Exposed>, Code> {
        Ok(self.0.enter()?.own.get(&number).cloned())
    }

    pub(crate) fn add_own(&self, number: u32, exposed: Exposed) -> Result<(), Code> {
        self.0.enter()?.own.insert(number, exposed);
        Ok(())
    }

    /// The mapping goes when it is dropped.
    pub(crate) fn remove_own(&self, number: u32) -> Result<Option<Exposed>, Code> {
        Ok(self.0.enter()?.own.remove(&number))
    }
}
