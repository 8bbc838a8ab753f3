//! The Fortran interface: `pvmf*`, as gfortran and its relatives call it.
//!
//! Names are in lower case with an underscore behind, every argument is an address, results come
//! back in the last arguments, and for each text its length follows at the very end. A text that
//! comes in ends before its trailing blanks; one that goes out is padded with blanks.
//!
//! The calls are thin: they turn the arguments into C's and make the C call. Those that PVM does
//! differently for Fortran, one host or task per call, are in `fortran/tables.rs`.

mod marks;
mod tables;
mod text;

use std::ffi::{c_char, c_int, c_long, c_void};

use crate::guard::call;
use crate::pointer::{load, store};
use crate::timeval::timeval;
use crate::{
    buffer, group, handler, helpers, machine, message, options, output, pack, process, registry,
};

use text::{Length, input};

/// An argument that comes in.
type In = *const c_int;
/// An argument that goes out.
type Out = *mut c_int;

/// # Safety
/// `number` is null (then 0) or points to an int.
unsafe fn value(number: In) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { load(number) }.unwrap_or(0)
}

/// Calls of numbers only: the C call's arguments, and where its result goes.
macro_rules! number_calls {
    ($($name:ident($($in:ident),*) -> $out:ident = $c_call:path;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        ///
        /// # Safety
        /// Every argument points to an integer.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($in: In,)* $out: Out) {
            // SAFETY: the program's promise.
            let result = $c_call($(unsafe { value($in) }),*);
            // SAFETY: the program's promise.
            unsafe { store($out, result) };
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
    pvmfpkmesg_(bufid) -> info = pack::pvm_pkmesg;
    pvmfpkmesgbody_(bufid) -> info = pack::pvm_pkmesgbody;
    pvmfupkmesg_() -> bufid = pack::pvm_upkmesg;
    pvmfsend_(tid, tag) -> info = message::pvm_send;
    pvmfrecv_(tid, tag) -> bufid = message::pvm_recv;
    pvmfnrecv_(tid, tag) -> bufid = message::pvm_nrecv;
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
            // SAFETY: the program's promise.
            let $text = unsafe { input($text, length) };
            // SAFETY: the program's promise.
            $(let $in = unsafe { value($in) };)*
            // SAFETY: a C text and numbers.
            let result = unsafe { $c_call($text.as_ptr(), $($in),*) };
            // SAFETY: the program's promise.
            unsafe { store($out, result) };
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
    // SAFETY: the program's promise.
    let text = unsafe { text::whole(text, length) };
    // SAFETY: a C text.
    let result = unsafe { process::pvm_perror(text.as_ptr()) };
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// `pvmfaddhost`: one host; its id or a code.
///
/// # Safety
/// The text has `length` characters, `info` points to an integer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfaddhost_(host: *const c_char, info: Out, length: Length) {
    // SAFETY: the program's promise.
    let host = unsafe { input(host, length) };
    let result = machine::change_host(host.into_bytes(), true);
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// `pvmfdelhost`: one host.
///
/// # Safety
/// The text has `length` characters, `info` points to an integer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfdelhost_(host: *const c_char, info: Out, length: Length) {
    // SAFETY: the program's promise.
    let host = unsafe { input(host, length) };
    let result = machine::change_host(host.into_bytes(), false);
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
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
    tids: Out,
    started: Out,
    program_length: Length,
    place_length: Length,
) {
    // SAFETY: the program's promise.
    let file = unsafe { input(program, program_length) };
    // SAFETY: the program's promise.
    let place = unsafe { input(place, place_length) };
    // SAFETY: the program's promise.
    let (flags, count) = unsafe { (value(flags), value(count)) };
    let place = if place.as_bytes() == b"*" { c"" } else { place.as_c_str() };
    // SAFETY: C texts and the program's array.
    let result = unsafe {
        process::pvm_spawn(file.as_ptr(), std::ptr::null(), flags, place.as_ptr(), count, tids)
    };
    // SAFETY: the program's promise.
    unsafe { store(started, result) };
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
    // SAFETY: the program's promise.
    let args = unsafe { input(args, length) };
    let words = args.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let words: Vec<_> = words.map(|word| word.to_vec().into()).collect();
    let result = call("pvm_start_pvmd", || machine::start_daemon(&words));
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
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
    // SAFETY: the program's promise.
    let on = unsafe { value(on) } != 0;
    // SAFETY: the C library's own variable.
    let stream = if on { unsafe { stdout } } else { std::ptr::null_mut() };
    // SAFETY: the stream is open.
    let result = unsafe { output::pvm_catchout(stream) };
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// `pvmfsleep`
///
/// # Safety
/// The argument points to an integer.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfsleep_(seconds: In) {
    // SAFETY: the program's promise.
    helpers::pvmsleep(unsafe { value(seconds) });
}

/// `pvmfnotify`
///
/// # Safety
/// The arguments point to integers, `tids` to `count` of them.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfnotify_(kind: In, tag: In, count: In, tids: In, info: Out) {
    // SAFETY: the program's promise.
    let result = unsafe { process::pvm_notify(value(kind), value(tag), value(count), tids) };
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
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
    function: Option<crate::guard::Function>,
    number: Out,
) {
    // SAFETY: the program's promise.
    let result =
        unsafe { handler::pvm_addmhf(value(source), value(tag), value(context), function) };
    // SAFETY: the program's promise.
    unsafe { store(number, result) };
}

/// `pvmfbufinfo`
///
/// # Safety
/// The arguments point to integers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfbufinfo_(bufid: In, bytes: Out, tag: Out, tid: Out, info: Out) {
    // SAFETY: the program's promise.
    let result = unsafe { buffer::pvm_bufinfo(value(bufid), bytes, tag, tid) };
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// Types of `pvmfpack` and `pvmfunpack`: PVM's numbers, where 0 is characters.
macro_rules! typed {
    ($what:expr, $count:expr, $stride:expr, $items:expr, $($kind:literal => $call:ident),*) => {
        match $what {
            // SAFETY: the program's promise.
            $($kind => unsafe { pack::$call($items.cast(), $count, $stride) },)*
            _ => call("pvmfpack", || Err(pvm_wire::Code::BadParam)),
        }
    };
}

/// `pvmfpack`
///
/// # Safety
/// The arguments point to integers, `items` to the items.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfpack_(
    what: In,
    items: *const c_void,
    count: In,
    stride: In,
    info: Out,
) {
    // SAFETY: the program's promise.
    let (what, count, stride) = unsafe { (value(what), value(count), value(stride)) };
    let result = typed!(what, count, stride, items,
        0 => pvm_pkbyte, 1 => pvm_pkbyte, 2 => pvm_pkshort, 3 => pvm_pkint, 4 => pvm_pkfloat,
        5 => pvm_pkcplx, 6 => pvm_pkdouble, 7 => pvm_pkdcplx, 8 => pvm_pklong);
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// `pvmfunpack`
///
/// # Safety
/// The arguments point to integers, `items` to room for the items.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfunpack_(
    what: In,
    items: *mut c_void,
    count: In,
    stride: In,
    info: Out,
) {
    // SAFETY: the program's promise.
    let (what, count, stride) = unsafe { (value(what), value(count), value(stride)) };
    let result = typed!(what, count, stride, items,
        0 => pvm_upkbyte, 1 => pvm_upkbyte, 2 => pvm_upkshort, 3 => pvm_upkint,
        4 => pvm_upkfloat, 5 => pvm_upkcplx, 6 => pvm_upkdouble, 7 => pvm_upkdcplx,
        8 => pvm_upklong);
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// `pvmfmcast`
///
/// # Safety
/// The arguments point to integers, `tids` to `count` of them.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfmcast_(count: In, tids: In, tag: In, info: Out) {
    // SAFETY: the program's promise.
    let result = unsafe { message::pvm_mcast(tids, value(count), value(tag)) };
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// `pvmfpsend`
///
/// # Safety
/// The arguments point to integers, `items` to the items.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfpsend_(
    tid: In,
    tag: In,
    items: *const c_void,
    count: In,
    kind: In,
    info: Out,
) {
    // SAFETY: the program's promise.
    let (tid, tag, count, kind) = unsafe { (value(tid), value(tag), value(count), value(kind)) };
    // SAFETY: the program's promise.
    let result = unsafe { message::bulk::pvm_psend(tid, tag, items, count, kind) };
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// `pvmfprecv`
///
/// # Safety
/// The arguments point to integers, `items` to room for the items.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfprecv_(
    tid: In,
    tag: In,
    items: *mut c_void,
    count: In,
    kind: In,
    from_tid: Out,
    from_tag: Out,
    length: Out,
    info: Out,
) {
    // SAFETY: the program's promise.
    let (tid, tag, count, kind) = unsafe { (value(tid), value(tag), value(count), value(kind)) };
    // SAFETY: the program's promise.
    let result = unsafe {
        message::bulk::pvm_precv(tid, tag, items, count, kind, from_tid, from_tag, length)
    };
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// `pvmftrecv`; -1 seconds are no limit.
///
/// # Safety
/// The arguments point to integers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmftrecv_(tid: In, tag: In, seconds: In, micros: In, bufid: Out) {
    // SAFETY: the program's promise.
    let limit = unsafe { [c_long::from(value(seconds)), c_long::from(value(micros))] };
    let limit: *const _ = if limit[0] == -1 { std::ptr::null() } else { &raw const limit };
    // SAFETY: the program's promise; null is no limit.
    let result = unsafe { message::pvm_trecv(value(tid), value(tag), limit) };
    // SAFETY: the program's promise.
    unsafe { store(bufid, result) };
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
        // SAFETY: the program's promise.
        let (there, ahead) = machine::host_clock(unsafe { value(host) })?;
        let (there, ahead) = (timeval(there), timeval(ahead));
        let times = [
            (seconds, there[0]),
            (micros, there[1]),
            (ahead_seconds, ahead[0]),
            (ahead_micros, ahead[1]),
        ];
        for (out, time) in times {
            // SAFETY: the program's promise.
            unsafe { store(out, time as c_int) };
        }
        Ok(0)
    });
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// `pvmfreduce`: the operation is an EXTERNAL with C's arguments.
///
/// # Safety
/// As `pvm_reduce`; the text has `length` characters.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfreduce_(
    operation: Option<crate::reduction::Function>,
    data: *mut c_void,
    count: In,
    kind: In,
    tag: In,
    group: *const c_char,
    root: In,
    info: Out,
    length: Length,
) {
    // SAFETY: the program's promise.
    let group = unsafe { input(group, length) };
    // SAFETY: the program's promise.
    let (count, kind, tag, root) = unsafe { (value(count), value(kind), value(tag), value(root)) };
    // SAFETY: the program's promise.
    let result =
        unsafe { group::pvm_reduce(operation, data, count, kind, tag, group.as_ptr(), root) };
    // SAFETY: the program's promise.
    unsafe { store(info, result) };
}

/// `pvmfgather`
///
/// # Safety
/// As `pvm_gather`; the text has `length` characters.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfgather_(
    result: *mut c_void,
    data: *const c_void,
    count: In,
    kind: In,
    tag: In,
    group: *const c_char,
    root: In,
    info: Out,
    length: Length,
) {
    // SAFETY: the program's promise.
    let group = unsafe { input(group, length) };
    // SAFETY: the program's promise.
    let (count, kind, tag, root) = unsafe { (value(count), value(kind), value(tag), value(root)) };
    // SAFETY: the program's promise.
    let code = unsafe { group::pvm_gather(result, data, count, kind, tag, group.as_ptr(), root) };
    // SAFETY: the program's promise.
    unsafe { store(info, code) };
}

/// `pvmfscatter`
///
/// # Safety
/// As `pvm_scatter`; the text has `length` characters.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvmfscatter_(
    result: *mut c_void,
    data: *const c_void,
    count: In,
    kind: In,
    tag: In,
    group: *const c_char,
    root: In,
    info: Out,
    length: Length,
) {
    // SAFETY: the program's promise.
    let group = unsafe { input(group, length) };
    // SAFETY: the program's promise.
    let (count, kind, tag, root) = unsafe { (value(count), value(kind), value(tag), value(root)) };
    // SAFETY: the program's promise.
    let code = unsafe { group::pvm_scatter(result, data, count, kind, tag, group.as_ptr(), root) };
    // SAFETY: the program's promise.
    unsafe { store(info, code) };
}
