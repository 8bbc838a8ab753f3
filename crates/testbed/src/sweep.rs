//! Folders of places by their names, `tb<process id of the keeper>-<number>`, and the removal
//! of folders whose keeper has died.
//!
//! The process that has made a place holds a lock on its folder. So a place of another PID
//! namespace, whose keeper cannot be seen from here, does not count as abandoned.

use crate::patience::eventually;
use crate::process;
use rustix::fs::FlockOperation;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The command name that the kernel shows of keepers.
const KEEPER: &str = "testbed";
/// Between fork and exec no process needs longer.
const EXEC: Duration = Duration::from_millis(200);
/// The ending of a name until the folder is locked.
const NEW: &str = "new";
/// A killed process with much memory takes a while to give it back.
const ENDING: Duration = Duration::from_secs(10);

/// The folder of a place of that keeper.
pub(crate) fn folder(keeper: u32, count: u32) -> PathBuf {
    std::env::temp_dir().join(format!("tb{keeper}-{count}"))
}

/// The last part of a path.
pub(crate) fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folder's path until it is locked.
pub(crate) fn unlocked(folder: &Path) -> PathBuf {
    folder.with_extension(NEW)
}

/// Locks a folder for as long as the value lives. It fails if another process has locked it.
pub(crate) fn lock(folder: &Path) -> io::Result<File> {
    let opened = File::open(folder)?;
    rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive)?;
    Ok(opened)
}

/// The text that each process of a place has in its environment: a path below the folder. The slash
/// keeps the first place from being found in the tenth.
pub(crate) fn mark(folder: &Path) -> Vec<u8> {
    [folder.as_os_str().as_bytes(), b"/"].concat()
}

/// The keeper's process id in the name of a folder.
pub(crate) fn keeper_of(name: &str) -> Option<u32> {
    let (keeper, count) = name.strip_prefix("tb")?.split_once('-')?;
    let count = count.strip_suffix(".new").unwrap_or(count);
    count.parse::<u32>().ok()?;
    keeper.parse().ok()
}

/// Folders of places in the folder of temporary files that are this user's.
fn folders() -> impl Iterator<Item = (u32, PathBuf)> {
    let ours = rustix::process::geteuid().as_raw();
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let keeper = keeper_of(entry.file_name().to_str()?)?;
        let facts = entry.metadata().ok()?;
        (facts.is_dir() && facts.uid() == ours).then(|| (keeper, entry.path()))
    })
}

/// Takes away what a keeper kept.
pub(crate) fn end_all_of(keeper: u32) {
    let mine: Vec<_> = folders().filter(|(owner, _)| *owner == keeper).collect();
    mine.iter().for_each(|(_, folder)| end(folder));
    // What a shell had forked when it was killed has the mark only after its exec.
    std::thread::sleep(EXEC);
    mine.iter().for_each(|(_, folder)| end(folder));
}

/// Takes away what keepers have left behind that were killed themselves.
pub(crate) fn sweep() {
    let has_keeper = |keeper: u32| process::name(keeper).as_deref() == Some(KEEPER);
    for (_, folder) in folders().filter(|(keeper, _)| !has_keeper(*keeper)) {
        if let Ok(_lock) = lock(&folder) {
            end(&folder);
        }
    }
}

/// Kills what was started in a place and removes its folder.
pub(crate) fn end(folder: &Path) {
    kill_marked(&mark(folder));
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    let _ = fs::remove_dir_all(folder);
}

/// Kills what was started in the place in that folder, which stays.
pub fn kill_all_of(folder: &Path) {
    kill_marked(&mark(folder));
}

/// Kills the processes with this mark in their environment, again until nothing new appears, and
/// waits until they hold nothing: a lock that outlived its server refused the next one. Those that
/// have started this one are spared.
pub(crate) fn kill_marked(mark: &[u8]) {
    let mut killed = BTreeSet::new();
    for _ in 0..100 {
        let processes = process::with_environment(mark);
        if processes.is_empty() {
            break;
        }
        for (pid, _) in processes {
            process::kill(pid);
            killed.insert(pid);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    eventually(ENDING, || killed.iter().all(|pid| process::holds_nothing(*pid)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_places_are_taken_for_places() {
        assert_eq!(keeper_of("tb12-3"), Some(12));
        assert_eq!(keeper_of("tb12-3.new"), Some(12));
        for name in ["tb12", "tb-3", "tb12-3.kept", "tb12-x", "xtb12-3", "tb12-3-4", ""] {
            assert_eq!(keeper_of(name), None, "{name}");
        }
    }

    #[test]
    fn the_first_place_is_not_found_in_the_tenth() {
        let inside = mark(&folder(1, 10));
        assert!(!inside.starts_with(&mark(&folder(1, 1))));
    }
}
