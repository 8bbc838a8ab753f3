//! `pvm trace import`.

use super::place::{self, at, wrong};
use crate::failure::{Failure, Status};
use crate::options::trace::{ImportForm, ImportOptions};
use pvm_trace::{Error, Limits, Writer, import};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Makes a trace; one that cannot be completed is taken away.
pub(super) fn import(options: &ImportOptions) -> Result<(), Failure> {
    let made = make(options);
    if made.is_err() {
        let _ = std::fs::remove_file(&options.output);
    }
    made
}

fn make(options: &ImportOptions) -> Result<(), Failure> {
    let inputs: Vec<_> = options.files.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
    let out = place::create(&options.output)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let failed = |error: Error| wrong(&options.output, &error);
    let mut writer = Writer::new(out, Limits::default(), now.as_nanos() as u64).map_err(failed)?;
    read(options.form, &options.files, inputs, &mut writer)?;
    let out = writer.finish().map_err(failed)?;
    out.into_inner().map(drop).map_err(|error| at(&options.output, error.error()))
}

fn read(
    form: ImportForm,
    files: &[PathBuf],
    inputs: Vec<BufReader<File>>,
    writer: &mut Writer<BufWriter<File>>,
) -> Result<(), Failure> {
    let first = files.first().map(PathBuf::as_path).unwrap_or_else(|| Path::new(""));
    match form {
        ImportForm::Thesis => import::thesis(inputs, writer).map_err(|error| wrong(first, &error)),
        ImportForm::Sddf => {
            let mut inputs = inputs.into_iter();
            let (Some(input), None) = (inputs.next(), inputs.next()) else {
                let text = "pvm trace import: sddf is one file";
                return Err(Failure::new(Status::Usage, text));
            };
            import::sddf(input, writer).map_err(|error| wrong(first, &error))
        }
    }
}

fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    Ok(BufReader::new(File::open(path).map_err(|error| at(path, &error))?))
}
