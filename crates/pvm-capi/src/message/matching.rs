//! The program's own matching (`pvm_recvf`): its function chooses among all messages that are
//! there.

use std::ffi::c_int;

use pvm::{Forked, Gate, Step};
use pvm_wire::Code;

use super::fast;
use crate::guard::{failed, inside, refused};
use crate::held::{self, Shown};
use crate::selection::{Partner, Selection};
use crate::trace::traced;
use crate::waiting::{Limit, Patience, check_task};
use crate::{aside, buffer, handler, session};

/// Says of a message (its number) whether a receive (of this task id and tag) takes it.
pub(crate) type Match = unsafe extern "C" fn(c_int, c_int, c_int) -> c_int;

/// None is PVM's own, which needs no function.
static MATCH: Gate<Option<Match>> = Gate::new(None);

pub(crate) fn reset_after_fork(forked: &Forked) {
    MATCH.reset_after_fork(forked, || None);
}

/// The function that a receive asks, if it has to ask one.
pub(super) fn custom() -> Result<Option<Match>, Code> {
    if !fast::custom_is_possible() {
        return Ok(None);
    }
    // A pattern has one context; as in PVM, a program in context -1 receives from all of them.
    let every_context = session::context() == -1;
    Ok(MATCH.enter()?.or(every_context.then_some(default_match)))
}

/// From now on receives ask whether there is a function.
pub(super) fn look_further() {
    aside::set(aside::MATCHES);
}

/// The matching of receives if the program has not set its own: as a function, so that a program's
/// own can call it.
unsafe extern "C" fn default_match(id: c_int, tid: c_int, tag: c_int) -> c_int {
    let wanted = Selection { source: tid, tag, context: session::context() };
    let fits = inside(|| buffer::get(id)?.with(|buffer| wanted.fits(&buffer.envelope())));
    c_int::from(fits == Ok(true))
}

/// Changes the matching of receives and returns the old function; null is PVM's own.
///
/// # Safety
/// The function can be called until it is replaced.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_recvf(function: Option<Match>) -> Option<Match> {
    traced!(unsafe RECVF, pvm_recvf(function), [], |_r| []);
    let default: Match = default_match;
    let own = function.filter(|&function| !std::ptr::fn_addr_eq(function, default));
    let old = inside(|| {
        look_further();
        Ok(std::mem::replace(&mut *MATCH.enter()?, own))
    });
    Some(old.ok().flatten().unwrap_or(default))
}

/// The reason why a receive with the program's own matching gave up.
pub(super) enum Stop {
    /// The library says so.
    Failed(Code),
    /// The program's function says so, with a result of its own.
    Refused(c_int),
}

impl From<Code> for Stop {
    fn from(code: Code) -> Self {
        Self::Failed(code)
    }
}

impl Stop {
    pub(super) fn report(self, name: &str) -> c_int {
        match self {
            Self::Failed(code) => failed(name, code),
            Self::Refused(number) => match Code::from_number(number) {
                Some(code) => failed(name, code),
                None => refused(name, number),
            },
        }
    }
}

/// Shows the messages that came after the one of number `seen` (in the order of [`Shown`]), of all
/// contexts, as PVM does, to the program's function: below zero ends the search with that result, 0
/// passes the message over, 1 takes it, and of the larger answers the largest takes its message.
pub(super) fn choose(
    function: Match,
    Partner { tid, tag }: Partner,
    seen: &mut u64,
) -> Result<Option<Shown>, Stop> {
    let all = inside(|| held::show_all(session::task()?, *seen))?;
    let mut best: Option<(c_int, Shown)> = None;
    for shown in all {
        *seen = shown.place;
        // SAFETY: the program registered this function for this purpose.
        let rank = unsafe { function(shown.id, tid, tag) };
        let is_here = inside(|| held::put_back(shown))?;
        match rank {
            number if number < 0 => return Err(Stop::Refused(number)),
            _ if !is_here => {}
            1 => return Ok(Some(shown)),
            0 => {}
            rank if best.is_none_or(|(other, _)| rank > other) => best = Some((rank, shown)),
            _ => {}
        }
    }
    Ok(best.map(|(_, shown)| shown))
}

/// The number of a message that the program's function takes. Each message is shown once, however
/// often the receive wakes up.
pub(super) fn receive(
    function: Match,
    wanted: Partner,
    limit: Limit,
) -> Result<Option<c_int>, Stop> {
    let mut seen = 0;
    let task = inside(session::task)?;
    task.until(Patience::by(limit), |token| {
        handler::run_all();
        inside(|| check_task(task))?;
        let Some(shown) = choose(function, wanted, &mut seen)? else {
            return Ok(Step::Sleep(token));
        };
        if inside(|| held::remove(shown))? {
            return Ok(Step::Done(shown.id));
        }
        // Another thread was faster: all others are shown once more.
        seen = 0;
        Ok(Step::Again)
    })
}
