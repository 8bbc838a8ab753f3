//! `pvm trace draw`: pictures of a trace as SVG. What is drawn is bounded, however long the trace is.

mod aggregate;
mod dynamic;
mod functions;
mod spacetime;
mod subject;
mod svg;

use super::place::{self, wrong};
use crate::failure::Failure;
use crate::options::trace::{DrawOptions, Picture};
use pvm_trace::profile::Profile;

pub(super) use subject::Subject;
pub(super) use svg::escaped;

/// Draws a picture.
pub(super) fn draw(options: &DrawOptions) -> Result<(), Failure> {
    let mut trace = place::open(&options.file)?;
    let clocks = place::times(&options.file, &mut trace, options.raw)?;
    let (begin, end) = place::extent(&trace, &clocks);
    let at = |seconds: f64| begin.saturating_add((seconds * 1e9) as u64);
    let window = (options.from.map_or(begin, at), options.to.map_or(end, at).min(end));
    let subject = &mut Subject { file: &options.file, trace: &mut trace, clocks: &clocks, window };
    let picture = match options.what {
        Picture::Aggregate => of_profile(subject, |subject, profile| {
            aggregate::draw(subject.trace.tables(), profile)
        })?,
        Picture::Functions => of_profile(subject, |subject, profile| {
            functions::draw(subject.trace.tables(), profile)
        })?,
        Picture::Dynamic => dynamic::draw(subject)?,
        Picture::Spacetime => spacetime::draw(subject)?,
    };
    place::into(options.output.as_deref(), |out| Ok(out.write_all(picture.as_bytes())?))
}

fn of_profile(
    subject: &mut Subject<'_>,
    draw: impl FnOnce(&Subject<'_>, &Profile) -> String,
) -> Result<String, Failure> {
    let profile = Profile::of(subject.trace, subject.clocks);
    let profile = profile.map_err(|error| wrong(subject.file, &error))?;
    Ok(draw(subject, &profile))
}

/// All pictures of a report.
pub(super) fn all(
    subject: &mut Subject<'_>,
    profile: &Profile,
) -> Result<Vec<(&'static str, String)>, Failure> {
    let tables = subject.trace.tables();
    let mut pictures = vec![
        ("Functions", functions::draw(tables, profile)),
        ("Messages of each pair", aggregate::draw(tables, profile)),
    ];
    pictures.push(("Messages over time", dynamic::draw(subject)?));
    pictures.push(("Tasks over time", spacetime::draw(subject)?));
    Ok(pictures)
}
