//! Files for the tuples that exceed the limit of their space.
//!
//! The files have no names, so nothing is left of them when the server has ended. Room is reserved
//! before a request reaches the space, so a full disk becomes an answer. `pread` and `pwrite` are
//! used as for messages (`pvm-shm/segment` makes both kinds of files), so a failing disk raises no
//! signal.

use pvm::create_file;
use pvm_tuples::shelf::{Extent, Shelf};
use rustix::fs::statfs;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

/// The size of a file is an eighth of all files together, but at least this ...
const FILE_MIN: u64 = 16 << 20;
/// ... and at most this, unless one tuple needs more.
const FILE_MAX: u64 = 1 << 30;
/// The size of all files together, unless `PVM_SPILL_MB` sets another one.
const ALL_MAX: u64 = 64 << 30;
/// The number by which `statfs` names a file system in memory.
const TMPFS: u64 = 0x0102_1994;

/// One file.
#[derive(Debug)]
struct Spilled {
    file: File,
    bytes: u64,
    /// The offset of the next tuple.
    end: u64,
    /// The number of tuples in it that are still needed.
    tuples: u64,
}

/// The files of one space.
#[derive(Debug)]
pub(super) struct Files {
    folders: Vec<PathBuf>,
    files: BTreeMap<u32, Spilled>,
    /// The number of the file that is being filled.
    last: u32,
    most: u64,
}

impl Files {
    /// Returns a shelf without files.
    pub(super) fn new() -> Self {
        let megabytes = std::env::var("PVM_SPILL_MB").ok().and_then(|text| text.parse().ok());
        let most = megabytes.map_or(ALL_MAX, |megabytes: u64| megabytes.saturating_mul(1 << 20));
        Self { folders: folders(), files: BTreeMap::new(), last: 0, most }
    }

    fn begin(&mut self, needed: u64) -> Option<()> {
        // One in which nothing lies was kept for the next tuples, and has no room for this one.
        self.files.retain(|_, spilled| spilled.tuples > 0);
        let all: u64 = self.files.values().map(|spilled| spilled.bytes).sum();
        let bytes =
            needed.max((all / 8).clamp(FILE_MIN, FILE_MAX)).min(self.most - all.min(self.most));
        if bytes < needed {
            return None;
        }
        let made = |bytes| {
            self.folders
                .iter()
                .find_map(|folder| Some(File::from(create_file(folder, bytes).ok()?.0)))
        };
        // A nearly full disk may still have room for this one tuple.
        let (file, bytes) =
            made(bytes).map(|file| (file, bytes)).or_else(|| Some((made(needed)?, needed)))?;
        self.last += 1;
        self.files.insert(self.last, Spilled { file, bytes, end: 0, tuples: 0 });
        Some(())
    }
}

/// The folders for the files: those on disks first, then those in memory.
fn folders() -> Vec<PathBuf> {
    if let Some(folder) = std::env::var_os("PVM_SPILL_DIR") {
        return vec![folder.into()];
    }
    let named = ["PVM_TMP", "TMPDIR"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let mut all: Vec<PathBuf> = named.chain(["/var/tmp".into(), "/tmp".into()]).collect();
    let is_in_memory = |folder: &PathBuf| {
        statfs(folder).is_ok_and(|of| u64::try_from(of.f_type).is_ok_and(|kind| kind == TMPFS))
    };
    all.sort_by_cached_key(is_in_memory);
    all
}

impl Shelf for Files {
    fn reserve(&mut self, bytes: u64) -> bool {
        let has_room = |spilled: &Spilled| spilled.end + bytes <= spilled.bytes;
        self.files.get(&self.last).is_some_and(has_room) || self.begin(bytes).is_some()
    }

    fn put(&mut self, bytes: &[u8]) -> Option<Extent> {
        let size = bytes.len() as u64;
        if !self.reserve(size) {
            return None;
        }
        let spilled = self.files.get_mut(&self.last)?;
        spilled.file.write_all_at(bytes, spilled.end).ok()?;
        let place = Extent { file: self.last, offset: spilled.end, bytes: size };
        spilled.end += size;
        spilled.tuples += 1;
        Some(place)
    }

    fn get(&self, place: Extent) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(place.bytes).ok()?];
        self.files.get(&place.file)?.file.read_exact_at(&mut bytes, place.offset).ok()?;
        Some(bytes)
    }

    fn free(&mut self, place: Extent) {
        let Some(spilled) = self.files.get_mut(&place.file) else { return };
        spilled.tuples = spilled.tuples.saturating_sub(1);
        if spilled.tuples > 0 {
        } else if place.file == self.last {
            spilled.end = 0;
        } else {
            self.files.remove(&place.file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(most: u64) -> Files {
        Files { most, ..Files::new() }
    }

    #[test]
    fn what_lies_in_files_is_read_as_it_was_written_and_files_go_with_their_last_tuple() {
        let mut files = files(1 << 30);
        let of = |number: u8| vec![number; 5 << 20];
        let places: Vec<Extent> =
            (0..7).map(|number| files.put(&of(number)).expect("room")).collect();
        assert!(files.files.len() > 1, "{files:?}");
        for (place, number) in places.iter().zip(0..) {
            assert_eq!(files.get(*place), Some(of(number)));
        }
        places.iter().for_each(|place| files.free(*place));
        assert_eq!(files.files.len(), 1, "only the last one stays, for what comes: {files:?}");
        assert_eq!(files.put(&of(9)).map(|place| place.offset), Some(0));
    }

    #[test]
    fn an_empty_file_stayed_for_ever_when_a_tuple_needed_a_larger_one() {
        let mut files = files(1 << 30);
        for size in [17, 18, 19, 20] {
            let place = files.put(&vec![1; size << 20]).expect("room");
            files.free(place);
        }
        assert_eq!(files.files.len(), 1, "{files:?}");
    }

    /// The limit is one of a whole process, so the test runs itself in a process of its own.
    #[test]
    fn a_users_limit_for_files_ended_the_server_by_a_signal() {
        if std::env::var_os("FILES_ARE_LIMITED").is_some() {
            let mut files = files(1 << 30);
            assert!(files.put(&[1; 100]).is_some(), "a file that is no longer than needed");
            assert!(!files.reserve(2 << 20));
            return;
        }
        let name = "server::shelf::tests::a_users_limit_for_files_ended_the_server_by_a_signal";
        // 2048 blocks are one mebibyte.
        let status = std::process::Command::new("sh")
            .args(["-c", "ulimit -f 2048; exec \"$0\" --exact \"$1\""])
            .args([std::env::current_exe().expect("a test program").as_os_str(), name.as_ref()])
            .env("FILES_ARE_LIMITED", "1")
            .status();
        assert!(status.expect("a shell").success());
    }

    #[test]
    fn what_has_no_room_is_refused_and_room_that_was_reserved_is_there() {
        let mut files = files(20 << 20);
        assert!(!files.reserve(21 << 20));
        assert!(files.reserve(16 << 20));
        assert!(files.put(&vec![1; 16 << 20]).is_some());
        assert!(!files.reserve(17 << 20));
        assert!(files.reserve(4 << 20) && !files.reserve((4 << 20) + 1));
        let missing = PathBuf::from("/dev/null/missing");
        let mut nowhere = Files { folders: vec![missing], ..Files::new() };
        assert!(!nowhere.reserve(1) && nowhere.put(&[1]).is_none());
    }
}
