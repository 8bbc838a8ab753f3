//! The data that the library exports, with C's layouts.
//!
//! `pvm_errno`, `pvm_errlist` and `pvm_nerr` belong to the interface. The others are the insides of
//! PVM 3 that its library happens to export; binaries that look at them find the values that
//! matter (own task id, parent, options) kept up to date, and nothing here is read back.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use pvm_wire::Layout;

/// Texts of the results; PVM's numbers have gaps, which read "Error N".
const ERROR_TEXTS: usize = 37;

/// PVM's signature of this machine's data layout.
pub(crate) const DATA_SIGNATURE: c_int = Layout::NATIVE.signature();

/// `struct Pvmtracer`: where output and traces go.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Tracer {
    /// Task that receives traces, and with which context and tag.
    pub trace_tid: c_int,
    /// Context of the traces.
    pub trace_context: c_int,
    /// Tag of the traces.
    pub trace_tag: c_int,
    /// Task that receives output, and with which context and tag.
    pub output_tid: c_int,
    /// Context of the output.
    pub output_context: c_int,
    /// Tag of the output.
    pub output_tag: c_int,
    /// Bytes of traces that are collected before they are sent.
    pub trace_buffer: c_int,
    /// `PvmTraceFull`, `PvmTraceTime` or `PvmTraceCount`.
    pub trace_options: c_int,
    /// `Pvmtmask`: a letter for four kinds of events.
    pub mask: [c_char; 36],
}

impl Tracer {
    const UNSET: Self = Self {
        trace_tid: 0,
        trace_context: 0,
        trace_tag: 0,
        output_tid: 0,
        output_context: 0,
        output_tag: 0,
        trace_buffer: 0,
        trace_options: 0,
        mask: [0; 36],
    };
}

const fn error_texts() -> [*const c_char; ERROR_TEXTS] {
    let mut texts = [c"Error 0".as_ptr(); ERROR_TEXTS];
    let gaps = [(1, c"Error 1"), (9, c"Error 9"), (11, c"Error 11"), (13, c"Error 13")];
    let mut i = 0;
    while i < gaps.len() {
        texts[gaps[i].0] = gaps[i].1.as_ptr();
        i += 1;
    }
    let mut i = 0;
    while i < NAMED.len() {
        texts[NAMED[i].0] = NAMED[i].1.as_ptr();
        i += 1;
    }
    texts
}

/// The texts of `Code::text`, ended by 0 as C wants them. A test compares the two.
const NAMED: [(usize, &std::ffi::CStr); 32] = [
    (2, c"Bad parameter"),
    (3, c"Parameter mismatch"),
    (4, c"Value too large"),
    (5, c"End of buffer"),
    (6, c"No such host"),
    (7, c"No such file"),
    (8, c"Permission denied"),
    (10, c"Malloc failed"),
    (12, c"Can't decode message"),
    (14, c"Can't contact local daemon"),
    (15, c"No current buffer"),
    (16, c"No such buffer"),
    (17, c"Null group name"),
    (18, c"Already in group"),
    (19, c"No such group"),
    (20, c"Not in group"),
    (21, c"No such instance"),
    (22, c"Host failed"),
    (23, c"No parent task"),
    (24, c"Not implemented"),
    (25, c"Pvmd system error"),
    (26, c"Version mismatch"),
    (27, c"Out of resources"),
    (28, c"Duplicate host"),
    (29, c"Can't start pvmd"),
    (30, c"Already in progress"),
    (31, c"No such task"),
    (32, c"Not Found"),
    (33, c"Already Exists"),
    (34, c"Hoster must run on master host"),
    (35, c"Spawning parent set PvmNoParent"),
    (36, c"Master Host IP Address is Loopback! (See pvm3/Readme)"),
];

macro_rules! data {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$doc])* #[unsafe(no_mangle)] pub(crate) static mut $name: $type = $value;)*
    };
}

data! {
    /// The last result below zero.
    pvm_errno: c_int = 0;
    /// Texts of the results, by the negated number.
    pvm_errlist: [*const c_char; ERROR_TEXTS] = error_texts();
    /// Number of texts.
    pvm_nerr: c_int = 37;

    /// Own task id, -1 before enrolment.
    pvmmytid: c_int = -1;
    /// Parent's task id, -1 before enrolment.
    pvmmyptid: c_int = -1;
    /// Process number that the daemon knows.
    pvmmyupid: c_int = -1;
    /// Current context.
    pvmmyctx: c_int = 0;
    /// Data representation of this machine.
    pvmmydsig: c_int = 0;
    /// Name of the program.
    pvmmytaskname: *mut c_char = ptr::null_mut();
    /// User number that owns the machine.
    pvm_useruid: c_int = -1;

    /// `PvmAutoErr`
    pvmautoerr: c_int = 1;
    /// `PvmRoute`
    pvmrouteopt: c_int = 2;
    /// `PvmFragSize`
    pvmfrgsiz: c_int = 4080;
    /// Greatest packet between daemons.
    pvmudpmtu: c_int = 4080;
    /// `PvmDebugMask`
    pvmdebmask: c_int = 0;
    /// `PvmShowTids`
    pvmshowtaskid: c_int = 1;
    /// `PvmNoReset`
    pvmnoreset: c_int = 0;
    /// Index of the entry that says so.
    pvmnoresetindex: c_int = -1;
    /// `PvmResvTids`
    pvmrescode: c_int = 0;
    /// True outside of all calls.
    pvmtoplvl: c_int = 1;
    /// Resource manager.
    pvmschedtid: c_int = 0;
    /// Tasks spawned together with this one.
    pvmnsibs: c_int = -1;
    /// Their ids.
    pvmsibtids: *mut c_int = ptr::null_mut();
    /// PVM's current buffers; ours are not structures that C could read.
    pvmsbuf: *mut c_void = ptr::null_mut();
    /// See `pvmsbuf`.
    pvmrbuf: *mut c_void = ptr::null_mut();
    /// Hook of PVM's `pvm_precv`, never called.
    pvm_inprecv: *mut c_void = ptr::null_mut();
    /// This task's output and traces.
    pvmtrc: Tracer = Tracer::UNSET;
    /// The output and traces of the tasks that this task spawns.
    pvmctrc: Tracer = Tracer::UNSET;
}

/// The C text of a result, as `pvm_errlist` has it; numbers that are no results have none.
pub(crate) fn error_text(code: c_int) -> &'static std::ffi::CStr {
    if let Some(named) = NAMED.iter().find(|named| named.0.cast_signed() == -(code as isize)) {
        return named.1;
    }
    match code {
        0 => c"Error 0",
        -1 => c"Error 1",
        -9 => c"Error 9",
        -11 => c"Error 11",
        -13 => c"Error 13",
        _ => c"Unknown Error",
    }
}

/// The id of this task, -1 if the process is none.
pub(crate) fn own_tid() -> c_int {
    // SAFETY: an int that only whole stores change.
    unsafe { (&raw const pvmmytid).read_volatile() }
}

/// Writes a trace mask into `pvmtrc` (0) or `pvmctrc` (1).
pub(crate) fn show_mask(whose: usize, letters: &[u8; 35]) {
    let tracer = [&raw mut pvmtrc, &raw mut pvmctrc][whose];
    // SAFETY: an exported structure, always valid; C reads it as it likes.
    let mask = unsafe { &raw mut (*tracer).mask };
    // SAFETY: the mask has 36 characters, the last of which stays 0.
    unsafe { ptr::copy_nonoverlapping(letters.as_ptr(), mask.cast(), letters.len()) };
}

/// Keeps the result below zero for the program.
pub(crate) fn note_error(number: c_int) {
    // SAFETY: a plain store to an int that C code reads as it likes; a race between threads is
    // part of the interface, which has one datum for all of them.
    unsafe { (&raw mut pvm_errno).write_volatile(number) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::Code;

    #[test]
    fn every_code_has_its_text() {
        for code in Code::ALL {
            assert_eq!(error_text(code.number()).to_str(), Ok(code.text()));
        }
        assert_eq!(Code::ALL.len(), NAMED.len());
        assert_eq!(error_text(-9), c"Error 9");
    }

    #[test]
    fn a_tracer_has_the_size_of_the_abi() {
        assert_eq!(size_of::<Tracer>(), 68);
    }
}
