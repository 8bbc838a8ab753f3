//! Messages in messages: `pvm_pkmesg`, `pvm_pkmesgbody` and `pvm_upkmesg`.

use std::ffi::c_int;

use pvm::Buffer;
use pvm_wire::{Code, Kind};

use crate::buffer;
use crate::guard::call;

/// The buffer `id`, which must not be the send buffer, put into the send buffer, where it begins
/// with items of `first`.
fn pack_other(
    id: c_int,
    first: Kind,
    how: impl FnOnce(&mut Buffer, &Buffer) -> Result<(), Code>,
) -> Result<c_int, Code> {
    let other = buffer::get(id)?;
    if id == buffer::pvm_getsbuf() {
        return Err(Code::BadParam);
    }
    let packed = buffer::sending()?.write_beside(other, first, how);
    packed.map_err(|code| if other.is_empty() { code } else { buffer::not_current(code) })??;
    Ok(0)
}

/// Packs a message with its envelope into the send buffer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_pkmesg(id: c_int) -> c_int {
    call("pvm_pkmesg", || pack_other(id, Kind::Int, Buffer::pack_buffer))
}

/// Packs the items of a message behind those of the send buffer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_pkmesgbody(id: c_int) -> c_int {
    call("pvm_pkmesgbody", || pack_other(id, Kind::Byte, Buffer::pack_body))
}

/// Takes a message out of the receive buffer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_upkmesg() -> c_int {
    call("pvm_upkmesg", || {
        let inner = buffer::receiving()?.with(Buffer::unpack_buffer)??;
        buffer::insert_received(inner)
    })
}
