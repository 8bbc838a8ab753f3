use super::*;
use pvm_tuples::Store;
use pvm_tuples::frames::{Entry, Full, Options};
use pvm_wire::Tid;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicU32, Ordering};

const HOST: HostIndex = HostIndex(1);

/// A temporary directory, which is removed when this is dropped.
struct TempDir(PathBuf);

impl TempDir {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("disk-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("a new directory");
        Self(path)
    }

    fn blob(&self) -> Blob {
        Blob(self.0.as_os_str().as_bytes().to_vec())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn lock(&self) -> io::Result<Lock> {
        Lock::take(&self.blob(), &name())
    }

    fn begin(&self) -> io::Result<Disk> {
        Disk::begin(&self.lock()?, HOST, &record(), None)
    }

    fn find(&self) -> io::Result<Option<SavedSpace>> {
        find(&self.lock()?)
    }

    fn fifo(&self, name: &str) {
        let made = std::process::Command::new("mkfifo").arg(self.path(name)).status();
        assert!(made.expect("mkfifo runs").success(), "no FIFO");
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn name() -> Blob {
    Blob::from("k")
}

fn record() -> Record {
    record_of(0, 0)
}

fn record_of(epoch: i32, number: u64) -> Record {
    let entry = Entry {
        space: 7,
        primary: Tid(1 << 18 | 1),
        copies: Vec::new(),
        options: Options { copies: 0, limit_bytes: 1 << 20, when_full: Full::Wait, loss_ms: 0 },
        owner: Tid::NONE,
        deleted: false,
        directory: Blob::from("/d"),
        generation: 0,
    };
    let snapshot = Store::new(1 << 20, Full::Wait).snapshot();
    Record::Begun { epoch, entry, number, snapshot }
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn a_fifo_of_the_files_name_stopped_the_server_for_ever() {
    let place = TempDir::new();
    for name in ["k.1.tuples", "k.1.new", "k.lock"] {
        drop(std::fs::remove_file(place.path("k.lock")));
        place.fifo(name);
        let (begun, found) = (place.begin().map(drop), place.find().map(drop));
        assert_eq!(begun.is_ok(), name == "k.1.new", "{name}: {begun:?}");
        assert_eq!(found.is_ok(), name == "k.1.new", "{name}: {found:?}");
        for name in [name, "k.1.tuples"] {
            drop(std::fs::remove_file(place.path(name)));
        }
    }
}

#[test]
fn a_link_of_the_new_files_name_emptied_the_file_behind_it() {
    let place = TempDir::new();
    std::fs::write(place.path("other"), "other").expect("it is written");
    for is_hard in [true, false] {
        let (from, to) = (place.path("other"), place.path("k.1.new"));
        if is_hard { std::fs::hard_link(from, to) } else { symlink(from, to) }.expect("a link");
        drop(place.begin().expect("it begins"));
        assert_eq!(std::fs::read(place.path("other")).expect("it is there"), b"other");
        assert_eq!(mode(&place.path("k.1.tuples")), 0o600);
    }
}

#[test]
fn the_copy_of_a_damaged_file_could_be_read_by_everybody_and_followed_links() {
    let place = TempDir::new();
    drop(place.begin().expect("it begins"));
    let mut bytes = std::fs::read(place.path("k.1.tuples")).expect("it is there");
    bytes.extend([1, 2]);
    std::fs::write(place.path("k.1.tuples"), &bytes).expect("it is written");
    symlink(place.path("elsewhere"), place.path("k.1.damaged-1")).expect("a link");
    let found = place.find().expect("it is read").expect("a space");
    assert!(found.note.contains("k.1.damaged-2"), "{}", found.note);
    assert!(!place.path("elsewhere").exists());
    assert_eq!(mode(&place.path("k.1.damaged-2")), 0o600);
    assert_eq!(std::fs::read(place.path("k.1.damaged-2")).expect("it is there"), bytes);
}

#[test]
fn two_servers_began_one_file_at_once_and_what_one_of_them_answered_was_lost() {
    let place = TempDir::new();
    for _ in 0..20 {
        let begun: Vec<_> = std::thread::scope(|scope| {
            let both = [(), ()].map(|()| scope.spawn(|| place.begin()));
            both.map(|one| one.join().expect("no panic")).into_iter().collect()
        });
        let kept: Vec<_> = begun.into_iter().filter_map(Result::ok).collect();
        assert_eq!(kept.len(), 1);
        assert!(!kept.iter().any(Disk::was_replaced));
        assert!(place.find().is_err(), "it is in use");
    }
}

#[test]
fn a_server_whose_file_was_removed_took_the_place_of_another_ones_file() {
    let place = TempDir::new();
    let own = place.begin().expect("a new file");
    std::fs::remove_file(&own.path).expect("it is there");
    let other = place.begin().expect("nobody has one there");
    let again = Disk::begin(&place.lock().expect("free"), HOST, &record(), Some(&own));
    let Err(refused) = again else { panic!("it took another one's place") };
    assert_eq!(refused.kind(), io::ErrorKind::ResourceBusy);
    assert!(is_at(&other.file, &other.path));
}

#[test]
fn a_file_of_another_version_was_taken_for_a_damaged_one() {
    let place = TempDir::new();
    let path = place.begin().expect("a new file").path;
    let mut bytes = std::fs::read(&path).expect("it is there");
    bytes[MAGIC.len() - 1] -= 2;
    let older = format!("version {}", bytes[MAGIC.len() - 1]);
    std::fs::write(&path, &bytes).expect("it is there");
    for _ in 0..2 {
        let Err(refused) = place.find() else { panic!("it was read") };
        assert!(refused.to_string().contains(&older), "{refused}");
    }
    assert_eq!(std::fs::read(&path).expect("it was left"), bytes);
}

#[test]
fn nothing_is_left_of_a_space_that_was_deleted() {
    let place = TempDir::new();
    place.begin().expect("it begins").remove().expect("it is removed");
    assert_eq!(std::fs::read_dir(&place.0).expect("it is there").count(), 0);
}

/// Runs the test of this name again in a mount namespace, where `small` is a file system of this
/// size. Returns false in the second run, and true if no such file system can be made.
fn runs_on_a_small_disk(test: &str, size: &str) -> bool {
    if std::env::var_os("SMALL_DISK").is_some() {
        return false;
    }
    let (place, own) = (TempDir::new(), std::env::current_exe().expect("a program"));
    let script =
        "mount -t tmpfs -o size=$1 none \"$SMALL_DISK\" || exit 77; exec \"$2\" --exact \"$3\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh", size]).arg(own);
    command.arg(format!("server::disk::tests::{test}")).env("SMALL_DISK", &place.0);
    let Ok(done) = command.output() else { return true };
    let said = String::from_utf8_lossy(&done.stdout);
    // Without the right to mount, the run ends with 77.
    let is_done = matches!(done.status.code(), Some(0 | 1 | 77));
    assert!(is_done && !said.contains("FAILED"), "{said}");
    true
}

/// The small disk of this run.
fn small() -> TempDir {
    TempDir(std::env::var_os("SMALL_DISK").expect("a small disk").into())
}

fn fill(disk: &mut Disk, bytes: u64) {
    disk.reserve(usize::try_from(bytes).expect("small"), true).expect("there is room");
    disk.pending = vec![0; usize::try_from(bytes).expect("small")];
    disk.sync().expect("it is written");
}

#[test]
fn a_disk_without_a_mib_more_ended_the_space_when_its_file_was_begun_anew() {
    if runs_on_a_small_disk(
        "a_disk_without_a_mib_more_ended_the_space_when_its_file_was_begun_anew",
        "2560k",
    ) {
        return;
    }
    let place = small();
    let mut disk = place.begin().expect("it begins");
    fill(&mut disk, 1 << 20);
    std::fs::write(place.path("other"), vec![0; 400 << 10]).expect("it is written");
    let lock = place.lock().expect("it is free");
    let disk = match Disk::begin(&lock, HOST, &record(), Some(&disk)) {
        Ok(new) => new,
        Err(_) => disk,
    };
    assert!(!disk.was_replaced());
    drop(lock);
    assert!(place.find().is_err(), "it is in use");
}

#[test]
fn a_full_disk_was_never_freed_of_steps_that_were_over() {
    if runs_on_a_small_disk("a_full_disk_was_never_freed_of_steps_that_were_over", "3m") {
        return;
    }
    let place = small();
    let mut disk = place.begin().expect("it begins");
    while disk.reserve(100 << 10, true).is_ok() {
        fill(&mut disk, 100 << 10);
    }
    assert!(disk.written > 1 << 20, "{} bytes", disk.written);
    assert!(disk.may_shrink(1000) && !disk.may_shrink(1000), "once a second");
    disk.give_room();
    let lock = place.lock().expect("it is free");
    let mut new = Disk::begin(&lock, HOST, &record(), Some(&disk)).expect("there is room");
    drop(disk);
    new.take_room();
    new.reserve(1 << 20, true).expect("there is room for puts");
}

#[test]
fn the_damaged_file_of_a_server_was_used_though_its_copy_had_a_whole_one() {
    let place = TempDir::new();
    let lock = place.lock().expect("nobody else has it");
    drop(Disk::begin(&lock, HOST, &record_of(3, 3), None).expect("it begins"));
    drop(Disk::begin(&lock, HostIndex(2), &record_of(1, 9), None).expect("it begins"));
    let mut bytes = std::fs::read(place.path("k.1.tuples")).expect("it is there");
    bytes.extend([1, 2]);
    std::fs::write(place.path("k.1.tuples"), &bytes).expect("it is written");
    let found = find(&lock).expect("it is read").expect("a space");
    assert_eq!(found.replay.number, 9);
    assert!(found.note.contains("k.2.tuples is used"), "{}", found.note);
    assert_eq!(std::fs::read(place.path("k.1.damaged-1")).expect("a copy"), bytes);
}

#[test]
fn a_space_that_was_deleted_came_back_from_a_file_of_the_hosts_former_number() {
    let place = TempDir::new();
    let lock = place.lock().expect("nobody else has it");
    drop(Disk::begin(&lock, HostIndex(2), &record(), None).expect("it begins"));
    let copy = Disk::begin(&lock, HostIndex(3), &record(), None).expect("it begins");
    let own = Disk::begin(&lock, HOST, &record(), None).expect("it begins");
    drop(lock);
    own.remove().expect("it goes");
    // The file of another server, which is in use, is removed by that server.
    assert!(place.path("k.3.tuples").exists() && !place.path("k.2.tuples").exists());
    copy.remove().expect("it goes");
    assert_eq!(std::fs::read_dir(&place.0).expect("it is there").count(), 0);
}
