//! The options of `pvm space`, `pvm out`, `pvm take` and `pvm read`.

use super::notes;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// The arguments of `pvm space`.
#[derive(Debug, Args)]
pub(crate) struct SpaceOptions {
    /// The command
    #[command(subcommand)]
    pub(crate) what: SpaceCommand,
}

/// The commands for tuple spaces.
#[derive(Debug, Subcommand)]
pub(crate) enum SpaceCommand {
    /// Make a tuple space that lives with the machine
    #[command(after_help = notes::SPACE_CREATE)]
    Create(CreateOptions),
    /// List the tuple spaces
    #[command(after_help = notes::SPACE_LIST)]
    List(AllOptions),
    /// Show the content of a tuple space: its oldest tuples and its claims
    #[command(after_help = notes::SPACE_SHOW)]
    Show(ShowSpaceOptions),
    /// Show the clients that wait in a tuple space, their templates, and the tuples that nearly fit
    #[command(after_help = notes::SPACE_WHY)]
    Why(NameOptions),
    /// Write down all tuples of a tuple space
    #[command(after_help = notes::SPACE_DUMP)]
    Dump(NameOptions),
    /// Put tuples that `pvm space dump` has written down
    #[command(after_help = notes::SPACE_LOAD)]
    Load(LoadOptions),
    /// Delete a tuple space with all its tuples
    #[command(after_help = notes::SPACE_DELETE)]
    Delete(NameOptions),
}

/// The arguments of `pvm space create`.
#[derive(Debug, Args)]
pub(crate) struct CreateOptions {
    /// Its name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The number of copies on other hosts: this many hosts may die and no tuple is lost
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) copies: u8,
    /// The limit of its size, such as 500M or 20G
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = bytes)]
    pub(crate) limit: u64,
    /// Keep the space on disk, too, in this directory of each host that holds it
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) durable: Option<PathBuf>,
    /// The effect of a put when the space is full: the put waits (block), its tuple goes to a file
    /// of the server (spill), or the put fails (error)
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = WhenFull::Block)]
    pub(crate) full: WhenFull,
    /// As --full error
    #[arg(long, conflicts_with = "full")]
    pub(crate) fail_when_full: bool,
    /// Answer at most this many seconds before the disk has the operation (0.01 to 60): a loss of
    /// power takes the operations that were answered in that time
    #[arg(long, value_name = "SECONDS", requires = "durable", value_parser = window)]
    pub(crate) sync_every: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The effect of a put when a space is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum WhenFull {
    /// The put waits until there is room
    Block,
    /// The tuple goes to a file of the server
    Spill,
    /// The put fails
    Error,
}

/// A loss window.
fn window(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    let fits = (0.01..=60.0).contains(&seconds);
    fits.then(|| Duration::from_secs_f64(seconds)).ok_or_else(|| "0.01 to 60".to_owned())
}

/// The arguments of `pvm space list`.
#[derive(Debug, Args)]
pub(crate) struct AllOptions {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of commands about one space.
#[derive(Debug, Args)]
pub(crate) struct NameOptions {
    /// The space
    #[arg(value_name = "SPACE")]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm space load`.
#[derive(Debug, Args)]
pub(crate) struct LoadOptions {
    /// The space
    #[arg(value_name = "SPACE")]
    pub(crate) name: String,
    /// The file with the tuples; standard input without it
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm space show`.
#[derive(Debug, Args)]
pub(crate) struct ShowSpaceOptions {
    /// The space
    #[arg(value_name = "SPACE")]
    pub(crate) name: String,
    /// The largest number of tuples to show
    #[arg(short, long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) tuples: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm out`.
#[derive(Debug, Args)]
pub(crate) struct OutOptions {
    /// The space
    #[arg(value_name = "SPACE")]
    pub(crate) space: String,
    /// The fields of the tuple
    #[arg(value_name = "FIELD", required = true, allow_negative_numbers = true)]
    pub(crate) fields: Vec<String>,
    /// Wait for room no longer than this
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `pvm take` and `pvm read`.
#[derive(Debug, Args)]
pub(crate) struct FindOptions {
    /// The space
    #[arg(value_name = "SPACE")]
    pub(crate) space: String,
    /// The fields of the template
    #[arg(value_name = "FIELD", required = true, allow_negative_numbers = true)]
    pub(crate) fields: Vec<String>,
    /// Wait no longer than this; 0 does not wait
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn bytes(text: &str) -> Result<u64, String> {
    super::trace::bytes(text).ok_or_else(|| "not a number of bytes, such as 500M or 20G".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds".to_owned()),
    }
}
