//! Recordings of other tools, as traces.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "simulated/ring.rs"]
mod ring;

use proptest::prelude::*;
use pvm_trace::clocks::Clocks;
use pvm_trace::profile::Profile;
use pvm_trace::{Error, Limits, Reader, Writer, calls, export, import};
use ring::Ring;
use std::io::{Cursor, Read as _};

type Bytes = Cursor<Vec<u8>>;

fn written(
    write: impl FnOnce(&mut Writer<Bytes>) -> Result<(), Error>,
) -> Result<Reader<Bytes>, Error> {
    let mut writer = Writer::new(Cursor::new(Vec::new()), Limits::default(), 1)?;
    write(&mut writer)?;
    Reader::open(writer.finish()?)
}

fn profile(reader: &mut Reader<Bytes>) -> Profile {
    let clocks = Clocks::raw(reader.tables());
    Profile::of(reader, &clocks).unwrap()
}

#[test]
fn what_was_exported_as_sddf_comes_back() {
    let ring = Ring::default();
    let mut reader = written(|writer| ring.write(writer).map(|_| ())).unwrap();
    let clocks = Clocks::raw(reader.tables());
    let mut text = Vec::new();
    export::sddf(&mut reader, &clocks, &mut text).unwrap();
    let mut again = written(|writer| import::sddf(text.as_slice(), writer)).unwrap();
    let (before, after) = (profile(&mut reader), profile(&mut again));
    assert_eq!((after.matched, after.unmatched), (before.matched, before.unmatched));
    assert_eq!(after.pairs, before.pairs);
    let calls = |profile: &Profile| -> Vec<(u16, u64)> {
        profile.functions.iter().map(|(call, function)| (*call, function.calls)).collect()
    };
    assert_eq!(calls(&after), calls(&before));
    assert_eq!(again.tables().tasks.len(), 4);
    assert_eq!(again.tables().tasks[2].facts.program, "/home/user/ring".into());
    assert_eq!(again.tables().hosts[3].name, "host3".into());
}

/// PVM 3.4.6 recorded it (`spawn -@` in its console): five messages of a task to itself.
#[test]
fn what_the_original_recorded_is_read() {
    let text = include_bytes!("samples/pvm-3.4.6.sddf").as_slice();
    let mut reader = written(|writer| import::sddf(text, writer)).unwrap();
    let profile = profile(&mut reader);
    assert_eq!((profile.matched, profile.own.messages, profile.own.bytes), (5, 5, 20));
    assert_eq!(profile.functions[&calls::RECV].calls, 5);
    // 812909 - 812858 us, and so on.
    assert_eq!(profile.functions[&calls::RECV].time, (51 + 14 + 15 + 15 + 15) * 1000);
    let tables = reader.tables();
    assert_eq!(tables.tasks[0].facts.program, "/home/user/self".into());
    assert_eq!(tables.tasks[0].ended.unwrap().status, 0);
    assert_eq!(tables.hosts[0].architecture, "LINUX64".into());
    // What we write has the original's descriptors, but for its remarks.
    let clocks = Clocks::raw(tables);
    let mut ours = Vec::new();
    export::sddf(&mut reader, &clocks, &mut ours).unwrap();
    let ours = String::from_utf8(ours).unwrap();
    let theirs = std::str::from_utf8(text).unwrap();
    for kind in ["host_add(0)", "newtask(0)", "endtask(0)", "send(0.0)", "send(1.1)", "recv(0.0)"] {
        assert_eq!(descriptor(&ours, kind), descriptor(theirs, kind));
    }
    assert_eq!(descriptor(&ours, "recv(1.1)"), descriptor(theirs, "recv(1.1)"));
}

/// The statement that describes a kind, without remarks.
fn descriptor(text: &str, kind: &str) -> String {
    let mut all = text.split(";;");
    let found = all.find(|one| one.trim().starts_with('#') && one.contains(&format!("\"{kind}\"")));
    let lines = found.unwrap().lines().map(str::trim);
    lines.filter(|line| !line.starts_with("//") && !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_xpvm_would_not_write_is_named_with_its_line() {
    let described = "#1: \"send(0.0)\" { int \"TS\"; int \"TU\"; int \"TID\"; };;\n";
    for (text, line) in [
        ("/* head */ ;;\nhello;;\n", 2),
        ("\"send(0.0)\" { 1 };;", 1),
        (&format!("{described}\"send(0.0)\" {{ 1, 2 }};;"), 2),
        (&format!("{described}\"send(0.0)\" {{ 1, x, 3 }};;"), 2),
        (&format!("{described}\n\"send(0.0)\" {{ -1, 2, 3 }};;"), 3),
        (&format!("{described}\"send(0.0)\" {{ 1, 2, -3 }};;"), 2),
        (&format!("{described}\"send(0.0)\" {{ 1, 2,"), 2),
    ] {
        let error = written(|writer| import::sddf(text.as_bytes(), writer)).unwrap_err();
        assert!(
            matches!(error, Error::Line { line: found, .. } if found == line),
            "{error}: {text}"
        );
    }
}

#[test]
fn a_line_without_end_filled_memory_and_many_statements_of_one_took_their_square_in_time() {
    // Four gibibytes, if all of it was read.
    let endless = std::io::BufReader::new(std::io::repeat(b'x').take(4 << 30));
    let error = written(|writer| import::sddf(endless, writer)).unwrap_err();
    assert!(matches!(error, Error::Line { line: 1, .. }), "{error}");
    let begun = std::time::Instant::now();
    let empty = ";;".repeat(500_000);
    written(|writer| import::sddf(empty.as_bytes(), writer)).unwrap();
    // Half a million lines of one statement.
    let long = format!("{}*/ ;;\n", "/*\n".repeat(300_000));
    let _ = written(|writer| import::sddf(long.as_bytes(), writer));
    // A computer that does nothing else takes a second; their square would take days.
    assert!(begun.elapsed() < std::time::Duration::from_secs(100), "{:?}", begun.elapsed());
}

fn stations(files: &[&str]) -> Result<Reader<Bytes>, Error> {
    let files = files.iter().map(|text| text.as_bytes()).collect();
    written(|writer| import::thesis(files, writer))
}

#[test]
fn a_receive_takes_bytes_of_a_stream_and_what_is_over_stays() {
    // Figure 3.6: 16 and 32 bytes answer one write of 48.
    let mut reader = stations(&[
        "c\t100\t0\t0\t0\nm\t5\t58\t0\t1\t2\ns\t10\t48\t0\t2\n",
        "r\t1\t58\t0\t1\n",
        "r\t1\t58\t0\t2\nr\t2\t16\t0\t2\nc\t7\t0\t0\t0\nr\t3\t32\t0\t2\n",
    ])
    .unwrap();
    let profile = profile(&mut reader);
    assert_eq!((profile.matched, profile.unmatched.sends), (3, 0));
    assert_eq!(profile.functions[&calls::RECV].calls, 4);
    assert_eq!(profile.functions[&calls::MCAST].calls, 1);
    // The receivers wait while the first station computes; a wait for a part of a message that has
    // more to come is no message's.
    assert_eq!(profile.waiting().not_yet_sent, 2 * 100_000);
    assert_eq!((profile.waiting().on_the_way, profile.waiting().other), (0, 4000));
}

#[test]
fn what_was_exported_for_the_thesis_comes_back() {
    let mut reader = written(|writer| Ring::default().write(writer).map(|_| ())).unwrap();
    let mut files = std::collections::BTreeMap::new();
    export::thesis(&mut reader, |file| {
        let new = Shared::default();
        files.insert(file.name().to_owned(), new.clone());
        Ok(new)
    })
    .unwrap();
    let text =
        |number: u32| String::from_utf8(files[&format!("station.{number}")].0.borrow().clone());
    let texts: Vec<String> = (0..4).map(|number| text(number).unwrap()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let profile = profile(&mut stations(&texts).unwrap());
    assert_eq!((profile.matched, profile.unmatched.sends), (39, 1));
}

#[derive(Clone, Default)]
struct Shared(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn stations_that_make_no_sense_are_named() {
    for (files, told) in [
        (&["x 1 2 3 4"][..], "no line of the form"),
        (&["c 1\n"], "no line of the form"),
        (&["s 1 5 0 7\n"], "a station without a file"),
        (&["r 1 5 0 1\n", ""], "that nobody sends"),
        (&["c 99999999999999999999 0 0 0\n"], "no line of the form"),
    ] {
        let error = stations(files).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[crsm#\"{};,\\[\\]() 0-9a-z\n]{0,200}") {
        drop(written(|writer| import::sddf(text.as_bytes(), writer)));
        drop(stations(&[&text, &text]));
    }
}
