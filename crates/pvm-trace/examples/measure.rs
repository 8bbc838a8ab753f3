//! Measures reading a trace: `measure FILE`. Times, and the memory that is resident at the end of
//! each.

use pvm_trace::clocks::Clocks;
use pvm_trace::profile::Profile;
use pvm_trace::{Reader, export};
use std::fs::File;
use std::io::BufReader;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("measure FILE")?;
    let begin = Instant::now();
    let mut trace = Reader::open(BufReader::with_capacity(1 << 16, File::open(path)?))?;
    told("open", begin);
    let all = trace.summary();
    println!("{} records in {} blocks", all.records, trace.places().len());
    let clocks = Clocks::compared(trace.tables());
    let begin = Instant::now();
    let length = (all.last - all.first) / 1000;
    let mut slowest = begin.elapsed();
    for step in 0..100 {
        let begin = Instant::now();
        let from = all.first + length * 10 * step;
        trace.window((from, from + length), |_, _| ())?;
        slowest = slowest.max(begin.elapsed());
    }
    told("100 windows of a thousandth", begin);
    println!("the slowest {slowest:?}");
    let begin = Instant::now();
    export::perfetto(&mut trace, &clocks, std::io::sink())?;
    told("perfetto", begin);
    let begin = Instant::now();
    let profile = Profile::of(&mut trace, &clocks)?;
    told("profile", begin);
    println!("{} messages with both ends", profile.matched);
    Ok(())
}

fn told(what: &str, begin: Instant) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = |name: &str| status.lines().find(|line| line.starts_with(name)).unwrap_or("");
    println!("{what}: {:?}, {} {}", begin.elapsed(), line("VmRSS"), line("VmHWM"));
}
