//! `pvm trace`: what stands in a trace, as tables, pictures, and what other tools read.

pub(crate) mod draw;
mod export;
mod import;
mod otf2;
mod place;
mod profile;
mod record;
mod report;
mod show;

pub(crate) use record::told;

use crate::failure::Failure;
use crate::options::trace::{TraceCommand, TraceOptions};
use crate::show::show_json;
use serde_json::json;
use std::path::Path;

/// Does what was asked.
pub(crate) fn trace(options: &TraceOptions) -> Result<(), Failure> {
    match &options.what {
        TraceCommand::Record(options) => record::record(options),
        TraceCommand::Stop(options) => record::stop(options),
        TraceCommand::Show(options) => show::show(options),
        TraceCommand::Profile(options) => profile::profile(options),
        TraceCommand::Export(options) => {
            export::export(options)?;
            made(options.json, options.output.as_deref())
        }
        TraceCommand::Import(options) => {
            import::import(options)?;
            made(options.json, Some(&options.output))
        }
        TraceCommand::Draw(options) => {
            draw::draw(options)?;
            made(options.json, options.output.as_deref())
        }
        TraceCommand::Report(options) => {
            report::report(options)?;
            made(options.json, Some(&options.output))
        }
    }
}

/// Says as JSON what was made, where that is wanted.
fn made(json: bool, output: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = output.filter(|_| json) else { return Ok(()) };
    let about = std::fs::metadata(path).ok();
    let bytes = about.filter(std::fs::Metadata::is_file).map(|about| about.len());
    Ok(show_json(&json!({ "output": path.to_string_lossy(), "bytes": bytes }))?)
}
