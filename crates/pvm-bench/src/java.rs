//! The Java that the programs in Java are built and run with.

use pvm_cli::program;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest that the classes are for.
const VERSION_MIN: u32 = 17;
/// From here on Java reaches the C library, for which it wants to be asked.
const VERSION_NATIVE: u32 = 22;

/// A JDK, and the classes that speak with the machine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Java {
    number: u32,
    /// As it tells itself, for instance `25.0.1`.
    pub(crate) version: String,
    home: PathBuf,
    jar: PathBuf,
}

impl Java {
    /// The newest JDK of this computer; the error is what to install.
    pub(crate) fn find(prefix: &Path) -> Result<Self, String> {
        let jar = prefix.join("share/java/neopvm.jar");
        let found = homes().into_iter().filter_map(|home| Self::at(home, jar.clone()));
        let newest = found.filter(|java| java.number >= VERSION_MIN).max();
        let newest =
            newest.ok_or("a JDK of 17 or newer (Debian's package openjdk-17-jdk-headless)")?;
        if jar.is_file() {
            Ok(newest)
        } else {
            Err(format!("{} (`make install` makes it where Maven is)", jar.display()))
        }
    }

    fn at(home: PathBuf, jar: PathBuf) -> Option<Self> {
        let told = std::fs::read_to_string(home.join("release")).ok()?;
        let version = version(&told)?;
        let number = version.split('.').next()?.parse().ok()?;
        home.join("bin/javac").is_file().then_some(Self { number, version, home, jar })
    }

    /// The command that compiles `files` into the folder `classes`.
    pub(crate) fn compiler(&self, files: &[&str], classes: &Path) -> Command {
        let mut command = Command::new(self.home.join("bin/javac"));
        command.arg("-cp").arg(&self.jar).arg("-d").arg(classes).args(files);
        command
    }

    /// A program, as the machine starts one: a script that runs the class `main`. The heap is as
    /// large as the largest messages need and does not grow meanwhile.
    pub(crate) fn launcher(&self, main: &str, classes: &Path) -> String {
        let native =
            if self.number >= VERSION_NATIVE { " --enable-native-access=ALL-UNNAMED" } else { "" };
        format!(
            "#!/bin/sh\nexec '{}' -Xms1g -Xmx1g -XX:+UseParallelGC{native} -cp '{}:{}' {main} \
             \"$@\"\n",
            self.home.join("bin/java").display(),
            self.jar.display(),
            classes.display()
        )
    }
}

/// The folders in which a JDK may be.
fn homes() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> =
        std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    let above = |javac: PathBuf| Some(javac.canonicalize().ok()?.parent()?.parent()?.to_path_buf());
    homes.extend(program::in_path(Path::new("javac")).and_then(above));
    homes.extend(pvm_cli::entries(Path::new("/usr/lib/jvm")));
    homes
}

/// Out of a JDK's file `release`.
fn version(told: &str) -> Option<String> {
    let line = told.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    Some(line.trim_matches('"').to_owned())
}

/// The class with the main program: the first file's.
pub(crate) fn main_class(files: &[&str]) -> String {
    let name = files.first().and_then(|file| Path::new(file).file_stem());
    name.map(OsStr::to_string_lossy).unwrap_or_default().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn java(number: u32) -> Java {
        Java {
            number,
            version: format!("{number}.0.1"),
            home: "/opt/jdk".into(),
            jar: "/opt/neo/share/java/neopvm.jar".into(),
        }
    }

    #[test]
    fn a_jdk_tells_its_version() {
        assert_eq!(version("A=\"1\"\nJAVA_VERSION=\"25.0.1\"\n").unwrap(), "25.0.1");
        assert_eq!(version("A=\"1\"\n"), None);
    }

    #[test]
    fn the_newest_is_the_greatest() {
        assert_eq!([java(17), java(25), java(9)].into_iter().max(), Some(java(25)));
    }

    #[test]
    fn a_program_in_java_is_a_script_that_runs_its_class() {
        assert_eq!(main_class(&["java/Pair.java", "java/Calls.java"]), "Pair");
        let script = java(25).launcher("Pair", Path::new("/tmp/c"));
        assert!(script.starts_with("#!/bin/sh\nexec '/opt/jdk/bin/java' "), "{script}");
        assert!(script.ends_with("-cp '/opt/neo/share/java/neopvm.jar:/tmp/c' Pair \"$@\"\n"));
        assert!(script.contains("--enable-native-access"));
        assert!(!java(17).launcher("Pair", Path::new("/tmp/c")).contains("--enable-native-access"));
    }

    #[test]
    fn where_there_is_no_jar_it_is_said_what_makes_it() {
        let missing = Java::find(Path::new("/nowhere")).unwrap_err();
        assert!(missing.contains("JDK") || missing.contains("neopvm.jar"), "{missing}");
    }
}
