//! The chores of the workspace: `cargo xtask CHORE`.
//!
//! The Makefile is the front door; this is what stands behind it where a shell line is not enough.
//! Nothing here is part of what users install, and nothing here needs a crate from outside, so that
//! it builds in seconds on a fresh machine. Start with [`tidy`], the check of the house, and
//! [`check`], the run of every test.
#![forbid(unsafe_code)]

mod again;
mod bench;
mod check;
mod corpus;
mod differ;
mod foreign;
mod fuzzing;
mod hosts;
mod install;
mod instructions;
mod manifest;
mod outside;
mod programs;
mod second_user;
mod soak;
mod source;
mod tidy;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  tidy                  the check of the house: dependencies, import circles, unsafe, names, sizes
  check                 every test, with a table of results at the end (FAST=1: the fast parts \
only; PART=a,b:
                        these and what they use; SINCE=commit: what a change since then can affect;
                        CI=true: a part that cannot run counts as failed; JOBS=1: one after the \
other)
  install PREFIX        lay out what `cargo build --release` made under PREFIX
  mixed                 builds for other kinds of computers, and one machine of them all
  loom                  the interleavings of pvm-shm
  miri [CRATE]          pvm-shm (or CRATE) under Miri
  fuzz TARGET SECONDS   one fuzz target, or `all`
  fuzz TARGET FILE...   the inputs in these files once more
  keep-corpus [TARGET]  choose anew what fuzz targets begin with (fuzz/seeds)
  differ PREFIX PROGRAM SEED [COUNT]  random calls on the original and on the installation in PREFIX
  differ PREFIX check   the seeds of `check`, and a new one
  sim SEED              replay one simulation
  instructions PREFIX [--json]  what the calls of a small message take, counted by callgrind
  bench-messages PREFIX OUT [--write]  the same loops on NeoPVM and its peers, in turns; writes \
the documents' tables
  soak MINUTES          simulations and random calls from new seeds, end-to-end tests and fuzzing, \
round after round
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = workspace_root();
    let outcome = match words.as_slice() {
        ["tidy"] => tidy::run(&root),
        ["check"] => match check::run(&root) {
            Ok(()) => Ok(()),
            Err(check::Failure::Failed(why)) => Err(why),
            Err(check::Failure::Asked(why)) => {
                eprintln!("xtask: {why}");
                return ExitCode::from(2);
            }
        },
        ["install", prefix] => install::run(&root, Path::new(prefix)),
        ["bench-messages", prefix, out] => {
            bench::messages(&root, Path::new(prefix), Path::new(out), false)
        }
        ["bench-messages", prefix, out, "--write"] => {
            bench::messages(&root, Path::new(prefix), Path::new(out), true)
        }
        ["instructions", prefix] => instructions::run(&root, Path::new(prefix), false),
        ["instructions", prefix, "--json"] => instructions::run(&root, Path::new(prefix), true),
        ["mixed"] => {
            let stage = install::target_folder(&root).join("stage");
            foreign::run(&root, &stage.to_string_lossy(), &outside::quietly)
        }
        ["differ", prefix, "check"] => differ::check(&root, Path::new(prefix)),
        ["differ", prefix, program, seed, rest @ ..] => number(seed).and_then(|first| {
            let count = rest.first().map_or(Ok(1), |count| number(count))?;
            differ::run(&root, Path::new(prefix), &[program], first..first.saturating_add(count))
        }),
        ["loom"] => outside::status(&mut tools::loom(&root)),
        ["miri"] => outside::status(&mut tools::miri(&root, "pvm-shm")),
        ["miri", package] => outside::status(&mut tools::miri(&root, package)),
        ["fuzz", "all", seconds] => fuzzing::all(&root, seconds).map(drop),
        ["fuzz", target, seconds] if number(seconds).is_ok() => {
            fuzzing::alone(&root, target, seconds)
        }
        ["fuzz", target, files @ ..] if !files.is_empty() => fuzzing::again(&root, target, files),
        ["keep-corpus"] => {
            fuzzing::targets(&root).and_then(|targets| fuzzing::keep(&root, &targets))
        }
        ["keep-corpus", target] => fuzzing::keep(&root, &[(*target).to_owned()]),
        ["soak", minutes] => soak::run(&root, minutes),
        ["sim", seed] => outside::status(&mut tools::simulation(&root, seed)),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("not a number: {word}"))
}

/// The folder that holds the workspace's Cargo.toml. Cargo tells where this crate lies when it runs
/// it; a program that came with a copied build folder was compiled for another tree.
fn workspace_root() -> PathBuf {
    let told = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let told = told.filter(|folder| folder.ends_with("xtask"));
    let here = told.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf());
    here.parent().expect("xtask lies in the workspace").to_path_buf()
}
