//! `pvm bench nas`: the eight NAS Parallel Benchmarks, on NeoPVM, on PVM 3.4.6, and beside NPB over
//! MPI where the user has built it.
//!
//! These programs prove their answers: they compare what came out with the official values
//! ([`answer`]). What is wrong has no time. They are built by their own Makefile, and take as long
//! as they take, so this is not part of plain `pvm bench` and has no time to keep.

mod answer;
mod contender;
mod plan;
mod race;
pub(crate) mod table;

use super::case::Length;
use super::figures::{Figures, Peer, Problem};
use super::system::{Kind, Tools};
use super::{place, start};
use contender::{Around, Contender};
use pvm_cli::failure::{Failure, Status};
use pvm_cli::options::bench::BenchOptions;
use race::{Race, Rules};
use std::time::Duration;

/// Measures.
pub(crate) fn measure(options: &BenchOptions) -> Result<Figures, Failure> {
    if options.suites.len() > 1 {
        let text = "nas is measured by itself: name no other suite with it";
        return Err(Failure::new(Status::Usage, text));
    }
    start::check_hosts(&options.hosts, &place::here(&[]).host)?;
    let length = if options.quick { Length::Quick } else { Length::Full };
    let (cases, left_out) = plan::planned(&options.nas, length);
    if cases.is_empty() {
        return Err(Failure::new(Status::Usage, left_out.join("\n  ")));
    }
    let npb = options.nas.peer.as_deref().map(|folder| Contender::of_npb(folder, &cases));
    let npb = npb.transpose()?.unwrap_or_default();
    let tools = Tools::find(options.sources.as_deref(), "nas", "Makefile")?;
    let stop = start::prepared(&options.out)?;
    let around = Around { tools: &tools, hosts: &options.hosts, stop: &stop };
    let peers = peers(&tools, &npb);
    let place = place::here(&options.hosts);
    let mut figures = Figures::new(options.quick, place, peers.clone());
    figures.cuts = left_out;
    let mut contenders = Vec::new();
    for kind in [Kind::Ours, Kind::Original] {
        if peers.iter().any(|peer| peer.system == kind.name() && peer.missing.is_none()) {
            match contender::build(kind, &cases, &options.out, around) {
                Ok(folder) => contenders.push(Contender::ours(kind, folder)),
                Err(last_words) => figures.problems.push(unbuilt(kind, last_words)),
            }
        }
    }
    contenders.extend(npb);
    let rules = Rules {
        rounds: options.rounds.unwrap_or_else(|| length.pick(3, 2)),
        limit: options.limit.map(|seconds| Duration::from_secs(seconds.into())),
    };
    Race::new(&cases, &contenders, around, rules, figures).run()
}

fn unbuilt(kind: Kind, last_words: String) -> Problem {
    let what = format!("the NAS Parallel Benchmarks for {}", kind.name());
    Problem { what, how: "were not built".to_owned(), last_words }
}

/// The systems that are installed, and what the others lack.
fn peers(tools: &Tools, npb: &[Contender]) -> Vec<Peer> {
    let mut all = vec![tools.peer(Kind::Ours), tools.peer(Kind::Original)];
    match npb.first() {
        Some(first) => {
            let there = tools.peer(first.kind);
            let version = format!("{} with programs of NPB", there.version);
            all.push(Peer { version: version.trim().to_owned(), missing: None, ..there });
        }
        None => {
            let missing = "--peer DIR with programs of NPB 3.4-MPI that you have built";
            let (system, version) = (Kind::OpenMpi.name().to_owned(), String::new());
            all.push(Peer { system, version, missing: Some(missing.to_owned()) });
        }
    }
    all
}
