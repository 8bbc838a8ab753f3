//! Output of other tasks that this one prints (`pvm_catchout`).
//!
//! A spawned task's output reaches its collector as messages, one piece of output each:
//!
//! ```text
//! int tid   int n   n bytes        n > 0
//! int tid   int 0                  the output has ended
//! int tid   int -1  int parent     its output begins
//! int tid   int -2  int parent     the task was made; its output will come
//! ```
//! `pvm_catchout` directs the output of children to this task, under a tag and context that the
//! library keeps for itself, and prints whole lines as they are complete.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};

use pvm::{Buffer, Forked, Gate, Task};
use pvm_wire::{Code, Kind};

use crate::guard::call;
use crate::say::{say, who};
use crate::selection::Selection;
use crate::waiting::{Limit, Look, wait_for};
use crate::{aside, session};

/// The context and tag under which caught output comes; PVM's `SYSCTX_TC` and `TC_OUTPUTX`.
const CONTEXT: c_int = 0x7_ffff;
const TAG: c_int = 0x8003_000b_u32.cast_signed();

/// A C stream.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stream(*mut c_void);

// SAFETY: the C library locks its streams.
unsafe impl Send for Stream {}

unsafe extern "C" {
    fn fwrite(data: *const c_void, size: usize, count: usize, stream: *mut c_void) -> usize;
    fn fflush(stream: *mut c_void) -> c_int;
}

/// The state of the output that is being caught.
struct Catch {
    stream: Option<Stream>,
    /// Tasks whose end of output has not come.
    open: BTreeSet<c_int>,
    /// Beginnings of lines.
    partial: BTreeMap<c_int, Vec<u8>>,
}

impl Catch {
    const NOTHING: Self = Self { stream: None, open: BTreeSet::new(), partial: BTreeMap::new() };
}

static CATCH: Gate<Catch> = Gate::new(Catch::NOTHING);

pub(crate) fn reset_after_fork(forked: &Forked) {
    CATCH.reset_after_fork(forked, || Catch::NOTHING);
}

/// A piece of output.
#[derive(PartialEq, Eq, Debug)]
enum Piece {
    Bytes(Vec<u8>),
    End,
    Begin,
    Made,
}

fn int(buffer: &mut Buffer) -> Result<c_int, Code> {
    let mut bytes = [0; 4];
    buffer.unpack(Kind::Int, &mut bytes)?;
    Ok(c_int::from_ne_bytes(bytes))
}

fn piece(buffer: &mut Buffer) -> Result<(c_int, Piece), Code> {
    let tid = int(buffer)?;
    let piece = match int(buffer)? {
        0 => Piece::End,
        -1 => Piece::Begin,
        -2 => Piece::Made,
        n => {
            let n = usize::try_from(n).map_err(|_| Code::BadMsg)?;
            if n > buffer.data_size() {
                return Err(Code::BadMsg);
            }
            let mut bytes = vec![0; n];
            buffer.unpack(Kind::Byte, &mut bytes)?;
            Piece::Bytes(bytes)
        }
    };
    Ok((tid, piece))
}

impl Catch {
    /// The lines that a piece completes.
    fn lines(&mut self, tid: c_int, piece: Piece) -> Vec<u8> {
        let tagged = session::option(session::SHOW_TIDS) != 0;
        let mark = if tagged { format!("[t{tid:x}] ") } else { String::new() };
        let mut out = Vec::new();
        match piece {
            Piece::Begin => {
                self.open.insert(tid);
                if tagged {
                    out.extend_from_slice(format!("{mark}BEGIN\n").as_bytes());
                }
            }
            Piece::Made => {
                self.open.insert(tid);
            }
            Piece::Bytes(bytes) => {
                self.open.insert(tid);
                let waiting = self.partial.entry(tid).or_default();
                waiting.extend_from_slice(&bytes);
                while let Some(end) = waiting.iter().position(|&b| b == b'\n') {
                    out.extend_from_slice(mark.as_bytes());
                    out.extend(waiting.drain(..=end));
                }
            }
            Piece::End => {
                self.open.remove(&tid);
                if let Some(rest) = self.partial.remove(&tid).filter(|rest| !rest.is_empty()) {
                    out.extend_from_slice(mark.as_bytes());
                    out.extend_from_slice(&rest);
                    out.push(b'\n');
                }
                if tagged {
                    out.extend_from_slice(format!("{mark}EOF\n").as_bytes());
                }
            }
        }
        out
    }

    fn print(&self, text: &[u8]) {
        if let Some(Stream(stream)) = self.stream.filter(|_| !text.is_empty()) {
            // SAFETY: the stream is open, as the program promised to `pvm_catchout`.
            unsafe { fwrite(text.as_ptr().cast(), 1, text.len(), stream) };
            // SAFETY: as above.
            unsafe { fflush(stream) };
        }
    }
}

/// Prints the output that has arrived.
pub(crate) fn collect(task: &Task) -> Result<(), Code> {
    if !is_catching()? {
        return Ok(());
    }
    while let Some(mut message) =
        task.receive(&Selection { source: -1, tag: TAG, context: CONTEXT }.pattern())?
    {
        let mut catch = CATCH.enter()?;
        if let Ok((tid, piece)) = piece(&mut message) {
            let lines = catch.lines(tid, piece);
            catch.print(&lines);
        }
    }
    Ok(())
}

/// True once output was caught.
#[inline]
pub(crate) fn is_possible() -> bool {
    aside::has(aside::CATCHES)
}

fn is_catching() -> Result<bool, Code> {
    if !is_possible() {
        return Ok(false);
    }
    let catch = CATCH.enter()?;
    Ok(catch.stream.is_some() || !catch.open.is_empty())
}

/// Notes tasks whose output will come here.
pub(crate) fn expect(task: &Task, tids: &[c_int]) -> Result<(), Code> {
    let here = session::option(session::OUTPUT_TID) == task.tid().as_c_int()
        && session::option(session::OUTPUT_TAG) == TAG;
    if here {
        aside::set(aside::CATCHES);
        CATCH.enter()?.open.extend(tids.iter().filter(|&&tid| tid > 0));
    }
    Ok(())
}

/// Waits until all caught output has ended, as `pvm_exit` does.
pub(crate) fn wait_for_end(task: &Task) -> Result<(), Code> {
    collect(task)?;
    let catch = CATCH.enter()?;
    if catch.stream.is_some() && !catch.open.is_empty() {
        let text = "child task(s) still running.  waiting...";
        say(format!("libpvm {}: {text}\n", who()).as_bytes());
    }
    Ok(())
}

/// The waiting itself; called outside of the library.
pub(crate) fn drain() -> Result<(), Code> {
    wait_for(Limit::Never, None, |task, _| {
        collect(task)?;
        let catch = CATCH.enter()?;
        let done = catch.stream.is_none() || catch.open.is_empty();
        Ok(if done { Look::Done(()) } else { Look::Nothing })
    })
    .map(drop)
}

/// Prints the output of tasks spawned from now on to a stream; null ends that.
///
/// # Safety
/// `stream` is null or open until it is replaced.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_catchout(stream: *mut c_void) -> c_int {
    call("pvm_catchout", || {
        let task = session::task()?;
        aside::set(aside::CATCHES);
        collect(task)?;
        let mut catch = CATCH.enter()?;
        if stream.is_null() {
            catch.stream = None;
            session::set_option(session::OUTPUT_TID, 0);
            session::set_option(session::OUTPUT_TAG, 0);
            session::set_option(session::OUTPUT_CONTEXT, 0);
        } else {
            catch.stream = Some(Stream(stream));
            session::set_option(session::OUTPUT_TID, task.tid().as_c_int());
            session::set_option(session::OUTPUT_TAG, TAG);
            session::set_option(session::OUTPUT_CONTEXT, CONTEXT);
        }
        Ok(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Catch {
        Catch { stream: None, open: BTreeSet::new(), partial: BTreeMap::new() }
    }

    #[test]
    fn pieces_of_a_line_are_joined_and_marked() {
        let mut catch = empty();
        assert_eq!(catch.lines(0x40002, Piece::Begin), b"[t40002] BEGIN\n");
        assert_eq!(catch.lines(0x40002, Piece::Bytes(b"one\ntw".to_vec())), b"[t40002] one\n");
        assert_eq!(catch.lines(0x40002, Piece::Bytes(b"o\n".to_vec())), b"[t40002] two\n");
        assert_eq!(catch.lines(0x40002, Piece::Bytes(b"x".to_vec())), b"");
        assert_eq!(catch.lines(0x40002, Piece::End), b"[t40002] x\n[t40002] EOF\n");
        assert!(catch.open.is_empty());
    }

    #[test]
    fn a_grandchild_keeps_the_output_open() {
        let mut catch = empty();
        catch.lines(1, Piece::Begin);
        catch.lines(2, Piece::Made);
        catch.lines(1, Piece::End);
        assert!(!catch.open.is_empty());
        catch.lines(2, Piece::End);
        assert!(catch.open.is_empty());
    }
}
