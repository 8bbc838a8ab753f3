//! `cargo xtask instructions PREFIX [--json]`: how many instructions the calls of a small message
//! take.
//!
//! `benchmarks/messages/instructions.sh` runs two tasks of one host under callgrind, case by case.
//! What is counted does not depend on what else runs, so two builds can be compared on a busy
//! computer; how long an instruction takes it does not tell. It is no test: nothing passes or
//! fails.

use crate::install::target_folder;
use crate::outside;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The functions of the program whose calls count.
const COUNTED: [&str; 2] = ["send_one", "receive_one"];
const CALLS: [&str; 2] = ["pvm_", "neopvm_"];
const MESSAGES: u64 = 3200;
/// As `instructions.c` knows them, with what is special about them.
const WAYS: [(&str, &str); 7] = [
    ("raw", "packed, raw"),
    ("default", "packed, default encoding"),
    ("any", "raw, received from anybody"),
    ("threads", "raw, beside an idle thread"),
    ("inplace", "in place"),
    ("psend", "psend and precv"),
    ("items", "neopvm_*_items"),
];
const BYTES: [u32; 3] = [8, 300, 1000];

/// One way of a message of one size: the instructions of each call for one message.
struct Count {
    way: &'static str,
    title: &'static str,
    bytes: u32,
    calls: BTreeMap<String, u64>,
}

impl Count {
    fn all(&self) -> u64 {
        self.calls.values().sum()
    }
}

/// Counts, and prints a table or JSON.
pub(crate) fn run(root: &Path, prefix: &Path, json: bool) -> Result<(), String> {
    let out = target_folder(root).join("instructions");
    let mut command = Command::new("bash");
    command.arg(root.join("benchmarks/messages/instructions.sh")).arg(prefix).arg(&out);
    for (way, _) in WAYS {
        command.args(BYTES.map(|bytes| format!("{way}:{bytes}")));
    }
    outside::status(&mut command)?;
    let mut counts = Vec::new();
    for (way, title) in WAYS {
        for bytes in BYTES {
            let calls = counted(&out, way, bytes)?;
            counts.push(Count { way, title, bytes, calls });
        }
    }
    print!("{}", if json { to_json(&counts) } else { table(&counts) });
    Ok(())
}

/// The instructions of both tasks of a case.
fn counted(out: &Path, way: &str, bytes: u32) -> Result<BTreeMap<String, u64>, String> {
    let mut calls = BTreeMap::new();
    for role in ["send", "receive"] {
        let file = out.join(format!("{way}-{bytes}-{role}.out"));
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        calls.extend(in_profile(&text).into_iter().map(|(call, all)| (call, all / MESSAGES)));
    }
    if calls.is_empty() { Err(format!("{way}:{bytes}: nothing was counted")) } else { Ok(calls) }
}

/// The instructions of all calls of the library that [`COUNTED`] make, with what they call in turn,
/// by the names of the calls.
fn in_profile(text: &str) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let (mut is_inside, mut callee) = (false, "");
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("fn=") {
            is_inside = COUNTED.contains(&name);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            callee = name;
        } else if line.starts_with("calls=") {
            // The line behind it says where from, and what it took.
            let cost = lines.next().and_then(|line| line.split(' ').nth(1)?.parse::<u64>().ok());
            if is_inside && CALLS.iter().any(|prefix| callee.starts_with(prefix)) {
                *found.entry(callee.to_owned()).or_insert(0) += cost.unwrap_or(0);
            }
        }
    }
    found
}

fn table(counts: &[Count]) -> String {
    let mut text =
        "| instructions of a message | bytes | calls | all |\n|---|---:|---|---:|\n".to_owned();
    for count in counts {
        let short = |name: &str| name.replace("neopvm_", "").replace("pvm_", "");
        let calls: Vec<String> =
            count.calls.iter().map(|(name, all)| format!("{} {all}", short(name))).collect();
        let (title, bytes, all) = (count.title, count.bytes, count.all());
        let _ = writeln!(text, "| {title} | {bytes} | {} | {all} |", calls.join(", "));
    }
    text
}

fn to_json(counts: &[Count]) -> String {
    let row = |count: &Count| {
        let calls: Vec<String> =
            count.calls.iter().map(|(name, all)| format!("\"{name}\":{all}")).collect();
        let (way, bytes, all) = (count.way, count.bytes, count.all());
        format!(
            "  {{\"way\":\"{way}\",\"bytes\":{bytes},\"all\":{all},\"calls\":{{{}}}}}",
            calls.join(",")
        )
    };
    let rows: Vec<String> = counts.iter().map(row).collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_the_counted_functions_alone_are_counted_with_what_they_call() {
        let profile = "\
            fn=main\ncfn=pvm_send\ncalls=640 0\n12 70000\n\n\
            fn=send_one\n12 50\ncob=/lib/libpvm3.so.3\ncfn=pvm_send\ncalls=3200 0\n12 6400\n\
            cfn=memcpy\ncalls=1 0\n12 9\n\
            cfn=pvm_send\ncalls=10 0\n13 3\n\nfn=pvm_send\n0 6000\ncfn=pvm_other\ncalls=3 0\n0 \
            400\n";
        assert_eq!(in_profile(profile), BTreeMap::from([("pvm_send".to_owned(), 6403)]));
    }
}
