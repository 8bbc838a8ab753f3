//! `pvm predict`: what a program would take on another network.
//!
//! Crate `pvm-predict` has the models. Here files are read, runs are started on all cores, and what
//! they come to is told.

mod calibrate;
mod check;
mod crew;
mod generate;
mod input;
mod networks;
mod part;
mod rehearse;
mod said;
mod score;
mod script;
mod seal;
mod sha256;
mod simulate;
mod stage;
mod tell;
mod what_if;

use crate::failure::Failure;
use crate::options::predict::{PredictCommand, PredictOptions};

/// Does what was asked.
pub(crate) fn predict(options: &PredictOptions) -> Result<(), Failure> {
    match &options.what {
        None => simulate::simulate(&options.run),
        Some(PredictCommand::Networks(options)) => networks::networks(options),
        Some(PredictCommand::Check(options)) => check::check(options),
        Some(PredictCommand::Generate(options)) => generate::generate(options),
        Some(PredictCommand::WhatIf(options)) => what_if::what_if(options),
        Some(PredictCommand::Rehearse(options)) => rehearse::rehearse(options),
        Some(PredictCommand::Calibrate(options)) => calibrate::calibrate(options),
        Some(PredictCommand::Part(options)) => part::part(options),
        Some(PredictCommand::Seal(options)) => seal::seal(options),
        Some(PredictCommand::Score(options)) => score::score(options),
    }
}
