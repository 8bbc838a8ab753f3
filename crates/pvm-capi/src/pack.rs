//! Packing and unpacking: `pvm_pk*` and `pvm_upk*` of each type.

pub(crate) mod fast;
mod formatted;
pub(crate) mod items;
pub(crate) mod messages;
pub(crate) mod texts;

use std::ffi::{c_char, c_double, c_float, c_int, c_long, c_short, c_void};

use pvm::FEW;
use pvm_wire::{Code, Kind};

use crate::guard::{brief_call, call_here};
use crate::trace::noting::Begun;
use crate::trace::{kind, traced};
use crate::{buffer, probe};
use items::{Items, pack, unpack};

/// One pack call on the current send buffer.
#[inline]
unsafe fn pack_call(
    name: &str,
    kind: Kind,
    first: *mut c_void,
    count: c_int,
    stride: c_int,
) -> c_int {
    call_here(name, |thread| {
        let items = Items::new(first, count, stride)?;
        let slot = thread.sending.slot().ok_or(Code::NoBuf)?;
        // SAFETY: the exported call asks the program for items that can be read.
        let packed = slot.write(kind, |buffer| unsafe { pack(buffer, kind, items) });
        packed.map_err(buffer::not_current)??;
        Ok(0)
    })
}

/// One unpack call on the current receive buffer.
#[inline]
unsafe fn unpack_call(
    name: &str,
    kind: Kind,
    first: *mut c_void,
    count: c_int,
    stride: c_int,
) -> c_int {
    call_here(name, |thread| {
        let items = Items::new(first, count, stride)?;
        let slot = thread.receiving.slot().ok_or(Code::NoBuf)?;
        // SAFETY: the exported call asks the program for items that can be written.
        let unpacked = slot.with(|buffer| unsafe { unpack(buffer, kind, items) });
        unpacked.map_err(buffer::not_current)??;
        Ok(0)
    })
}

macro_rules! typed_calls {
    ($($pack:ident $unpack:ident $item:ty, $kind:ident, $packed:ident $unpacked:ident;)*) => {$(
        /// Packs `count` items that lie `stride` apart.
        ///
        /// # Safety
        /// The items can be read.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $pack(
            items: *const $item,
            count: c_int,
            stride: c_int,
        ) -> c_int {
            #[inline(never)]
            unsafe fn long(items: *const $item, count: c_int, stride: c_int) -> c_int {
                traced!(
                    unsafe $packed,
                    $pack(items, count, stride),
                    [PDA: items, PC: count, PSD: stride],
                    |r| [CC: r]
                );
                let items = items.cast_mut().cast();
                // SAFETY: the items can be read, by this call's contract; packing does not write
                // through the cast.
                unsafe { pack_call(stringify!($pack), Kind::$kind, items, count, stride) }
            }
            #[inline(never)]
            unsafe fn noted(items: *const $item, count: c_int, stride: c_int) -> Option<()> {
                let begun = Begun::now()?;
                // SAFETY: as above.
                unsafe { fast::pack(Kind::$kind, items.cast_mut().cast(), count, stride) }?;
                begun.end(kind::$packed, 0, count as usize * Kind::$kind.size());
                Some(())
            }
            #[inline(never)]
            unsafe fn rest(items: *const $item, count: c_int, stride: c_int) -> c_int {
                let done = if probe::is_on() {
                    // SAFETY: as above.
                    unsafe { noted(items, count, stride) }
                } else {
                    // SAFETY: as above.
                    unsafe { fast::pack(Kind::$kind, items.cast_mut().cast(), count, stride) }
                };
                match done {
                    Some(()) => 0,
                    // SAFETY: as above.
                    None => unsafe { long(items, count, stride) },
                }
            }
            if count as usize > FEW / Kind::$kind.size() {
                // SAFETY: as above.
                return unsafe { rest(items, count, stride) };
            }
            brief_call(
                // SAFETY: as above.
                |thread, owner| unsafe {
                    let items = items.cast_mut().cast();
                    fast::pack_few(thread, owner, (Kind::$kind, items, count, stride))
                },
                // SAFETY: as above.
                || unsafe { rest(items, count, stride) },
            )
        }

        /// Unpacks `count` items that are to lie `stride` apart.
        ///
        /// # Safety
        /// The items can be written.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $unpack(
            items: *mut $item,
            count: c_int,
            stride: c_int,
        ) -> c_int {
            #[inline(never)]
            unsafe fn long(items: *mut $item, count: c_int, stride: c_int) -> c_int {
                traced!(
                    unsafe $unpacked,
                    $unpack(items, count, stride),
                    [PDA: items, PC: count, PSD: stride],
                    |r| [CC: r]
                );
                // SAFETY: the items can be written, by this call's contract.
                unsafe {
                    unpack_call(stringify!($unpack), Kind::$kind, items.cast(), count, stride)
                }
            }
            #[inline(never)]
            unsafe fn noted(items: *mut $item, count: c_int, stride: c_int) -> Option<()> {
                let begun = Begun::now()?;
                // SAFETY: as above.
                unsafe { fast::unpack(Kind::$kind, items.cast(), count, stride) }?;
                begun.end(kind::$unpacked, 0, count as usize * Kind::$kind.size());
                Some(())
            }
            #[inline(never)]
            unsafe fn rest(items: *mut $item, count: c_int, stride: c_int) -> c_int {
                let done = if probe::is_on() {
                    // SAFETY: as above.
                    unsafe { noted(items, count, stride) }
                } else {
                    // SAFETY: as above.
                    unsafe { fast::unpack(Kind::$kind, items.cast(), count, stride) }
                };
                match done {
                    Some(()) => 0,
                    // SAFETY: as above.
                    None => unsafe { long(items, count, stride) },
                }
            }
            if count as usize > FEW / Kind::$kind.size() {
                // SAFETY: as above.
                return unsafe { rest(items, count, stride) };
            }
            brief_call(
                // SAFETY: as above.
                |thread, owner| unsafe {
                    fast::unpack_few(thread, owner, (Kind::$kind, items.cast(), count, stride))
                },
                // SAFETY: as above.
                || unsafe { rest(items, count, stride) },
            )
        }
    )*};
}

typed_calls! {
    pvm_pkbyte pvm_upkbyte c_char, Byte, PKBYTE UPKBYTE;
    pvm_pkshort pvm_upkshort c_short, Short, PKSHORT UPKSHORT;
    pvm_pkushort pvm_upkushort c_short, Ushort, PKUSHORT UPKUSHORT;
    pvm_pkint pvm_upkint c_int, Int, PKINT UPKINT;
    pvm_pkuint pvm_upkuint c_int, Uint, PKUINT UPKUINT;
    pvm_pklong pvm_upklong c_long, Long, PKLONG UPKLONG;
    pvm_pkulong pvm_upkulong c_long, Ulong, PKULONG UPKULONG;
    pvm_pkfloat pvm_upkfloat c_float, Float, PKFLOAT UPKFLOAT;
    pvm_pkdouble pvm_upkdouble c_double, Double, PKDOUBLE UPKDOUBLE;
    pvm_pkcplx pvm_upkcplx c_float, Cplx, PKCPLX UPKCPLX;
    pvm_pkdcplx pvm_upkdcplx c_double, Dcplx, PKDCPLX UPKDCPLX;
}
