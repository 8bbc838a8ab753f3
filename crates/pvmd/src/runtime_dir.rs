//! The folder that belongs to one host: its socket, its doorbells, its log.
//!
//! `TEMPORARY/neopvm-UID/VMID/HOST/`, where HOST is a number: 1 for the first host of a machine,
//! the lowest free one for others. A living owner holds a lock on the folder itself, so a folder
//! without a lock is what a dead one left, and is cleaned. Nothing is followed or used that is not
//! ours alone.

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Hosts of one machine on one computer.
const HOSTS_MAX: u16 = 0xfff;
/// A path longer than this fits no socket address; the longest name in the folder needs the rest.
const PATH_BYTES_MAX: usize = 107 - "/bell/t3fffffff".len();

/// The number and the interval of an orphan's looks whether its dead parent's lock is free: a new
/// owner keeps it for ever, a dead one for a moment.
const ORPHAN_TRIES: u32 = 50;
const ORPHAN_PAUSE: Duration = Duration::from_millis(20);
/// The number of tries of a daemon that wants the first place: an orphan that clears up has the
/// lock for a moment.
const LEAVING_TRIES: u32 = 25;

/// The reason why there is no folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum DirError {
    /// A daemon of this machine holds it.
    #[error("pvmd already running: {}", .0.display())]
    Running(PathBuf),
    /// Another user's, open to others, or no folder at all.
    #[error("{}: {what}; remove it or set PVM_TMP to a folder of your own", .path.display())]
    Unsafe {
        /// The path.
        path: PathBuf,
        /// The fault.
        what: &'static str,
    },
    /// Too long for a socket.
    #[error("{}: too long a path for a socket; set PVM_TMP to a shorter one", .0.display())]
    TooLong(PathBuf),
    /// The system refused.
    #[error("{}: {error}{}", .path.display(), remedy(.path, *.error))]
    System {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: Errno,
    },
}

/// The folder that a login left in the environment goes with the login; jobs and `su` keep the
/// variable.
fn remedy(path: &Path, error: Errno) -> String {
    let base = path.parent().filter(|_| error == Errno::NOENT);
    let named = ["PVM_TMP", "XDG_RUNTIME_DIR"].into_iter().find(|name| {
        base.is_some_and(|base| std::env::var_os(name).is_some_and(|set| base == set))
    });
    named.map_or_else(String::new, |name| {
        format!(
            "; {name} names a folder that is not there: set PVM_TMP to one of your own, such \
                 as /tmp"
        )
    })
}

/// The number that a host takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostSlot {
    /// The first host of a machine.
    First,
    /// A host that joins from elsewhere: the only one of its machine here, unless it starts more.
    Guest,
    /// One more host on the computer of another one.
    Further,
}

impl HostSlot {
    const fn places(self) -> std::ops::RangeInclusive<u16> {
        match self {
            Self::First => 1..=1,
            Self::Guest => 2..=2,
            Self::Further => 2..=HOSTS_MAX,
        }
    }
}

/// The folder, locked as long as this lives.
#[derive(Debug)]
pub(crate) struct RuntimeDir {
    path: PathBuf,
    /// Keeps the lock.
    _lock: OwnedFd,
}

impl RuntimeDir {
    /// Takes the lowest free folder of machine `vmid` that fits.
    pub(crate) fn take(temporary: &Path, vmid: &str, seat: HostSlot) -> Result<Self, DirError> {
        let user = user_folder(temporary);
        let machine = user.join(vmid);
        for place in seat.places() {
            let path = machine.join(place.to_string());
            if path.as_os_str().len() > PATH_BYTES_MAX {
                return Err(DirError::TooLong(path));
            }
            let chain = [&*user, &*machine, &*path];
            let mut taken = Self::take_one(&chain);
            for _ in 0..LEAVING_TRIES {
                if seat == HostSlot::Further || !matches!(taken, Err(DirError::Running(_))) {
                    break;
                }
                std::thread::sleep(ORPHAN_PAUSE);
                taken = Self::take_one(&chain);
            }
            match taken {
                Err(DirError::Running(_)) if seat == HostSlot::Further => {}
                other => return other,
            }
        }
        Err(DirError::Running(machine))
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the local socket.
    pub(crate) fn socket(&self) -> PathBuf {
        socket_in(&self.path)
    }

    /// Path of the log.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("pvml")
    }

    /// Path of the folder of the doorbells.
    pub(crate) fn bells(&self) -> PathBuf {
        self.path.join("bell")
    }

    fn take_one(chain: &[&Path; 3]) -> Result<Self, DirError> {
        let path = chain[2].to_path_buf();
        // An owner that ends removes the folders that it leaves empty, those of all machines, too:
        // begin again then.
        for _ in 0..100 {
            make_private(chain[0])?;
            let lock = match make_below(chain[1], &path) {
                Err(DirError::System { error: Errno::NOENT, .. }) => continue,
                other => other?,
            };
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Err(DirError::Running(path)),
                Err(error) => return Err(DirError::System { path, error }),
            }
            if same_file(&lock, &path) {
                clean(&path);
                make_private(&path.join("bell"))?;
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(DirError::Unsafe { path, what: "comes and goes" })
    }
}

/// Path of the local socket of the host with this folder.
pub(crate) fn socket_in(folder: &Path) -> PathBuf {
    folder.join("pvmd.sock")
}

/// The folder of all of this user's machines.
pub(crate) fn user_folder(temporary: &Path) -> PathBuf {
    temporary.join(format!("neopvm-{}", rustix::process::getuid().as_raw()))
}

/// The socket of a daemon of machine `vmid` that runs here, if one does.
pub(crate) fn running(temporary: &Path, vmid: &str) -> Option<PathBuf> {
    let places = std::fs::read_dir(user_folder(temporary).join(vmid)).ok()?;
    let mut sockets = places.flatten().map(|place| place.path().join("pvmd.sock"));
    sockets.find(|socket| UnixStream::connect(socket).is_ok())
}

/// Removes the folder and those above it that are empty then.
pub(crate) fn remove(path: &Path) {
    clean(path);
    for folder in path.ancestors().take(3) {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// Removes what a dead owner left, unless a new owner has taken the folder over.
pub(crate) fn remove_orphan(path: &Path) {
    let Ok(lock) = open_folder(path) else { return };
    // The kernel lets go of what a killed process held one by one, the lock not always first.
    for _ in 0..ORPHAN_TRIES {
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            if same_file(&lock, path) {
                remove(path);
            }
            return;
        }
        std::thread::sleep(ORPHAN_PAUSE);
    }
}

fn clean(path: &Path) {
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        // A file that cannot be removed does not hinder: it is made again or never read.
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(entry.path()),
            _ => std::fs::remove_file(entry.path()),
        };
    }
}

fn open_folder(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

fn same_file(open: &OwnedFd, path: &Path) -> bool {
    match (rustix::fs::fstat(open), rustix::fs::lstat(path)) {
        (Ok(a), Ok(b)) => (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino),
        _ => false,
    }
}

/// Makes the machine's folder and the host's in it, and opens the host's.
fn make_below(machine: &Path, host: &Path) -> Result<OwnedFd, DirError> {
    make_private(machine)?;
    make_private(host)?;
    open_folder(host).map_err(|error| DirError::System { path: host.to_path_buf(), error })
}

/// Makes a folder of mode 0700, or checks the one that is there.
fn make_private(path: &Path) -> Result<(), DirError> {
    let system = |error| DirError::System { path: path.to_path_buf(), error };
    let refused = |what| Err(DirError::Unsafe { path: path.to_path_buf(), what });
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(system(error)),
    }
    let cwd = rustix::fs::CWD;
    let stat = match rustix::fs::statat(cwd, path, AtFlags::SYMLINK_NOFOLLOW) {
        // Removed in between by an owner that ended; the caller's next step notices.
        Err(Errno::NOENT) => return Ok(()),
        other => other.map_err(system)?,
    };
    if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() {
        return refused("not a folder");
    }
    if stat.st_uid != rustix::process::getuid().as_raw() {
        return refused("belongs to somebody else");
    }
    if stat.st_mode & 0o077 != 0 {
        return refused("open to others");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct TestFolder(PathBuf);

    impl TestFolder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("pvmd-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }
        fn user(&self) -> PathBuf {
            self.0.join(format!("neopvm-{}", rustix::process::getuid().as_raw()))
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn an_orphan_does_not_clean_the_folder_of_a_new_owner() {
        let place = TestFolder::new("orphan");
        let owner = RuntimeDir::take(&place.0, "vm", HostSlot::First).unwrap();
        let path = owner.path().to_path_buf();
        remove_orphan(&path);
        assert!(path.join("bell").is_dir());
        drop(owner);
        remove_orphan(&path);
        assert!(!path.exists());
    }

    #[test]
    fn a_second_first_host_is_refused_and_a_joining_one_gets_the_next_place() {
        let place = TestFolder::new("second");
        let first = RuntimeDir::take(&place.0, "vm", HostSlot::First).unwrap();
        assert!(matches!(
            RuntimeDir::take(&place.0, "vm", HostSlot::First),
            Err(DirError::Running(_))
        ));
        let second = RuntimeDir::take(&place.0, "vm", HostSlot::Further).unwrap();
        let third = RuntimeDir::take(&place.0, "vm", HostSlot::Further).unwrap();
        assert!(first.path().ends_with("vm/1"));
        assert!(second.path().ends_with("vm/2") && third.path().ends_with("vm/3"));
        assert!(RuntimeDir::take(&place.0, "other", HostSlot::First).is_ok());
        let guest = RuntimeDir::take(&place.0, "vm", HostSlot::Guest);
        assert!(matches!(guest, Err(DirError::Running(_))));
    }

    #[test]
    fn an_owner_that_ended_took_the_folder_above_from_one_that_began() {
        let place = TestFolder::new("above");
        let come_and_go = |vmid: &str| {
            for _ in 0..500 {
                let owner = RuntimeDir::take(&place.0, vmid, HostSlot::First).expect(vmid);
                remove(owner.path());
            }
        };
        std::thread::scope(|scope| {
            for vmid in ["one", "two", "three"] {
                scope.spawn(move || come_and_go(vmid));
            }
        });
        let nowhere = RuntimeDir::take(&place.0.join("none"), "vm", HostSlot::First);
        assert!(matches!(nowhere, Err(DirError::System { error: Errno::NOENT, .. })));
    }

    #[test]
    fn a_running_daemon_is_found_by_its_socket_and_a_dead_one_is_not() {
        let place = TestFolder::new("running");
        let guest = RuntimeDir::take(&place.0, "vm", HostSlot::Guest).unwrap();
        let listener = std::os::unix::net::UnixListener::bind(guest.socket()).unwrap();
        assert_eq!(running(&place.0, "vm"), Some(guest.socket()));
        assert_eq!(running(&place.0, "other"), None);
        drop(listener);
        assert_eq!(running(&place.0, "vm"), None);
    }

    #[test]
    fn what_a_dead_owner_left_is_cleaned() {
        let place = TestFolder::new("stale");
        let first = RuntimeDir::take(&place.0, "vm", HostSlot::First).unwrap();
        std::fs::write(first.socket(), "").unwrap();
        std::fs::write(first.bells().join("t40001"), "").unwrap();
        drop(first);
        let first = RuntimeDir::take(&place.0, "vm", HostSlot::First).unwrap();
        assert!(!first.socket().exists() && !first.bells().join("t40001").exists());
        remove(first.path());
        assert!(!place.user().exists());
    }

    #[test]
    fn a_folder_of_others_is_not_used() {
        let place = TestFolder::new("unsafe");
        let elsewhere = place.0.join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, place.user()).unwrap();
        let refused = RuntimeDir::take(&place.0, "vm", HostSlot::First);
        assert!(matches!(refused, Err(DirError::Unsafe { what: "not a folder", .. })));
        std::fs::remove_file(place.user()).unwrap();

        std::fs::create_dir(place.user()).unwrap();
        std::fs::set_permissions(place.user(), PermissionsExt::from_mode(0o755)).unwrap();
        let refused = RuntimeDir::take(&place.0, "vm", HostSlot::First);
        assert!(matches!(refused, Err(DirError::Unsafe { what: "open to others", .. })));
    }

    #[test]
    fn a_path_that_fits_no_socket_is_named() {
        let place = TestFolder::new("long");
        let vmid = "v".repeat(100);
        let refused = RuntimeDir::take(&place.0, &vmid, HostSlot::First);
        assert!(matches!(refused, Err(DirError::TooLong(_))));
    }
}
