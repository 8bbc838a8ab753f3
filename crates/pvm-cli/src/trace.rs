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

/// Does what was asked.
pub(crate) fn trace(options: &TraceOptions) -> Result<(), Failure> {
    match &options.what {
        TraceCommand::Record(options) => record::record(options),
        TraceCommand::Stop(options) => record::stop(options),
        TraceCommand::Show(options) => show::show(options),
        TraceCommand::Profile(options) => profile::profile(options),
        TraceCommand::Export(options) => export::export(options),
        TraceCommand::Import(options) => import::import(options),
        TraceCommand::Draw(options) => draw::draw(options),
        TraceCommand::Report(options) => report::report(options),
    }
}
