//! The tables of trace events that the library exports: names of the kinds and of their data.
//!
//! Tracers link to `pvmtevinfo` and `pvmtevdidlist`; the order is that of the numbers in pvmtev.h.

use std::ffi::{c_char, c_int};

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
pub(crate) static mut pvmtevdidlist: [DataName; 123] = [
    data(c"AN", c"architecture"),
    data(c"AC", c"code of an architecture"),
    data(c"AS", c"arguments of a program"),
    data(c"BF", c"wait or return at once"),
    data(c"CC", c"result"),
    data(c"CN", c"mailbox name"),
    data(c"CI", c"mailbox index"),
    data(c"CF", c"mailbox flags"),
    data(c"CD", c"mailbox entry"),
    data(c"CR", c"mailbox entry read"),
    data(c"CL", c"mailbox names"),
    data(c"CDA", c"address of a group call's data"),
    data(c"CDT", c"type of a group call's data"),
    data(c"CDX", c"a group call's data"),
    data(c"CDC", c"items of a group call"),
    data(c"CGI", c"root of a group call"),
    data(c"CRF", c"reduction function"),
    data(c"CXC", c"context"),
    data(c"CXF", c"context given back"),
    data(c"CXN", c"context handed out"),
    data(c"CXS", c"context chosen"),
    data(c"ERI", c"error number"),
    data(c"ERR", c"error text"),
    data(c"FDS", c"descriptors"),
    data(c"FP", c"stream"),
    data(c"GN", c"group"),
    data(c"GI", c"instance in a group"),
    data(c"GT", c"task in a group"),
    data(c"GS", c"size of a group"),
    data(c"GBC", c"tasks at a barrier"),
    data(c"HN", c"host"),
    data(c"HNL", c"hosts"),
    data(c"HNA", c"host, short"),
    data(c"HPT", c"task id of a host"),
    data(c"HA", c"architecture of a host"),
    data(c"HSP", c"speed of a host"),
    data(c"HIS", c"host table"),
    data(c"HCS", c"clock of a host, seconds"),
    data(c"HCU", c"clock of a host, microseconds"),
    data(c"HDS", c"clock difference, seconds"),
    data(c"HDU", c"clock difference, microseconds"),
    data(c"HS", c"state of a host"),
    data(c"INB", c"bytes of a buffer"),
    data(c"IMC", c"tag of a buffer"),
    data(c"IST", c"sender of a buffer"),
    data(c"MC", c"tag"),
    data(c"MCX", c"context of a message"),
    data(c"MB", c"buffer"),
    data(c"MNB", c"bytes of a message"),
    data(c"SRC", c"sender"),
    data(c"DST", c"receiver"),
    data(c"MDL", c"receivers"),
    data(c"MTS", c"time limit, seconds"),
    data(c"MTU", c"time limit, microseconds"),
    data(c"MRF", c"matching function"),
    data(c"MRB", c"receive buffer"),
    data(c"MSB", c"send buffer"),
    data(c"ME", c"encoding"),
    data(c"MHI", c"message handler"),
    data(c"AST", c"actual sender"),
    data(c"AMC", c"actual tag"),
    data(c"AML", c"actual length"),
    data(c"NE", c"kind of notice"),
    data(c"NMC", c"tag of the notices"),
    data(c"NCT", c"tasks or hosts to watch, count"),
    data(c"NTL", c"tasks or hosts to watch"),
    data(c"NH", c"hosts, count"),
    data(c"NA", c"data formats, count"),
    data(c"OPT", c"option"),
    data(c"OPV", c"value of an option"),
    data(c"OS", c"output"),
    data(c"PDA", c"address of the items"),
    data(c"PDT", c"type of the items"),
    data(c"PC", c"items, count"),
    data(c"PSD", c"stride"),
    data(c"PSG", c"text packed"),
    data(c"PF", c"format"),
    data(c"PRF", c"profile count"),
    data(c"RST", c"sender asked for"),
    data(c"RMC", c"tag asked for"),
    data(c"RCX", c"context asked for"),
    data(c"SN", c"signal"),
    data(c"SE", c"program"),
    data(c"SF", c"spawn flags"),
    data(c"SW", c"place asked for"),
    data(c"SC", c"tasks asked for"),
    data(c"STL", c"tasks spawned"),
    data(c"SIB", c"siblings"),
    data(c"TID", c"task"),
    data(c"PT", c"parent"),
    data(c"MT", c"this task"),
    data(c"TF", c"flags of a task"),
    data(c"TN", c"name of a task"),
    data(c"PID", c"process of a task"),
    data(c"TT", c"task concerned"),
    data(c"TW", c"tasks of which place"),
    data(c"TIS", c"task table"),
    data(c"TNT", c"tasks, count"),
    data(c"TST", c"state of a task"),
    data(c"TUS", c"user time, seconds"),
    data(c"TUU", c"user time, microseconds"),
    data(c"TSS", c"system time, seconds"),
    data(c"TSU", c"system time, microseconds"),
    data(c"TES", c"exit status"),
    data(c"TA", c"arguments of a probe"),
    data(c"TR", c"answers of a probe"),
    data(c"TS", c"time, seconds"),
    data(c"TU", c"time, microseconds"),
    data(c"TGS", c"duration, seconds"),
    data(c"TGU", c"duration, microseconds"),
    data(c"TMW", c"whose trace mask"),
    data(c"TM", c"trace mask"),
    data(c"TRC", c"context of traces"),
    data(c"TRT", c"tag of traces"),
    data(c"TRX", c"context of output"),
    data(c"TRO", c"tag of output"),
    data(c"TRM", c"mask of a tracer"),
    data(c"TRB", c"buffer size of traces"),
    data(c"TRL", c"trace options"),
    data(c"VER", c"version"),
    data(c"VCT", c"events counted"),
    data(c"VID", c"kind of event"),
    data(c"WID", c"wait id"),
];

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
