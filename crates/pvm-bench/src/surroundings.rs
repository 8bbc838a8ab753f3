//! The environment of a shell that was set up for one PVM must not reach another one.
//!
//! With NeoPVM's libraries in `LD_LIBRARY_PATH`, as its own users set it, the programs of the
//! original are linked with them and die, and with the original's there, ours are. Each program is
//! built with the place of its own library, so it needs neither.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// The file by which a folder of PVM libraries is known.
const LIBRARY: &str = "libpvm3.so.3";

/// Leaves folders with a PVM library out of the search path of the loader, and no library is loaded
/// before.
pub(super) fn clean(command: &mut Command) {
    let Some(path) = env::var_os("LD_LIBRARY_PATH") else { return };
    match without_pvm(&path) {
        Some(rest) => command.env("LD_LIBRARY_PATH", rest),
        None => command.env_remove("LD_LIBRARY_PATH"),
    };
}

/// The other folders of a search path, if there are any.
fn without_pvm(path: &OsString) -> Option<OsString> {
    let is_other = |folder: &std::path::PathBuf| !has_library(folder);
    let others: Vec<_> = env::split_paths(path).filter(is_other).collect();
    env::join_paths(others).ok().filter(|path| !path.is_empty())
}

fn has_library(folder: &Path) -> bool {
    folder.join(LIBRARY).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_without_a_pvm_stay() {
        let folder = env::temp_dir().join(format!("pvm-surroundings-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(LIBRARY), "").unwrap();
        let path = |folders: &[&Path]| env::join_paths(folders).unwrap();
        let other = Path::new("/opt/other/lib");
        assert_eq!(without_pvm(&path(&[&folder, other])), Some(path(&[other])));
        assert_eq!(without_pvm(&path(&[&folder])), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
