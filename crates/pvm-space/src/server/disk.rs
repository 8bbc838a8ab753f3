//! A durable space on the disk of its server: one file, `DIRECTORY/NAME.HOST.tuples`.
//!
//! [`pvm_tuples::log`] defines its content. A new file is written beside the old one, and replaces
//! it when it is complete. Records are gathered, written and synced together ([`Disk::sync`]). Room
//! for what a client asks is reserved before the space does it ([`Disk::reserve`]), so a full disk
//! refuses a request and never loses a step that was done.
//!
//! Other users may put files into the directory. So the server does not follow links, open what
//! would block, or overwrite files there, and only the owner may read the files that it writes.

use super::lagging::Lagging;
use pvm_tuples::log::{self, MAGIC, Record, Replay};
use pvm_wire::{Blob, HostIndex};
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The end of each file's name.
const SUFFIX: &str = ".tuples";
/// The step in which room is reserved. One such piece always stays free for steps that servers make
/// by themselves.
const ROOM: u64 = 1 << 20;
/// A file is begun anew when its steps have at least this many bytes, and at least as many as its
/// first state.
const STEPS_MIN: u64 = 4 << 20;

/// The room that a file needs on the disk beside its bytes.
const BLOCKS: u64 = 64 << 10;
/// The shortest interval between two attempts to begin a file anew, on a full disk or after a file
/// has lost its name.
pub(super) const TRY_AGAIN: Duration = Duration::from_secs(1);
/// While messages keep coming, gathered records are written after this time at the earliest ...
const SYNC_AGAIN: Duration = Duration::from_millis(1);
/// ... or when they have this many bytes.
const PENDING_MAX: usize = 256 << 10;
/// The longest time that this process waits while another one holds the lock of a space's files ...
const LOCKED_MAX: Duration = Duration::from_secs(2);
/// ... and the interval at which it tries to get the lock.
const LOOK: Duration = Duration::from_millis(10);

/// The lock of a space's files: only its holder searches for them, begins one or removes one.
pub(super) struct Lock {
    directory: PathBuf,
    name: Blob,
    /// The file is locked as long as it is open.
    _file: File,
}

impl Lock {
    /// Waits for the lock, for [`LOCKED_MAX`] at most.
    pub(super) fn take(directory: &Blob, name: &Blob) -> io::Result<Self> {
        let (directory, name) = (path_of(directory)?.to_owned(), name.clone());
        let file = locked(&directory.join(lock_name(&name)))?;
        Ok(Self { directory, name, _file: file })
    }
}

fn locked(path: &Path) -> io::Result<File> {
    let until = Instant::now() + LOCKED_MAX;
    loop {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = regular(options, path)?;
        match file.try_lock() {
            // The former holder may have removed the file; the lock of a removed file has no
            // effect.
            Ok(()) if is_at(&file, path) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if Instant::now() >= until {
            return Err(in_use(path));
        }
    }
}

/// The file of a space.
pub(super) struct Disk {
    file: File,
    path: PathBuf,
    /// The directory, for the [`Lock`].
    directory: PathBuf,
    name: Blob,
    /// Records that are not written yet, and the number of the last step among them.
    pending: Vec<u8>,
    last: Option<u64>,
    /// The bytes of the file.
    written: u64,
    /// The bytes of its first state.
    begun: u64,
    /// The bytes for which room is reserved on the disk.
    reserved: u64,
    /// The time of the last attempt to begin the file anew.
    tried: Option<Instant>,
    /// The time at which the first unwritten record was noted.
    noted: Option<Instant>,
    /// The duration of the last sync.
    took: Duration,
    is_nameless: bool,
    /// The syncs for which answers do not wait.
    lagging: Option<Lagging>,
}

/// The result of a sync.
pub(super) enum Synced {
    /// The last step that is on the disk now, if it is a new one.
    All(Option<u64>),
    /// All is written, but other processes have removed the file's name: its content will not
    /// outlive the server.
    Nameless,
}

impl Disk {
    /// Begins a file. It replaces an older file of the same name: one that no server uses, or
    /// `old`.
    pub(super) fn begin(
        lock: &Lock,
        host: HostIndex,
        record: &Record,
        old: Option<&Self>,
    ) -> io::Result<Self> {
        let path = lock.directory.join(file_name(&lock.name, Some(host)));
        if old.is_none_or(|old| old.path != path || !old.is_in_its_place()) {
            be_unused(&path)?;
        }
        let new = path.with_extension("new");
        let mut bytes = MAGIC.to_vec();
        log::append(&mut bytes, record);
        // No other server begins a file while this one has the lock: this file is left from a
        // server that has died.
        remove_if_there(&new)?;
        let mut file = create(&new)?;
        let begun = bytes.len() as u64;
        let locked = file.try_lock().map_err(|_| in_use(&path));
        let written = locked.and_then(|()| file.write_all(&bytes));
        let mut disk = Self {
            file,
            path,
            directory: lock.directory.clone(),
            name: lock.name.clone(),
            pending: Vec::new(),
            last: None,
            written: begun,
            begun,
            reserved: begun,
            tried: None,
            noted: None,
            took: Duration::ZERO,
            is_nameless: false,
            lagging: None,
        };
        // The room of the old file may be all the room that there is.
        let mut has_room = || match disk.reserve(0, true) {
            Err(_) if old.is_some_and(|old| old.shrinks_to(begun)) => Ok(()),
            other => other,
        };
        let done = written.and_then(|()| has_room()).and_then(|()| disk.file.sync_all());
        if let Err(error) = done.and_then(|()| std::fs::rename(&new, &disk.path)) {
            drop(std::fs::remove_file(&new));
            return Err(error);
        }
        sync_directory(&disk.path)?;
        if let Record::Begun { entry, .. } = record
            && entry.options.loss_ms > 0
        {
            let (file, window) = (disk.file.try_clone()?, entry.options.loss_ms.into());
            let sync = move || file.sync_data();
            disk.lagging = Some(Lagging::new(Duration::from_millis(window), sync)?);
        }
        Ok(disk)
    }

    /// True if a file that begins with `bytes` bytes, in place of this one, leaves enough room.
    fn shrinks_to(&self, bytes: u64) -> bool {
        bytes + ROOM + BLOCKS <= self.reserved
    }

    /// True if a new file may be shorter, and the last attempt is not too recent. `bytes`: the size
    /// of the space's content.
    pub(super) fn may_shrink(&mut self, bytes: u64) -> bool {
        if !self.may_try() || !self.shrinks_to(bytes) {
            return false;
        }
        self.tried_now();
        true
    }

    /// True if the last attempt to begin the file anew is not too recent.
    pub(super) fn may_try(&self) -> bool {
        self.tried.is_none_or(|tried| tried.elapsed() >= TRY_AGAIN)
    }

    pub(super) fn tried_now(&mut self) {
        self.tried = Some(Instant::now());
    }

    /// True once the file is known to have lost its name.
    pub(super) const fn is_nameless(&self) -> bool {
        self.is_nameless
    }

    /// Gives back the reserved room behind the content, so that a new file can use it.
    pub(super) fn give_room(&mut self) {
        if rustix::fs::ftruncate(&self.file, self.written).is_ok() {
            self.reserved = self.written;
        }
    }

    /// Reserves as much room as there is for steps that servers make by themselves.
    pub(super) fn take_room(&mut self) {
        // Without this room requests are refused.
        drop(self.reserve(0, true).or_else(|_| self.reserve(0, false)));
    }

    /// Reserves room for `bytes` more bytes, and behind them for steps that servers make by
    /// themselves. A step that takes tuples away may use a part of the second room, so a full space
    /// can be emptied.
    pub(super) fn reserve(&mut self, bytes: usize, puts: bool) -> io::Result<()> {
        let own = if puts { ROOM } else { ROOM / 2 };
        let ahead = self.written + self.pending.len() as u64 + bytes as u64 + own;
        if ahead <= self.reserved {
            return Ok(());
        }
        // Some file systems reserve beyond the user's limit for files, and refuse to write there.
        if ahead > getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX) {
            return Err(Errno::FBIG.into());
        }
        let mut to = ahead.next_multiple_of(ROOM);
        let reserve = |to| {
            let (from, keep) = (self.reserved, FallocateFlags::KEEP_SIZE);
            fallocate(&self.file, keep, from, to - from)
        };
        let mut reserved = reserve(to);
        if reserved == Err(Errno::NOSPC) {
            to = ahead;
            reserved = reserve(to);
        }
        match reserved {
            // On a file system that cannot reserve, room is assumed until a write fails.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                self.reserved = to;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Notes a record that must be written.
    pub(super) fn note(&mut self, record: &Record) {
        if let Record::Step { number, .. } = record {
            self.last = Some(*number);
        }
        log::append(&mut self.pending, record);
        self.noted.get_or_insert_with(Instant::now);
    }

    /// True if the noted records have waited for too long, or are too many.
    pub(super) fn is_late(&self) -> bool {
        let waits = || self.noted.is_some_and(|noted| noted.elapsed() >= self.took.max(SYNC_AGAIN));
        self.pending.len() >= PENDING_MAX || waits()
    }

    /// True if a noted record is not written.
    pub(super) const fn is_behind(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Writes the noted records and syncs them.
    pub(super) fn sync(&mut self) -> io::Result<Synced> {
        let begun = Instant::now();
        self.file.write_all(&self.pending)?;
        match &mut self.lagging {
            Some(lagging) => {
                lagging.wrote(begun);
                // The syncs of other spaces may have taken this one's window.
                lagging.tend(Instant::now())?;
            }
            None => self.file.sync_data()?,
        }
        (self.took, self.noted) = (begun.elapsed(), None);
        self.written += self.pending.len() as u64;
        self.pending.clear();
        self.pending.shrink_to(1 << 20);
        self.is_nameless |= self.file.metadata()?.nlink() == 0;
        Ok(if self.is_nameless { Synced::Nameless } else { Synced::All(self.last.take()) })
    }

    /// The time at which [`Disk::tend`] must be called.
    pub(super) fn due(&self) -> Option<Instant> {
        self.lagging.as_ref().and_then(|lagging| lagging.due(Instant::now()))
    }

    /// Handles the syncs for which answers do not wait.
    pub(super) fn tend(&mut self) -> io::Result<()> {
        self.lagging.as_mut().map_or(Ok(()), |lagging| lagging.tend(Instant::now()))
    }

    /// True if a new file with the present content would be much shorter.
    pub(super) fn is_long(&self) -> bool {
        let steps = self.written - self.begun;
        steps > STEPS_MIN && steps > self.begun
    }

    /// True if the file's name leads to this file.
    pub(super) fn is_in_its_place(&self) -> bool {
        is_at(&self.file, &self.path)
    }

    /// True if the file's name leads to another file.
    pub(super) fn was_replaced(&self) -> bool {
        std::fs::symlink_metadata(&self.path).is_ok() && !is_at(&self.file, &self.path)
    }

    /// Puts off beginning the file anew until it has become longer still.
    pub(super) const fn be_patient(&mut self) {
        self.begun = self.written;
    }

    /// Removes all files of a space that has ended, so that they are gone after a power failure,
    /// too.
    pub(super) fn remove(self) -> io::Result<()> {
        let lock = self.directory.join(lock_name(&self.name));
        let _locked = locked(&lock)?;
        remove_if_there(&self.path)?;
        // A file that was left when this host had another number would bring the space back. A file
        // in use is removed by its own server, which takes the lock itself.
        for left in files_of(&self.directory, &self.name)? {
            if be_unused(&left).is_ok() {
                remove_if_there(&left)?;
            }
        }
        remove_if_there(&lock)?;
        sync_directory(&self.path)
    }
}

/// The data of a space that were found on disk.
pub(super) struct SavedSpace {
    pub(super) replay: Replay,
    /// A note about damaged files.
    pub(super) note: String,
    /// The path of the file, and older files of the space.
    pub(super) files: Vec<PathBuf>,
}

/// Reads the latest file of a space in a directory, whichever host has written it.
pub(super) fn find(lock: &Lock) -> io::Result<Option<SavedSpace>> {
    let (mut last, mut notes): (Option<Replay>, _) = (None, Vec::new());
    let (mut files, mut damaged, mut used) = (Vec::new(), Vec::new(), 0);
    for path in files_of(&lock.directory, &lock.name)? {
        let bytes = read(&path)?;
        if let Some(version) = log::other_version(&bytes) {
            return Err(io::Error::other(format!(
                "{} has version {version}, and this server reads version {}: it stays as it is; \
                 the programs that wrote it can dump it",
                path.display(),
                MAGIC[MAGIC.len() - 1]
            )));
        }
        let Some(replay) = log::replay(&bytes) else {
            notes.push(set_aside(&path, "holds no space that can be read")?);
            continue;
        };
        files.push(path);
        if bytes.len() > replay.whole {
            damaged.push((files.len() - 1, bytes, replay.whole));
        }
        if last.as_ref().is_none_or(|last| replay.is_later_than(last)) {
            used = files.len() - 1;
            last = Some(replay);
        }
    }
    let Some(replay) = last else {
        return if notes.is_empty() { Ok(None) } else { Err(io::Error::other(notes.join("; "))) };
    };
    for (at, bytes, whole) in damaged {
        let other = (at != used).then(|| &*files[used]);
        notes.push(set_aside_copy(&files[at], (&bytes, whole), other)?);
    }
    Ok(Some(SavedSpace { replay, note: notes.join("; "), files }))
}

/// Removes the files that a later one has replaced.
pub(super) fn forget(_: &Lock, files: &[PathBuf], but: &Disk) {
    for file in files.iter().filter(|file| **file != but.path) {
        // A file that cannot be removed is older, so it is not used the next time either.
        drop(std::fs::remove_file(file));
    }
}

/// Opens a regular file. Other kinds of files are not waited for, and links are not followed.
fn regular(how: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = how.custom_flags(careful.bits().cast_signed()).open(path);
    let file = file.map_err(|error| about(path, &error))?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let text = format!("{} is no file", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// Creates a file that only its owner can read, whatever the umask is.
fn create(path: &Path) -> io::Result<File> {
    let mode = Mode::RUSR | Mode::WUSR;
    let file = regular(OpenOptions::new().write(true).create_new(true).mode(mode.bits()), path)?;
    file.set_permissions(Permissions::from_mode(mode.bits()))?;
    Ok(file)
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// True if the path leads to this file.
fn is_at(file: &File, path: &Path) -> bool {
    let own = file.metadata().map(|of| (of.dev(), of.ino()));
    let named = std::fs::symlink_metadata(path).map(|of| (of.dev(), of.ino()));
    own.ok().is_some_and(|own| named.is_ok_and(|named| named == own))
}

/// Removes a name, whatever kind of file it leads to.
fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(about(path, &error)),
        _ => Ok(()),
    }
}

/// Syncs a file's directory, so that its names outlive a power failure.
fn sync_directory(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}

/// Returns an error if another server uses the file of this name.
fn be_unused(path: &Path) -> io::Result<()> {
    match regular(OpenOptions::new().read(true), path) {
        Ok(file) => lock_shared(&file, path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn lock_shared(file: &File, path: &Path) -> io::Result<()> {
    match file.try_lock_shared() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(in_use(path)),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Reads a file; only its first bytes if it is not the file of a space.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = regular(OpenOptions::new().read(true), path)?;
    lock_shared(&file, path)?;
    let mut bytes = Vec::new();
    (&mut file).take(MAGIC.len() as u64).read_to_end(&mut bytes)?;
    if bytes == MAGIC {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn in_use(path: &Path) -> io::Error {
    let text = format!("{} is in use by another server", path.display());
    io::Error::new(io::ErrorKind::ResourceBusy, text)
}

/// Renames a file that cannot be read, so that it is kept.
fn set_aside(path: &Path, what: &str) -> io::Result<String> {
    let to = aside(path);
    std::fs::rename(path, &to)?;
    sync_directory(path)?;
    Ok(format!("{} {what}: it is {} now", path.display(), to.display()))
}

/// Keeps a copy of a damaged file under another name. `other`: the file that is used instead.
fn set_aside_copy(
    path: &Path,
    (bytes, whole): (&[u8], usize),
    other: Option<&Path>,
) -> io::Result<String> {
    let to = aside(path);
    let mut copy = create(&to)?;
    // The damaged file is replaced next, so an error here must stop that.
    if let Err(error) = copy.write_all(bytes).and_then(|()| copy.sync_all()) {
        drop(std::fs::remove_file(&to));
        return Err(about(&to, &error));
    }
    sync_directory(path)?;
    let used = match other {
        Some(other) => format!("{} is used, which has more", other.display()),
        None => "what is in front of them is kept".to_owned(),
    };
    Ok(format!(
        "{} has {} bytes from byte {whole} on that are damaged: {used}, and the file as it was is \
         {}",
        path.display(),
        bytes.len() - whole,
        to.display()
    ))
}

fn aside(path: &Path) -> PathBuf {
    let aside = |number: &u32| path.with_extension(format!("damaged-{number}"));
    let free = |number: &u32| std::fs::symlink_metadata(aside(number)).is_err();
    path.with_extension(format!("damaged-{}", (1..).find(free).unwrap_or(0)))
}

fn path_of(directory: &Blob) -> io::Result<&Path> {
    let path = Path::new(OsStr::from_bytes(&directory.0));
    if path.is_absolute() {
        return Ok(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "the directory has no absolute path"))
}

/// The name of a host's file, or the beginning of all these names. Bytes that are not allowed in a
/// name are written as `%` and two digits.
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

fn lock_name(space: &Blob) -> OsString {
    let mut name = file_name(space, None);
    name.push("lock");
    name
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

#[cfg(test)]
mod tests;
