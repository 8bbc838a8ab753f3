//! Writes the trace of a simulated ring: `simulated_ring FILE [ROUNDS] [TASKS]`. For samples and
//! measurements.

#[path = "../tests/simulated/ring.rs"]
mod ring;

use pvm_trace::{Limits, Writer};
use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("simulated_ring FILE [ROUNDS] [TASKS]")?;
    let rounds = args.next().map_or(Ok(10), |rounds| rounds.parse())?;
    let tasks = args.next().map_or(Ok(4), |tasks| tasks.parse())?;
    let ring = ring::Ring { rounds, tasks, offset: 3_000_000, drift: 15, ..ring::Ring::default() };
    let started = Instant::now();
    let file = BufWriter::with_capacity(1 << 20, File::create(&path)?);
    let mut writer = Writer::new(file, Limits::default(), 1)?;
    let (records, _) = ring.write(&mut writer)?;
    writer.finish()?;
    let size = std::fs::metadata(&path)?.len();
    let each = size as f64 / records as f64;
    println!("{records} records, {size} bytes, {each:.2} each, {:?}", started.elapsed());
    Ok(())
}
