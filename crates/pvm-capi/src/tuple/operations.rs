//! The operations in spaces.

use std::num::NonZeroU64;

use pvm_space::{Error, Found, Spaces, Ticket};
use pvm_tuples::client::End;
use pvm_tuples::{Find, Op, Outcome, Tuple};
use pvm_wire::Code;

use super::table::Held;
use super::{TABLE, finish, limit, space, status, within};
use crate::pointer::{array, store};
use crate::trace::noted;
use crate::waiting::Limit;

fn tuple(handle: i32) -> Result<Tuple, Error> {
    let mut table = TABLE.enter()?;
    let held = table.get(handle).ok_or(Code::BadParam)?;
    Ok(held.tuple().ok_or(Code::BadParam)?.clone())
}

/// # Safety
/// There are `count` handles.
unsafe fn tuples(handles: *const i32, count: u64) -> Result<Vec<Tuple>, Error> {
    let count = usize::try_from(count).map_err(|_| Code::BadParam)?;
    // SAFETY: `handles` has `count` elements, or is null, which `array` refuses unless there are
    // none.
    unsafe { array(handles, count) }?.iter().map(|handle| tuple(*handle)).collect()
}

fn begin(handle: i32, op: Op, limit: Limit) -> Result<(&'static Spaces, Ticket), Error> {
    let (spaces, space) = space(handle)?;
    Ok((spaces, spaces.begin(space, op, limit)?))
}

/// Performs an operation and returns its result.
fn perform(
    handle: i32,
    limit: Limit,
    op: impl FnOnce() -> Result<Op, Error>,
) -> Result<Outcome, Error> {
    match finish(|| begin(handle, op()?, limit))? {
        End::Answered(Outcome::Failed { reason }) => Err(reason.into()),
        End::Answered(outcome) => Ok(outcome),
        End::Lost => Err(Error::Lost),
        End::Unanswered => Err(Error::Unanswered),
        End::Seen(_) => Err(Code::DSysErr.into()),
    }
}

/// Puts tuples.
///
/// # Safety
/// There are `count` handles; `put` is null or points to a number.
unsafe fn put(
    handle: i32,
    handles: *const i32,
    count: u64,
    limit_ns: i64,
    put: *mut i32,
) -> Result<(), Error> {
    let limit = limit(limit_ns);
    let done = perform(handle, limit, || {
        // SAFETY: `handles` has `count` elements: this function asks its callers for it, too.
        let tuples = unsafe { tuples(handles, count) }?;
        if tuples.iter().any(Tuple::has_formals) {
            return Err(Error::Formal);
        }
        Ok(Op::Put { tuples, wait: limit_ns != 0 })
    })?;
    // SAFETY: `put` points to a number, or is null, which `store` skips.
    unsafe { store(put, i32::from(done == Outcome::Done)) };
    Ok(())
}

/// Puts a tuple.
///
/// # Safety
/// `done` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_out(handle: i32, tuple: i32, limit_ns: i64, done: *mut i32) -> i32 {
    noted!(unsafe NEOTUPLE_OUT, neotuple_out(handle, tuple, limit_ns, done));
    // SAFETY: `tuple` is one handle, and `done` is null or points to a number.
    status(unsafe { put(handle, &raw const tuple, 1, limit_ns, done) })
}

/// Puts tuples in one step.
///
/// # Safety
/// There are `count` handles; `done` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_out_all(
    handle: i32,
    handles: *const i32,
    count: u64,
    limit_ns: i64,
    done: *mut i32,
) -> i32 {
    noted!(unsafe NEOTUPLE_OUT_ALL, neotuple_out_all(handle, handles, count, limit_ns, done));
    // SAFETY: `handles` has `count` elements, and `done` is null or points to a number.
    status(unsafe { put(handle, handles, count, limit_ns, done) })
}

/// Looks for a tuple and gives it a handle.
///
/// # Safety
/// `out` is null or points to a handle.
unsafe fn find(handle: i32, template: i32, limit_ns: i64, how: Find, out: *mut i32) -> i32 {
    let find = || {
        let wait = limit_ns != 0;
        Ok(Op::Find { template: tuple(template)?, how, wait, limit_ms: None })
    };
    status(perform(handle, limit(limit_ns), find).and_then(|outcome| {
        within(|| {
            let found = match outcome {
                Outcome::Found { tuple, claim, tries } if !out.is_null() => {
                    let held = Held::found(Found { tuple, claim, tries });
                    TABLE.enter()?.add(held).ok_or(Code::OutOfRes)?
                }
                _ => 0,
            };
            // SAFETY: `out` points to a handle, or is null, which `store` skips.
            unsafe { store(out, found) };
            Ok(())
        })
    }))
}

/// Takes a tuple.
///
/// # Safety
/// `out` is null or points to a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_in(handle: i32, template: i32, limit_ns: i64, out: *mut i32) -> i32 {
    noted!(unsafe NEOTUPLE_IN, neotuple_in(handle, template, limit_ns, out));
    // SAFETY: `out` is null or points to a handle, as `find` asks.
    unsafe { find(handle, template, limit_ns, Find::Take, out) }
}

/// Copies a tuple.
///
/// # Safety
/// `out` is null or points to a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_rd(handle: i32, template: i32, limit_ns: i64, out: *mut i32) -> i32 {
    noted!(unsafe NEOTUPLE_RD, neotuple_rd(handle, template, limit_ns, out));
    // SAFETY: `out` is null or points to a handle, as `find` asks.
    unsafe { find(handle, template, limit_ns, Find::Copy, out) }
}

/// A lease in whole milliseconds, at least one; none if it has no end.
fn lease(nanoseconds: i64) -> Option<NonZeroU64> {
    NonZeroU64::new(u64::try_from(nanoseconds).ok()?.div_ceil(1_000_000))
}

/// Claims a tuple.
///
/// # Safety
/// `out` points to a handle.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_claim(
    handle: i32,
    template: i32,
    limit_ns: i64,
    lease_ns: i64,
    out: *mut i32,
) -> i32 {
    noted!(unsafe NEOTUPLE_CLAIM, neotuple_claim(handle, template, limit_ns, lease_ns, out));
    if out.is_null() {
        return Code::BadParam.number();
    }
    let how = Find::Claim { lease_ms: lease(lease_ns) };
    // SAFETY: `out` points to a handle, as `find` asks.
    unsafe { find(handle, template, limit_ns, how, out) }
}

fn claim(claimed: i32) -> Result<u64, Error> {
    let mut table = TABLE.enter()?;
    let held = table.get(claimed).ok_or(Code::BadParam)?;
    held.claim.map(NonZeroU64::get).ok_or_else(|| Code::BadParam.into())
}

fn end(handle: i32, op: impl FnOnce() -> Result<Op, Error>) -> i32 {
    status(perform(handle, Limit::Never, op).map(drop))
}

/// Ends a claim and puts tuples.
///
/// # Safety
/// There are `count` handles.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_done(
    handle: i32,
    claimed: i32,
    handles: *const i32,
    count: u64,
) -> i32 {
    noted!(unsafe NEOTUPLE_DONE, neotuple_done(handle, claimed, handles, count));
    end(handle, || {
        let claim = claim(claimed)?;
        // SAFETY: `handles` has `count` elements, by the call's contract.
        let tuples = unsafe { tuples(handles, count) }?;
        Ok(Op::Done { claim, tuples })
    })
}

/// Gives a claimed tuple back.
#[unsafe(no_mangle)]
extern "C" fn neotuple_give_back(handle: i32, claimed: i32) -> i32 {
    noted!(NEOTUPLE_GIVE_BACK, neotuple_give_back(handle, claimed));
    end(handle, || Ok(Op::GiveBack { claim: claim(claimed)? }))
}

/// Renews a lease.
#[unsafe(no_mangle)]
extern "C" fn neotuple_renew(handle: i32, claimed: i32, lease_ns: i64) -> i32 {
    noted!(NEOTUPLE_RENEW, neotuple_renew(handle, claimed, lease_ns));
    end(handle, || Ok(Op::Renew { claim: claim(claimed)?, lease_ms: lease(lease_ns) }))
}

/// Ends all claims of this task and puts tuples.
///
/// # Safety
/// There are `count` handles.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_done_all(handle: i32, handles: *const i32, count: u64) -> i32 {
    noted!(unsafe NEOTUPLE_DONE_ALL, neotuple_done_all(handle, handles, count));
    end(handle, || {
        // SAFETY: `handles` has `count` elements, by the call's contract.
        let tuples = unsafe { tuples(handles, count) }?;
        Ok(Op::DoneAll { tuples })
    })
}

/// Counts what fits.
///
/// # Safety
/// `count` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_count(handle: i32, template: i32, count: *mut u64) -> i32 {
    noted!(unsafe NEOTUPLE_COUNT, neotuple_count(handle, template, count));
    let op = || Ok(Op::Count { template: tuple(template)? });
    status(perform(handle, Limit::Never, op).and_then(|outcome| match outcome {
        Outcome::Counted { count: found } => {
            // SAFETY: `count` points to a number, or is null, which `store` skips.
            unsafe { store(count, found) };
            Ok(())
        }
        _ => Err(Code::DSysErr.into()),
    }))
}

/// Takes or copies what fits.
///
/// # Safety
/// `out` has `room` handles; `count` is null or points to a number.
unsafe fn gather(
    handle: i32,
    template: i32,
    (out, room): (*mut i32, u64),
    count: *mut u64,
    take: bool,
) -> i32 {
    if out.is_null() && room > 0 {
        return Code::BadParam.number();
    }
    let op = || Ok(Op::Gather { template: tuple(template)?, take, room });
    let gathered = perform(handle, Limit::Never, op);
    status(gathered.and_then(|outcome| {
        let Outcome::Gathered { tuples } = outcome else { return Err(Code::DSysErr.into()) };
        within(|| {
            // SAFETY: `count` points to a number, or is null, which `store` skips.
            unsafe { store(count, tuples.len() as u64) };
            let mut table = TABLE.enter()?;
            for (place, tuple) in tuples.into_iter().enumerate() {
                let held = Held::found(Found { tuple, claim: None, tries: 0 });
                let handle = table.add(held).ok_or(Code::OutOfRes)?;
                // SAFETY: a space gives at most as many as there is room for.
                unsafe { store(out.wrapping_add(place), handle) };
            }
            Ok(())
        })
    }))
}

/// Takes all that fit.
///
/// # Safety
/// `tuples` has `room` handles; `count` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_collect(
    handle: i32,
    template: i32,
    tuples: *mut i32,
    room: u64,
    count: *mut u64,
) -> i32 {
    noted!(unsafe NEOTUPLE_COLLECT, neotuple_collect(handle, template, tuples, room, count));
    // SAFETY: `tuples` has `room` elements, and `count` is null or points to a number.
    unsafe { gather(handle, template, (tuples, room), count, true) }
}

/// Copies all that fit.
///
/// # Safety
/// `tuples` has `room` handles; `count` is null or points to a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn neotuple_copy(
    handle: i32,
    template: i32,
    tuples: *mut i32,
    room: u64,
    count: *mut u64,
) -> i32 {
    noted!(unsafe NEOTUPLE_COPY, neotuple_copy(handle, template, tuples, room, count));
    // SAFETY: `tuples` has `room` elements, and `count` is null or points to a number.
    unsafe { gather(handle, template, (tuples, room), count, false) }
}
