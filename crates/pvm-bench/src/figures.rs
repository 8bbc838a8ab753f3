//! The measurements, as they are kept in JSON: the fields are an interface, as those of every
//! `--json`.

use super::statistics::{Summary, median};
use pvm_cli::failure::{Failure, Status};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

/// The form of the file; another one is not read.
const FORM: u32 = 1;

/// The subject of a row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Key {
    /// Name of the suite, for instance `echo`.
    pub(crate) suite: String,
    /// The operation, for instance `broadcast`.
    pub(crate) test: String,
    /// Number of tasks.
    pub(crate) tasks: u32,
    /// Bytes of a message, words of a sum, order of a matrix, number of bodies.
    pub(crate) size: u64,
    /// `NeoPVM` and its peers.
    pub(crate) system: String,
    /// Route and encoding, or another way in which a system can do it; may be empty.
    pub(crate) variant: String,
}

impl Key {
    /// The system and the way, as a person reads it.
    pub(crate) fn who(&self) -> String {
        let gap = if self.variant.is_empty() { "" } else { ", " };
        format!("{}{gap}{}", self.system, self.variant)
    }
}

/// Measurements of the same thing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The suite, system and case of the row.
    #[serde(flatten)]
    pub(crate) key: Key,
    /// `us`, `s`, `Mflop/s` or `MHz`.
    pub(crate) unit: String,
    /// Each measurement, in the order in which they were made, by rounds.
    pub(crate) rounds: Vec<Vec<f64>>,
}

impl Row {
    /// Over all rounds; the iterations count through.
    pub(crate) fn summary(&self) -> Option<Summary> {
        Summary::of(&self.rounds.concat())
    }

    /// The median of the rounds' medians: what the row is compared by.
    pub(crate) fn typical(&self) -> Option<f64> {
        median(&self.medians())
    }

    /// The rounds' medians.
    pub(crate) fn medians(&self) -> Vec<f64> {
        self.rounds.iter().filter_map(|round| median(round)).collect()
    }

    /// Whether more is better.
    pub(crate) fn is_rate(&self) -> bool {
        self.unit.ends_with("/s")
    }
}

/// A system, and why it was not measured if it was not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Peer {
    /// As in [`Key::system`].
    pub(crate) system: String,
    /// Its version, as far as it tells.
    pub(crate) version: String,
    /// The package to install, or none if the system is there.
    pub(crate) missing: Option<String>,
}

/// Something that did not go well.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    /// The suite, system and case.
    pub(crate) what: String,
    /// The way in which it ended.
    pub(crate) how: String,
    /// The last lines that the program printed.
    pub(crate) last_words: String,
}

/// The computer of a measurement.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Computer {
    /// Host name.
    pub(crate) host: String,
    /// Kind of processor.
    pub(crate) processor: String,
    /// The number of processors that this process may use.
    pub(crate) cores: u32,
    /// Clock in MHz as the kernel tells it, 0 if it does not.
    pub(crate) mhz: f64,
    /// Operations in double precision that a core could do in a cycle, by its instruction set.
    #[serde(default)]
    pub(crate) flops_per_cycle: f64,
    /// Kernel and its version.
    pub(crate) kernel: String,
    /// The other hosts that were asked for.
    pub(crate) hosts: Vec<String>,
}

/// Something that a program worked out and compared.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Quantity {
    /// The name of the quantity.
    pub(crate) name: String,
    /// The result; none if it is no number.
    #[serde(default)]
    pub(crate) got: Option<f64>,
    /// The right result; none where it is not known.
    #[serde(default)]
    pub(crate) wanted: Option<f64>,
    /// The distance of both, relative to the latter.
    #[serde(default)]
    pub(crate) error: Option<f64>,
}

/// The messages of a program, and their cost for the task that paid most for them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Communication {
    /// In the calls that pack and send.
    pub(crate) send_seconds: f64,
    /// In the calls that receive and unpack, waiting included.
    pub(crate) receive_seconds: f64,
    /// The messages of all tasks.
    pub(crate) messages: f64,
    /// The bytes of all tasks.
    pub(crate) bytes: f64,
}

impl Communication {
    /// The time of sending and receiving.
    pub(crate) fn seconds(&self) -> f64 {
        self.send_seconds + self.receive_seconds
    }
}

/// The result of a program that proves its answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The suite, system and case of the row.
    #[serde(flatten)]
    pub(crate) key: Key,
    /// Whether the answer was the right one, each time.
    pub(crate) verified: bool,
    /// Millions of operations a second, in each round.
    pub(crate) mops: Vec<f64>,
    /// The quantities of the last comparison.
    pub(crate) quantities: Vec<Quantity>,
    /// Its messages in the last round, if it tells them.
    #[serde(default)]
    pub(crate) communication: Option<Communication>,
}

/// The other work of the processors.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Load {
    /// Share of the processors' time (0 to 1) that others took in each of the moments between the
    /// measurements.
    pub(crate) others: Vec<f64>,
}

impl Load {
    /// A larger share of the processors' time in others' hands disturbs.
    pub(crate) const MAX: f64 = 0.1;

    /// Their average.
    pub(crate) fn typical(&self) -> f64 {
        Summary::of(&self.others).map_or(0.0, |all| all.mean)
    }
}

/// A whole run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// The form of the file.
    pub(crate) form: u32,
    /// Version of NeoPVM.
    pub(crate) version: String,
    /// Seconds since 1970 when it began.
    pub(crate) began_s: u64,
    /// The duration in seconds.
    pub(crate) took_s: f64,
    /// Whether it was the short form.
    pub(crate) quick: bool,
    /// The computer.
    pub(crate) place: Computer,
    /// The other work of the computer.
    pub(crate) load: Load,
    /// The systems.
    pub(crate) peers: Vec<Peer>,
    /// The measurements.
    pub(crate) rows: Vec<Row>,
    /// The programs that could not be measured.
    pub(crate) problems: Vec<Problem>,
    /// The cases that were left out so that the suites kept their time.
    #[serde(default)]
    pub(crate) cuts: Vec<String>,
    /// The results of suites whose programs check their answers.
    #[serde(default)]
    pub(crate) answers: Vec<Answer>,
}

impl Figures {
    /// With nothing measured yet.
    pub(crate) fn new(quick: bool, place: Computer, peers: Vec<Peer>) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            form: FORM,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            began_s: now.map_or(0, |since| since.as_secs()),
            took_s: 0.0,
            quick,
            place,
            load: Load::default(),
            peers,
            rows: Vec::new(),
            problems: Vec::new(),
            cuts: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// Adds a round of measurements.
    pub(crate) fn add(&mut self, key: Key, unit: &str, values: Vec<f64>) {
        match self.rows.iter_mut().find(|row| row.key == key) {
            Some(row) => row.rounds.push(values),
            None => self.rows.push(Row { key, unit: unit.to_owned(), rounds: vec![values] }),
        }
    }

    /// The rows of a suite.
    pub(crate) fn of_suite<'a>(&'a self, suite: &'a str) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |row| row.key.suite == suite)
    }

    /// Writes `figures.json` and `figures.csv`.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let json = serde_json::to_string(self).map_err(|error| {
            Failure::new(Status::Refused, format!("the figures cannot be written: {error}"))
        })?;
        put(&folder.join("figures.json"), &json)?;
        put(&folder.join("figures.csv"), &self.csv())
    }

    /// A file that [`Figures::write`] has written.
    pub(crate) fn read(file: &Path) -> Result<Self, Failure> {
        let bad = |why: String| {
            let text =
                format!("{}: {why}\n  give the figures.json of a `pvm bench`", file.display());
            Failure::new(Status::Refused, text)
        };
        let text = std::fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
        let figures: Self = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        if figures.form == FORM { Ok(figures) } else { Err(bad("another form of file".to_owned())) }
    }

    fn csv(&self) -> String {
        let mut text = "suite,test,tasks,size,system,variant,unit,rounds,count,median,mean,sd,min,\
                        min_iteration,max,max_iteration\n"
            .to_owned();
        for row in &self.rows {
            let (Some(all), Some(typical)) = (row.summary(), row.typical()) else { continue };
            let Key { suite, test, tasks, size, system, variant } = &row.key;
            let _ = writeln!(
                text,
                "{suite},{test},{tasks},{size},{system},\"{variant}\",\
                 {},{},{},{typical},{},{},{},{},{},{}",
                row.unit,
                row.rounds.len(),
                all.count,
                all.mean,
                all.sd,
                all.min,
                all.min_at,
                all.max,
                all.max_at
            );
        }
        text
    }
}

/// Writes a file and names it if that fails.
pub(crate) fn put(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| {
        Failure::new(Status::Refused, format!("cannot write {}: {error}", file.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::sample;
    use super::*;

    #[test]
    fn rounds_of_the_same_row_stay_together() {
        let figures = sample(1.0);
        assert_eq!(figures.rows.len(), 9);
        assert_eq!(figures.rows[0].rounds.len(), 3);
        assert_eq!(figures.rows[0].medians(), [1.02, 1.01 * 1.02, 1.02 * 1.02]);
    }

    #[test]
    fn a_file_comes_back_as_it_was_written() {
        let folder = std::env::temp_dir().join(format!("figures-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let figures = sample(1.0);
        figures.write(&folder).unwrap();
        assert_eq!(Figures::read(&folder.join("figures.json")).unwrap(), figures);
        let csv = std::fs::read_to_string(folder.join("figures.csv")).unwrap();
        assert_eq!(csv.lines().count(), 10);
        assert!(csv.contains("echo,echo,2,1000,PVM 3.4.6,\"direct raw\",us,3,12,"));
        std::fs::write(folder.join("x.json"), "{}").unwrap();
        let failure = Figures::read(&folder.join("x.json")).unwrap_err();
        assert!(failure.text().contains("give the figures.json"), "{}", failure.text());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
