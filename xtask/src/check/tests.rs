//! Parts that run, end, fail and are run again, with real commands.

use super::part::Need;
use super::run::every;
use super::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const fn part(name: &'static str, steps: fn(&Run<'_>) -> Result<(), String>) -> Part {
    Part { name, steps, fast: true, ..Part::DEFAULT }
}

/// A folder for logs, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (own, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("xtask-{own}-{count}-{name}"));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn places(&self) -> CheckPaths<'_> {
        CheckPaths { root: &self.0, stage: String::new(), logs: self.0.clone() }
    }

    fn rows(&self, parts: &[Part], room: Option<Room>) -> Vec<Row> {
        let places = self.places();
        let schedule = Schedule::new(parts.iter().collect(), room);
        let mut rows = run_all(&places, schedule, Instant::now());
        rows.iter_mut().for_each(|row| run_again(&places, row));
        rows
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn words(rows: &[Row]) -> Vec<(&'static str, &'static str)> {
    let mut words: Vec<_> = rows.iter().map(|row| (row.name, row.outcome.words().0)).collect();
    words.sort_unstable();
    words
}

fn outcome(part: &Part, strict: bool) -> &'static str {
    let folder = Folder::new(if strict { "strict" } else { "lenient" });
    let run = Run::new(&folder.0, "", &folder.0, PathBuf::from("/dev/null"));
    Outcome::of(part, &run, strict).words().0
}

#[test]
fn a_missing_tool_skips_the_part_and_fails_it_where_nothing_may_be_skipped() {
    const NEEDS: &[Need] = &[Need("no-such-program", "no-such-package")];
    let part = Part { needs: NEEDS, ..part("x", |_| Ok(())) };
    assert_eq!(outcome(&part, false), "skipped");
    assert_eq!(outcome(&part, true), "FAILED");
}

#[test]
fn the_outcome_of_a_step_is_the_outcome_of_its_part() {
    assert_eq!(outcome(&part("x", |run| run.step(&["true"])), false), "passed");
    assert_eq!(outcome(&part("x", |run| run.step(&["false"])), false), "FAILED");
    assert_eq!(outcome(&part("x", |run| run.step(&["no-such-program"])), false), "FAILED");
}

/// The outcome of a part whose test program fails so often, and the tests that are called unsteady.
fn outcome_of_failing(times: usize) -> (&'static str, Vec<String>) {
    let folder = Folder::new(&format!("failing-{times}"));
    let program = format!(
        "echo x >> runs; [ $(wc -l < runs) -gt {times} ] && exit; \
         echo 'test a ... FAILED'; echo 'test result: FAILED.'; exit 101"
    );
    fs::write(folder.0.join("program"), program).unwrap();
    let steps = |run: &Run<'_>| run.real(&["sh", "program"], &|words| run.prepare(words));
    let rows = folder.rows(&[part("x", steps)], None);
    (rows[0].outcome.words().0, rows[0].unsteady.clone())
}

#[test]
fn a_test_of_real_processes_that_fails_once_is_told_and_one_that_fails_twice_fails() {
    assert_eq!(outcome_of_failing(0), ("passed", vec![]));
    assert_eq!(outcome_of_failing(1), ("passed", vec!["a".to_owned()]));
    assert_eq!(outcome_of_failing(2), ("FAILED", vec![]));
    assert_eq!(outcome_of_failing(9), ("FAILED", vec![]));
}

/// The outcome of a part whose script has two tests, the first of which fails so often, and other
/// faults; the tests that are called unsteady; and the tests that each run was asked for.
fn outcome_of_script(times: usize, faults: usize) -> (&'static str, Vec<String>, Vec<String>) {
    let folder = Folder::new(&format!("script-{times}-{faults}"));
    let failed = Path::new(env!("CARGO_MANIFEST_DIR")).join("failed.sh");
    let script = format!(
        ". {}; wanted=(\"$@\"); echo \"$*$OF_PART\" >>runs; \
         for test in 'a b' c; do \
           is_wanted \"$test\" || continue; \
           [ \"$test\" = c ] || [ $(wc -l <runs) -gt {times} ] || has_failed \"$test\"; \
         done; \
         tell_failed {faults}; [ ${{#failed_tests[@]}} -eq 0 ]",
        failed.display()
    );
    fs::write(folder.0.join("script"), script).unwrap();
    let steps = |run: &Run<'_>| {
        run.with("OF_PART", "!");
        run.script(&["bash", "script"])
    };
    let rows = folder.rows(&[part("x", steps)], None);
    let runs = fs::read_to_string(folder.0.join("runs")).unwrap();
    let runs = runs.lines().map(str::to_owned).collect();
    (rows[0].outcome.words().0, rows[0].unsteady.clone(), runs)
}

#[test]
fn a_command_that_ends_a_script_without_a_word_is_named() {
    let failed = Path::new(env!("CARGO_MANIFEST_DIR")).join("failed.sh");
    let script = |options: &str| {
        format!(
            "set -{options}; . {}\nsilent() {{ grep -q x /dev/null; }}\n\
             if silent; then :; fi; silent || true\n(silent)\necho the end\n",
            failed.display()
        )
    };
    let folder = Folder::new("silent");
    for (name, options) in [("strict", "eu"), ("lenient", "u")] {
        fs::write(folder.0.join(name), script(options)).unwrap();
    }
    let parts = [
        part("strict", |run| run.script(&["bash", "strict"])),
        part("lenient", |run| run.script(&["bash", "lenient"])),
    ];
    let rows = folder.rows(&parts, None);
    assert_eq!(words(&rows), [("lenient", "passed"), ("strict", "FAILED")]);
    let strict = rows.iter().find(|row| row.failed()).unwrap();
    let causes = strict.causes(&read(&folder.places().log("strict")));
    assert_eq!(causes[0], "strict: error: strict:2: grep -q x /dev/null ended with 1");
    let said = read(&folder.places().log("lenient"));
    assert!(said.ends_with("lenient\nthe end\n"), "{said}");
}

#[test]
fn a_linker_that_fails_without_a_word_is_named() {
    let folder = Folder::new("linker");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/pvm-capi/link.sh");
    let text = format!("touch x.a; CC=false bash {} x.a out 2>&1 || echo $?", script.display());
    let output = run_in(&folder, &["bash", "-c", &text]);
    assert!(output.starts_with("error: "), "{output}");
    assert!(output.ends_with(" ended with 1\n1\n"), "{output}");
}

#[test]
fn a_failed_test_of_a_script_is_run_again_alone_if_nothing_else_failed() {
    let test = "a b".to_owned();
    let alone = |times: usize| [vec!["!".to_owned()], vec!["a b!".to_owned(); times]].concat();
    assert_eq!(outcome_of_script(0, 0), ("passed", vec![], alone(0)));
    assert_eq!(outcome_of_script(1, 0), ("passed", vec![test.clone()], alone(3)));
    assert_eq!(outcome_of_script(2, 0), ("FAILED", vec![], alone(1)));
    assert_eq!(outcome_of_script(1, 1), ("FAILED", vec![], alone(0)), "something was left");
}

#[test]
fn what_a_suite_has_compiled_another_one_takes_unless_source_or_command_differ() {
    let folder = Folder::new("compiled");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/compiled.sh");
    let text = format!(
        ". {}; export COMPILED_PROGRAMS=$PWD/kept; mkdir kept; echo one >source; \
         compiler() {{ echo \"$*\" >>runs; cat \"$1\" >\"${{@: -1}}\"; }}; \
         compiled a compiler source -O1; compiled b compiler source -O1; cmp a b || exit 1; \
         compiled c compiler source -O2; echo two >source; compiled d compiler source -O1; \
         cat d; cat runs",
        script.display()
    );
    let output = run_in(&folder, &["bash", "-c", &text]);
    let runs = "source -O1 -o a\nsource -O2 -o c\nsource -O1 -o d\n";
    assert_eq!(output, format!("two\n{runs}"));
}

#[test]
fn what_is_wrong_with_the_pages_of_a_crate_is_kept_for_the_documents_and_fails_no_test() {
    let folder = Folder::new("pages");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rustdoc.sh");
    // Ends with 7 where it tests, and with 1 and a word where it makes pages.
    let text = format!(
        "mkdir bin; printf '%s\\n' '#!/bin/bash' 'echo \"$*\" >>runs' \
         '[[ \"$*\" != *--deny* ]] || {{ echo broken >&2; exit 1; }}' \
         '[[ \"$*\" != *--test* ]] || exit 7' >bin/rustdoc; chmod +x bin/rustdoc; \
         export PATH=$PWD/bin:$PATH RUST_PAGES=$PWD/pages; {script} -vV; echo $?; ls pages; \
         {script} --edition=2024 --test lib.rs --test-run-directory x -L y; echo $?; \
         cat runs pages/said",
        script = script.display()
    );
    let output = run_in(&folder, &["bash", "-c", &text]);
    let runs = format!(
        "-vV\n--edition=2024 --test lib.rs --test-run-directory x -L y\n\
         --edition=2024 lib.rs -L y --deny warnings --out-dir {}/pages\n",
        folder.0.canonicalize().unwrap().display()
    );
    assert_eq!(output, format!("0\n7\n{runs}broken\nrustdoc failed\n"));
}

fn run_in(folder: &Folder, words: &[&str]) -> String {
    let mut command = std::process::Command::new(words[0]);
    let output = command.args(&words[1..]).current_dir(&folder.0).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_test_is_run_again_when_no_other_part_runs() {
    let folder = Folder::new("alone");
    // Fails as long as the other part runs.
    let unsteady = "touch begun; [ ! -e over ] || exit 0; \
                    echo 'test a ... FAILED'; echo 'test result: FAILED.'; exit 101";
    fs::write(folder.0.join("program"), unsteady).unwrap();
    let parts = [
        part("x", |run| run.real(&["sh", "program"], &|words| run.prepare(words))),
        part("y", |run| {
            run.step(&["sh", "-c", "until [ -e begun ]; do sleep 0.01; done; sleep 1; touch over"])
        }),
    ];
    let rows = folder.rows(&parts, Some(Room::on(2)));
    assert_eq!(words(&rows), [("x", "passed"), ("y", "passed")]);
    assert_eq!(rows[0].unsteady, ["a"]);
}

#[test]
fn three_tests_of_a_part_that_fail_once_are_no_accident_in_whichever_programs_they_are() {
    let folder = Folder::new("accidents");
    let program = "[ -e \"$1\" ] && exit; touch \"$1\"; \
                   echo \"test $1 ... FAILED\"; echo 'test result: FAILED.'; exit 101";
    fs::write(folder.0.join("program"), program).unwrap();
    let steps = |run: &Run<'_>| {
        every(
            ["a", "b", "c"]
                .map(|name| run.real(&["sh", "program", name], &|words| run.prepare(words))),
        )
    };
    let rows = folder.rows(&[part("x", steps)], None);
    assert_eq!(words(&rows), [("x", "FAILED")]);
    assert_eq!(rows[0].unsteady, [""; 0]);
}

#[test]
fn a_step_that_fails_does_not_hide_the_next_one() {
    let why = every(["a", "b"].map(|step| Err(step.to_owned())));
    assert_eq!(why, Err("a; b".to_owned()));
    assert_eq!(every([Ok(())]), Ok(()));
}

#[test]
fn a_part_that_fails_stops_only_those_that_need_what_it_makes() {
    let folder = Folder::new("stops");
    let parts = [
        Part { uses: &["broken"], ..part("needy", |_| Ok(())) },
        part("broken", |run| run.step(&["false"])),
        part("panics", |_| panic!("on purpose")),
        Part { after: &["broken"], ..part("other", |run| run.step(&["true"])) },
    ];
    let rows = folder.rows(&parts, Some(Room::on(2)));
    let expected =
        [("broken", "FAILED"), ("needy", "FAILED"), ("other", "passed"), ("panics", "FAILED")];
    assert_eq!(words(&rows), expected);
    let needy = rows.iter().find(|row| row.name == "needy").unwrap();
    assert!(needy.outcome.words().1.contains("the part broken"), "{needy:?}");
}

#[test]
fn parts_really_run_side_by_side() {
    let folder = Folder::new("beside");
    // Each ends only when the other one has begun.
    let steps = |run: &Run<'_>| {
        run.step(&[
            "sh",
            "-c",
            "mkdir a 2>/dev/null || mkdir b; until [ -d b ]; do sleep 0.01; done",
        ])
    };
    let rows = folder.rows(&[part("x", steps), part("y", steps)], Some(Room::on(2)));
    assert_eq!(words(&rows), [("x", "passed"), ("y", "passed")]);
}

#[test]
fn what_a_part_computes_is_counted_and_the_logs_of_commands_side_by_side_are_kept() {
    let folder = Folder::new("counted");
    const SCRIPT: &str = "echo here $0; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let steps = |run: &Run<'_>| {
        let command = |name| (name, run.prepare(&["sh", "-c", SCRIPT, name]));
        run.side_by_side(["one", "two", "three"].map(command).into(), 2)
    };
    let part = Part { work: Work::Computes, ..part("x", steps) };
    let rows = folder.rows(&[part], None);
    assert_eq!(words(&rows), [("x", "passed")]);
    assert!(rows[0].cpu > Duration::ZERO);
    let log = read(&folder.places().log("x"));
    for name in ["one", "two", "three"] {
        assert!(log.contains(&format!("here {name}\n")), "{log}");
    }
}

#[test]
fn one_command_that_fails_beside_others_fails_the_part() {
    let folder = Folder::new("beside-fails");
    let steps = |run: &Run<'_>| {
        let command = |name: &'static str| (name, run.prepare(&[name]));
        run.side_by_side(["true", "false", "true"].map(command).into(), 2)
    };
    assert_eq!(words(&folder.rows(&[part("x", steps)], None)), [("x", "FAILED")]);
}

#[test]
fn a_warning_of_what_another_part_compiled_fails_the_part_that_looks_for_it() {
    let folder = Folder::new("warnings");
    let parts = [
        part("quiet", |run| run.step(&["echo", "fine: no warning: at all"])),
        part("loud", |run| run.step(&["echo", "warning: unused\n  --> src/lib.rs:7"])),
        Part { uses: &["quiet"], ..part("content", |run| run.no_warning_of("quiet")) },
        Part { uses: &["loud"], ..part("strict", |run| run.no_warning_of("loud")) },
    ];
    let rows = folder.rows(&parts, Some(Room::on(2)));
    let expected =
        [("content", "passed"), ("loud", "passed"), ("quiet", "passed"), ("strict", "FAILED")];
    assert_eq!(words(&rows), expected);
    assert!(read(&folder.places().log("strict")).contains("src/lib.rs:7"));
}
