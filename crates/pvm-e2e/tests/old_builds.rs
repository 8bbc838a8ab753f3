//! Makefiles of old programs find what they name below PVM_ROOT, and copied examples find the
//! installation.
#![forbid(unsafe_code)]

use pvm_e2e::{Place, prefix};
use std::fs;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <pvm3.h>
int main(void) { printf("task %d\n", pvm_mytid() > 0); pvm_exit(); return 0; }
"#;

/// In the shape of those that came with PVM's programs: the library of the architecture, its
/// definitions, and a folder for the user's programs.
const AIMK: &str = "
SDIR = ..
XDIR = $(HOME)/pvm3/bin/$(PVM_ARCH)
CFLAGS = -I$(PVM_ROOT)/include $(ARCHCFLAGS)
LIBS = -L$(PVM_ROOT)/lib/$(PVM_ARCH) -lpvm3 $(ARCHLIB)

one: $(SDIR)/one.c
\t$(CC) $(CFLAGS) -o $@ $(SDIR)/one.c -static-libgcc $(LIBS)
\tmv $@ $(XDIR)
";

fn succeed(command: &mut Command) -> String {
    let output = command.output().expect("a command that starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn folder_with(place: &Place, makefile: &str, text: &str) -> std::path::PathBuf {
    let folder = place.home().join("src");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("one.c"), PROGRAM).expect("a file");
    fs::write(folder.join(makefile), text).expect("a file");
    folder
}

fn runs(place: &Place, program: &Path) {
    let libraries = prefix().join("lib");
    let mut command = place.installed("pvm");
    command.arg("run").arg(program).env("LD_LIBRARY_PATH", libraries);
    assert_eq!(succeed(&mut command), "task 1\n");
}

#[test]
fn aimk_builds_a_program_in_its_architectures_folder() {
    let place = Place::new();
    let folder = folder_with(&place, "Makefile.aimk", AIMK);
    let mut aimk = place.command(prefix().join("lib/aimk"));
    succeed(aimk.arg("one").env("PVM_ROOT", prefix()).current_dir(&folder));
    assert!(folder.join("LINUX64").is_dir());
    runs(&place, &place.bin().join("one"));
    // Without PVM_ROOT it is found from where the script lies, through a link, too.
    fs::remove_file(place.bin().join("one")).expect("the program");
    succeed(place.command(prefix().join("bin/aimk")).arg("one").current_dir(&folder));
    runs(&place, &place.bin().join("one"));
}

#[test]
fn a_makefile_that_includes_the_architectures_definitions_builds() {
    let place = Place::new();
    let text = "include $(PVM_ROOT)/conf/$(PVM_ARCH).def\none: one.c\n\t$(CC) \
                -I$(PVM_ROOT)/include -o $@ one.c \
                -L$(PVM_ROOT)/lib/$(PVM_ARCH) -lgpvm3 -lpvm3 $(ARCHLIB)\n";
    let folder = folder_with(&place, "Makefile", text);
    let arch = succeed(&mut place.command(prefix().join("lib/pvmgetarch")));
    let mut make = place.command("make");
    make.env("PVM_ROOT", prefix()).env("PVM_ARCH", arch.trim()).current_dir(&folder);
    succeed(&mut make);
    runs(&place, &folder.join("one"));
}

#[test]
fn the_tree_has_the_names_that_scripts_know() {
    let root = prefix();
    for name in
        ["pvmd3", "pvm", "pvmgetarch", "libpvm3.a", "libgpvm3.a", "libfpvm3.a", "libpvm3.so"]
    {
        assert!(root.join("lib/LINUX64").join(name).exists(), "lib/LINUX64/{name}");
    }
    for name in
        ["lib/pvmd", "lib/pvm", "lib/pvmgetarch", "lib/aimk", "bin/LINUX64", "include/pvm3.h"]
    {
        assert!(root.join(name).exists(), "{name}");
    }
}

#[test]
fn copied_examples_find_the_installation() {
    let place = Place::new();
    let copy = place.home().join("copy");
    let from = prefix().join("share/neopvm/examples");
    succeed(place.command("cp").arg("-r").arg(&from).arg(&copy));
    succeed(place.command("make").arg("bin/hello").env("PVM_ROOT", prefix()).current_dir(&copy));
    assert!(copy.join("bin/hello").is_file());
    fs::remove_dir_all(copy.join("bin")).expect("what was built");
    let path = format!("{}:/usr/bin:/bin", prefix().join("bin").display());
    succeed(place.command("make").arg("bin/hello").env("PATH", path).current_dir(&copy));
    assert!(copy.join("bin/hello").is_file());
    let output = place.command("make").env("PATH", "/usr/bin:/bin").current_dir(&copy).output();
    let said = String::from_utf8_lossy(&output.expect("make").stderr).into_owned();
    assert!(said.contains("make PREFIX=DIR"), "{said}");
}

#[test]
fn an_example_that_starts_itself_is_found_where_it_was_built() {
    let place = Place::new();
    let copy = place.home().join("copy");
    let from = prefix().join("share/neopvm/examples");
    succeed(place.command("cp").arg("-r").arg(&from).arg(&copy));
    succeed(place.command("make").arg("bin/exposed").env("PVM_ROOT", prefix()).current_dir(&copy));
    let mut run = place.installed("pvm");
    let out = succeed(run.args(["run", "bin/exposed", "3"]).current_dir(&copy));
    assert_eq!(out, "4498500\n");
}
