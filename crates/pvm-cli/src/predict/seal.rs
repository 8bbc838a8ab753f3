//! `pvm predict seal`: a prediction that is written before the program has run there.

use super::input::at;
use super::sha256;
use super::simulate::predicted;
use super::tell::{Prediction, as_json};
use crate::failure::{Failure, Status};
use crate::options::predict::SealOptions;
use crate::show::show;
use serde_json::{Map, Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

/// The version of the form of a seal.
pub(super) const VERSION: u64 = 1;

/// Predicts, and writes what came of it beside the hashes of all inputs.
pub(super) fn seal(options: &SealOptions) -> Result<(), Failure> {
    predicted(&options.run, |prediction| {
        let text = serde_json::to_string_pretty(&sealed(prediction)?);
        let text = text.map_err(|error| Failure::new(Status::Refused, error.to_string()))? + "\n";
        // What is sealed is not written over: who wants another one names another file.
        let file = OpenOptions::new().write(true).create_new(true).open(&options.output);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| at(&options.output, &error))?;
        let hash = sha256::of(text.as_bytes()).map_err(|error| at(&options.output, &error))?;
        Ok(show(format_args!("{hash}  {}\n", options.output.display()))?)
    })
}

fn sealed(prediction: &Prediction<'_>) -> Result<Value, Failure> {
    let mut hashes = Map::new();
    let platform = Path::new(&prediction.options.network);
    let files = prediction.trace.files.iter().map(std::path::PathBuf::as_path);
    for path in files.chain(platform.exists().then_some(platform)) {
        let hash = File::open(path).and_then(sha256::of).map_err(|error| at(path, &error))?;
        hashes.insert(path.display().to_string(), hash.into());
    }
    // A built-in network is told as it was, whatever it will be.
    let platform = format!("{:?}", prediction.platform);
    Ok(json!({"seal": VERSION, "sha256": hashes, "platform": platform,
        "prediction": as_json(prediction)}))
}
