//! The program's words. That there is a test of it has cargo build it beside the tests.

use std::process::Command;

#[test]
fn whoever_starts_it_by_hand_is_told_who_does() {
    let program = env!("CARGO_BIN_EXE_pvmtuples");
    for words in [&[][..], &["--help"], &["--behind"], &["--start", "1"]] {
        let output = Command::new(program).args(words).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        let told = "pvmtuples: this program is for the library of NeoPVM to start\n";
        assert_eq!((output.status.code(), &*said), (Some(1), told), "{words:?}");
    }
}
