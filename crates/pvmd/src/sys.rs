//! System calls that the safe interface to the system lacks.

use rustix::process::Signal;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::{fs, io};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Numbers 32 and 33 belong to the C library; Linux ends at 64.
const REALTIME: std::ops::RangeInclusive<i32> = 34..=64;

/// The signal with this number, real-time signals included.
pub(crate) fn signal_of(number: i32) -> Option<Signal> {
    if !REALTIME.contains(&number) {
        return Signal::from_named_raw(number);
    }
    // SAFETY: the number is that of a signal, and of none that the C library keeps for itself.
    Some(unsafe { Signal::from_raw_unchecked(number) })
}

/// Standard input, output and error output end before this one.
const OTHERS: std::ffi::c_int = 3;

/// Closes descriptors that this process inherited by accident from its starter: otherwise a pipe or
/// a lock would stay open as long as the host and its tasks live.
///
/// To be called while this process itself has nothing open but its standard streams.
pub(crate) fn close_inherited() {
    // SAFETY: no pointers. Nobody in this process owns one of these descriptors: what it opens from
    // here on gets its own.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, OTHERS, std::ffi::c_uint::MAX, 0) };
    if closed == 0 {
        return;
    }
    // Linux before 5.9, and some emulators.
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers: Vec<i32> =
        open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number >= OTHERS) {
        // SAFETY: as above. That of the list itself is closed already, which is an error that does
        // nothing.
        unsafe { libc::close(number) };
    }
}

/// Sets the number of bytes of a TCP connection that the kernel takes beyond what it may send at
/// once.
pub(crate) fn set_unsent_max(stream: impl AsFd, bytes: u32) -> io::Result<()> {
    let (socket, length) = (stream.as_fd().as_raw_fd(), size_of_val(&bytes) as libc::socklen_t);
    let value = (&raw const bytes).cast();
    // SAFETY: the descriptor is open while it is borrowed, and the value is as long as is said.
    let set = unsafe {
        libc::setsockopt(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, value, length)
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets the number of bytes that have to be there before the kernel wakes the reader of a TCP
/// connection.
pub(crate) fn set_least_to_read(stream: impl AsFd, bytes: usize) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).map_err(io::Error::other)?;
    let (socket, length) = (stream.as_fd().as_raw_fd(), size_of_val(&bytes) as libc::socklen_t);
    let value = (&raw const bytes).cast();
    // SAFETY: the descriptor is open while it is borrowed, and the value is as long as is said.
    let set =
        unsafe { libc::setsockopt(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, value, length) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The kernel's data of a TCP connection, if there is any. Unknown fields are 0.
pub(crate) fn tcp_info(stream: impl AsFd) -> Option<libc::tcp_info> {
    // SAFETY: the structure is numbers only, for which zeros are values.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let (socket, place) = (stream.as_fd().as_raw_fd(), (&raw mut info).cast());
    let mut length = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the descriptor is open while it is borrowed, and the kernel writes at most `length`
    // bytes to the place.
    let told = unsafe {
        libc::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut length)
    };
    (told == 0).then_some(info)
}

/// Bytes of a TCP connection that the kernel has taken and the other side has not confirmed; none
/// where it does not tell.
pub(crate) fn unconfirmed(stream: impl AsFd) -> Option<u32> {
    let (mut bytes, socket): (libc::c_int, _) = (0, stream.as_fd().as_raw_fd());
    // SAFETY: the descriptor is open while it is borrowed, and the kernel writes one number.
    let told = unsafe { libc::ioctl(socket, libc::TIOCOUTQ, &raw mut bytes) };
    if told == 0 { bytes.try_into().ok() } else { None }
}

/// A descriptor as the runtime waits for it.
pub(crate) fn readable(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the value owns the descriptor, which is open until the value is dropped.
    let registered = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
    registered.map_err(|failed| failed.into_parts().1)
}

/// The addresses of a process's code: its program's and its libraries'.
///
/// Starting runs through most of it once, waiting through little of it. A host that has started
/// gives the pages back to the system, which maps those that are needed again from the same files:
/// both processes of an idle host had up to 12.4 MiB resident without it and have 9.9 to 10.3 with
/// it.
#[derive(Debug)]
pub(crate) struct Text {
    places: Vec<(usize, usize)>,
}

impl Text {
    /// Finds those of this process, as far as the system tells; a confined process is not told.
    pub(crate) fn find() -> Self {
        let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Self { places: maps.lines().filter_map(code_of_file).collect() }
    }

    /// Gives its pages back.
    pub(crate) fn give_back(&self) {
        for &(start, bytes) in &self.places {
            let start = std::ptr::with_exposed_provenance_mut(start);
            // SAFETY: pages of a file that are executed and cannot be written hold what the file
            // holds, so the next one who reads them finds the same. An error would leave everything
            // as it is.
            unsafe { libc::madvise(start, bytes, libc::MADV_DONTNEED) };
        }
    }
}

/// Start and size of a mapping that is a file's, is executed and was never written.
fn code_of_file(line: &str) -> Option<(usize, usize)> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let is_code = words.next()? == "r-xp";
    let is_file = words.nth(3)?.starts_with('/');
    let address = |word| usize::from_str_radix(word, 16).ok();
    let (start, end) = (address(start)?, address(end)?);
    (is_code && is_file).then(|| (start, end.saturating_sub(start)))
}

/// The error of the newer call that makes processes, asked for none.
#[cfg(test)]
pub(crate) fn newer_clone() -> io::Error {
    // SAFETY: arguments of no bytes at no address are refused before anything is made.
    unsafe { libc::syscall(libc::SYS_clone3, std::ptr::null::<libc::c_void>(), 0usize) };
    io::Error::last_os_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_what_a_file_has_and_nobody_writes() {
        let line = |access: &str, file: &str| {
            code_of_file(&format!("55a1000-55a3000 {access} 00001000 fe:00 99    {file}"))
        };
        assert_eq!(line("r-xp", "/usr/bin/pvmd"), Some((0x55a_1000, 0x2000)));
        assert_eq!(line("r--p", "/usr/bin/pvmd"), None);
        assert_eq!(line("rwxp", "/usr/bin/pvmd"), None);
        assert_eq!(line("r-xp", "[vdso]"), None);
        assert_eq!(line("r-xp", ""), None);
        assert_eq!(code_of_file(""), None);
    }

    #[test]
    fn a_process_goes_on_whose_code_was_given_back() {
        let text = Text::find();
        let own = code_is_what_a_file_has_and_nobody_writes as *const () as usize;
        let is_own = |&(start, bytes): &(usize, usize)| (start..start + bytes).contains(&own);
        assert!(text.places.iter().any(is_own), "{text:?}");
        text.give_back();
        assert_eq!(Text::find().places, text.places);
    }
}
