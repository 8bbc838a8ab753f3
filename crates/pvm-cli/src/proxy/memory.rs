//! Exposed memory for a task that has none itself: the proxy reads and writes that of others by its
//! own mappings.

use pvm::Task;
use pvm_wire::proxy::PART_BYTES_MAX;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Blob, Code};

/// Answers what is asked about exposed memory, of this host or of another. Nothing else is asked of
/// a proxy here.
pub(super) fn reach(task: &Task, request: &Request) -> Result<Reply, Code> {
    match request {
        &Request::DescribeMemory { owner, number } => {
            let (bytes, writable) = task.exposed(owner, number)?;
            Ok(Reply::Exposed { bytes, writable })
        }
        &Request::GetMemory { owner, number, offset, bytes } => {
            let size = usize::try_from(bytes).map_err(|_| Code::BadParam)?;
            // A task has what it asks for in its own memory, and so has its proxy meanwhile.
            if size > PART_BYTES_MAX {
                return Err(Code::BadParam);
            }
            let mut out = vec![0; size];
            task.get(owner, number, offset, &mut out)?;
            Ok(Reply::Memory { bytes: Blob(out) })
        }
        Request::PutMemory { owner, number, offset, bytes } => {
            task.put(*owner, *number, *offset, &bytes.0).map(|()| Reply::Done)
        }
        Request::ChangeMemory { owner, number, offset, change } => {
            let before = task.change(*owner, *number, *offset, change.clone())?;
            Ok(Reply::Word { before })
        }
        _ => Err(Code::NotImpl),
    }
}
