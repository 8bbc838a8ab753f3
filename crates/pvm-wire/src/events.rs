//! The events by which PVM's tracers follow a machine: marks, numbers of kinds and of data, and
//! what the data are called.
//!
//! Daemons tell them of the coming and going of tasks, the C library of calls.

use std::ffi::CStr;

/// `TEV_MARK_DATA_ID`: here begins the table of data.
pub const TABLE: i32 = -3;
/// `TEV_MARK_DATA_ID_END`
pub const TABLE_END: i32 = -4;
/// `TEV_MARK_EVENT_DESC`: an event that tells its name and what its data are.
pub const DESCRIBED: i32 = -5;
/// `TEV_MARK_EVENT_DESC_END`
pub const DESCRIBED_END: i32 = -6;
/// `TEV_MARK_EVENT_RECORD`: a later one, which tells the values only.
pub const RECORD: i32 = -7;
/// `TEV_MARK_EVENT_RECORD_END`
pub const RECORD_END: i32 = -8;
/// `TEV_MARK_USER_EVENT_RECORD_END`: behind what a program has packed itself.
pub const OWN_END: i32 = -10;

/// `TEV_DATA_INT`
pub const INT: i32 = 6;
/// `TEV_DATA_STRING`
pub const STRING: i32 = 12;

/// `TEV_NEWTASK`
pub const NEW_TASK: i32 = 75;
/// `TEV_ENDTASK`
pub const END_TASK: i32 = 76;
/// `TEV_SPNTASK`
pub const SPAWNED_TASK: i32 = 77;

/// Short name and meaning of each datum, by `TEV_DID_*`.
#[rustfmt::skip]
pub const DATA: [(&CStr, &CStr); 123] = [
    (c"AN", c"architecture"),
    (c"AC", c"code of an architecture"),
    (c"AS", c"arguments of a program"),
    (c"BF", c"wait or return at once"),
    (c"CC", c"result"),
    (c"CN", c"mailbox name"),
    (c"CI", c"mailbox index"),
    (c"CF", c"mailbox flags"),
    (c"CD", c"mailbox entry"),
    (c"CR", c"mailbox entry read"),
    (c"CL", c"mailbox names"),
    (c"CDA", c"address of a group call's data"),
    (c"CDT", c"type of a group call's data"),
    (c"CDX", c"a group call's data"),
    (c"CDC", c"items of a group call"),
    (c"CGI", c"root of a group call"),
    (c"CRF", c"reduction function"),
    (c"CXC", c"context"),
    (c"CXF", c"context given back"),
    (c"CXN", c"context handed out"),
    (c"CXS", c"context chosen"),
    (c"ERI", c"error number"),
    (c"ERR", c"error text"),
    (c"FDS", c"descriptors"),
    (c"FP", c"stream"),
    (c"GN", c"group"),
    (c"GI", c"instance in a group"),
    (c"GT", c"task in a group"),
    (c"GS", c"size of a group"),
    (c"GBC", c"tasks at a barrier"),
    (c"HN", c"host"),
    (c"HNL", c"hosts"),
    (c"HNA", c"host, short"),
    (c"HPT", c"task id of a host"),
    (c"HA", c"architecture of a host"),
    (c"HSP", c"speed of a host"),
    (c"HIS", c"host table"),
    (c"HCS", c"clock of a host, seconds"),
    (c"HCU", c"clock of a host, microseconds"),
    (c"HDS", c"clock difference, seconds"),
    (c"HDU", c"clock difference, microseconds"),
    (c"HS", c"state of a host"),
    (c"INB", c"bytes of a buffer"),
    (c"IMC", c"tag of a buffer"),
    (c"IST", c"sender of a buffer"),
    (c"MC", c"tag"),
    (c"MCX", c"context of a message"),
    (c"MB", c"buffer"),
    (c"MNB", c"bytes of a message"),
    (c"SRC", c"sender"),
    (c"DST", c"receiver"),
    (c"MDL", c"receivers"),
    (c"MTS", c"time limit, seconds"),
    (c"MTU", c"time limit, microseconds"),
    (c"MRF", c"matching function"),
    (c"MRB", c"receive buffer"),
    (c"MSB", c"send buffer"),
    (c"ME", c"encoding"),
    (c"MHI", c"message handler"),
    (c"AST", c"actual sender"),
    (c"AMC", c"actual tag"),
    (c"AML", c"actual length"),
    (c"NE", c"kind of notice"),
    (c"NMC", c"tag of the notices"),
    (c"NCT", c"tasks or hosts to watch, count"),
    (c"NTL", c"tasks or hosts to watch"),
    (c"NH", c"hosts, count"),
    (c"NA", c"data formats, count"),
    (c"OPT", c"option"),
    (c"OPV", c"value of an option"),
    (c"OS", c"output"),
    (c"PDA", c"address of the items"),
    (c"PDT", c"type of the items"),
    (c"PC", c"items, count"),
    (c"PSD", c"stride"),
    (c"PSG", c"text packed"),
    (c"PF", c"format"),
    (c"PRF", c"profile count"),
    (c"RST", c"sender asked for"),
    (c"RMC", c"tag asked for"),
    (c"RCX", c"context asked for"),
    (c"SN", c"signal"),
    (c"SE", c"program"),
    (c"SF", c"spawn flags"),
    (c"SW", c"place asked for"),
    (c"SC", c"tasks asked for"),
    (c"STL", c"tasks spawned"),
    (c"SIB", c"siblings"),
    (c"TID", c"task"),
    (c"PT", c"parent"),
    (c"MT", c"this task"),
    (c"TF", c"flags of a task"),
    (c"TN", c"name of a task"),
    (c"PID", c"process of a task"),
    (c"TT", c"task concerned"),
    (c"TW", c"tasks of which place"),
    (c"TIS", c"task table"),
    (c"TNT", c"tasks, count"),
    (c"TST", c"state of a task"),
    (c"TUS", c"user time, seconds"),
    (c"TUU", c"user time, microseconds"),
    (c"TSS", c"system time, seconds"),
    (c"TSU", c"system time, microseconds"),
    (c"TES", c"exit status"),
    (c"TA", c"arguments of a probe"),
    (c"TR", c"answers of a probe"),
    (c"TS", c"time, seconds"),
    (c"TU", c"time, microseconds"),
    (c"TGS", c"duration, seconds"),
    (c"TGU", c"duration, microseconds"),
    (c"TMW", c"whose trace mask"),
    (c"TM", c"trace mask"),
    (c"TRC", c"context of traces"),
    (c"TRT", c"tag of traces"),
    (c"TRX", c"context of output"),
    (c"TRO", c"tag of output"),
    (c"TRM", c"mask of a tracer"),
    (c"TRB", c"buffer size of traces"),
    (c"TRL", c"trace options"),
    (c"VER", c"version"),
    (c"VCT", c"events counted"),
    (c"VID", c"kind of event"),
    (c"WID", c"wait id"),
];
