//! The file that a recording is written into.

use crate::failure::{Failure, Status};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Only its owner may read a trace, because it shows what the owner's programs do.
const MODE: u32 = 0o600;

/// Makes the file, or takes an old one; never one that another recording is still written into.
pub(super) fn create(path: &Path) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    // It is emptied only when the lock is held.
    options.read(true).write(true).create(true).truncate(false).mode(MODE);
    let prepared = options.open(path).and_then(|file| {
        let is_own = !file.metadata()?.is_file() || empty(&file)?;
        Ok(is_own.then_some(file))
    });
    let failed =
        |text: String| Failure::new(Status::Refused, format!("{}: {text}", path.display()));
    prepared.map_err(|error| failed(error.to_string()))?.ok_or_else(|| {
        let text = "another recording is written into this file; `pvm trace stop` ends it";
        failed(text.to_owned())
    })
}

/// Empties a file that no other process writes; false if one does. The lock ends with the file.
fn empty(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(false),
        // Some file systems of other computers have no locks.
        Ok(()) | Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => (),
        Err(error) => return Err(error.into()),
    }
    file.set_permissions(Permissions::from_mode(MODE))?;
    file.set_len(0)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_recordings_into_one_file_mixed_their_bytes_and_an_old_file_kept_its_rights() {
        let folder = std::env::temp_dir().join(format!("neopvm-output-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.trace");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let first = create(&path).unwrap();
        let metadata = first.metadata().unwrap();
        assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (0, MODE));
        let refused = create(&path).unwrap_err().to_string();
        assert!(refused.contains("x.trace") && refused.contains("pvm trace stop"), "{refused}");
        drop(first);
        create(&path).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
