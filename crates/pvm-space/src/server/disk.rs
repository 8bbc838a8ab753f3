//! A durable space on the disk of its server: one file, `DIRECTORY/NAME.HOST.tuples`.
//!
//! [`pvm_tuples::log`] says what is in it. A new file is written beside the old one and takes its
//! place whole. Records are gathered, written and synced together ([`Disk::sync`]). Room for what a
//! client asks is reserved before the space does it ([`Disk::reserve`]), so a full disk refuses a
//! request and never loses a step that was done.

use pvm_tuples::log::{self, MAGIC, Record, Replay};
use pvm_wire::{Blob, HostIndex};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The end of each file's name.
const SUFFIX: &str = ".tuples";
/// Room is reserved in such pieces; one of them is always left for what servers do by themselves.
const ROOM: u64 = 1 << 20;
/// A file is begun anew when its steps have at least this many bytes, and as many as its first
/// state.
const STEPS_MIN: u64 = 4 << 20;

/// The file of a space.
pub(super) struct Disk {
    file: File,
    path: PathBuf,
    /// Records that are not written yet, and the last step among them.
    pending: Vec<u8>,
    last: Option<u64>,
    /// Bytes of the file.
    written: u64,
    /// Bytes that it began with.
    begun: u64,
    /// Bytes for which there is room on the disk.
    reserved: u64,
}

impl Disk {
    /// Begins a file, which takes the place of an older one.
    pub(super) fn begin(
        directory: &Blob,
        name: &Blob,
        host: HostIndex,
        record: &Record,
    ) -> io::Result<Self> {
        let directory = path_of(directory)?;
        let path = directory.join(file_name(name, Some(host)));
        let new = path.with_extension("new");
        let mut bytes = MAGIC.to_vec();
        log::append(&mut bytes, record);
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(&new)?;
        let locked = file.try_lock().map_err(|_| in_use(&path));
        let done = locked.and_then(|()| file.write_all(&bytes)).and_then(|()| file.sync_all());
        let done = done.and_then(|()| std::fs::rename(&new, &path));
        if let Err(error) = done {
            drop(std::fs::remove_file(&new));
            return Err(error);
        }
        File::open(directory)?.sync_all()?;
        let begun = bytes.len() as u64;
        let mut disk = Self {
            file,
            path,
            pending: Vec::new(),
            last: None,
            written: begun,
            begun,
            reserved: begun,
        };
        disk.reserve(0, true)?;
        Ok(disk)
    }

    /// Reserves room for `bytes` more bytes, and for the servers' own steps after that. A step that
    /// takes tuples away may use a part of that reserve, so that a full space can be emptied.
    pub(super) fn reserve(&mut self, bytes: usize, puts: bool) -> io::Result<()> {
        let own = if puts { ROOM } else { ROOM / 2 };
        let ahead = self.written + self.pending.len() as u64 + bytes as u64 + own;
        if ahead <= self.reserved {
            return Ok(());
        }
        let to = ahead.next_multiple_of(ROOM);
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.reserved, to - self.reserved) {
            // A file system that cannot reserve has room until it says otherwise.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                self.reserved = to;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Notes a record that is to be written.
    pub(super) fn note(&mut self, record: &Record) {
        if let Record::Step { number, .. } = record {
            self.last = Some(*number);
        }
        log::append(&mut self.pending, record);
    }

    /// True if a record is to be written.
    pub(super) const fn is_behind(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Writes what was noted. The last step that is on the disk now, if it is a new one.
    pub(super) fn sync(&mut self) -> io::Result<Option<u64>> {
        self.file.write_all(&self.pending)?;
        self.file.sync_data()?;
        self.written += self.pending.len() as u64;
        self.pending.clear();
        self.pending.shrink_to(1 << 20);
        Ok(self.last.take())
    }

    /// True if a file that begins with what the space holds now would be much shorter.
    pub(super) fn is_long(&self) -> bool {
        let steps = self.written - self.begun;
        steps > STEPS_MIN && steps > self.begun
    }

    /// True while the file is the one that its name leads to.
    pub(super) fn is_current(&self) -> bool {
        let own = self.file.metadata().map(|of| (of.dev(), of.ino()));
        let named = std::fs::metadata(&self.path).map(|of| (of.dev(), of.ino()));
        own.ok().is_some_and(|own| named.is_ok_and(|named| named == own))
    }

    /// The file is begun anew when it has become longer still.
    pub(super) const fn be_patient(&mut self) {
        self.begun = self.written;
    }

    /// The space has ended: nothing is left of it.
    pub(super) fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// The data that was found of a space.
pub(super) struct Found {
    pub(super) replay: Replay,
    /// The note about damages.
    pub(super) note: String,
    /// Where it was, and other files of the space that are older.
    pub(super) files: Vec<PathBuf>,
}

/// Reads the last file of a space in a directory, whichever host has written it.
pub(super) fn find(directory: &Blob, name: &Blob) -> io::Result<Option<Found>> {
    let (mut found, mut notes): (Option<Found>, _) = (None, Vec::new());
    let mut files = Vec::new();
    for path in files_of(path_of(directory)?, name)? {
        let bytes = read(&path)?;
        let Some(replay) = log::replay(&bytes) else {
            notes.push(set_aside(&path, "holds no space that can be read")?);
            continue;
        };
        let lost = bytes.len() - replay.whole;
        let note = if lost > 0 {
            let what = format!("has {lost} bytes from byte {} on that are damaged", replay.whole);
            set_aside_copy(&path, &bytes, &what)?
        } else {
            String::new()
        };
        files.push(path);
        if found.as_ref().is_none_or(|known| known.replay.age() < replay.age()) {
            found = Some(Found { replay, note, files: Vec::new() });
        }
    }
    let Some(found) = found else {
        return if notes.is_empty() { Ok(None) } else { Err(io::Error::other(notes.join("; "))) };
    };
    notes.extend(Some(found.note).filter(|note| !note.is_empty()));
    Ok(Some(Found { note: notes.join("; "), files, ..found }))
}

/// Removes files that another one has replaced.
pub(super) fn forget(files: &[PathBuf], but: &Disk) {
    for file in files.iter().filter(|file| **file != but.path) {
        // A file that stays is older, and loses the next time, too.
        drop(std::fs::remove_file(file));
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)?;
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use(path)),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn in_use(path: &Path) -> io::Error {
    let text = format!("{} is in use by another server", path.display());
    io::Error::new(io::ErrorKind::ResourceBusy, text)
}

/// A file that cannot be read is kept under another name.
fn set_aside(path: &Path, what: &str) -> io::Result<String> {
    let to = aside(path);
    std::fs::rename(path, &to)?;
    Ok(format!("{} {what}: it is {} now", path.display(), to.display()))
}

/// A file of which a part is lost is kept as it was under another name, too.
fn set_aside_copy(path: &Path, bytes: &[u8], what: &str) -> io::Result<String> {
    let to = aside(path);
    std::fs::write(&to, bytes)?;
    let whole = "what is in front of them is kept";
    Ok(format!("{} {what}: {whole}, and the file as it was is {}", path.display(), to.display()))
}

fn aside(path: &Path) -> PathBuf {
    let free = |number: &u32| !path.with_extension(format!("damaged-{number}")).exists();
    path.with_extension(format!("damaged-{}", (1..).find(free).unwrap_or(0)))
}

fn path_of(directory: &Blob) -> io::Result<&Path> {
    let path = Path::new(OsStr::from_bytes(&directory.0));
    if path.is_absolute() {
        return Ok(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "the directory has no absolute path"))
}

/// The name of the file of a host, or what such names begin with. Bytes that a name of a file
/// should not have are written as `%` and two digits.
fn file_name(space: &Blob, host: Option<HostIndex>) -> OsString {
    let mut name = String::new();
    for byte in &space.0 {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(*byte)),
            _ => name.push_str(&format!("%{byte:02x}")),
        }
    }
    match host {
        Some(host) => name.push_str(&format!(".{host}{SUFFIX}")),
        None => name.push('.'),
    }
    name.into()
}

fn files_of(directory: &Path, space: &Blob) -> io::Result<Vec<PathBuf>> {
    let begin = file_name(space, None);
    let mut files = Vec::new();
    for file in std::fs::read_dir(directory)? {
        let name = file?.file_name();
        let host = name.as_bytes().strip_prefix(begin.as_bytes());
        let host = host.and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
        if host.is_some_and(|host| !host.is_empty() && host.iter().all(u8::is_ascii_digit)) {
            files.push(directory.join(name));
        }
    }
    files.sort();
    Ok(files)
}
