//! The output of a program with `--json`; the keys are an interface.

use crate::programs::{self, Build};
use pvm_e2e::{Machine, Output};
use serde_json::Value;

/// A value that was worked out.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Quantity {
    pub(crate) name: String,
    pub(crate) got: Option<f64>,
    pub(crate) wanted: Option<f64>,
}

/// The object.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Report {
    pub(crate) benchmark: String,
    pub(crate) class: String,
    pub(crate) shape: String,
    pub(crate) encoding: String,
    pub(crate) tasks: u64,
    pub(crate) seconds: f64,
    pub(crate) mops: f64,
    pub(crate) verified: Option<bool>,
    pub(crate) messages: f64,
    pub(crate) bytes: f64,
    pub(crate) quantities: Vec<Quantity>,
}

fn quantity(value: &Value) -> Quantity {
    let name = value["name"].as_str().expect("a name").to_owned();
    // An error is told for what is compared.
    assert_eq!(value["wanted"].is_null(), value["error"].is_null(), "{value}");
    Quantity { name, got: value["got"].as_f64(), wanted: value["wanted"].as_f64() }
}

impl Report {
    /// The report of a run that ends well.
    pub(crate) fn of(machine: &Machine, build: &Build, name: &str, words: &[&str]) -> Self {
        let output = programs::run(machine, build, name, &[words, &["--json"]].concat());
        assert_eq!(output.code(), 0, "nas-{name} {words:?}: {output:?}");
        let report = Self::in_output(&output);
        assert_eq!(report.benchmark, name.to_uppercase());
        assert!(report.seconds >= 0.0 && report.mops >= 0.0, "{report:#?}");
        report
    }

    /// The line that is an object; where tasks were started by others there are marks in front.
    pub(crate) fn in_output(output: &Output) -> Self {
        let line = output.out.lines().find_map(|line| line.find('{').map(|at| &line[at..]));
        let line = line.unwrap_or_else(|| panic!("no report: {output:?}"));
        let value: Value = serde_json::from_str(line).expect("JSON");
        let text = |key: &str| value[key].as_str().unwrap_or_else(|| panic!("no {key}: {line}"));
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no number: {line}"));
        Self {
            benchmark: text("benchmark").to_owned(),
            class: text("class").to_owned(),
            shape: text("shape").to_owned(),
            encoding: text("encoding").to_owned(),
            tasks: value["tasks"].as_u64().expect("tasks"),
            seconds: number(&value["seconds"]),
            mops: number(&value["mops"]),
            verified: value["verified"].as_bool(),
            messages: number(&value["communication"]["messages"]),
            bytes: number(&value["communication"]["bytes"]),
            quantities: value["quantities"]
                .as_array()
                .expect("them")
                .iter()
                .map(quantity)
                .collect(),
        }
    }

    /// Fails unless the other report has these values to 1e-10.
    pub(crate) fn assert_same_as(&self, other: &Self) {
        assert!(!self.quantities.is_empty(), "{self:#?}");
        assert_eq!(self.quantities.len(), other.quantities.len(), "{self:#?} {other:#?}");
        for (one, two) in self.quantities.iter().zip(&other.quantities) {
            let (a, b) = (one.got.expect("a number"), two.got.expect("a number"));
            let apart = (a - b).abs() / a.abs().max(f64::MIN_POSITIVE);
            assert!(one.name == two.name && apart <= 1e-10, "{one:?} {two:?} of {self:#?}");
        }
    }
}
