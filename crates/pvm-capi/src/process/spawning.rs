//! Tasks that are started.

use std::ffi::{c_char, c_int};

use pvm::Task;
use pvm_wire::request::{Reply, Request, SpawnRequest};
use pvm_wire::{Blob, Code};

use crate::guard::{call, inside};
use crate::trace::{ints_at, text_at, traced};
use crate::waiting::{self, Patience};
use crate::{options, output, pointer, session};

/// The arguments of `pvm_spawn`.
pub(crate) struct Spawn<'a> {
    pub(crate) file: &'a [u8],
    pub(crate) args: Vec<Blob>,
    pub(crate) flags: c_int,
    pub(crate) place: &'a [u8],
    pub(crate) count: c_int,
}

impl Spawn<'_> {
    /// The request to the daemon.
    fn request(self) -> Result<Request, Code> {
        if self.count <= 0 {
            return Err(Code::BadParam);
        }
        let (place, directory) = host_and_directory(self.place);
        let spawn = SpawnRequest {
            file: self.file.to_vec().into(),
            args: self.args,
            flags: self.flags,
            place: place.to_vec().into(),
            count: self.count,
            environment: options::environment(),
            whole_environment: false,
            directory: directory.to_vec().into(),
            inherited: session::inherited(),
        };
        Ok(Request::Spawn { spawn })
    }
}

/// The parts of "host:directory", each of which may be missing.
fn host_and_directory(place: &[u8]) -> (&[u8], &[u8]) {
    match place.iter().position(|&c| c == b':') {
        Some(at) => (&place[..at], &place[at + 1..]),
        None => (place, &[]),
    }
}

/// Spawns, and returns the ids of the started tasks before the codes of the others.
pub(crate) fn spawn(wish: Spawn<'_>) -> Result<Vec<c_int>, Code> {
    let request = wish.request()?;
    let task = session::task()?;
    outcomes(task, task.request(&request)?)
}

/// [`spawn`] for a caller that may give up: none if it did, and no task has been started.
pub(crate) fn spawn_until<'a>(
    wish: impl FnOnce() -> Result<Spawn<'a>, Code>,
    patience: Patience<'_>,
) -> Result<Option<Vec<c_int>>, Code> {
    let Some(reply) = waiting::ask_until(|_| wish()?.request(), patience)? else { return Ok(None) };
    inside(|| outcomes(session::task()?, reply).map(Some))
}

fn outcomes(task: &Task, reply: Reply) -> Result<Vec<c_int>, Code> {
    let Reply::Spawned { mut outcomes, .. } = reply else { return Err(session::unexpected()) };
    outcomes.sort_by_key(|&outcome| outcome <= 0);
    output::expect(task, &outcomes)?;
    Ok(outcomes)
}

/// Starts programs.
///
/// # Safety
/// The texts are null or end with 0; `args` is null or ends with null; `tids` is null or has
/// `count` elements.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_spawn(
    file: *const c_char,
    args: *const *const c_char,
    flags: c_int,
    place: *const c_char,
    count: c_int,
    tids: *mut c_int,
) -> c_int {
    traced!(
        unsafe SPAWN,
        pvm_spawn(file, args, flags, place, count, tids),
        [SE: text_at(file), SW: text_at(place), SF: flags, SC: count],
        |r| [CC: r, STL: ints_at(tids, r)]
    );
    call("pvm_spawn", || {
        // SAFETY: `file` is null or ends with 0, by the call's contract.
        let file = unsafe { pointer::text(file) }?;
        // SAFETY: `place` is null or ends with 0, by the call's contract.
        let place = unsafe { pointer::text_or_none(place) }.unwrap_or_default();
        // SAFETY: `args` is null or a list of texts that ends with null, by the call's contract.
        let args = unsafe { arguments(args) };
        let outcomes = spawn(Spawn { file, args, flags, place, count })?;
        for (i, &outcome) in outcomes.iter().enumerate().filter(|_| !tids.is_null()) {
            // SAFETY: not null, and it has `count` elements: as many as there are outcomes.
            unsafe { tids.add(i).write(outcome) };
        }
        started(&outcomes)
    })
}

/// The number of outcomes that are tasks.
pub(crate) fn started(outcomes: &[c_int]) -> Result<c_int, Code> {
    c_int::try_from(outcomes.iter().filter(|&&outcome| outcome > 0).count())
        .map_err(|_| Code::Overflow)
}

/// # Safety
/// `list` is null or an array of texts that ends with null.
pub(crate) unsafe fn arguments(list: *const *const c_char) -> Vec<Blob> {
    let mut args = Vec::new();
    if list.is_null() {
        return args;
    }
    // SAFETY: the element exists, as the one before was not the last.
    while let Some(arg) = unsafe { pointer::text_or_none(list.add(args.len()).read()) } {
        args.push(arg.to_vec().into());
    }
    args
}
