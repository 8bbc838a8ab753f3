//! Small functions of PVM's library that third-party programs came to call.
//!
//! None of them is documented; what they do was asked of PVM 3.4.6. Text that they return lives as
//! long as the program.

pub(crate) mod installation;
mod printing;

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use crate::globals::DATA_SIGNATURE;
use crate::guard::plain;
use crate::timeval::{Timeval, timeval};

unsafe extern "C" {
    fn putenv(setting: *mut c_char) -> c_int;
}

/// Text for a caller that never gives it back. Each distinct answer is kept once.
pub(crate) fn forever(text: &OsStr) -> *mut c_char {
    use std::collections::HashMap;
    use std::sync::{Mutex, PoisonError};
    static KEPT: Mutex<Option<HashMap<Vec<u8>, usize>>> = Mutex::new(None);

    let bytes: Vec<u8> = text.as_bytes().iter().copied().take_while(|&b| b != 0).collect();
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let address = *kept.get_or_insert_default().entry(bytes).or_insert_with_key(|bytes| {
        CString::new(bytes.clone()).unwrap_or_default().into_raw().expose_provenance()
    });
    ptr::with_exposed_provenance_mut(address)
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)
}

fn temporary() -> PathBuf {
    variable("PVM_TMP").unwrap_or_else(|| "/tmp".into())
}

/// # Safety
/// Null, or ends with 0.
unsafe fn bytes<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return b"(null)";
    }
    // SAFETY: `text` is not null and ends with 0, by the call's contract.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// The program that reaches other hosts: `PVM_RSH`, else ssh.
#[unsafe(no_mangle)]
extern "C" fn pvmgetrsh() -> *mut c_char {
    plain(ptr::null_mut(), || {
        forever(variable("PVM_RSH").unwrap_or_else(|| "ssh".into()).as_os_str())
    })
}

/// The folder of temporary files.
#[unsafe(no_mangle)]
extern "C" fn pvmgettmp() -> *mut c_char {
    plain(ptr::null_mut(), || forever(temporary().as_os_str()))
}

/// The user's home.
#[unsafe(no_mangle)]
extern "C" fn pvmgethome() -> *mut c_char {
    plain(ptr::null_mut(), || forever(variable("HOME").unwrap_or_else(|| "/".into()).as_os_str()))
}

/// The name that PVM 3 would give its address file; ours lie elsewhere.
#[unsafe(no_mangle)]
extern "C" fn pvmdsockfile() -> *mut c_char {
    plain(ptr::null_mut(), || {
        let mut name = temporary().into_os_string();
        name.push(format!("/pvmd.{}", rustix::process::getuid().as_raw()));
        if let Some(vmid) = std::env::var_os("PVM_VMID") {
            name.push(".");
            name.push(vmid);
        }
        forever(&name)
    })
}

/// A name for a temporary file, in the caller's buffer if there is one.
///
/// # Safety
/// `buffer` is null or has `PVMTMPNAMLEN` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmtmpnam(buffer: *mut c_char) -> *mut c_char {
    plain(ptr::null_mut(), || {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut name = temporary().into_os_string();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        name.push(format!("/pvmtmp{:06}.{number}", std::process::id()));
        if buffer.is_null() {
            return forever(&name);
        }
        let name = CString::new(name.into_vec()).unwrap_or_default();
        let name = name.as_bytes_with_nul();
        if name.len() > 128 {
            return ptr::null_mut();
        }
        // SAFETY: 128 bytes are the length that programs are told to bring.
        unsafe { ptr::copy_nonoverlapping(name.as_ptr().cast(), buffer, name.len()) };
        buffer
    })
}

/// The time of day.
///
/// # Safety
/// `time` is null or points to a `struct timeval`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmgetclock(time: *mut Timeval) -> c_int {
    plain(-1, || {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        if !time.is_null() {
            let now = timeval(i64::try_from(now.as_micros()).unwrap_or(i64::MAX));
            // SAFETY: not null, and then it points to a `struct timeval`.
            unsafe { time.write(now) };
        }
        0
    })
}

/// This machine's data representation.
#[unsafe(no_mangle)]
extern "C" fn pvmgetdsig() -> c_int {
    DATA_SIGNATURE
}

/// Sleeps whole seconds.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvmsleep(seconds: c_int) -> c_int {
    plain(-1, || {
        std::thread::sleep(Duration::from_secs(seconds.max(0).unsigned_abs().into()));
        0
    })
}

/// As `putenv`.
///
/// # Safety
/// `setting` is `NAME=value` and stays where it is.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmputenv(setting: *mut c_char) -> c_int {
    if setting.is_null() {
        return -1;
    }
    // SAFETY: putenv keeps the pointer, and the program leaves the text where it is.
    unsafe { putenv(setting) }
}

/// A decimal, `0x` hexadecimal or `0` octal number.
fn number(text: &[u8]) -> c_int {
    let text = text.trim_ascii_start();
    let (negative, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (radix, digits) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', digits @ ..] => (8, digits),
        digits => (10, digits),
    };
    let value = digits_value(digits, radix);
    if negative { value.wrapping_neg() } else { value }
}

/// The number that the leading digits spell.
fn digits_value(digits: &[u8], radix: u32) -> c_int {
    let digits = digits.iter().map_while(|&d| char::from(d).to_digit(radix));
    digits.fold(0u32, |n, d| n.wrapping_mul(radix).wrapping_add(d)).cast_signed()
}

/// A number as C writes it.
///
/// # Safety
/// `text` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmstrtoi(text: *const c_char) -> c_int {
    // SAFETY: `text` is null or ends with 0, by the call's contract.
    plain(0, || number(unsafe { bytes(text) }))
}

/// A hexadecimal number.
///
/// # Safety
/// `text` is null or ends with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmxtoi(text: *const c_char) -> c_int {
    plain(0, || {
        // SAFETY: `text` is null or ends with 0, by the call's contract.
        let text = unsafe { bytes(text) };
        let digits = match text {
            [b'0', b'x' | b'X', digits @ ..] => digits,
            digits => digits,
        };
        digits_value(digits, 16)
    })
}

/// 1 if the text matches: `*` at the end of the pattern stands for anything.
///
/// # Safety
/// Both are null or end with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmmatchstring(text: *const c_char, pattern: *const c_char) -> c_int {
    plain(0, || {
        // SAFETY: `text` is null or ends with 0, by the call's contract.
        let text = unsafe { bytes(text) };
        // SAFETY: `pattern` is null or ends with 0, by the call's contract.
        let pattern = unsafe { bytes(pattern) };
        c_int::from(matches(pattern, text))
    })
}

/// `*` in the pattern stands for any text.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => (0..=text.len()).any(|n| matches(rest, &text[n..])),
        [c, rest @ ..] => text.first() == Some(c) && matches(rest, &text[1..]),
    }
}

/// The name of a reserved tag, or the number as text; `known` says which.
///
/// # Safety
/// `known` is null or points to an int.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmnametag(tag: c_int, known: *mut c_int) -> *mut c_char {
    plain(ptr::null_mut(), || {
        let name = tag_name(tag);
        if !known.is_null() {
            // SAFETY: not null, and then it points to an int.
            unsafe { known.write(name.is_some().into()) };
        }
        forever(OsStr::new(&name.unwrap_or_else(|| tag.to_string())))
    })
}

fn tag_name(tag: c_int) -> Option<String> {
    const TASK: &str = "CONNECT CONN2 EXIT ADDHOST DELHOST CONFIG MSTAT HALT TICKLE SPAWN PSTAT \
        SENDSIG TASK MCA NOTIFY DB SCHED TASKER HOSTER TRACER HOSTSYNC SETOPT GETOPT CONTEXT \
        SHMCONN";
    const DAEMON: &str = "ADD ADDACK EXEC EXECACK SENDSIG HTUPD HTUPDACK HTCOMMIT SLCONF STARTACK \
        TASK TASKACK DELHOST DELHOSTACK NULL TASKOUT PSTAT PSTATACK HALT MCA NOTIFY NOTIFYACK DB \
        DBACK RESET RESETACK HTDEL HOSTSYNC HOSTSYNCACK";
    const CONTROL: &str = "CONREQ CONACK TASKEXIT NOOP OUTPUT SETTRACE SETTMASK SETTRCBUF \
        SETTRCOPT SHMAT OUTPUTX SIBLINGS";
    const SCHEDULER: &str = "SPAWN EXEC EXECACK TASK CONFIG ADDHOST DELHOST ADD ADDACK NOTIFY \
        TASKX HOSTX HANDOFF SCHED STHOST STHOSTACK STTASK";
    let tag = tag.cast_unsigned();
    let (prefix, names) = match tag >> 16 {
        0x8001 => ("TM", TASK),
        0x8002 => ("DM", DAEMON),
        0x8003 => ("TC", CONTROL),
        0x8004 => ("SM", SCHEDULER),
        _ => return None,
    };
    let index = (tag & 0xffff).checked_sub(1)? as usize;
    Some(format!("{prefix}_{}", names.split_ascii_whitespace().nth(index)?))
}

macro_rules! network_numbers {
    ($($put:ident $get:ident $type:ty;)*) => {$(
        /// Writes a number, the most significant byte first.
        ///
        /// # Safety
        /// `at` has room for it.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $put(at: *mut c_void, value: c_int) -> c_int {
            let bytes = (value as $type).to_be_bytes();
            // SAFETY: `at` has room for a number of this type, and arrays of bytes need no
            // alignment.
            unsafe { at.cast::<[u8; size_of::<$type>()]>().write_unaligned(bytes) };
            0
        }

        /// Reads a number, the most significant byte first.
        ///
        /// # Safety
        /// `at` holds one.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $get(at: *const c_void) -> c_int {
            // SAFETY: `at` holds a number of this type, and arrays of bytes need no alignment.
            let bytes = unsafe { at.cast::<[u8; size_of::<$type>()]>().read_unaligned() };
            <$type>::from_be_bytes(bytes) as c_int
        }
    )*};
}

network_numbers! {
    pvmput32 pvmget32 u32;
    pvmput16 pvmget16 u16;
    pvmput8 pvmget8 u8;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_pvm_reads_them() {
        for (text, value) in [("12", 12), ("0x10", 16), ("010", 8), ("x", 0), ("-5", -5)] {
            assert_eq!(number(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn tags_have_names() {
        assert_eq!(tag_name(0x8001_0001_u32.cast_signed()).as_deref(), Some("TM_CONNECT"));
        assert_eq!(tag_name(0x8004_000f_u32.cast_signed()).as_deref(), Some("SM_STHOST"));
        assert_eq!(tag_name(0x8003_0005_u32.cast_signed()).as_deref(), Some("TC_OUTPUT"));
        assert_eq!(tag_name(5), None);
        assert_eq!(tag_name(0x8001_0000_u32.cast_signed()), None);
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(matches(b"a*", b"abc"));
        assert!(!matches(b"abc", b"a*"));
        assert!(!matches(b"b", b"abc"));
    }
}
