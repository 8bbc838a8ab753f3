//! The common beginning of the commands of tuple spaces: they become tasks, open a space, and
//! report errors.

use crate::failure::{Failure, Status};
use crate::operator::Operator;
use pvm::Task;
use pvm_space::{Error, Space, Spaces, registry};
use pvm_wire::Blob;

/// Runs a command as a task.
pub(super) fn as_task<T>(body: impl FnOnce(&Spaces) -> Result<T, Failure>) -> Result<T, Failure> {
    // Finds out what is wrong if no machine runs, or its daemon does not answer.
    drop(Operator::connect()?);
    let task = Task::enrol(b"pvm space", false).map_err(|code| Failure::refused("space", code))?;
    task.be_unrecorded();
    let done = body(&Spaces::new(task));
    let left = task.leave().map_err(|code| Failure::refused("space", code));
    done.and_then(|value| left.map(|()| value))
}

/// The error message for a space, with advice.
pub(super) fn failure(name: &str, error: &Error) -> Failure {
    Failure::new(Status::Refused, format!("space {name}: {error}{}", remedy(name, error)))
}

/// An error after a part was done, and what to do.
pub(super) fn failure_after(name: &str, done: &str, error: &Error) -> Failure {
    let text = format!("space {name}: {done}, then: {error}{}", remedy(name, error));
    Failure::new(Status::Refused, text)
}

fn remedy(name: &str, error: &Error) -> String {
    match error {
        Error::NoSpace => {
            format!(
                "\n  `pvm space list` shows the spaces; `pvm space create {name}` makes this one"
            )
        }
        Error::Exists => "\n  `pvm space list` shows the spaces".to_owned(),
        Error::Lost => format!("\n  `pvm space delete {name}` forgets it"),
        Error::OnDisk(directory) => format!(
            "\n  make it again with `pvm space create {name} --durable {directory}`, then delete it"
        ),
        Error::Disk(why) if why.contains("No such file or directory") => {
            "\n  make the directory on each host that keeps the space, then try again".to_owned()
        }
        Error::Disk(_) => {
            "\n  make room, then try again; a space whose disk has failed is made again of what is \
             on it by `pvm space create --durable`"
                .to_owned()
        }
        Error::FilesLeft(directory) => format!(
            "\n  remove {directory}/{name}.*.tuples there: a new space of this name would begin \
             with their tuples"
        ),
        Error::NoServer(_) => {
            "\n  the program pvmtuples lies beside pvmd where NeoPVM is installed".to_owned()
        }
        _ => String::new(),
    }
}

/// A name that a space can have.
pub(super) fn checked_name(name: &str) -> Result<Blob, Failure> {
    if name.is_empty() || name.len() > registry::NAME_BYTES_MAX {
        let most = registry::NAME_BYTES_MAX;
        let text = format!("space {name:?}: a name has 1 to {most} bytes");
        return Err(Failure::new(Status::Usage, text));
    }
    Ok(Blob::from(name))
}

/// Opens a space and does something with it, as a task.
pub(super) fn opened<T>(
    name: &str,
    body: impl FnOnce(&Spaces, Space) -> Result<T, Error>,
) -> Result<T, Failure> {
    let blob = checked_name(name)?;
    as_task(|spaces| {
        let done = spaces.open(&blob).and_then(|space| body(spaces, space));
        done.map_err(|error| failure(name, &error))
    })
}
