//! The recorded conversations. `UPDATE_EXPECT=1` records them anew.

use std::fs;
use std::path::Path;

#[test]
fn every_script_goes_as_it_is_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .expect("the folder is part of the crate")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 8);
    let mut wrong = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("readable");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match pvm_sim::script::replay(&text) {
            Err(why) => wrong.push(format!("{name}: {why}")),
            Ok(replayed) if replayed == text => {}
            Ok(replayed) if std::env::var_os("UPDATE_EXPECT").is_some() => {
                fs::write(&path, replayed).expect("writable");
            }
            Ok(replayed) => {
                let same = text.lines().zip(replayed.lines()).take_while(|(a, b)| a == b);
                let line = same.count();
                let (want, got) = (text.lines().nth(line), replayed.lines().nth(line));
                wrong.push(format!("{name}:{}: recorded {want:?}, came {got:?}", line + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "UPDATE_EXPECT=1 records anew:\n{}", wrong.join("\n"));
}
