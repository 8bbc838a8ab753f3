//! `pvm predict calibrate`: what the network and the hosts of this machine take, measured by tasks
//! that send to one another, and a platform file of it.

mod measure;
mod model;
mod order;
pub(super) mod part;
mod platform;
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
    let measured = stage.close(measured)?;
    drop(progress);
    let (values, compared) = model::nearest(&measured)?;
    let missing = platform::missing(&measured);
    let about = format!("Calibrated between {}", hosts.join(", "));
    let text = values.text(&about, &missing);
    let fits = tell::fits(&measured);
    let told = CalibrationReport {
        measured: &measured,
        compared: &compared,
        missing: &missing,
        platform: &text,
        fits,
    };
    if let Some(path) = &options.output {
        std::fs::write(path, &text).map_err(|error| at(path, &error))?;
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
    missing.iter().try_for_each(|what| show(format_args!("not measured: {what}\n")))?;
    if options.output.is_none() {
        show(format_args!("\n{text}"))?;
    }
    Ok(())
}
