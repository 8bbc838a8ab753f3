//! The test programs that cargo made, read from its messages, so that parts can run them without
//! cargo: it would wait for whoever compiles into the same folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The kind of cargo's target of which a program has the tests; libraries come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Target {
    Library,
    /// A program that may have the name of a test of its package.
    Program,
    Test,
}

/// A test program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Program {
    /// The name of the package.
    pub(crate) package: String,
    /// The name of the test, of the library or of the program whose unit tests these are.
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) path: PathBuf,
    /// The folder of the package, where cargo runs its tests.
    pub(crate) folder: PathBuf,
}

impl Program {
    /// A command that runs where cargo would run it.
    pub(crate) fn prepare(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.folder);
        command.env("CARGO_MANIFEST_DIR", &self.folder).env("CARGO_PKG_NAME", &self.package);
        command
    }
}

/// The tests in what `cargo test --no-run` printed with `--message-format=json-render-diagnostics`,
/// in a stable order.
pub(crate) fn in_messages(messages: &str) -> Vec<Program> {
    let mut all: Vec<Program> = messages.lines().filter_map(in_message).collect();
    all.sort_by(|a, b| (&a.package, a.target, &a.name).cmp(&(&b.package, b.target, &b.name)));
    all
}

fn in_message(message: &str) -> Option<Program> {
    let path = PathBuf::from(text(message, "executable")?);
    // Programs that tests start lie elsewhere.
    if !path.parent().is_some_and(|folder| folder.ends_with("deps")) {
        return None;
    }
    let folder = Path::new(text(message, "manifest_path")?).parent()?.to_path_buf();
    let (_, target) = message.split_once("\"target\":{")?;
    let kinds = target.split(']').next()?;
    Some(Program {
        package: folder.file_name()?.to_string_lossy().into_owned(),
        name: text(target, "name")?.to_owned(),
        target: match kinds {
            // A library's kinds are lib, rlib, staticlib and the like.
            kinds if kinds.contains("lib\"") => Target::Library,
            kinds if kinds.contains("\"bin\"") => Target::Program,
            _ => Target::Test,
        },
        path,
        folder,
    })
}

/// The first value under this key that is text.
fn text<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = json.split_once(&format!("\"{key}\":\""))?;
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = r#"{"reason":"compiler-artifact",
"manifest_path":"/w/crates/pvm-capi/Cargo.toml",
"target":{"kind":["staticlib","rlib"],"name":"pvm_capi","src_path":"/w/src/lib.rs"},
"profile":{"test":true},"executable":"/w/target/debug/deps/pvm_capi-1","fresh":true}"#;
    const TEST: &str = r#"{"reason":"compiler-artifact",
"manifest_path":"/w/crates/pvm-capi/Cargo.toml",
"target":{"kind":["test"],"name":"libraries"},"executable":"/w/target/debug/deps/libraries-2"}"#;
    const PROGRAM: &str = r#"{"manifest_path":"/w/crates/pvmd/Cargo.toml",
"target":{"kind":["bin"],"name":"pvmd"},
"executable":"/w/target/debug/pvmd"}"#;
    const UNITS: &str = r#"{"manifest_path":"/w/crates/pvmd/Cargo.toml",
"target":{"kind":["bin"],"name":"libraries"},
"executable":"/w/target/debug/deps/libraries-3"}"#;
    const NONE: &str = r#"{"manifest_path":"/w/x/Cargo.toml","target":{"kind":["lib"],"name":"x"},
"executable":null}"#;

    #[test]
    fn tests_are_told_from_programs_and_libraries_and_know_their_package() {
        let messages = [TEST, LIBRARY, PROGRAM, UNITS, NONE, "warning: x"];
        let found = in_messages(&messages.map(|message| message.replace('\n', "")).join("\n"));
        let names: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.target)).collect();
        let expected = [
            ("pvm_capi", Target::Library),
            ("libraries", Target::Test),
            ("libraries", Target::Program),
        ];
        assert_eq!(names, expected);
        assert_eq!(found[0].package, "pvm-capi");
        assert_eq!(found[0].folder, Path::new("/w/crates/pvm-capi"));
        assert_eq!(found[1].path, Path::new("/w/target/debug/deps/libraries-2"));
    }
}
