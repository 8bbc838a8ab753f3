//! The types of items: PVM's, as Python spells them.

use pvm_wire::{Kind, Shape};

/// Names of a type: C's word, and numpy's short one.
const NAMES: [(&str, &str, Kind); 11] = [
    ("byte", "i1", Kind::Byte),
    ("short", "i2", Kind::Short),
    ("int", "i4", Kind::Int),
    ("long", "i8", Kind::Long),
    ("float", "f4", Kind::Float),
    ("double", "f8", Kind::Double),
    ("cplx", "c8", Kind::Cplx),
    ("dcplx", "c16", Kind::Dcplx),
    ("ushort", "u2", Kind::Ushort),
    ("uint", "u4", Kind::Uint),
    ("ulong", "u8", Kind::Ulong),
];

/// The type of this name.
pub(crate) fn named(name: &str) -> Option<Kind> {
    let found = NAMES.iter().find(|(word, short, _)| name == *word || name == *short);
    match name {
        "u1" => Some(Kind::Byte),
        _ => found.map(|(_, _, kind)| *kind),
    }
}

/// C's word for it.
pub(crate) fn word(kind: Kind) -> &'static str {
    NAMES.iter().find(|(_, _, other)| *other == kind).map_or("byte", |(word, _, _)| word)
}

/// The item of a message at one place, in words.
pub(crate) const fn held(shape: Shape) -> &'static str {
    match shape {
        Shape::Byte => "bytes",
        Shape::Short => "short integers (i2)",
        Shape::Ushort => "unsigned short integers (u2)",
        Shape::Word => "items of 4 bytes (i4, u4, f4, c8)",
        Shape::Double => "doubles (f8, c16)",
        Shape::Long => "long integers (i8, u8)",
        Shape::NarrowLong | Shape::NarrowUlong => "long integers of 4 bytes",
    }
}

/// The type of the items of a Python buffer: `format` as the struct module has it. None for a
/// foreign order of bytes, for structures, and for what PVM has no type for.
pub(crate) fn of_format(format: &[u8], size: usize) -> Option<Kind> {
    let native = if cfg!(target_endian = "little") { b'<' } else { b'>' };
    let plain = match format {
        [b'@' | b'=', rest @ ..] => rest,
        [order, rest @ ..] if *order == native => rest,
        other => other,
    };
    let kind = match plain {
        // An object without a format is bytes.
        [] | [b'b' | b'B' | b'c' | b'?'] => Kind::Byte,
        [b'h'] => Kind::Short,
        [b'H'] => Kind::Ushort,
        [b'i' | b'l' | b'q' | b'n'] if size == 4 => Kind::Int,
        [b'i' | b'l' | b'q' | b'n'] => Kind::Long,
        [b'I' | b'L' | b'Q' | b'N'] if size == 4 => Kind::Uint,
        [b'I' | b'L' | b'Q' | b'N'] => Kind::Ulong,
        [b'f'] => Kind::Float,
        [b'd'] => Kind::Double,
        [b'Z', b'f'] => Kind::Cplx,
        [b'Z', b'd'] => Kind::Dcplx,
        _ => return None,
    };
    (kind.size() == size).then_some(kind)
}

/// The struct module's format of a type.
pub(crate) const fn format(kind: Kind) -> &'static std::ffi::CStr {
    match kind {
        Kind::Byte => c"B",
        Kind::Short => c"h",
        Kind::Ushort => c"H",
        Kind::Int => c"i",
        Kind::Uint => c"I",
        Kind::Long if size_of::<std::ffi::c_long>() == 8 => c"q",
        Kind::Long => c"l",
        Kind::Ulong if size_of::<std::ffi::c_long>() == 8 => c"Q",
        Kind::Ulong => c"L",
        Kind::Float => c"f",
        Kind::Double => c"d",
        Kind::Cplx => c"Zf",
        Kind::Dcplx => c"Zd",
    }
}
