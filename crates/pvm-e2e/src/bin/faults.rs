//! `faults [--times N] [--out FILE] [NAME..]`: makes hosts of this computer fail under tasks that
//! watch, and prints a table of what they saw; FILE gets every single time as JSON lines. Names are
//! `daemons power crash shrink at-once healthy flaps lossy exits flood`; without any, all. Needs
//! root; takes about ten minutes for all with N = 8. The status is 1 if anything was lost,
//! repeated, out of order, wrong or too late.
#![forbid(unsafe_code)]

use pvm_e2e::Hosts;
use pvm_e2e::faults::{self, Fault, Row};
use std::process::ExitCode;
use std::time::Duration;

const NAMES: [&str; 10] = [
    "daemons", "power", "crash", "shrink", "at-once", "healthy", "flaps", "lossy", "exits", "flood",
];

fn run(name: &str, times: usize) -> Option<Vec<Row>> {
    let rows = match name {
        "daemons" => vec![faults::daemons_killed(&Hosts::up(3)?, times)],
        "power" => vec![faults::taken_out(&Hosts::up(4)?, Fault::PowerOff, times)],
        "crash" => vec![faults::taken_out(&Hosts::up(4)?, Fault::Crash, times)],
        "shrink" => vec![faults::one_by_one(&Hosts::up(8)?)],
        "at-once" => vec![faults::at_once(&Hosts::up(7)?, 2), faults::at_once(&Hosts::up(15)?, 4)],
        "healthy" => vec![faults::silent_beside_healthy(&Hosts::up(3)?, 4)],
        "flaps" => {
            let lengths = [10, 100, 1000, 3000].map(Duration::from_millis);
            vec![faults::flaps(&Hosts::up(2)?, &lengths, times.div_ceil(2))]
        }
        "lossy" => vec![faults::lossy(&Hosts::up(2)?, 5, 20)],
        "exits" => vec![faults::exits(&Hosts::up(2)?, 1000)],
        _ => {
            let hosts = Hosts::up(2)?;
            ["daemon", "direct"].map(|route| faults::flood(&hosts, route, 300)).into()
        }
    };
    Some(rows)
}

fn main() -> ExitCode {
    let (mut times, mut out, mut names) = (8, None, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--times" => times = words.next().and_then(|n| n.parse().ok()).unwrap_or(times),
            "--out" => out = words.next(),
            _ => names.push(word),
        }
    }
    if let Some(unknown) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        eprintln!("faults: what is `{unknown}`? There are: {}", NAMES.join(" "));
        return ExitCode::from(2);
    }
    if names.is_empty() {
        names = NAMES.map(str::to_owned).into();
    }
    let mut all = Vec::new();
    for name in names {
        eprintln!("{name} ...");
        let Some(rows) = run(&name, times) else { return ExitCode::from(77) };
        eprint!("{}", faults::to_table(&rows));
        all.extend(rows);
    }
    println!("{}", faults::to_table(&all));
    if let Some(out) = out
        && let Err(error) = std::fs::write(&out, faults::to_json(&all))
    {
        eprintln!("faults: {out}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::from(u8::from(all.iter().any(|row| row.wrong > 0)))
}
