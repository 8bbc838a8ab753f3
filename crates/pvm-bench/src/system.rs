//! The systems that can be measured: which are there, how a program is built for one, and how it is
//! run.

use super::figures::Peer;
use super::java::{Java, main_class};
use pvm_cli::failure::{Failure, Status};
use pvm_cli::program;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The systems.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    /// NeoPVM, as installed with this program.
    Ours,
    /// PVM 3.4.6 of Debian's packages.
    Original,
    /// Open MPI.
    OpenMpi,
    /// MPICH.
    Mpich,
}

impl Kind {
    /// All of them, in the order in which they take turns.
    pub(crate) const ALL: [Self; 4] = [Self::Ours, Self::Original, Self::OpenMpi, Self::Mpich];

    /// As it stands in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ours => "NeoPVM",
            Self::Original => "PVM 3.4.6",
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
        }
    }

    /// Whether it has PVM's calls, routes and encodings.
    pub(crate) const fn is_pvm(self) -> bool {
        matches!(self, Self::Ours | Self::Original)
    }

    /// The ending of the names of its MPI commands.
    const fn mpi(self) -> &'static str {
        if matches!(self, Self::Mpich) { "mpich" } else { "openmpi" }
    }
}

/// A language of the programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    /// C.
    C,
    /// Fortran, with a main program and calls in C.
    Fortran,
    /// C with the operations of C-Linda, which NeoPVM's `clc` compiles.
    Linda,
    /// Java, run by a script.
    Java,
}

/// The way in which programs of an interface are started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    /// By hand: the first one starts the others.
    ByHand,
    /// As a job of ranks.
    Job,
    /// As a job whose ranks share a host unless a procgroup file says where they run.
    Procgroup,
    /// By `ntsnet`, as programs of C-Linda are.
    Ntsnet,
}

/// A library of NeoPVM for programs of an older interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interface {
    /// The name of its folders in `lib/neopvm` and `include/neopvm`, and of `pvm run --as`.
    pub(crate) name: &'static str,
    /// The name of the library for the linker.
    pub(crate) library: &'static str,
    /// The way in which its programs are started.
    pub(crate) start: Start,
}

impl Interface {
    /// The folder of its library, below that of an installation.
    pub(crate) fn folder(&self, prefix: &Path) -> PathBuf {
        prefix.join("lib/neopvm").join(self.name)
    }
}

/// A measured program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Source {
    /// The name of the program.
    pub(crate) name: &'static str,
    /// The language of the source.
    pub(crate) language: Language,
    /// Its files; those of the calls come in addition.
    pub(crate) files: &'static [&'static str],
    /// More for the compiler.
    pub(crate) flags: &'static [&'static str],
    /// Whether it talks to other tasks.
    pub(crate) talks: bool,
    /// The system whose figures it prints, if not those of the system that runs it.
    pub(crate) subject: Option<&'static str>,
    /// The interface whose calls it makes, if not those of `calls`.
    pub(crate) interface: Option<Interface>,
    /// A peer's libraries with the calls of that interface, for systems that are not NeoPVM.
    pub(crate) libraries: &'static [&'static str],
}

impl Source {
    /// A program that talks to other tasks.
    pub(crate) const fn of(
        name: &'static str,
        language: Language,
        files: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            language,
            files,
            flags: &[],
            talks: true,
            subject: None,
            interface: None,
            libraries: &[],
        }
    }

    /// With more for the compiler.
    pub(crate) const fn with_flags(self, flags: &'static [&'static str]) -> Self {
        Self { flags, ..self }
    }

    /// One that tells figures of something else than the system that runs it.
    pub(crate) const fn about(self, subject: &'static str) -> Self {
        Self { subject: Some(subject), ..self }
    }

    /// One of an older interface.
    pub(crate) const fn with_calls_of(self, interface: Interface) -> Self {
        Self { interface: Some(interface), ..self }
    }

    /// The source with a peer's libraries, which have its calls.
    pub(crate) const fn with_libraries(self, libraries: &'static [&'static str]) -> Self {
        Self { libraries, ..self }
    }

    /// The source of a program that exchanges no messages, so that it needs no system.
    pub(crate) const fn alone(self, subject: &'static str) -> Self {
        Self { talks: false, ..self.about(subject) }
    }
}

/// The tools that build and run programs.
#[derive(Debug)]
pub(crate) struct Tools {
    /// The folder in which NeoPVM is installed.
    pub(crate) prefix: PathBuf,
    /// The folder of the programs' sources.
    pub(crate) sources: PathBuf,
    /// For the programs in Java; or what is missing.
    pub(crate) java: Result<Java, String>,
}

/// The installation that this program is a part of: it is PREFIX/libexec/neopvm/pvm-bench.
pub(crate) fn prefix() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let prefix = program.ancestors().nth(3).map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
    if prefix.join("include/pvm3.h").is_file() && prefix.join("bin/pvmd").is_file() {
        return Ok(prefix);
    }
    let text = format!(
        "{} holds no whole NeoPVM: bin/pvmd and include/pvm3.h are needed\n  \
         install it: `make install PREFIX=DIR`, then `DIR/bin/pvm bench`",
        prefix.display()
    );
    Err(Failure::new(Status::Refused, text))
}

impl Tools {
    /// With the sources that were installed in `folder`, or those in `sources`; `file` is among
    /// them.
    pub(crate) fn find(sources: Option<&Path>, folder: &str, file: &str) -> Result<Self, Failure> {
        let prefix = prefix()?;
        let sources = sources
            .map_or_else(|| prefix.join("share/neopvm/benchmarks").join(folder), Path::to_path_buf);
        if !sources.join(file).is_file() {
            let text = format!("{}: no sources of measured programs are there", sources.display());
            return Err(Failure::new(Status::Refused, text));
        }
        let java = Java::find(&prefix);
        Ok(Self { prefix, sources, java })
    }

    /// The systems that are installed, and, for the others, what is missing.
    pub(crate) fn peers(&self) -> Vec<(Kind, Peer)> {
        Kind::ALL.into_iter().map(|kind| (kind, self.peer(kind))).collect()
    }

    /// Java, described as the systems are.
    pub(crate) fn java_peer(&self) -> Peer {
        let version = self.java.as_ref().map(|java| java.version.clone()).unwrap_or_default();
        Peer { system: "Java".to_owned(), version, missing: self.java.clone().err() }
    }

    /// Whether this one is there.
    pub(crate) fn peer(&self, kind: Kind) -> Peer {
        let (version, missing) = match kind {
            Kind::Ours => (env!("CARGO_PKG_VERSION").to_owned(), None),
            Kind::Original => ("3.4.6".to_owned(), original_missing()),
            Kind::OpenMpi => mpi(kind, "libopenmpi-dev openmpi-bin"),
            Kind::Mpich => mpi(kind, "libmpich-dev mpich"),
        };
        Peer { system: kind.name().to_owned(), version, missing }
    }

    /// The library that a program needs and that is not installed.
    pub(crate) fn missing_library(&self, source: &Source) -> Option<String> {
        let folder = source.interface.map(|interface| interface.folder(&self.prefix));
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Some(folder.display().to_string());
        }
        source.libraries.iter().find_map(|word| {
            let file = format!("lib{}.a", word.strip_prefix("-l")?);
            let asked = Command::new("cc").arg(format!("-print-file-name={file}")).output();
            // The compiler repeats the name of a file that it does not find.
            let is_found = |path: &[u8]| Path::new(&*String::from_utf8_lossy(path)).is_absolute();
            (!asked.is_ok_and(|asked| is_found(&asked.stdout))).then_some(file)
        })
    }

    /// The compiler's command for a program; the program is written to `to`. The error says what is
    /// missing.
    pub(crate) fn compiler(
        &self,
        kind: Kind,
        source: &Source,
        to: &Path,
    ) -> Result<Command, String> {
        if source.language != Language::Java {
            return Ok(self.native_compiler(kind, source, to));
        }
        let mut command = self.java.as_ref()?.compiler(source.files, &classes(to));
        command.current_dir(&self.sources);
        Ok(command)
    }

    /// The work behind the compiler: a program in Java is a script.
    pub(crate) fn finish(&self, source: &Source, to: &Path) -> Result<(), String> {
        if source.language != Language::Java {
            return Ok(());
        }
        let script = self.java.as_ref()?.launcher(&main_class(source.files), &classes(to));
        let written = std::fs::write(to, script)
            .and_then(|()| std::fs::set_permissions(to, Permissions::from_mode(0o755)));
        written.map_err(|error| error.to_string())
    }

    fn native_compiler(&self, kind: Kind, source: &Source, to: &Path) -> Command {
        let fortran = source.language == Language::Fortran;
        let mut command = if source.language == Language::Linda {
            Command::new(self.prefix.join("libexec/neopvm/bin/clc"))
        } else if kind.is_pvm() || !source.talks {
            Command::new(if fortran { "gfortran" } else { "cc" })
        } else {
            Command::new(format!("{}.{}", if fortran { "mpif90" } else { "mpicc" }, kind.mpi()))
        };
        command.arg("-O2").args(source.flags).arg("-o").arg(to).current_dir(&self.sources);
        if let Some(folder) = to.parent().filter(|_| fortran) {
            // Where the descriptions of modules go.
            command.arg("-J").arg(folder);
        }
        let prefix = if kind == Kind::Ours { self.prefix.as_path() } else { Path::new("/usr") };
        if source.talks && kind.is_pvm() {
            command.arg(format!("-I{}", prefix.join("include").display()));
        }
        if kind == Kind::Ours {
            command.arg("-DNEOPVM");
        }
        command.args(source.files);
        if let Some(interface) = source.interface {
            self.link_interface(&mut command, interface);
        } else if !source.libraries.is_empty() {
            command.args(source.libraries);
        } else if source.talks {
            command.arg(if kind.is_pvm() { "calls/pvm.c" } else { "calls/mpi.c" });
        }
        if source.talks && kind == Kind::Ours {
            let lib = prefix.join("lib");
            command
                .arg(format!("-L{}", lib.display()))
                .arg(format!("-Wl,-rpath,{}", lib.display()));
        }
        if source.talks && kind.is_pvm() && source.interface.is_none() {
            command.args(["-lgpvm3", "-lpvm3"]);
        }
        command.arg("-lm");
        command
    }

    /// The headers of an older interface have names of their time, so they stand in front.
    fn link_interface(&self, command: &mut Command, interface: Interface) {
        let folder = interface.folder(&self.prefix);
        let headers = self.prefix.join("include/neopvm").join(interface.name);
        command
            .arg(format!("-I{}", headers.display()))
            .arg(format!("-L{}", folder.display()))
            .arg(format!("-Wl,-rpath,{}", folder.display()))
            .arg(format!("-l{}", interface.library));
    }

    /// The command that runs an MPI program with `tasks` tasks. Only Debian has a command of its
    /// own name for each of the systems.
    pub(crate) fn mpirun(kind: Kind, tasks: u32, hosts: &[String]) -> Command {
        let name = format!("mpirun.{}", kind.mpi());
        let there = program::in_path(Path::new(&name));
        let mut command = Command::new(there.map_or("mpirun", |_| &name));
        if kind == Kind::OpenMpi {
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            command.arg("--oversubscribe");
        }
        if !hosts.is_empty() {
            let here = rustix::system::uname().nodename().to_string_lossy().into_owned();
            let all: Vec<&str> = std::iter::once(&here).chain(hosts).map(String::as_str).collect();
            command.args(["--host", &all.join(",")]);
            command.args(if kind == Kind::OpenMpi { ["--map-by", "node"] } else { ["-ppn", "1"] });
            if kind == Kind::OpenMpi {
                // The other ways of version 4 to read memory fail or crash over TCP.
                command.args(["--mca", "osc", "pt2pt"]);
            }
        }
        command.args(["-n", &tasks.to_string()]);
        command
    }
}

/// The folder for the classes of a program.
fn classes(program: &Path) -> PathBuf {
    program.with_extension("classes")
}

fn original_missing() -> Option<String> {
    let daemon = Path::new("/usr/bin/pvmd");
    let there =
        daemon.is_file() && !program::is_ours(daemon) && Path::new("/usr/include/pvm3.h").is_file();
    (!there).then(|| "Debian's packages pvm and pvm-dev".to_owned())
}

fn mpi(kind: Kind, packages: &str) -> (String, Option<String>) {
    let there = ["mpicc", "mpirun"]
        .iter()
        .all(|name| program::in_path(Path::new(&format!("{name}.{}", kind.mpi()))).is_some());
    if !there {
        return (String::new(), Some(format!("Debian's packages {packages}")));
    }
    let said = Command::new(format!("mpirun.{}", kind.mpi())).arg("--version").output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    (version(&said.unwrap_or_default()), None)
}

/// The first word that looks like one.
fn version(text: &str) -> String {
    let digits = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    text.split_whitespace().find(digits).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        assert_eq!(version("mpirun (Open MPI) 4.1.4\n\nReport bugs"), "4.1.4");
        assert_eq!(version("HYDRA build details:\n    Version:      4.0.2\n"), "4.0.2");
        assert_eq!(version("none"), "");
    }

    fn tools() -> Tools {
        let java = Err("a JDK".to_owned());
        Tools { prefix: "/opt/neo".into(), sources: "/src".into(), java }
    }

    #[test]
    fn without_a_java_it_is_named_and_its_programs_are_not_built() {
        let source = Source::of("pair-java", Language::Java, &["java/Pair.java"]);
        assert_eq!(tools().java_peer().missing.unwrap(), "a JDK");
        let compiler = tools().compiler(Kind::Ours, &source, Path::new("/tmp/x"));
        assert_eq!(compiler.unwrap_err(), "a JDK");
    }

    #[test]
    fn a_program_that_talks_is_linked_with_the_calls_of_its_system() {
        let tools = tools();
        let source = Source::of("echo", Language::C, &["echo.c"]);
        let words = |kind| {
            let command = tools.compiler(kind, &source, Path::new("/tmp/x")).unwrap();
            let words: Vec<_> =
                std::iter::once(command.get_program()).chain(command.get_args()).collect();
            words.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        let ours = words(Kind::Ours);
        assert!(ours.starts_with("cc ") && ours.contains("-L/opt/neo/lib"), "{ours}");
        assert!(words(Kind::Original).ends_with("calls/pvm.c -lgpvm3 -lpvm3 -lm"));
        let interface = Interface { name: "old", library: "ol", start: Start::Job };
        let source = Source::of("x", Language::C, &["x.c"]).with_calls_of(interface);
        let command = tools.compiler(Kind::Ours, &source, Path::new("/tmp/x")).unwrap();
        let all: Vec<_> = command.get_args().filter_map(std::ffi::OsStr::to_str).collect();
        let all = all.join(" ");
        assert!(all.contains("-I/opt/neo/include/neopvm/old -L/opt/neo/lib/neopvm/old"), "{all}");
        assert!(all.contains("-lol") && !all.contains("calls/"), "{all}");
        assert!(
            words(Kind::Mpich).starts_with("mpicc.mpich ")
                && words(Kind::Mpich).contains("calls/mpi.c")
        );
        let source = Source::of("x", Language::C, &["x.c"]).with_libraries(&["-ltcg"]);
        let command = tools.compiler(Kind::OpenMpi, &source, Path::new("/tmp/x")).unwrap();
        let all: Vec<_> = command.get_args().filter_map(std::ffi::OsStr::to_str).collect();
        let all = all.join(" ");
        assert!(all.contains("x.c -ltcg") && !all.contains("calls/"), "{all}");
    }
}
