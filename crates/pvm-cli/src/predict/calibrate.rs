//! `pvm predict calibrate`: what the network and the hosts of this machine take, measured by tasks
//! that send to one another, and a platform file of it.

mod clock;
mod measure;
mod measured;
mod model;
mod order;
pub(super) mod part;
mod platform;
mod series;
mod tell;
mod work;

use super::input::at;
use super::simulate::interrupt;
use super::stage::Stage;
use super::what_if::draw;
use crate::commands::conf;
use crate::failure::Failure;
use crate::operator::Operator;
use crate::options::predict::CalibrateOptions;
use crate::progress::Progress;
use crate::show::{show, show_json};
use std::sync::atomic::Ordering;
use tell::CalibrationReport;

/// Measures, fits, and tells.
pub(super) fn calibrate(options: &CalibrateOptions) -> Result<(), Failure> {
    let there = conf::hosts(&mut Operator::connect()?)?;
    let there: Vec<String> = there.iter().map(|host| host.name.to_text()).collect();
    let hosts = measure::hosts(&options.hosts, &there)?;
    let stop = interrupt()?;
    let progress = Progress::start("measuring");
    let mut stage = Stage::open("calibration", "`pvm conf` lists the hosts that are left", &stop)?;
    let measured = measure::measure(&mut stage, &hosts, options.seconds);
    let (measured, broken) = stage.close(measured)?;
    drop(progress);
    let missing = platform::missing(&measured);
    let (fitted, no_platform) = match model::nearest(&measured) {
        Ok(fitted) => (Some(fitted), None),
        Err(failure) => (None, Some(failure)),
    };
    let about = format!("Calibrated between {}", hosts.join(", "));
    let text = fitted.as_ref().map(|(values, _)| values.text(&about, &missing));
    let compared = fitted.map_or_else(Vec::new, |(_, compared)| compared);
    let fits = tell::fits(&measured);
    let told = CalibrationReport {
        measured: &measured,
        compared: &compared,
        missing: &missing,
        platform: text.as_deref(),
        fits,
    };
    tell(options, &told)?;
    // A user who ends it has asked for what there is; anything else is an error besides.
    let broken = broken.filter(|_| no_platform.is_some() || !stop.load(Ordering::Relaxed));
    broken.or(no_platform).map_or(Ok(()), Err)
}

/// Writes the files, and shows the rest.
fn tell(options: &CalibrateOptions, told: &CalibrationReport<'_>) -> Result<(), Failure> {
    if let (Some(path), Some(text)) = (&options.output, told.platform) {
        std::fs::write(path, text).map_err(|error| at(path, &error))?;
    }
    if let Some(path) = &options.picture {
        draw(path, &told.picture())?;
    }
    if options.json {
        return Ok(show_json(&told.as_json())?);
    }
    show(told.table())?;
    show(format_args!("\n"))?;
    show(told.model())?;
    show(format_args!("\n"))?;
    told.missing.iter().try_for_each(|what| show(format_args!("not measured: {what}\n")))?;
    match told.platform {
        Some(text) if options.output.is_none() => Ok(show(format_args!("\n{text}"))?),
        _ => Ok(()),
    }
}
