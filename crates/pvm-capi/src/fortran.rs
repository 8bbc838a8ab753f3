//! The Fortran interface: `pvmf*`, as gfortran and its relatives call it.
//!
//! Names are in lower case with an underscore behind, every argument is an address, results come
//! back in the last arguments, and for each text its length follows at the very end. A text that
//! comes in ends before its trailing blanks; one that goes out is padded with blanks.
//!
//! The calls are thin: they turn the arguments into C's and make the C call. Those that PVM does
//! differently for Fortran, one host or task per call, are in `fortran/tables.rs`.

mod collective;
mod marks;
mod messages;
mod number;
mod tables;
mod text;

use std::ffi::{c_char, c_int, c_void};

use crate::guard::call;
use crate::message::{receiving, sending};
use crate::timeval::timeval;
use crate::{
    buffer, group, handler, helpers, machine, message, options, output, pack, process, registry,
};

use number::{In, Out};
use text::{Length, input};

/// Calls of numbers only: the C call's arguments, and where its result goes.
macro_rules! number_calls {
    ($($name:ident($($in:ident),*) -> $out:ident = $c_call:path;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        ///
        /// # Safety
        /// Every argument points to an integer.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($in: In,)* $out: Out) {
            let result = $c_call($($in.value()),*);
            $out.put(result);
        }
    )*};
}

number_calls! {
    pvmfmytid_() -> tid = process::pvm_mytid;
    pvmfparent_() -> tid = process::pvm_parent;
    pvmfexit_() -> info = process::pvm_exit;
    pvmfkill_(tid) -> info = process::pvm_kill;
    pvmfsendsig_(tid, signal) -> info = process::pvm_sendsig;
    pvmfpstat_(tid) -> status = process::pvm_pstat;
    pvmftidtohost_(tid) -> host = process::pvm_tidtohost;
    pvmfhalt_() -> info = machine::pvm_halt;
    pvmfgetopt_(option) -> result = options::pvm_getopt;
    pvmfsetopt_(option, new) -> old = options::pvm_setopt;
    pvmfinitsend_(encoding) -> bufid = buffer::pvm_initsend;
    pvmfmkbuf_(encoding) -> bufid = buffer::pvm_mkbuf;
    pvmffreebuf_(bufid) -> info = buffer::pvm_freebuf;
    pvmfgetsbuf_() -> bufid = buffer::pvm_getsbuf;
    pvmfgetrbuf_() -> bufid = buffer::pvm_getrbuf;
    pvmfsetsbuf_(bufid) -> old = buffer::pvm_setsbuf;
    pvmfsetrbuf_(bufid) -> old = buffer::pvm_setrbuf;
    pvmfpkmesg_(bufid) -> info = pack::messages::pvm_pkmesg;
    pvmfpkmesgbody_(bufid) -> info = pack::messages::pvm_pkmesgbody;
    pvmfupkmesg_() -> bufid = pack::messages::pvm_upkmesg;
    pvmfsend_(tid, tag) -> info = sending::pvm_send;
    pvmfrecv_(tid, tag) -> bufid = receiving::pvm_recv;
    pvmfnrecv_(tid, tag) -> bufid = receiving::pvm_nrecv;
    pvmfprobe_(tid, tag) -> bufid = message::pvm_probe;
    pvmfgetcontext_() -> context = message::pvm_getcontext;
    pvmfsetcontext_(new) -> old = message::pvm_setcontext;
    pvmfnewcontext_() -> context = registry::pvm_newcontext;
    pvmffreecontext_(context) -> info = registry::pvm_freecontext;
    pvmfdelmhf_(handler) -> info = handler::pvm_delmhf;
}

/// Calls with one text, first in Fortran and first in C.
macro_rules! text_calls {
    ($($name:ident($text:ident $(, $in:ident)*) -> $out:ident = $c_call:path;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        ///
        /// # Safety
        /// Every argument points to its type; the text has `length` characters.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(
            $text: *const c_char, $($in: In,)* $out: Out, length: Length,
        ) {
            // SAFETY: Fortran passes the address of the text and its length.
            let $text = unsafe { input($text, length) };
            $(let $in = $in.value();)*
            // SAFETY: a C text and numbers.
            let result = unsafe { $c_call($text.as_ptr(), $($in),*) };
            $out.put(result);
        }
    )*};
}

text_calls! {
    pvmfarchcode_(arch) -> code = machine::pvm_archcode;
    pvmfmstat_(host) -> status = machine::pvm_mstat;
    pvmfbarrier_(group, count) -> info = group::pvm_barrier;
    pvmfbcast_(group, tag) -> info = group::pvm_bcast;
    pvmffreezegroup_(group, size) -> info = group::pvm_freezegroup;
    pvmfgetinst_(group, tid) -> instance = group::pvm_getinst;
    pvmfgettid_(group, instance) -> tid = group::pvm_gettid;
    pvmfgsize_(group) -> size = group::pvm_gsize;
    pvmfjoingroup_(group) -> instance = group::pvm_joingroup;
    pvmflvgroup_(group) -> info = group::pvm_lvgroup;
    pvmfputinfo_(name, bufid, flags) -> index = registry::pvm_putinfo;
    pvmfrecvinfo_(name, index, flags) -> bufid = registry::pvm_recvinfo;
    pvmfdelinfo_(name, index, flags) -> info = registry::pvm_delinfo;
}

/// `pvmfperror`: trailing blanks are printed, as in PVM.
///
/// # Safety
/// The text has `length` characters, `info` points to an integer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfperror_(text: *const c_char, info: Out, length: Length) {
    // SAFETY: Fortran passes the address of the text and its length.
    let text = unsafe { text::whole(text, length) };
    // SAFETY: a C text.
    let result = unsafe { process::pvm_perror(text.as_ptr()) };
    info.put(result);
}

/// `pvmfaddhost`: one host; its id or a code.
///
/// # Safety
/// The text has `length` characters, `info` points to an integer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfaddhost_(host: *const c_char, info: Out, length: Length) {
    // SAFETY: Fortran passes the address of the text and its length.
    let host = unsafe { input(host, length) };
    let result = machine::change_host(host.into_bytes(), true);
    info.put(result);
}

/// `pvmfdelhost`: one host.
///
/// # Safety
/// The text has `length` characters, `info` points to an integer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfdelhost_(host: *const c_char, info: Out, length: Length) {
    // SAFETY: Fortran passes the address of the text and its length.
    let host = unsafe { input(host, length) };
    let result = machine::change_host(host.into_bytes(), false);
    info.put(result);
}

/// `pvmfspawn`: a place of `*` or blanks is any.
///
/// # Safety
/// Every argument points to its type; `tids` has `count` elements.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfspawn_(
    program: *const c_char,
    flags: In,
    place: *const c_char,
    count: In,
    tids: *mut c_int,
    started: Out,
    program_length: Length,
    place_length: Length,
) {
    // SAFETY: Fortran passes the address of the text and its length.
    let file = unsafe { input(program, program_length) };
    // SAFETY: Fortran passes the address of the text and its length.
    let place = unsafe { input(place, place_length) };
    let (flags, count) = (flags.value(), count.value());
    let place = if place.as_bytes() == b"*" { c"" } else { place.as_c_str() };
    // SAFETY: C texts and the program's array.
    let result = unsafe {
        process::pvm_spawn(file.as_ptr(), std::ptr::null(), flags, place.as_ptr(), count, tids)
    };
    started.put(result);
}

/// `pvmfstartpvmd`: the arguments are the words of a text.
///
/// # Safety
/// The text has `length` characters, the other arguments point to integers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfstartpvmd_(
    args: *const c_char,
    _block: In,
    info: Out,
    length: Length,
) {
    // SAFETY: Fortran passes the address of the text and its length.
    let args = unsafe { input(args, length) };
    let words = args.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let words: Vec<_> = words.map(|word| word.to_vec().into()).collect();
    let result = call("pvm_start_pvmd", || machine::start_daemon(&words));
    info.put(result);
}

unsafe extern "C" {
    static stdout: *mut c_void;
}

/// `pvmfcatchout`: on or off; the output goes to standard output.
///
/// # Safety
/// Both arguments point to integers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfcatchout_(on: In, info: Out) {
    let on = on.value() != 0;
    // SAFETY: the C library's own variable.
    let stream = if on { unsafe { stdout } } else { std::ptr::null_mut() };
    // SAFETY: the stream is open.
    let result = unsafe { output::pvm_catchout(stream) };
    info.put(result);
}

/// `pvmfsleep`
///
/// # Safety
/// The argument points to an integer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfsleep_(seconds: In) {
    helpers::pvmsleep(seconds.value());
}

/// `pvmfnotify`
///
/// # Safety
/// The arguments point to integers, `tids` to `count` of them.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfnotify_(
    kind: In,
    tag: In,
    count: In,
    tids: *const c_int,
    info: Out,
) {
    // SAFETY: `tids` is null or has `count` ids, as pvmfnotify asks.
    let result = unsafe { process::pvm_notify(kind.value(), tag.value(), count.value(), tids) };
    info.put(result);
}

/// `pvmfaddmhf`
///
/// # Safety
/// The arguments point to integers; the function can be called until it is deleted.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfaddmhf_(
    source: In,
    tag: In,
    context: In,
    function: Option<crate::waiting::Function>,
    number: Out,
) {
    // SAFETY: the program passes one of its own functions.
    let result =
        unsafe { handler::pvm_addmhf(source.value(), tag.value(), context.value(), function) };
    number.put(result);
}

/// `pvmfhostsync`
///
/// # Safety
/// The arguments point to integers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfhostsync_(
    host: In,
    seconds: Out,
    micros: Out,
    ahead_seconds: Out,
    ahead_micros: Out,
    info: Out,
) {
    let result = call("pvm_host_sync", || {
        let (there, ahead) = machine::host_clock(host.value())?;
        let (there, ahead) = (timeval(there), timeval(ahead));
        let times = [
            (seconds, there[0]),
            (micros, there[1]),
            (ahead_seconds, ahead[0]),
            (ahead_micros, ahead[1]),
        ];
        for (out, time) in times {
            out.put(time as c_int);
        }
        Ok(0)
    });
    info.put(result);
}
