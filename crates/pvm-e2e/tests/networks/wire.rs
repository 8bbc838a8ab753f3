//! An eavesdropper on the wire reads nothing of ours.

use pvm_e2e::{Hosts, Running, Wire, eventually};
use std::time::Duration;

const WIRETAP: &str = env!("CARGO_BIN_EXE_wiretap");
const STRANGER: &str = env!("CARGO_BIN_EXE_stranger");
/// The word that is sent as text, argument, output and in names.
const WORD: &str = "quetzalcoatl-7391";
/// The name of the program, found nowhere else.
const PROGRAM: &str = "xochicalco-program";

/// Everything that must not be seen: texts, and the numbers of `secrets.c` as either byte order and
/// as XDR writes them.
fn secrets() -> Vec<(String, Vec<u8>)> {
    let mut needles: Vec<(String, Vec<u8>)> =
        [WORD, PROGRAM, "group-quetzal", "box-quetzal", "output of a task"]
            .map(|text| (text.to_owned(), text.as_bytes().to_vec()))
            .into();
    let numbers: [i32; 2] = [1_938_472_615, -1_029_384_756];
    let reals: [f64; 2] = [3.141_592_653_5e87, -2.718_281_828_4e-65];
    let both = |name: &str, little: Vec<u8>, big: Vec<u8>| {
        [(format!("{name}, little-endian"), little), (format!("{name}, XDR"), big)]
    };
    let ints = both(
        "ints",
        numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
        numbers.iter().flat_map(|n| n.to_be_bytes()).collect(),
    );
    let doubles = both(
        "doubles",
        reals.iter().flat_map(|n| n.to_le_bytes()).collect(),
        reals.iter().flat_map(|n| n.to_be_bytes()).collect(),
    );
    needles.extend(ints.into_iter().chain(doubles));
    needles
}

#[test]
fn the_wire_shows_no_payload_name_argument_or_key() {
    let Some(hosts) = Hosts::up(3) else { return };
    let program = hosts.compile("secrets.c");
    let renamed = program.replace("secrets", PROGRAM);
    pvm_e2e::copy_program(program.as_ref(), renamed.as_ref());
    let wire = Wire::tap(&hosts, WIRETAP, "capture");
    hosts.machine("h1", &["h2", "h3"]);
    let output = hosts.run("h1", &[&renamed, "h2", WORD]);
    assert!(output.out.contains(&format!("output of a task: {WORD}")), "{}", output.out);
    hosts.run("h2", &[&renamed, "h3", WORD]);
    let keys = fingerprints(&hosts);
    assert!(!keys.is_empty());
    hosts.halt("h1");
    let capture = wire.finish();
    // What both programs sent over the wire at the least: 6 x 30 messages of 100 bytes and more.
    eprintln!("captured {} bytes of TCP", capture.tcp_bytes());
    assert!(capture.tcp_bytes() > 40_000, "only {} bytes were captured", capture.tcp_bytes());
    for (name, needle) in secrets() {
        assert!(!capture.shows(&needle), "{name} can be read on the wire");
    }
    for key in keys {
        assert!(!capture.shows(key.as_bytes()), "the fingerprint {key} can be read on the wire");
        assert!(!capture.shows(&bytes_of(&key)), "the bytes of {key} can be read on the wire");
    }
}

/// These words are found on a plain connection, so the search above would have found them.
#[test]
fn the_same_secrets_on_a_plain_connection_are_found() {
    let Some(hosts) = Hosts::up(2) else { return };
    let wire = Wire::tap(&hosts, WIRETAP, "capture");
    let listener = Running::start(hosts.on("h2", &[STRANGER, "listen", "4711"]));
    assert!(eventually(Duration::from_secs(60), || listener.so_far().contains("listening")));
    let said: Vec<u8> = secrets().into_iter().flat_map(|(_, needle)| needle).collect();
    let file = hosts.home().join("said");
    // Far more than one packet: each secret is cut by some packet's end.
    std::fs::write(&file, said.repeat(500)).expect("a file");
    hosts.run("h1", &[STRANGER, "say", "10.77.0.2:4711", &file.to_string_lossy()]);
    let heard = listener.finish(Duration::from_secs(60));
    assert_eq!(heard.number("heard ") as usize, said.len() * 500);
    let capture = wire.finish();
    assert!(capture.tcp_bytes() >= said.len() * 500, "{} bytes", capture.tcp_bytes());
    assert!(capture.shows(&said.repeat(500)), "the capture has gaps");
    for (name, needle) in secrets() {
        assert!(capture.shows(&needle), "{name} was sent and not found");
    }
}

/// Everything in the process lists that looks like a key or its fingerprint.
fn fingerprints(hosts: &Hosts) -> Vec<String> {
    let lines: Vec<String> = hosts.names().iter().flat_map(|host| hosts.processes(host)).collect();
    let is_key =
        |word: &&str| word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = lines.iter().flat_map(|line| line.split([' ', '=']));
    words.filter(is_key).map(str::to_owned).collect()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex digits");
    (0..hex.len() / 2 * 2).step_by(2).map(digits).collect()
}
