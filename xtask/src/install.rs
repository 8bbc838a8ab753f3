//! `make install PREFIX=DIR`: lays out under one folder what users and packagers get.
//!
//! Nothing that is installed names the folder: libraries, pkg-config files and the daemon find one
//! another from their own place, so the folder may be moved.

mod old_tree;

use crate::outside;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: u32 = 0o755;
const FILE: u32 = 0o644;
/// The exit status of `bindings/java/build.sh` without a JDK or without Maven.
const JAVA_MISSING: i32 = 3;

/// Completions as `pvm generate` names them, and where each shell looks for its own, below `share`.
const COMPLETIONS: [(&str, &str); 3] = [
    ("pvm.bash", "bash-completion/completions/pvm"),
    ("_pvm", "zsh/site-functions/_pvm"),
    ("pvm.fish", "fish/vendor_completions.d/pvm.fish"),
];

/// Copies everything; `cargo build --release` must have run.
pub(crate) fn run(root: &Path, prefix: &Path) -> Result<(), String> {
    let layout = Layout { root, prefix, built: target_folder(root).join("release") };
    let steps = [
        Layout::programs,
        Layout::old_commands,
        Layout::libraries,
        Layout::old_tree,
        Layout::headers,
        Layout::pkg_config,
        Layout::personalities,
        Layout::manual,
        Layout::completions,
        Layout::texts,
        Layout::java,
        Layout::python,
    ];
    for step in steps {
        step(&layout)?;
    }
    println!("installed in {}", prefix.display());
    Ok(())
}

/// The folder in which cargo builds.
pub(crate) fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

struct Layout<'a> {
    root: &'a Path,
    prefix: &'a Path,
    built: PathBuf,
}

impl Layout<'_> {
    fn programs(&self) -> Result<(), String> {
        for name in ["pvm", "pvmd", "pvmgs", "pvmtuples"] {
            copy(&self.built.join(name), &self.prefix.join("bin").join(name), PROGRAM)?;
        }
        let bench = "pvm-bench"; // `pvm bench` starts it
        copy(&self.built.join(bench), &self.prefix.join("libexec/neopvm").join(bench), PROGRAM)
    }

    /// Programs of the old systems that are written in Rust; those in C and sh come with their
    /// libraries.
    fn old_commands(&self) -> Result<(), String> {
        copy(&self.built.join("clc"), &self.prefix.join("libexec/neopvm/bin/clc"), PROGRAM)
    }

    /// The shared libraries are linked from the one static library, because only so do they export
    /// the C parts.
    fn libraries(&self) -> Result<(), String> {
        let made = self.built.join("capi");
        fs::create_dir_all(&made).map_err(|e| format!("{}: {e}", made.display()))?;
        let script = self.root.join("crates/pvm-capi/link.sh");
        let archive = self.built.join("libpvm_capi.a");
        let arguments = [&script, &archive, &made].map(|path| path.to_string_lossy().into_owned());
        outside::run(self.root, "bash", &arguments.each_ref().map(String::as_str))?;
        for file in files_in(&made)? {
            let name = file.file_name().unwrap_or_default();
            let to = self.prefix.join("lib").join(name);
            match fs::read_link(&file) {
                Ok(target) => relink(&target, &to)?,
                Err(_) => copy(&file, &to, FILE)?,
            }
        }
        Ok(())
    }

    fn headers(&self) -> Result<(), String> {
        self.folder("include", "include", &["h", "f90"])
    }

    fn pkg_config(&self) -> Result<(), String> {
        let version = env!("CARGO_PKG_VERSION");
        for (name, version) in [("neopvm", version), ("pvm3", "3.4.6")] {
            let text = format!(
                "prefix=${{pcfiledir}}/../..\nlibdir=${{prefix}}/lib\n\
                 includedir=${{prefix}}/include\n\n\
                 Name: {name}\nDescription: Parallel Virtual Machine: message passing between \
                 tasks on many hosts\n\
                 Version: {version}\nCflags: -I${{includedir}}\nLibs: -L${{libdir}} -lgpvm3 \
                 -lpvm3\n\
                 Libs.private: -lpthread -ldl -lm\n"
            );
            write(&self.prefix.join(format!("lib/pkgconfig/{name}.pc")), text.as_bytes(), FILE)?;
        }
        Ok(())
    }

    /// The other interfaces' libraries stand on what is installed already, and are built as a user
    /// would build them. What they have in common is compiled once.
    fn personalities(&self) -> Result<(), String> {
        let folders = files_in(&self.root.join("personalities"))?;
        for folder in folders.iter().filter(|folder| folder.join("Makefile").is_file()) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let build = self.built.join("personalities");
            let words = [
                format!("PREFIX={}", self.prefix.display()),
                format!("BUILD={}", build.join(&*name).display()),
                format!("COMMON_BUILD={}", build.join("common").display()),
                "DESTDIR=".to_owned(),
            ];
            let folder = folder.to_string_lossy();
            let arguments = ["-s", "--no-print-directory", "-C", &*folder, "install"].into_iter();
            let all: Vec<&str> = arguments.chain(words.iter().map(String::as_str)).collect();
            outside::run(self.root, "make", &all)?;
        }
        Ok(())
    }

    /// The pages of the commands are made from the command line's own description, the others are
    /// written.
    fn manual(&self) -> Result<(), String> {
        for page in self.generated("man")? {
            let name = page.file_name().unwrap_or_default();
            copy(&page, &self.prefix.join("share/man/man1").join(name), FILE)?;
        }
        for section in ["1", "3", "7"] {
            self.folder("doc/man", &format!("share/man/man{section}"), &[section])?;
        }
        Ok(())
    }

    fn completions(&self) -> Result<(), String> {
        self.generated("completions")?;
        for (name, place) in COMPLETIONS {
            let made = self.built.join("generated/completions").join(name);
            copy(&made, &self.prefix.join("share").join(place), FILE)?;
        }
        Ok(())
    }

    /// The files that `pvm generate WHAT` writes.
    fn generated(&self, what: &str) -> Result<Vec<PathBuf>, String> {
        let folder = self.built.join("generated").join(what);
        let pvm = self.built.join("pvm");
        let arguments = ["generate", what, &folder.to_string_lossy()];
        outside::run(self.root, &pvm.to_string_lossy(), &arguments)?;
        files_in(&folder)
    }

    /// Sources to start from, and what may be done with them.
    fn texts(&self) -> Result<(), String> {
        let examples = ["c", "cl", "f", "h", "java", "py", "ipynb", "sh", "md", "Makefile"];
        self.folder("examples", "share/neopvm/examples", &examples)?;
        self.folder(
            "benchmarks",
            "share/neopvm/benchmarks",
            &["c", "cl", "f", "f90", "inc", "h", "java"],
        )?;
        self.nas()?;
        let environments = ["Makefile", "md", "py", "sh"];
        self.folder(
            "benchmarks/environments",
            "share/neopvm/benchmarks/environments",
            &environments,
        )?;
        self.folder("benchmarks/seeds", "share/neopvm/benchmarks/seeds", &["csv"])?;
        for name in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"] {
            copy(&self.root.join(name), &self.prefix.join("share/doc/neopvm").join(name), FILE)?;
        }
        for name in ["interfaces.md", "java.md", "python.md", "tuples.md"] {
            let to = self.prefix.join("share/doc/neopvm").join(name);
            copy(&self.root.join("doc").join(name), &to, FILE)?;
        }
        Ok(())
    }

    /// The NAS Parallel Benchmarks are built by their own Makefile, which has parts, and say how
    /// they are used.
    fn nas(&self) -> Result<(), String> {
        let to = "share/neopvm/benchmarks/nas";
        self.folder("benchmarks/nas", to, &["md"])?;
        for file in files_in(&self.root.join("benchmarks/nas"))? {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("Makefile") {
                copy(&file, &self.prefix.join(to).join(name), FILE)?;
            }
        }
        Ok(())
    }

    /// The classes for Java. Where they cannot be made this says why, and all else is installed.
    fn java(&self) -> Result<(), String> {
        let script = self.root.join("bindings/java/build.sh");
        let jar = self.prefix.join("share/java/neopvm.jar");
        let made = Command::new("bash").arg(&script).arg(&jar).status();
        match made.map_err(|e| format!("{}: {e}", script.display()))?.code() {
            Some(0 | JAVA_MISSING) => {}
            // Nothing else needs it, and without a network the first build cannot be; `make check`
            // fails.
            _ => eprintln!(
                "neopvm.jar could not be built and is left out: the first time, Maven fetches its \
                 plug-ins"
            ),
        }
        Ok(())
    }

    /// The wheel, where there is a Python to build it with.
    fn python(&self) -> Result<(), String> {
        let script = self.root.join("bindings/python/wheel.sh");
        let out = self.prefix.join("share/python");
        let arguments =
            [&script, &self.built, &out].map(|path| path.to_string_lossy().into_owned());
        outside::run(self.root, "bash", &arguments.each_ref().map(String::as_str))
    }

    /// Copies the files below `from` whose name ends with one of `endings`.
    fn folder(&self, from: &str, to: &str, endings: &[&str]) -> Result<(), String> {
        for entry in files_in(&self.root.join(from))? {
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if entry.is_dir() {
                self.folder(&format!("{from}/{name}"), &format!("{to}/{name}"), endings)?;
            } else if endings.contains(&name.rsplit('.').next().unwrap_or(&name)) {
                let mode = if name.ends_with(".sh") { PROGRAM } else { FILE };
                copy(&entry, &self.prefix.join(to).join(&name), mode)?;
            }
        }
        Ok(())
    }
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn copy(from: &Path, to: &Path, mode: u32) -> Result<(), String> {
    let bytes = fs::read(from).map_err(|e| format!("{}: {e}", from.display()))?;
    write(to, &bytes, mode)
}

/// Writes beside the old file and renames, so that a program that is running keeps its own.
fn write(to: &Path, bytes: &[u8], mode: u32) -> Result<(), String> {
    put(to, |new| {
        fs::write(new, bytes)?;
        fs::set_permissions(new, fs::Permissions::from_mode(mode))
    })
}

fn relink(target: &Path, to: &Path) -> Result<(), String> {
    put(to, |new| symlink(target, new))
}

fn put(to: &Path, make: impl Fn(&Path) -> std::io::Result<()>) -> Result<(), String> {
    let mut name = to.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let new = to.with_file_name(name);
    let _ = fs::remove_file(&new);
    fs::create_dir_all(to.parent().unwrap_or_else(|| Path::new("/")))
        .and_then(|()| make(&new))
        .and_then(|()| fs::rename(&new, to))
        .map_err(|e| format!("{}: {e}", to.display()))
}
