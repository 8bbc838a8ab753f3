//! The record of a call of `pvm3.h`, made from the data of its events.

use pvm_wire::record::{Class, What};
use pvm_wire::{Kind, Tid};

use super::event::{Field, Tell, Value, did, kind};
use super::names;

/// The arguments of a call that its record has.
pub(super) enum Arguments {
    /// Items are packed or unpacked.
    Items(u64),
    /// A look for a message that may find none.
    Look { source: i32, tag: i32, context: i32 },
    /// A group.
    Group { name: u32, tag: i32, count: u64 },
    /// Tasks are started.
    Spawn,
    /// All others.
    None,
}

fn int(fields: &[Field<'_>], name: i32) -> Option<i32> {
    fields.iter().find(|field| field.name == name).and_then(|field| match field.value {
        Value::Int(number) => Some(number),
        _ => None,
    })
}

fn text<'a>(fields: &'a [Field<'a>], name: i32) -> &'a [u8] {
    fields
        .iter()
        .find(|field| field.name == name)
        .and_then(|field| if let Value::Text(text) = field.value { Some(text) } else { None })
        .unwrap_or_default()
}

/// The type of the items of a pack or unpack call.
const fn items_of(call: u16) -> Option<Kind> {
    Some(match call {
        kind::PKBYTE | kind::UPKBYTE => Kind::Byte,
        kind::PKSHORT | kind::UPKSHORT => Kind::Short,
        kind::PKUSHORT | kind::UPKUSHORT => Kind::Ushort,
        kind::PKINT | kind::UPKINT => Kind::Int,
        kind::PKUINT | kind::UPKUINT => Kind::Uint,
        kind::PKLONG | kind::UPKLONG => Kind::Long,
        kind::PKULONG | kind::UPKULONG => Kind::Ulong,
        kind::PKFLOAT | kind::UPKFLOAT => Kind::Float,
        kind::PKDOUBLE | kind::UPKDOUBLE => Kind::Double,
        kind::PKCPLX | kind::UPKCPLX => Kind::Cplx,
        kind::PKDCPLX | kind::UPKDCPLX => Kind::Dcplx,
        _ => return None,
    })
}

impl Arguments {
    /// The arguments of this call.
    pub(super) fn of(call: u16, fields: &impl Fn(Tell<'_>)) -> Self {
        let mut found = Self::None;
        let mut told = |how: &mut dyn FnMut(&[Field<'_>]) -> Self| {
            fields(&mut |fields| found = how(fields));
        };
        match call {
            kind::NRECV | kind::TRECV | kind::PROBE => told(&mut |fields| Self::Look {
                source: int(fields, did::RST).unwrap_or(-1),
                tag: int(fields, did::RMC).unwrap_or(-1),
                context: int(fields, did::RCX).unwrap_or(0),
            }),
            kind::BARRIER
            | kind::BCAST
            | kind::REDUCE
            | kind::GATHER
            | kind::SCATTER
            | kind::JOINGROUP
            | kind::LVGROUP
            | kind::GETINST
            | kind::GETTID
            | kind::GSIZE => {
                told(&mut |fields| Self::Group {
                    name: names::number(Class::Group, text(fields, did::GN)),
                    tag: int(fields, did::MC).unwrap_or(-1),
                    count: u64::try_from(int(fields, did::GBC).unwrap_or(0)).unwrap_or(0),
                });
            }
            kind::SPAWN => found = Self::Spawn,
            _ => {
                if let Some(kind) = items_of(call) {
                    told(&mut |fields| {
                        let count = u64::try_from(int(fields, did::PC).unwrap_or(0));
                        Self::Items(count.unwrap_or(0).saturating_mul(kind.size() as u64))
                    });
                }
            }
        }
        found
    }

    /// The record of the call, with its result; none if the call's only record is that of its
    /// message.
    pub(super) fn what(self, result: i32, tell: impl Fn(Tell<'_>)) -> Option<What> {
        match self {
            Self::Items(bytes) => Some(What::Call { bytes: if result < 0 { 0 } else { bytes } }),
            Self::Look { source, tag, context } => (result == 0).then(|| {
                let source = if source == -1 { Tid(0) } else { Tid::from_c_int(source) };
                What::Poll { source, tag, context }
            }),
            Self::Group { name, tag, count } => {
                let known = pvm::probe::take_group();
                Some(What::Group {
                    name,
                    members: known.members,
                    instance: known.instance,
                    root: known.root,
                    tag,
                    count: if count == 0 { known.count } else { count },
                })
            }
            Self::Spawn => {
                let mut children = Vec::new();
                tell(&mut |fields| {
                    for field in fields {
                        if let Value::Ints(tids) = field.value {
                            children.extend_from_slice(tids);
                        }
                    }
                });
                Some(What::Spawn { children })
            }
            Self::None => None,
        }
    }
}
