//! `pvm trace` on a trace that is known: the sample of the crate that reads it. No machine is
//! needed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/fields.rs"]
mod fields;
#[path = "support/folder.rs"]
mod folder;

use fields::fields;
use folder::Folder;
use pvm_trace::{Limits, Record, TaskFacts, What, Writer, calls};
use pvm_wire::record::Class;
use serde_json::Value;
use std::io::Cursor;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sample() -> PathBuf {
    recorded("ring-1.trace")
}

/// A trace that was recorded once.
fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pvm-trace/tests/samples").join(name)
}

/// Whether a tool is installed; if not, standard error says what is left out.
fn has(tool: &str, package: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    if !there {
        eprintln!("skipped: {tool} is not there (apt install {package})");
    }
    there
}

fn pvm(args: &[&str]) -> Output {
    folder::pvm("trace", args)
}

fn done(args: &[&str]) -> String {
    folder::printed("trace", args)
}

fn json(args: &[&str]) -> Value {
    let text = done(args);
    assert_eq!(text.lines().count(), 1);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_trace_is_shown_field_by_field() {
    let sample = sample();
    let sample = sample.to_str().unwrap();
    let all = json(&["show", "--json", sample]);
    assert_eq!(fields(&all), "begin clocks complete end gaps hosts in_turns records tasks");
    assert_eq!((&all["complete"], &all["records"]), (&Value::Bool(true), &Value::from(237)));
    let host = "arch congestion cores index mtu name probe_cost_ns version";
    assert_eq!(fields(&all["hosts"][0]), host);
    assert_eq!(fields(&all["clocks"][0]), "drift_ppm error_ns host offset_ns source");
    let task = "begin end host index lost noted parent pid program status tid";
    assert_eq!(fields(&all["tasks"][3]), task);
    let lines = done(&["show", "--events", "--json", sample]);
    assert_eq!(lines.lines().count(), 237);
    let some = done(&["show", "--events", "--from", "0.0005", "--to", "0.001", sample]);
    assert!((20..100).contains(&some.lines().count()), "{some}");
}

/// The first record of this function, as `show --events --json` tells it.
fn event(lines: &str, function: &str, what: &str) -> Value {
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut of = records.filter(|record| record["function"] == function && record["what"] == what);
    of.next().unwrap_or_else(|| panic!("no {what} of {function}"))
}

#[test]
fn an_event_tells_all_arguments_of_its_call() {
    let sample = recorded("nas-is-1.trace");
    let lines = done(&["show", "--events", "--json", sample.to_str().unwrap()]);
    let common = "begin depth function length result task thread what";
    let with = |more: &str| {
        let mut all: Vec<&str> = common.split(' ').chain(more.split(' ')).collect();
        all.sort_unstable();
        all.join(" ")
    };
    let message = "bytes context encoding number peer tag way";
    let sent = event(&lines, "pvm_send", "send");
    assert_eq!(fields(&sent), with(&format!("{message} pieces wire_bytes")));
    assert_eq!((&sent["way"], &sent["pieces"]), (&"memory".into(), &1.into()));
    let taken = event(&lines, "pvm_recv", "receive");
    assert_eq!(fields(&taken), with(&format!("{message} any_source any_tag")));
    let packed = event(&lines, "pvm_pkint", "call");
    assert_eq!(fields(&packed), with("bytes"));
}

#[test]
fn a_profile_has_its_fields_and_its_sums() {
    let sample = sample();
    let all = json(&["profile", "--json", sample.to_str().unwrap()]);
    let names = "begin damaged efficiency end functions matched own pairs path seconds tasks \
                 unmatched";
    assert_eq!(fields(&all), names);
    assert_eq!((&all["matched"], &all["pairs"][0]["messages"]), (&Value::from(39), &10.into()));
    let waits: u64 = all["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| {
            ["not_yet_sent_ns", "on_the_way_ns", "group_ns", "other_ns"]
                .map(|part| task[part].as_u64().unwrap())
                .iter()
                .sum::<u64>()
        })
        .sum();
    let receive = all["functions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|function| function["name"] == "pvm_recv")
        .unwrap();
    assert_eq!(receive["waiting_ns"], Value::from(waits));
    let text = done(&["profile", sample.to_str().unwrap()]);
    assert!(text.contains("pvm_recv") && text.contains("efficiency"), "{text}");
}

#[test]
fn every_form_is_written_for_its_owner_only() {
    let folder = Folder::new("forms");
    let sample = sample();
    let sample = sample.to_str().unwrap();
    for form in ["perfetto", "chrome", "csv", "sddf", "ti"] {
        let file = folder.file(form);
        done(&["export", sample, "--to", form, "-o", &file]);
        let about = std::fs::metadata(&file).unwrap();
        assert!(about.len() > 1000, "{form}");
        assert_eq!(about.permissions().mode() & 0o777, 0o600, "{form}");
    }
    let chrome = std::fs::read_to_string(folder.file("chrome")).unwrap();
    assert!(serde_json::from_str::<Value>(&chrome).unwrap()["traceEvents"].is_array());
    done(&["export", sample, "--to", "thesis", "-o", &folder.file("thesis")]);
    assert!(Path::new(&folder.file("thesis/station.3")).exists());
    assert_eq!(pvm(&["export", sample, "--to", "thesis"]).status.code(), Some(2));
}

#[test]
fn every_picture_is_svg_with_a_legend_and_units() {
    let sample = sample();
    let sample = sample.to_str().unwrap();
    for (what, told) in [
        ("aggregate", "to ring t80002"),
        ("dynamic", "time, "),
        ("spacetime", "waiting"),
        ("functions", "in calls within"),
    ] {
        let picture = done(&["draw", sample, "--what", what]);
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{what}");
        assert!(picture.contains(told), "{what}: {picture}");
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{what}");
    }
}

/// Width and height, which stand at a fixed place of each PNG.
fn size_of_png(bytes: &[u8]) -> (u32, u32) {
    assert_eq!((&bytes[..8], &bytes[12..16]), (&b"\x89PNG\r\n\x1a\n"[..], &b"IHDR"[..]));
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

fn size_of_svg(text: &str) -> (u32, u32) {
    let number = |name: &str| {
        let (_, rest) = text.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    (number("width"), number("height"))
}

#[test]
fn every_picture_is_a_png_of_twice_the_points_of_its_svg() {
    let folder = Folder::new("png");
    let sample = sample();
    let sample = sample.to_str().unwrap();
    for what in ["aggregate", "dynamic", "spacetime", "functions"] {
        let file = folder.file(&format!("{what}.PNG"));
        assert_eq!(done(&["draw", sample, "--what", what, "-o", &file]), "");
        let bytes = std::fs::read(&file).unwrap();
        let (width, height) = size_of_svg(&done(&["draw", sample, "--what", what]));
        assert_eq!(size_of_png(&bytes), (2 * width, 2 * height), "{what}");
        assert!(bytes.len() > 10_000, "{what} has {} bytes: it is empty", bytes.len());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // What is asked for counts more than the name's ending.
    let file = folder.file("functions.png");
    done(&["draw", sample, "--what", "functions", "--form", "svg", "-o", &file]);
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("<svg "));
    let output = pvm(&["draw", sample, "--what", "functions", "--form", "png"]);
    assert_eq!(size_of_png(&output.stdout).0, 1920);
    assert_eq!(
        pvm(&["draw", sample, "--what", "functions", "--form", "gif"]).status.code(),
        Some(2)
    );
}

#[test]
fn a_report_is_one_page_that_needs_nothing_else() {
    let folder = Folder::new("report");
    let page = folder.file("report.html");
    done(&["report", sample().to_str().unwrap(), "-o", &page]);
    let page = std::fs::read_to_string(&page).unwrap();
    assert_eq!(page.matches("<svg ").count(), 4);
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http") && !page.contains("<script") && !page.contains("src="));
}

#[test]
fn what_is_no_trace_is_named_and_a_cut_one_is_read_as_far_as_it_is_sound() {
    let folder = Folder::new("bad");
    let file = folder.file("file");
    std::fs::write(&file, b"hello").unwrap();
    let output = pvm(&["show", &file]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(told.contains(&file) && told.contains("no trace of NeoPVM"), "{told}");
    assert_eq!(pvm(&["show", &folder.file("none")]).status.code(), Some(1));
    let bytes = std::fs::read(sample()).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let output = pvm(&["profile", &file]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.contains("was not completed"), "{told}");
    // One block is damaged: the others are drawn, and the profile counts it.
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 3] ^= 0x55;
    std::fs::write(&file, &damaged).unwrap();
    assert_eq!(json(&["profile", "--json", &file])["damaged"], Value::from(1));
    for what in ["dynamic", "spacetime"] {
        done(&["draw", &file, "--what", what]);
    }
    let output = pvm(&["export", &file, "--to", "csv"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && told.contains("checksum is wrong"), "{told}");
    for what in ["aggregate", "dynamic", "spacetime", "functions"] {
        std::fs::write(&file, &bytes[..200]).unwrap();
        assert!(pvm(&["draw", &file, "--what", what]).status.success(), "{what}");
    }
}

#[test]
fn what_was_exported_is_imported_again() {
    let folder = Folder::new("import");
    let sample = sample();
    let sample = sample.to_str().unwrap();
    let (text, trace) = (folder.file("text"), folder.file("trace"));
    done(&["export", sample, "--to", "sddf", "-o", &text]);
    done(&["import", "--form", "sddf", &text, "-o", &trace]);
    assert_eq!(json(&["profile", "--json", &trace])["matched"], Value::from(39));
    done(&["export", sample, "--to", "thesis", "-o", &folder.file("thesis")]);
    let stations: Vec<_> = (0..4).map(|n| folder.file(&format!("thesis/station.{n}"))).collect();
    let mut args = vec!["import", "--form", "thesis", "-o", &trace];
    args.extend(stations.iter().map(String::as_str));
    done(&args);
    assert_eq!(json(&["profile", "--json", &trace])["matched"], Value::from(39));
    std::fs::write(&text, "nonsense;;").unwrap();
    let output = pvm(&["import", "--form", "sddf", &text, "-o", &trace]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && told.contains("line 1:"), "{told}");
    assert!(!Path::new(&trace).exists(), "a trace that is none was left");
}

#[test]
fn an_otf2_archive_has_every_call_and_every_message_as_otf2_print_reads_it() {
    if !has("otf2-print", "otf2-tools") {
        return;
    }
    if !Path::new("/usr/include/otf2/otf2.h").exists() {
        return eprintln!("skipped: needs the package libopen-trace-format2-dev");
    }
    let folder = Folder::new("otf2");
    for name in ["ring-1.trace", "nas-is-1.trace"] {
        let trace = recorded(name);
        let (trace, archive) = (trace.to_str().unwrap(), folder.file(name));
        done(&["export", trace, "--to", "otf2", "-o", &archive]);
        let anchor = format!("{archive}/traces.otf2");
        let rights = |path: &str| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((rights(&archive), rights(&anchor)), (0o700, 0o600));
        let output = Command::new("otf2-print").arg(&anchor).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let count = |word: &str| text.lines().filter(|line| line.starts_with(word)).count() as u64;
        let profile = json(&["profile", "--json", trace]);
        let sum = |list: &str, field: &str| -> u64 {
            let all = profile[list].as_array().unwrap();
            all.iter().map(|one| one[field].as_u64().unwrap()).sum()
        };
        assert_eq!(count("MPI_SEND"), sum("tasks", "sent"), "{name}");
        assert_eq!(count("MPI_RECV"), sum("tasks", "received"), "{name}");
        assert_eq!(count("ENTER"), count("LEAVE"));
        assert!(count("ENTER") >= sum("functions", "calls"), "{name}");
        assert!(text.contains("\"pvm_send\"") && text.contains("\"pvm_recv\""));
        // An archive is not written over another one.
        let again = pvm(&["export", trace, "--to", "otf2", "-o", &archive]);
        assert_eq!(again.status.code(), Some(1));
    }
    // Without compiler or library the command says what is missing, and leaves nothing.
    let (trace, archive) = (recorded("ring-1.trace"), folder.file("none"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_pvm"));
    command.args(["trace", "export", "--to", "otf2", "-o", &archive]).arg(trace);
    let output = command.env("CC", "/bin/false").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && said.contains("libopen-trace-format2-dev"),
        "{said}"
    );
    assert!(!Path::new(&archive).exists());
}

/// Four hosts of 1 Gf, as `doc/traces.md` says.
const PLATFORM: &str = "<?xml version='1.0'?>\n\
    <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
    <platform version=\"4.1\"><cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-3\" \
    speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\"/></platform>\n";

/// Lets SimGrid replay a trace; its output has a line for each action that was done.
fn replayed(trace: &Path) -> String {
    let folder = Folder::new(&format!("ti-{}", trace.file_stem().unwrap().display()));
    done(&["export", trace.to_str().unwrap(), "--to", "ti", "-o", &folder.file("all.ti")]);
    for (name, text) in
        [("list", "all.ti\n"), ("hosts", "h0\nh1\nh2\nh3\n"), ("platform.xml", PLATFORM)]
    {
        std::fs::write(folder.file(name), text).unwrap();
    }
    let mut command = Command::new("smpirun");
    command.args(["-np", "4", "-hostfile", "hosts", "-platform", "platform.xml"]);
    command.args(["-replay", "list", "--log=smpi_replay.thres:verbose"]);
    let output = command.current_dir(&folder.0).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", &text[text.len().saturating_sub(2000)..]);
    text.into_owned()
}

/// SimGrid ended its replay at the last message of a ring, which nobody takes.
#[test]
fn simgrid_replays_a_ring_and_a_program_of_nas_message_by_message() {
    if !has("smpirun", "libsimgrid-dev") {
        return;
    }
    for name in ["ring-1.trace", "nas-is-1.trace"] {
        let trace = recorded(name);
        let text = replayed(&trace);
        let count = |word: &str| {
            let is_one = |line: &&str| line.contains("smpi_replay/VERBOSE") && line.contains(word);
            text.lines().filter(is_one).count()
        };
        let matched = json(&["profile", "--json", trace.to_str().unwrap()])["matched"].clone();
        let sends = count(" send ") + count(" isend ");
        assert_eq!((Value::from(sends), Value::from(count(" recv "))), (matched.clone(), matched));
        assert!(text.contains("Simulation time 0.0"), "{name}");
    }
}

/// Events, without what describes them, in an order that is the same for the same events.
fn events(path: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut all: Vec<String> =
        text.lines().filter(|line| line.starts_with('"')).map(str::to_owned).collect();
    all.sort_unstable();
    all
}

/// It crashed, as the data of a kind were not named as PVM's tracer names them.
#[test]
fn debians_trcsort_sorts_what_was_exported_as_it_sorts_a_file_of_the_original() {
    if !has("trcsort", "pvm-dev") {
        return;
    }
    let folder = Folder::new("trcsort");
    let shim = folder.file("shim.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/trcsort.c");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-w", "-o", &shim]).arg(source).arg("-ldl");
    assert!(compile.status().unwrap().success());
    let exported = folder.file("ring.trc");
    done(&["export", sample().to_str().unwrap(), "--to", "sddf", "-o", &exported]);
    for file in [recorded("pvm-3.4.6.sddf").to_str().unwrap(), &exported] {
        let sorted = folder.file("sorted.trc");
        let _ = std::fs::remove_file(&sorted);
        let mut command = Command::new("trcsort");
        command.args([file, "-o", &sorted]).env("LD_PRELOAD", &shim).env("TMPDIR", folder.file(""));
        let output = command.current_dir(folder.file("")).output().unwrap();
        assert!(output.status.success(), "{file}: {output:?}");
        let (before, after) = (events(file), events(&sorted));
        assert!(before.len() > 30 && before == after, "{file}: {} {}", before.len(), after.len());
        // What it wrote is read again.
        let again = folder.file("again.trace");
        done(&["import", "--form", "sddf", &sorted, "-o", &again]);
        let _ = std::fs::remove_file(&again);
    }
}

/// A trace of one task of this name, which sends itself one message with a mark of that name.
fn of_a_task_named(name: &str) -> Vec<u8> {
    let tid = pvm_wire::Tid(0x40001);
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1).unwrap();
    let (parent, process) = (pvm_wire::Tid(0), 1);
    let task = TaskFacts { tid, parent, process, program: name.into(), began: 0 };
    let task = writer.task(task).unwrap();
    let text = name.as_bytes().to_vec();
    for (at, what) in [
        (1000, What::Name { class: Class::Mark, number: 2, text }),
        (2000, What::Mark { name: 2, value: 7 }),
        (3000, What::Call { bytes: 4 }),
    ] {
        writer.record(task, &Record { what, ..Record::call(calls::SEND, at, 500) }).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn a_name_of_64_kib_with_markup_is_no_markup_of_ours_and_bounds_what_is_drawn() {
    let folder = Folder::new("markup");
    let trace = folder.file("trace");
    let evil = "</text><script>alert(1)</script>&\"'\u{1b}[2J\n=cmd|";
    let name = evil.repeat(65_536 / evil.len() + 1);
    std::fs::write(&trace, of_a_task_named(&name)).unwrap();
    for what in ["aggregate", "dynamic", "spacetime", "functions"] {
        let picture = done(&["draw", &trace, "--what", what]);
        assert!(!picture.contains("<script") && !picture.contains('\u{1b}'), "{what}");
        assert!(picture.len() < 100_000, "{what} has {} bytes", picture.len());
        done(&["draw", &trace, "--what", what, "-o", &folder.file("picture.png")]);
    }
    done(&["report", &trace, "-o", &folder.file("report.html")]);
    let page = std::fs::read_to_string(folder.file("report.html")).unwrap();
    assert!(!page.contains("<script") && !page.contains('\u{1b}'));
    for args in [&["show", &trace][..], &["show", "--events", &trace], &["profile", &trace]] {
        let text = done(args);
        assert!(!text.contains('\u{1b}'), "{args:?}");
    }
    let told = json(&["show", "--json", &trace]);
    assert_eq!(told["tasks"][0]["program"], Value::from(name.as_str()));
    let chrome = done(&["export", &trace, "--to", "chrome"]);
    assert!(serde_json::from_str::<Value>(&chrome).is_ok());
    let csv = done(&["export", &trace, "--to", "csv"]);
    assert!(!csv.contains('\u{1b}') && csv.lines().count() == 3, "{}", csv.lines().count());
    for form in ["perfetto", "sddf", "ti"] {
        done(&["export", &trace, "--to", form, "-o", &folder.file(form)]);
    }
}

#[test]
fn what_was_made_is_told_as_json() {
    let folder = Folder::new("made");
    let sample = sample();
    let sample = sample.to_str().unwrap();
    let (sddf, trace) = (folder.file("a.sddf"), folder.file("a.trace"));
    let made = [
        (json(&["export", sample, "--to", "sddf", "--json", "-o", &sddf]), &sddf),
        (json(&["import", "--form", "sddf", &sddf, "--json", "-o", &trace]), &trace),
        (json(&["draw", sample, "--what", "dynamic", "--json", "-o", &trace]), &trace),
        (json(&["report", sample, "--json", "-o", &trace]), &trace),
    ];
    for (told, output) in made {
        assert_eq!(fields(&told), "bytes output");
        assert_eq!(told["output"], Value::from(output.as_str()));
        assert!(told["bytes"].as_u64().unwrap() > 1000);
    }
    let thesis = folder.file("thesis");
    let told = json(&["export", sample, "--to", "thesis", "--json", "-o", &thesis]);
    assert_eq!(told["bytes"], Value::Null);
    // On standard output there would be two things at once.
    assert_eq!(pvm(&["export", sample, "--to", "csv", "--json"]).status.code(), Some(2));
}
