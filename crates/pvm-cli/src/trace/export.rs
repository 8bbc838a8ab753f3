//! `pvm trace export`.

use super::otf2;
use super::place::{self, Trace, at, wrong};
use crate::failure::Failure;
use crate::options::trace::{ExportForm, ExportOptions};
use crate::show::remark;
use pvm_trace::clocks::Clocks;
use pvm_trace::export::{self, Untold};
use std::io::{self, Write};
use std::path::Path;

/// Writes a trace in another form.
pub(super) fn export(options: &ExportOptions) -> Result<(), Failure> {
    let mut trace = place::open(&options.file)?;
    if options.to == ExportForm::Thesis {
        let folder = options.output.as_deref().expect("the command line requires a folder");
        return thesis(&options.file, &mut trace, folder);
    }
    if options.to == ExportForm::Ti {
        return place::into(options.output.as_deref(), |out| {
            let untold = export::ti(&mut trace, out);
            tell(untold.map_err(|error| wrong(&options.file, &error))?);
            Ok(())
        });
    }
    let clocks = place::times(&options.file, &mut trace, options.raw)?;
    if options.to == ExportForm::Otf2 {
        let folder = options.output.as_deref().expect("the command line requires a folder");
        return otf2::write(&options.file, &mut trace, &clocks, folder);
    }
    place::into(options.output.as_deref(), |out| {
        let done = write(options.to, &mut trace, &clocks, out);
        done.map_err(|error| wrong(&options.file, &error))
    })
}

fn write(
    form: ExportForm,
    trace: &mut Trace,
    clocks: &Clocks,
    out: &mut dyn Write,
) -> Result<(), pvm_trace::Error> {
    match form {
        ExportForm::Perfetto => export::perfetto(trace, clocks, out),
        ExportForm::Chrome => export::chrome(trace, clocks, out),
        ExportForm::Csv => export::csv(trace, clocks, out),
        ExportForm::Sddf => export::sddf(trace, clocks, out),
        ExportForm::Ti | ExportForm::Otf2 | ExportForm::Thesis => Ok(()),
    }
}

fn thesis(file: &Path, trace: &mut Trace, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
    let made = export::thesis(trace, |file| {
        place::create(&folder.join(file.name()))
            .map_err(|failure| io::Error::other(failure.text().to_owned()))
    });
    tell(made.map_err(|error| wrong(file, &error))?);
    Ok(())
}

/// Prints what a format cannot hold.
fn tell(untold: Untold) {
    for (count, what) in [
        (untold.messages, "messages of tasks that were not recorded are left out"),
        (
            untold.halves,
            "messages are left out, as the trace has their sends or their receives only",
        ),
        (untold.groups, "calls of groups appear only as messages, or as a barrier of all"),
        (untold.any_source, "receives asked for any sender: they are bound to the one that came"),
        (untold.polls, "polls for a message are left out"),
    ] {
        if count > 0 {
            remark(format_args!("pvm: {count} {what}"));
        }
    }
}
