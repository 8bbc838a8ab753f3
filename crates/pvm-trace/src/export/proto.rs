//! The few shapes of protobuf that Perfetto's packets need.

use crate::varint;

/// Writes a number.
pub(super) fn number(out: &mut Vec<u8>, field: u32, value: u64) {
    varint::put(out, u64::from(field) << 3);
    varint::put(out, value);
}

/// Writes a number of eight bytes.
pub(super) fn fixed(out: &mut Vec<u8>, field: u32, value: u64) {
    varint::put(out, u64::from(field) << 3 | 1);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Writes a text, or a message that was built.
pub(super) fn bytes(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    varint::put(out, u64::from(field) << 3 | 2);
    varint::put(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Writes a message within a message. `scratch` is empty before and after.
pub(super) fn message(
    out: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
    field: u32,
    fill: impl FnOnce(&mut Vec<u8>),
) {
    fill(scratch);
    bytes(out, field, scratch);
    scratch.clear();
}
