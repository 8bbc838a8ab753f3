//! `pvm trace draw`: pictures of a trace as SVG or PNG. What is drawn is bounded, however long the
//! trace is.

mod aggregate;
pub(crate) mod canvas;
mod dynamic;
mod functions;
pub(crate) mod png;
mod spacetime;
mod subject;
pub(crate) mod svg;

use super::place::{self, wrong};
use crate::failure::{Failure, Status};
use crate::options::trace::{DrawOptions, Picture, PictureForm};
use pvm_trace::profile::Profile;
use std::path::Path;

use canvas::Canvas;
pub(super) use subject::Subject;
pub(super) use svg::{escaped, write as svg};

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
    let bytes = match form(options) {
        PictureForm::Svg => svg::write(&picture).into_bytes(),
        PictureForm::Png => png::write(&picture).map_err(|error| {
            Failure::new(Status::Refused, format!("the picture cannot be drawn: {error}"))
        })?,
    };
    place::into(options.output.as_deref(), |out| Ok(out.write_all(&bytes)?))
}

/// The form that was asked for, or the one that the file's name ends with.
fn form(options: &DrawOptions) -> PictureForm {
    let ending = options.output.as_deref().and_then(Path::extension);
    options.form.unwrap_or_else(|| match ending {
        Some(ending) if ending.eq_ignore_ascii_case("png") => PictureForm::Png,
        _ => PictureForm::Svg,
    })
}

fn of_profile(
    subject: &mut Subject<'_>,
    draw: impl FnOnce(&Subject<'_>, &Profile) -> Canvas,
) -> Result<Canvas, Failure> {
    let profile = Profile::of(subject.trace, subject.clocks);
    let profile = profile.map_err(|error| wrong(subject.file, &error))?;
    Ok(draw(subject, &profile))
}

/// All pictures of a report.
pub(super) fn all(
    subject: &mut Subject<'_>,
    profile: &Profile,
) -> Result<Vec<(&'static str, Canvas)>, Failure> {
    let tables = subject.trace.tables();
    let mut pictures = vec![
        ("Functions", functions::draw(tables, profile)),
        ("Messages of each pair", aggregate::draw(tables, profile)),
    ];
    pictures.push(("Messages over time", dynamic::draw(subject)?));
    pictures.push(("Tasks over time", spacetime::draw(subject)?));
    Ok(pictures)
}
