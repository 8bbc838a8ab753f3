//! The tables of trace events that the library exports: names of the kinds and of their data.
//!
//! Tracers link to `pvmtevinfo` and `pvmtevdidlist`; the order is that of the numbers in pvmtev.h.

use std::ffi::{c_char, c_int};

use pvm_wire::events::DATA;

use crate::pointer::text_or_none;
use crate::timeval::Timeval;

/// `struct Pvmtevdid`: a datum's short name, which trace files carry, and what it is.
#[repr(C)]
pub(crate) struct DataName {
    name: *const c_char,
    meaning: *const c_char,
}

/// `struct Pvmtevinfo`: a kind's name and counters that belong to the tracer.
#[repr(C)]
pub(crate) struct EventName {
    name: *const c_char,
    described: c_int,
    mark: Timeval,
    total: Timeval,
    count: c_int,
}

const fn data(name: &'static std::ffi::CStr, meaning: &'static std::ffi::CStr) -> DataName {
    DataName { name: name.as_ptr(), meaning: meaning.as_ptr() }
}

const fn event(name: &'static std::ffi::CStr) -> EventName {
    EventName { name: name.as_ptr(), described: 0, mark: [0; 2], total: [0; 2], count: 0 }
}

/// Names of the data, by `TEV_DID_*`. Programs may write to it, as the ABI has it.
#[unsafe(no_mangle)]
pub(crate) static mut pvmtevdidlist: [DataName; DATA.len()] = data_names();

const fn data_names() -> [DataName; DATA.len()] {
    let mut names = [const { data(c"", c"") }; DATA.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = data(DATA[at].0, DATA[at].1);
        at += 1;
    }
    names
}

/// Names of the kinds of events, by `TEV_*`. Programs may write to it, as the ABI has it.
#[unsafe(no_mangle)]
pub(crate) static mut pvmtevinfo: [EventName; 109] = [
    event(c"addhosts"),
    event(c"barrier"),
    event(c"bcast"),
    event(c"bufinfo"),
    event(c"config"),
    event(c"delete"),
    event(c"delhosts"),
    event(c"exit"),
    event(c"freebuf"),
    event(c"getfds"),
    event(c"getinst"),
    event(c"getopt"),
    event(c"getrbuf"),
    event(c"getsbuf"),
    event(c"gettid"),
    event(c"gsize"),
    event(c"halt"),
    event(c"initsend"),
    event(c"insert"),
    event(c"joingroup"),
    event(c"kill"),
    event(c"lookup"),
    event(c"lvgroup"),
    event(c"mcast"),
    event(c"mkbuf"),
    event(c"mstat"),
    event(c"mytid"),
    event(c"notify"),
    event(c"nrecv"),
    event(c"parent"),
    event(c"perror"),
    event(c"pkbyte"),
    event(c"pkcplx"),
    event(c"pkdcplx"),
    event(c"pkdouble"),
    event(c"pkfloat"),
    event(c"pkint"),
    event(c"pkuint"),
    event(c"pklong"),
    event(c"pkulong"),
    event(c"pkshort"),
    event(c"pkushort"),
    event(c"pkstr"),
    event(c"probe"),
    event(c"pstat"),
    event(c"recv"),
    event(c"recvf"),
    event(c"send"),
    event(c"sendsig"),
    event(c"setopt"),
    event(c"setrbuf"),
    event(c"setsbuf"),
    event(c"spawn"),
    event(c"start_pvmd"),
    event(c"tasks"),
    event(c"tickle"),
    event(c"tidtohost"),
    event(c"trecv"),
    event(c"upkbyte"),
    event(c"upkcplx"),
    event(c"upkdcplx"),
    event(c"upkdouble"),
    event(c"upkfloat"),
    event(c"upkint"),
    event(c"upkuint"),
    event(c"upklong"),
    event(c"upkulong"),
    event(c"upkshort"),
    event(c"upkushort"),
    event(c"upkstr"),
    event(c"version"),
    event(c"reg_hoster"),
    event(c"reg_rm"),
    event(c"reg_tasker"),
    event(c"reg_tracer"),
    event(c"newtask"),
    event(c"endtask"),
    event(c"spntask"),
    event(c"archcode"),
    event(c"catchout"),
    event(c"getmwid"),
    event(c"gettmask"),
    event(c"hostsync"),
    event(c"packf"),
    event(c"precv"),
    event(c"psend"),
    event(c"reduce"),
    event(c"setmwid"),
    event(c"settmask"),
    event(c"unpackf"),
    event(c"gather"),
    event(c"scatter"),
    event(c"putinfo"),
    event(c"getinfo"),
    event(c"delinfo"),
    event(c"getmboxinfo"),
    event(c"newcontext"),
    event(c"freecontext"),
    event(c"setcontext"),
    event(c"getcontext"),
    event(c"siblings"),
    event(c"getminfo"),
    event(c"setminfo"),
    event(c"addmhf"),
    event(c"delmhf"),
    event(c"mhf_invoke"),
    event(c"timing"),
    event(c"profiling"),
    event(c"user_defined"),
];

/// The name of a kind of event, as programs find it in the table.
pub(crate) fn event_name(kind: u16) -> &'static [u8] {
    // SAFETY: the table is static; a program that writes to it puts texts there, as the ABI has it.
    unsafe {
        let table = &raw const pvmtevinfo;
        if usize::from(kind) >= (*table).len() {
            return b"";
        }
        text_or_none((*table)[usize::from(kind)].name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_the_sizes_of_the_abi() {
        assert_eq!(size_of::<[DataName; 123]>(), 1968);
        assert_eq!(size_of::<[EventName; 109]>(), 6104);
    }
}
