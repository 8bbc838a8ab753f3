//! Records of two rooms had the same mark: a daemon that was started again gave what one room had
//! kept to the other.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_two_rooms_keep_records_under_one_mark() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut owners: BTreeMap<char, PathBuf> = BTreeMap::new();
    for file in files {
        // `records.rs` tests its own tables, which are not stored.
        if file.ends_with("records.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source");
        for made in ["Table::new(b'", "Slot::new(b'"] {
            for mark in text.split(made).skip(1).filter_map(|rest| rest.chars().next()) {
                let other = owners.insert(mark, file.clone());
                assert!(
                    other.is_none(),
                    "{mark}: {} and {}",
                    file.display(),
                    other.unwrap_or_default().display()
                );
            }
        }
    }
    assert!(owners.len() > 40, "only {} marks found", owners.len());
}
