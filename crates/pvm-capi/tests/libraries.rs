//! The libraries as programs meet them: headers, names, sizes, old link lines.
//!
//! Nothing here needs a machine. Compilers that are not installed are named and left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// This crate's folder.
fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder for this test's files.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("cargo's own folder can be written");
    folder
}

/// Runs a command; its output if it succeeded.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}{errors}", output.status);
    text
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        println!("skipped: no {program} here");
    }
    found
}

/// The archive that cargo made together with this test: the newest one beside it that is not newer.
/// An archive to be installed may be made there, too.
fn archive() -> PathBuf {
    let own = std::env::current_exe().expect("the test runs");
    let made = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let beside = std::fs::read_dir(own.parent().expect("a program has a folder"));
    let is_archive = |name: &str| name.starts_with("libpvm_capi") && name.ends_with(".a");
    beside
        .expect("the folder can be read")
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_str().is_some_and(is_archive))
        .map(|entry| entry.path())
        .filter(|path| made(path) <= made(&own))
        .max_by_key(|path| made(path))
        .expect("the library was built before its test")
}

/// The folder with the linked libraries, made once.
fn libraries() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let archive = archive();
        let folder = scratch("libraries");
        run(Command::new("bash").arg(here().join("link.sh")).arg(&archive).arg(&folder));
        folder
    })
}

/// Compiles a file of `tests/c` for our libraries.
fn compile(compiler: &str, file: &str, options: &[&str], libraries_used: &[&str]) -> PathBuf {
    let name = format!("{file}{}", options.join("").replace(['/', '='], "_"));
    let program = scratch("programs").join(name);
    let source = here().join("tests/c").join(file);
    run(Command::new(compiler)
        .args(options)
        .arg("-I")
        .arg(here().join("../../include"))
        .arg(source)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(libraries())
        .args(libraries_used));
    program
}

/// Runs a program with our libraries where no machine of the user's may answer.
fn run_alone(program: &Path, args: &[&str]) {
    run(Command::new(program)
        .args(args)
        .env("LD_LIBRARY_PATH", libraries())
        .env("PVM_TMP", scratch("nowhere"))
        .env_remove("PVMSOCK"));
}

/// Compiles a file of `tests/c` and runs it with our libraries.
fn compile_and_run(compiler: &str, file: &str, options: &[&str], libraries_used: &[&str]) {
    run_alone(&compile(compiler, file, options, libraries_used), &[]);
}

/// Runs a program with our libraries on a machine of its own, made by the daemon of the
/// installation in `NEOPVM_PREFIX`; without one it is left out.
fn run_on_a_machine(program: &Path) {
    let Some(prefix) = std::env::var_os("NEOPVM_PREFIX") else {
        println!("skipped: {} (NEOPVM_PREFIX names no installation)", program.display());
        return;
    };
    let script = ". \"$1\" && machine_init ours \"$2\" && trap machine_end EXIT && machine_start \
        && LD_LIBRARY_PATH=$3 machine_run 120 \"$4\"";
    run(Command::new("bash")
        .args(["-c", script, "bash"])
        .arg(here().join("../../conformance/machine.sh"))
        .arg(prefix)
        .arg(libraries())
        .arg(program));
}

/// Name, and kind with the size of a datum, of each line of a list that is not left out.
fn listed(list: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(here().join("abi").join(list)).expect("the list is there");
    text.lines()
        .filter(|line| !line.starts_with(['#', '-']))
        .map(|line| line.split_once(' ').expect("name and kind"))
        .map(|(name, kind)| (name.into(), kind.into()))
        .collect()
}

#[test]
fn every_public_symbol_is_there_with_its_kind_and_size() {
    let library = libraries().join("libpvm3.so.3");
    let symbols = run(Command::new("nm").args(["-D", "--defined-only", "-S"]).arg(library));
    let exported: BTreeMap<String, String> = symbols
        .lines()
        .filter_map(|line| {
            let [_, size, kind, name] = line.split_whitespace().collect::<Vec<_>>()[..] else {
                return None;
            };
            let size = u64::from_str_radix(size, 16).expect("nm writes numbers");
            let what = if kind == "T" { "function".into() } else { format!("data {size}") };
            Some((name.into(), what))
        })
        .collect();
    for list in LISTS {
        for (name, what) in listed(&format!("symbols-{list}.txt")) {
            assert_eq!(exported.get(&name), Some(&what), "{name} of {list}");
        }
    }
    for name in exported.keys() {
        let known = ["pvm", "Pvm", "neopvm_", "neopvmf", "neotuple_", "vpvmlogprintf", "lpvmerr"];
        assert!(known.iter().any(|k| name.starts_with(k)), "{name} is exported");
    }
}

/// Names that ours leave out, of each list, as the lists of symbols mark them.
fn marked_as_left_out(list: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(here().join("abi").join(list)).expect("the list is there");
    let marked = text.lines().filter_map(|line| line.strip_prefix('-'));
    marked.map(|line| line.split(' ').next().expect("a name").to_owned()).collect()
}

const LISTS: [&str; 3] = ["libpvm3", "libgpvm3", "libfpvm3"];

#[test]
fn each_name_that_is_left_out_has_a_reason() {
    let reasons = std::fs::read_to_string(here().join("abi/left-out.txt")).expect("it is there");
    let reasons: Vec<(&str, &str)> = reasons
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').expect("a name and a reason"))
        .collect();
    let fits = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    };
    let left_out: BTreeSet<String> =
        LISTS.iter().flat_map(|list| marked_as_left_out(&format!("symbols-{list}.txt"))).collect();
    for name in &left_out {
        assert!(reasons.iter().any(|(pattern, _)| fits(pattern, name)), "{name} has no reason");
    }
    for (pattern, _) in reasons {
        assert!(left_out.iter().any(|name| fits(pattern, name)), "{pattern} is not left out");
    }
}

#[test]
fn the_lists_hold_every_name_that_debians_archives_define() {
    for list in LISTS {
        let found = Command::new("cc").arg(format!("-print-file-name={list}.a")).output();
        let archive = found.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
        let Some(archive) = archive.ok().filter(|path| path.starts_with('/')) else {
            println!("skipped: no {list}.a here");
            continue;
        };
        let list = format!("symbols-{list}.txt");
        let mut known = marked_as_left_out(&list);
        known.extend(listed(&list).into_keys());
        let symbols = run(Command::new("nm").args(["--defined-only", "-g"]).arg(archive));
        for line in symbols.lines() {
            if let [_, _, name] = line.split_whitespace().collect::<Vec<_>>()[..] {
                assert!(known.contains(name), "{name} is not in {list}");
            }
        }
    }
}

#[test]
fn the_shared_libraries_have_the_old_names() {
    if !has("readelf") {
        return;
    }
    let dynamic =
        |file: &str| run(Command::new("readelf").args(["-d", "-W"]).arg(libraries().join(file)));
    assert!(dynamic("libpvm3.so.3").contains("[libpvm3.so.3]"));
    for name in ["libgpvm3.so.3", "libfpvm3.so.3"] {
        let text = dynamic(name);
        assert!(text.contains(&format!("[{name}]")) && text.contains("[libpvm3.so.3]"), "{text}");
    }
}

#[test]
fn numbers_and_layouts_are_those_of_the_abi() {
    compile_and_run("cc", "abi_numbers.c", &["-std=c11"], &[]);
}

#[test]
fn headers_serve_every_dialect() {
    let warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic"];
    for dialect in ["-std=c89", "-std=gnu89", "-std=c99", "-std=c11", "-std=gnu17"] {
        let options = [&[dialect], &warnings[..]].concat();
        compile_and_run("cc", "headers.c", &options, &["-lpvm3"]);
    }
    compile_and_run("cc", "headers.c", &["-std=c99", "-DWITH_HANDLES"], &["-lpvm3"]);
    if has("c++") {
        let options = ["-x", "c++", "-Wall", "-DWITH_HANDLES"];
        compile_and_run("c++", "headers.c", &options, &["-lpvm3"]);
    }
}

#[test]
fn old_programs_link_and_run_in_every_way() {
    let old = ["-std=gnu89", "-fcommon", "-w"];
    for way in [&[][..], &["-no-pie"], &["-static"], &["-O2", "-fPIE", "-pie"]] {
        let options = [&old[..], way].concat();
        compile_and_run("cc", "pack.c", &options, &["-lfpvm3", "-lgpvm3", "-lpvm3"]);
    }
}

#[test]
fn fortran_programs_link_and_run_in_every_way() {
    if !has("gfortran") {
        return;
    }
    for way in [&[][..], &["-static"]] {
        let options = [&["-fallow-argument-mismatch", "-w"], way].concat();
        compile_and_run("gfortran", "pack.f", &options, &["-lfpvm3", "-lgpvm3", "-lpvm3"]);
    }
}

const STRICT: [&str; 6] = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread"];

/// Lets others write into a folder, or only its owner.
fn set_mode(folder: &Path, mode: u32) {
    std::fs::set_permissions(folder, Permissions::from_mode(mode)).expect("it is ours");
}

/// A program in /tmp/x has /tmp/bin two folders above it, where anybody may put a daemon.
#[test]
fn a_daemon_above_the_program_was_started_whoever_had_put_it_there() {
    let place = scratch("installation").canonicalize().expect("it is there");
    let (bin, program) = (place.join("bin"), place.join("programs/root"));
    std::fs::create_dir_all(&bin).expect("cargo's own folder can be written");
    std::fs::create_dir_all(place.join("programs")).expect("cargo's own folder can be written");
    std::fs::copy(compile("cc", "root.c", &["-static"], &["-lpvm3"]), &program).expect("a copy");
    std::fs::write(bin.join("pvmd"), "").expect("it can be written");
    let told = || {
        let mut command = Command::new(&program);
        PathBuf::from(run(command.env("PATH", "").env_remove("PVM_ROOT")).trim_end())
    };
    set_mode(&bin, 0o755);
    assert_eq!(told(), place, "an installation of the user's own");
    set_mode(&bin, 0o777);
    assert_ne!(told(), place, "anybody may have put it there");
    set_mode(&bin, 0o755);
    set_mode(&place, 0o777);
    assert_ne!(told(), place, "anybody may have put the folder there");
    set_mode(&place, 0o1777);
    assert_eq!(told(), place, "as in /tmp, only its owner can replace the folder");
    if std::os::unix::fs::chown(&bin, Some(65534), None).is_ok() {
        assert_ne!(told(), place, "another user has put it there");
        std::os::unix::fs::chown(&bin, Some(0), None).expect("as before");
    } else {
        println!("skipped: only root can give a folder to another user");
    }
}

#[test]
fn the_calls_with_handles_do_what_their_header_says() {
    let program = compile("cc", "handles.c", &STRICT, &["-lpvm3"]);
    run_alone(&program, &["alone"]);
    run_on_a_machine(&program);
}

#[test]
fn calls_that_no_good_program_makes_have_results() {
    let program = compile("cc", "attack.c", &STRICT, &["-lpvm3"]);
    run_alone(&program, &["alone"]);
    run_on_a_machine(&program);
}

#[test]
fn what_a_handler_sends_while_the_library_is_busy_is_sent_once() {
    run_on_a_machine(&compile("cc", "handler_send.c", &STRICT, &["-lpvm3"]));
}

#[test]
fn each_call_behind_one_that_a_handler_has_left_at_its_work_says_so() {
    run_alone(&compile("cc", "left_call.c", &STRICT, &["-lpvm3"]), &[]);
}

#[test]
fn a_handler_leaves_a_barrier_that_does_not_wait_yet_at_its_next_tick() {
    let early = [&STRICT[..], &["-DEARLIEST=50"]].concat();
    run_on_a_machine(&compile("cc", "handler_send.c", &early, &["-lpvm3"]));
}

#[test]
fn the_child_of_a_fork_has_nothing_of_its_parents_whatever_that_has_used() {
    run_on_a_machine(&compile("cc", "forks.c", &STRICT, &["-lpvm3"]));
}
