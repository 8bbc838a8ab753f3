//! Notices: what a task is told of when others end, or hosts come and go.

use std::ffi::c_int;

use pvm_wire::request::Request;
use pvm_wire::{Code, Context, Tag, Tid};

use crate::guard::call;
use crate::trace::{ints_at, traced};
use crate::{pointer, session};

const TASK_EXIT: c_int = 1;
const HOST_DELETE: c_int = 2;
const HOST_ADD: c_int = 3;
const ROUTE_ADD: c_int = 4;
const ROUTE_DELETE: c_int = 5;
const CANCEL: c_int = 256;

/// The arguments of `pvm_notify`.
pub(crate) struct Notice<'a> {
    pub(crate) kind: c_int,
    pub(crate) tag: c_int,
    pub(crate) context: c_int,
    pub(crate) count: c_int,
    /// The ids that it is about, for kinds that are about some.
    pub(crate) tids: &'a [c_int],
}

/// True for a kind of notice that is about tasks or hosts that are named.
fn has_subjects(kind: c_int) -> bool {
    matches!(kind & !CANCEL, TASK_EXIT | HOST_DELETE | ROUTE_DELETE)
}

/// Asks for notices.
pub(crate) fn notify(notice: Notice<'_>) -> Result<(), Code> {
    let cancel = notice.kind & CANCEL != 0;
    let kind = notice.kind & !CANCEL;
    let reserved = session::option(session::RESERVED) != 0;
    if !(TASK_EXIT..=ROUTE_DELETE).contains(&kind) || notice.tag < 0 && !reserved {
        return Err(Code::BadParam);
    }
    let watched = if has_subjects(kind) { notice.tids } else { &[] };
    // As in PVM hosts are not looked at: where a number names none, that host is gone.
    let good = |&tid: &c_int| kind == HOST_DELETE || Tid::from_c_int(tid).may_be_task();
    if has_subjects(kind) && watched.is_empty() || !watched.iter().all(good) {
        return Err(Code::BadParam);
    }
    let tids: Vec<Tid> = watched.iter().map(|&tid| Tid::from_c_int(tid)).collect();
    let count = if kind >= HOST_ADD { notice.count } else { 0 };
    let Notice { context, tag, .. } = notice;
    match kind {
        ROUTE_ADD => {
            let (context, tag) = (Context(context), Tag(tag));
            return session::task()?.notify_route_add(context, tag, count, cancel);
        }
        ROUTE_DELETE => {
            let (context, tag) = (Context(context), Tag(tag));
            return session::task()?.notify_route_delete(context, tag, &tids, cancel);
        }
        _ => {}
    }
    session::task()?.request(&Request::Notify { kind, cancel, context, tag, count, tids })?;
    Ok(())
}

/// Asks for notices.
///
/// # Safety
/// `tids` has `count` elements where the kind uses them.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_notify(
    kind: c_int,
    tag: c_int,
    count: c_int,
    tids: *const c_int,
) -> c_int {
    traced!(
        unsafe NOTIFY,
        pvm_notify(kind, tag, count, tids),
        [NE: kind, NMC: tag, NTL: ints_at(tids, count)],
        |r| [CC: r]
    );
    call("pvm_notify", || {
        let number = if has_subjects(kind) { usize::try_from(count).unwrap_or(0) } else { 0 };
        // SAFETY: `tids` is null or has `number` elements, by the call's contract.
        let tids = unsafe { pointer::array(tids, number) }?;
        notify(Notice { kind, tag, context: session::context(), count, tids })?;
        Ok(0)
    })
}
