//! One event as PVM's tracers read it: numbers of kinds and data, and how they are packed.

use std::ffi::{c_char, c_int};

use pvm::Buffer;
use pvm_wire::{Code, Kind};

use crate::pointer::{load, text_or_none};

/// `TEV_*`: the kinds that calls tell of.
pub(crate) mod kind {
    macro_rules! kinds {
        ($($name:ident $number:literal),* $(,)?) => {$(pub(crate) const $name: u16 = $number;)*};
    }
    kinds! {
        ADDHOSTS 0, BARRIER 1, BCAST 2, BUFINFO 3, CONFIG 4, DELETE 5, DELHOSTS 6, EXIT 7,
        FREEBUF 8, GETFDS 9, GETINST 10, GETOPT 11, GETRBUF 12, GETSBUF 13, GETTID 14, GSIZE 15,
        INITSEND 17, INSERT 18, JOINGROUP 19, KILL 20, LOOKUP 21, LVGROUP 22, MCAST 23, MKBUF 24,
        MSTAT 25, MYTID 26, NOTIFY 27, NRECV 28, PARENT 29, PKBYTE 31, PKCPLX 32, PKDCPLX 33,
        PKDOUBLE 34, PKFLOAT 35, PKINT 36, PKUINT 37, PKLONG 38, PKULONG 39, PKSHORT 40,
        PKUSHORT 41, PKSTR 42, PROBE 43, PSTAT 44, RECV 45, RECVF 46, SEND 47, SENDSIG 48,
        SETOPT 49, SETRBUF 50, SETSBUF 51, SPAWN 52, TASKS 54, TRECV 57, UPKBYTE 58, UPKCPLX 59,
        UPKDCPLX 60, UPKDOUBLE 61, UPKFLOAT 62, UPKINT 63, UPKUINT 64, UPKLONG 65, UPKULONG 66,
        UPKSHORT 67, UPKUSHORT 68, UPKSTR 69, REG_HOSTER 71, REG_RM 72, REG_TASKER 73, ARCHCODE 78,
        PRECV 84, PSEND 85, REDUCE 86, GATHER 90, SCATTER 91, PUTINFO 92, GETINFO 93, DELINFO 94,
        GETMBOXINFO 95, NEWCONTEXT 96, FREECONTEXT 97, SETCONTEXT 98, GETCONTEXT 99, SIBLINGS 100,
        GETMINFO 101, SETMINFO 102, ADDMHF 103, DELMHF 104, MHF_INVOKE 105, TIMING 106,
        PROFILING 107, USER_DEFINED 108, PACKF 83, UNPACKF 89,
    }
}

/// `TEV_DID_*`: the data that they tell.
pub(crate) mod did {
    macro_rules! data {
        ($($name:ident $number:literal),* $(,)?) => {$(pub(crate) const $name: i32 = $number;)*};
    }
    data! {
        AN 0, AC 1, CC 4, CN 5, CI 6, CF 7, CD 8, CR 9, CXC 17, CXF 18, CXN 19, CXS 20, FDS 23,
        GN 25, GI 26, GT 27, GS 28, GBC 29, HN 30, HNL 31, HS 41, INB 42, IMC 43, IST 44, MC 45,
        MCX 46, MB 47, MNB 48, SRC 49, DST 50, MDL 51, MTS 52, MTU 53, MRB 55, MSB 56, ME 57,
        MHI 58, PF 76, NE 62, NMC 63, NTL 65, NH 66, NA 67, OPT 68, OPV 69, PDA 71, PDT 72, PC 73,
        PSD 74, PRF 77, RST 78, RMC 79, RCX 80, SN 81, SE 82, SF 83, SW 84, SC 85, STL 86, SIB 87,
        TID 88, PT 89, MT 90, TT 94, TW 95, TNT 97, TST 98, TS 106, TU 107, TGS 108, TGU 109,
        VCT 120, VID 121,
    }
}

/// `TEV_EVENT_ENTRY`
pub(crate) const ENTRY: i32 = 0x4000;
/// `TEV_EVENT_EXIT`
pub(crate) const EXIT: i32 = 0x8000;

const DESC: i32 = -5;
const DESC_END: i32 = -6;
const RECORD: i32 = -7;
const RECORD_END: i32 = -8;
const INT: i32 = 6;
const LONG: i32 = 8;
const STRING: i32 = 12;
const ARRAY: i32 = 0x80;

/// The function that gets the data of an event.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(&[Field<'_>]);

/// A datum of an event.
pub(crate) struct Field<'a> {
    /// The name of the datum.
    pub(crate) name: i32,
    /// Its value.
    pub(crate) value: Value<'a>,
}

/// A value.
pub(crate) enum Value<'a> {
    /// One number.
    Int(c_int),
    /// Several.
    Ints(&'a [c_int]),
    /// An address of the program's.
    Address(usize),
    /// A text of the program's.
    Text(&'a [u8]),
    /// Several texts.
    Texts(&'a [&'a [u8]]),
}

impl From<c_int> for Value<'_> {
    fn from(number: c_int) -> Self {
        Self::Int(number)
    }
}

impl<'a> From<&'a [c_int]> for Value<'a> {
    fn from(numbers: &'a [c_int]) -> Self {
        Self::Ints(numbers)
    }
}

impl<'a> From<&'a [&'a [u8]]> for Value<'a> {
    fn from(texts: &'a [&'a [u8]]) -> Self {
        Self::Texts(texts)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(text: &'a [u8]) -> Self {
        Self::Text(text)
    }
}

impl<T> From<*const T> for Value<'_> {
    fn from(address: *const T) -> Self {
        Self::Address(address.addr())
    }
}

impl<T> From<*mut T> for Value<'_> {
    fn from(address: *mut T) -> Self {
        Self::Address(address.addr())
    }
}

/// The bytes of a text of the program's, for a call that has not checked it yet: null is empty.
///
/// # Safety
/// `text` is null or ends with 0.
pub(crate) unsafe fn text_at<'a>(text: *const c_char) -> &'a [u8] {
    // SAFETY: `text` is null or ends with 0, by the call's contract.
    unsafe { text_or_none(text) }.unwrap_or_default()
}

/// `count` ints at an address, for a call that has not checked them yet.
///
/// # Safety
/// `first` is null or has `count` elements, if that is above zero.
pub(crate) unsafe fn ints_at<'a>(first: *const c_int, count: c_int) -> &'a [c_int] {
    match usize::try_from(count) {
        // SAFETY: not null and aligned, so it has `count` elements, which stay for the time of the
        // call.
        Ok(count) if !first.is_null() && first.is_aligned() => unsafe {
            std::slice::from_raw_parts(first, count)
        },
        _ => &[],
    }
}

/// An int at an address, -1 if there is none.
///
/// # Safety
/// `address` is null or points to an int.
pub(crate) unsafe fn int_at(address: *const c_int) -> c_int {
    // SAFETY: `address` is null or points to a value of its type, by the call's contract.
    unsafe { load(address) }.unwrap_or(-1)
}

/// The list of `count` ints whose address stands at an address.
///
/// # Safety
/// `list` is null or points to the address of such a list, if `count` is above zero.
pub(crate) unsafe fn list_at<'a>(list: *const *const c_int, count: c_int) -> &'a [c_int] {
    if count <= 0 {
        return &[];
    }
    // SAFETY: `list` is null or points to the address of such a list, and null is none for
    // `ints_at`.
    unsafe { ints_at(load(list).unwrap_or(std::ptr::null()), count) }
}

/// Texts in an array that the call has not checked yet.
///
/// # Safety
/// `first` is null or has `count` elements, each null or ending with 0.
pub(crate) unsafe fn texts_at<'a>(first: *const *const c_char, count: c_int) -> Vec<&'a [u8]> {
    match usize::try_from(count) {
        // SAFETY: not null, so it has `count` elements, each null or a text that ends with 0.
        Ok(count) if !first.is_null() => unsafe {
            (0..count).map(|i| text_at(first.add(i).read_unaligned())).collect()
        },
        _ => Vec::new(),
    }
}

impl Value<'_> {
    const fn type_number(&self) -> i32 {
        match self {
            Self::Int(_) => INT,
            Self::Ints(_) => INT | ARRAY,
            Self::Address(_) => LONG,
            Self::Text(_) => STRING,
            Self::Texts(_) => STRING | ARRAY,
        }
    }

    fn pack(&self, buffer: &mut Buffer) -> Result<(), Code> {
        match self {
            Self::Int(number) => int(buffer, *number),
            Self::Ints(numbers) => {
                int(buffer, c_int::try_from(numbers.len()).map_err(|_| Code::Overflow)?)?;
                numbers.iter().try_for_each(|&number| int(buffer, number))
            }
            Self::Address(address) => buffer.pack(Kind::Long, &address.to_ne_bytes()),
            Self::Text(text) => string(buffer, text),
            Self::Texts(texts) => {
                int(buffer, c_int::try_from(texts.len()).map_err(|_| Code::Overflow)?)?;
                texts.iter().try_for_each(|text| string(buffer, text))
            }
        }
    }
}

/// Packs a mark or a number.
pub(crate) fn int(buffer: &mut Buffer, number: c_int) -> Result<(), Code> {
    buffer.pack(Kind::Int, &number.to_ne_bytes())
}

fn string(buffer: &mut Buffer, text: &[u8]) -> Result<(), Code> {
    let mut ended = text.to_vec();
    ended.push(0);
    buffer.pack_str(&ended)
}

/// Packs an event. The first of its code tells its name and what its data are; later ones only
/// their values.
pub(crate) fn pack(
    buffer: &mut Buffer,
    (code, name): (i32, &[u8]),
    first: bool,
    common: &[Field<'_>],
    fields: &[Field<'_>],
) -> Result<(), Code> {
    int(buffer, if first { DESC } else { RECORD })?;
    int(buffer, code)?;
    if first {
        string(buffer, name)?;
    }
    for field in common.iter().chain(fields) {
        if first {
            int(buffer, field.name)?;
            int(buffer, field.value.type_number())?;
        }
        field.value.pack(buffer)?;
    }
    int(buffer, if first { DESC_END } else { RECORD_END })
}
