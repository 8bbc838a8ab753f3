//! Input of predictions: a trace in one of its forms, and the platform.

use crate::failure::{Failure, Status};
use crate::nearest;
use crate::options::predict::Depth;
use pvm_predict::platform::{Network, Platform, Transport, built_in, named};
use pvm_predict::report::Report;
use pvm_predict::source::{Lacks, Ranks, Recorded, Stations, Survey, Wish};
use pvm_predict::{Error, Growth, Source, TaskNumber};
use pvm_trace::Reader;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that is read as a stream.
type Stream = BufReader<File>;

/// Up to so many tasks, packets are simulated unless something else is asked for.
const PACKET_TASKS: TaskNumber = 1000;
/// A flop of a time-independent trace is a nanosecond, as `pvm trace export --to ti` writes it.
const FLOPS: f64 = 1e9;
/// Files of a folder.
const STATIONS_MAX: usize = 4096;

/// A trace that can be opened as often as there are runs.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    /// Its files, one for each task or one for all.
    pub(super) files: Vec<PathBuf>,
    /// Its form.
    pub(super) form: Form,
    /// The findings of the first pass over a trace of ours.
    survey: Arc<Survey>,
    wish: Wish,
    /// The program to which the recordings have grown, and a factor for its computing.
    grown: Option<(Arc<Growth>, f64)>,
}

/// The form of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Lines c, s, m, r.
    Thesis,
    /// SimGrid's time-independent lines.
    Ti,
    /// A trace of ours.
    Own,
}

impl Form {
    /// Its word in JSON.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Thesis => "thesis",
            Self::Ti => "ti",
            Self::Own => "neotrace",
        }
    }
}

impl Trace {
    /// Finds out what the files are.
    pub(super) fn find(files: &[PathBuf], wish: Wish) -> Result<Self, Failure> {
        let files = match files {
            [folder] if folder.is_dir() => stations(folder)?,
            _ => files.to_vec(),
        };
        let first = &files[0];
        let form = match first_word(first)?.as_slice() {
            word if word.starts_with(b"NEOTRACE") => Form::Own,
            b"c" | b"s" | b"m" | b"r" => Form::Thesis,
            word if !word.is_empty() && word.iter().all(u8::is_ascii_digit) => Form::Ti,
            _ => return Err(unknown(first)),
        };
        let survey = match (form, files.as_slice()) {
            (Form::Own, [file]) => Survey::of(&mut reader(file)?),
            (Form::Own, _) => {
                let text = "a trace of NeoPVM holds all tasks: name one file";
                return Err(Failure::new(Status::Usage, text));
            }
            _ => Survey::default(),
        };
        Ok(Self { files, form, survey: Arc::new(survey), wish, grown: None })
    }

    /// Recordings of one program, grown to so many tasks. Each file or folder is one.
    pub(super) fn grow(
        files: &[PathBuf],
        tasks: TaskNumber,
        wish: Wish,
        mut told: impl FnMut(&Self),
    ) -> Result<Self, Failure> {
        let mut all = Vec::new();
        for file in files {
            let one = Self::find(std::slice::from_ref(file), wish)?;
            told(&one);
            all.push(one);
        }
        let sources: Result<Vec<_>, Failure> = all.iter().map(Self::open).collect();
        let growth = Growth::of(sources?, tasks);
        let growth =
            growth.map_err(|error| Failure::new(Status::Refused, format!("growth: {error}")))?;
        let (form, survey) = (all[0].form, Arc::clone(&all[0].survey));
        let files = all.into_iter().flat_map(|one| one.files).collect();
        Ok(Self { files, form, survey, wish, grown: Some((Arc::new(growth), 1.0)) })
    }

    /// The program to which the recordings have grown.
    pub(super) fn growth(&self) -> Option<&Growth> {
        self.grown.as_ref().map(|(growth, _)| &**growth)
    }

    /// The grown program at the ends of the interval in which its computing lies; nothing else has
    /// such ends.
    pub(super) fn bounds(&self) -> Vec<Self> {
        let Some((growth, _)) = &self.grown else { return Vec::new() };
        let (low, high) = growth.factors();
        let with = |factor| Self { grown: Some((Arc::clone(growth), factor)), ..self.clone() };
        vec![with(low), with(high)]
    }

    /// The parts that it lacks.
    pub(super) fn lacks(&self) -> &Lacks {
        self.survey.lacks()
    }

    /// Opens it for one run.
    pub(super) fn open(&self) -> Result<Box<dyn Source>, Failure> {
        if let Some((growth, factor)) = &self.grown {
            return Ok(Box::new(growth.source(*factor)));
        }
        if self.form == Form::Own {
            let recorded = Recorded::new(reader(&self.files[0])?, &self.survey, self.wish);
            return Ok(Box::new(recorded.map_err(|error| self.wrong(&error))?));
        }
        let files: Result<Vec<Stream>, Failure> =
            self.files.iter().map(|file| open(file)).collect();
        Ok(match self.form {
            Form::Thesis | Form::Own => Box::new(Stations::new(files?)),
            Form::Ti => {
                let ranks = Ranks::new(files?, FLOPS).map_err(|error| self.wrong(&error))?;
                Box::new(ranks)
            }
        })
    }

    /// The names of a run's sections, in their order.
    pub(super) fn sections(&self, report: &Report) -> Result<Vec<String>, Failure> {
        if report.sections.is_empty() {
            return Ok(Vec::new());
        }
        let source = self.open()?;
        let name =
            |number| source.section(number).map_or_else(|| number.to_string(), str::to_owned);
        Ok(report.sections.iter().map(|section| name(section.number)).collect())
    }

    /// An error of a run, with the file that it is about.
    pub(super) fn wrong(&self, error: &Error) -> Failure {
        let file = match error {
            Error::Line { task, .. } => {
                self.files.get(*task as usize).or_else(|| self.files.first())
            }
            Error::Io(_) | Error::Trace(_) => self.files.first(),
            _ => None,
        };
        let text = match file {
            Some(file) => format!("{}: {error}", file.display()),
            None => error.to_string(),
        };
        Failure::new(Status::Refused, text)
    }
}

fn open(path: &Path) -> Result<Stream, Failure> {
    let file = File::open(path).map_err(|error| at(path, &error))?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// A trace of ours.
fn reader(path: &Path) -> Result<Reader<Stream>, Failure> {
    let trace = Reader::open(open(path)?);
    trace.map_err(|error| Failure::new(Status::Refused, format!("{}: {error}", path.display())))
}

/// Something of the file system failed.
pub(super) fn at(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Status::Refused, format!("{}: {error}", path.display()))
}

/// The files station.0, station.1 ... of a folder.
fn stations(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let name = |number: usize| folder.join(format!("station.{number}"));
    let count = (0..=STATIONS_MAX).take_while(|number| name(*number).exists()).count();
    if count == 0 {
        let text = format!(
            "{}: a folder without station.0\n  `pvm trace export --to thesis -o DIR TRACE` and \
             `pvm predict generate --stations DIR` make such folders",
            folder.display()
        );
        return Err(Failure::new(Status::Refused, text));
    }
    Ok((0..count).map(name).collect())
}

/// The first word that is no comment.
fn first_word(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut begin = Vec::new();
    let mut reader = open(path)?.take(1 << 16);
    loop {
        begin.clear();
        let read = reader.read_until(b'\n', &mut begin).map_err(|error| at(path, &error))?;
        let line = begin.trim_ascii();
        if read == 0 || !(line.is_empty() || line.starts_with(b"#")) {
            return Ok(line.split(u8::is_ascii_whitespace).next().unwrap_or_default().to_vec());
        }
    }
}

fn unknown(path: &Path) -> Failure {
    let text = format!(
        "{}: no trace that is known here\n  lines begin with c, s, m, r (the thesis), or with the \
         number of a rank (SimGrid)",
        path.display()
    );
    Failure::new(Status::Refused, text)
}

/// A built-in platform by name, or one in a file.
pub(super) fn platform(word: &str) -> Result<Platform, Failure> {
    if let Some(platform) = named(word) {
        return Ok(platform);
    }
    let path = Path::new(word);
    if !word.ends_with(".toml") && !path.exists() {
        return Err(no_network(word));
    }
    let mut text = String::new();
    let read = open(path)?.take(1 << 20).read_to_string(&mut text);
    read.map_err(|error| at(path, &error))?;
    let mut platform = Platform::parse(&text)
        .map_err(|error| Failure::new(Status::Refused, format!("{}: {error}", path.display())))?;
    if platform.name.is_empty() {
        word.clone_into(&mut platform.name);
    }
    Ok(platform)
}

/// Without a wish, packets are what there is to simulate, where there are some and tasks are few.
pub(super) fn depth(wish: Option<Depth>, platform: &Platform, tasks: TaskNumber) -> Depth {
    let has_packets =
        platform.transport != Transport::None && !matches!(platform.network, Network::Line(_));
    let plain = if has_packets && tasks <= PACKET_TASKS { Depth::Packet } else { Depth::Line };
    wish.unwrap_or(plain)
}

/// The error that a network is unknown.
pub(super) fn no_network(word: &str) -> Failure {
    let near = nearest::to(word, built_in().map(|known| known.name));
    let meant = near.map_or_else(String::new, |near| format!("\n  did you mean {near}?"));
    let text = format!(
        "{word}: no network of this name, and no file{meant}\n  `pvm predict networks` lists those \
         that are known"
    );
    Failure::new(Status::Usage, text)
}
