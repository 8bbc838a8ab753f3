//! Functions of the program that take messages as they arrive (`pvm_addmhf`).
//!
//! Before a receiving call looks for its own message, it takes the messages that the handlers are
//! waiting for. A handler runs outside of the library, with no current send buffer and the message
//! as the current receive buffer; afterwards both are as they were. Messages that a look had taken
//! in before it was registered are received as ever; those that had come and that nobody had looked
//! at are the handler's, as in PVM.

use std::ffi::{CString, c_char, c_int, c_void};

use pvm::orders;
use pvm::{Buffer, Forked, Gate, MessageKey, Task};
use pvm_wire::{Code, Envelope};

use crate::guard::{call, inside};
use crate::selection::Selection;
use crate::trace::{self, traced};
use crate::waiting::{Errand, Function};
use crate::{aside, buffer, output, pointer, session};

/// PVM has nine handlers of its own, so a program's first has this number.
const FIRST_NUMBER: usize = 9;

/// The messages that PVM's own handlers take: messages of one context, with tags that no program
/// uses. A handler of any tag that would take those, too, is refused.
const OWN: Selection = Selection { source: -1, tag: c_int::MIN, context: 0x7_ffff };

/// Runs a handler on its message, outside of the library, which it may call. Meanwhile the context
/// is the message's, so that an answer finds its way.
fn run(errand: &Errand) {
    let &Errand { function, argument: message, wanted, .. } = errand;
    let context = inside(|| buffer::get(message)?.with(|buffer| buffer.context()));
    let saved = buffer::save();
    let own = context.map(session::set_context);
    buffer::exchange_receiving(message);
    if let Some(wanted) = wanted {
        let head = buffer::told(message);
        let told = [message, head.bytes, head.tag, head.context, head.source];
        trace::handler_called(wanted, told);
    }
    // SAFETY: the program registered this function for this purpose, or it is one of the library's
    // own.
    trace::as_program(|| unsafe { function(message) });
    if let Ok(own) = own {
        session::set_context(own);
    }
    buffer::restore(saved);
}

/// A registered handler.
#[derive(Clone, Copy)]
struct Handler {
    selection: Selection,
    function: Function,
    /// Messages that came before this mark are received as ever.
    since: MessageKey,
}

/// The handlers, by number, and the messages that they have been asked about.
struct Handlers {
    places: Vec<Option<Handler>>,
    /// The handlers have been asked about all messages before this one. Each message is looked at
    /// once, so that a receive does not cost what is queued.
    seen: MessageKey,
}

static HANDLERS: Gate<Handlers> = Gate::new(Handlers::NONE);

// In `control`, which leads here by way of leaving.
unsafe extern "C" {
    fn pvm_tc_settrace(message: c_int) -> c_int;
    fn pvm_tc_settmask(message: c_int) -> c_int;
    fn pvm_tc_settrcbuf(message: c_int) -> c_int;
    fn pvm_tc_settrcopt(message: c_int) -> c_int;
}

/// The library's own function for an order of another task, as PVM's own handlers have one.
fn own_function(envelope: &Envelope) -> Option<Function> {
    let function: Function = match envelope.tag {
        orders::SET_TRACE => pvm_tc_settrace,
        orders::SET_MASK => pvm_tc_settmask,
        orders::SET_BUFFER => pvm_tc_settrcbuf,
        orders::SET_OPTIONS => pvm_tc_settrcopt,
        _ => return None,
    };
    orders::is_order(envelope).then_some(function)
}

/// The child is another task, whose messages are counted from the first again.
pub(crate) fn reset_after_fork(forked: &Forked) {
    HANDLERS.reset_after_fork(forked, || Handlers::NONE);
    if let Ok(mut handlers) = HANDLERS.enter() {
        handlers.start_again();
    }
}

/// After `pvm_exit` nothing is handled any more.
pub(crate) fn forget_all() {
    if let Ok(mut handlers) = HANDLERS.enter() {
        handlers.places.clear();
        handlers.start_again();
    }
}

impl Handlers {
    const NONE: Self = Self { places: Vec::new(), seen: MessageKey::FIRST };

    fn start_again(&mut self) {
        self.seen = MessageKey::FIRST;
        for handler in self.places.iter_mut().flatten() {
            handler.since = MessageKey::FIRST;
        }
    }
}

/// Takes a message that is not the program's to receive: output to be printed is dealt with here,
/// one for a handler is returned.
pub(crate) fn arrivals(task: &Task) -> Result<Option<Errand>, Code> {
    output::collect(task)?;
    if !aside::has(aside::MORE) {
        return Ok(None);
    }
    let mut handlers = HANDLERS.enter()?;
    // An order that comes from here on is seen by the next look.
    let any = handlers.places.iter().any(Option::is_some);
    if any {
        aside::set(aside::MORE)
    } else {
        aside::clear_more()
    }
    let (new, next) = task.pending_since(handlers.seen)?;
    for (key, envelope) in new {
        let fits = |h: &&Handler| key >= h.since && h.selection.fits(&envelope);
        let handler = handlers.places.iter().flatten().find(fits);
        let handler = handler.map(|handler| (handler.function, Some(handler.selection)));
        let own = || own_function(&envelope).map(|function| (function, None));
        if let Some((function, wanted)) = handler.or_else(own)
            && let Some(message) = task.take(key)?
        {
            handlers.seen = key;
            aside::set(aside::MORE);
            return due(function, wanted, message).map(Some);
        }
    }
    handlers.seen = next;
    Ok(None)
}

fn due(function: Function, wanted: Option<Selection>, message: Buffer) -> Result<Errand, Code> {
    Ok(Errand { run, function, argument: buffer::insert_received(message)?, wanted })
}

/// Runs the handlers of all messages that are there. Called outside of the library.
pub(crate) fn run_all() {
    while let Ok(Some(due)) = inside(|| session::current().map_or(Ok(None), arrivals)) {
        due.run();
    }
}

/// Registers a handler and returns its number.
///
/// # Safety
/// The function can be called until it is deleted.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pvm_addmhf(
    source: c_int,
    tag: c_int,
    context: c_int,
    function: Option<Function>,
) -> c_int {
    traced!(
        unsafe ADDMHF,
        pvm_addmhf(source, tag, context, function),
        [RST: source, RMC: tag, RCX: context],
        |r| [MHI: r]
    );
    call("pvm_addmhf", || {
        let function = function.ok_or(Code::BadParam)?;
        let task = session::task()?;
        let selection = Selection { source, tag, context };
        aside::set(aside::MORE);
        let mut handlers = HANDLERS.enter()?;
        let Handlers { places, seen } = &mut *handlers;
        let overlaps = |other: &Handler| selection.overlaps(other.selection);
        if selection.overlaps(OWN) || places.iter().flatten().any(overlaps) {
            return Err(Code::Exists);
        }
        let since = task.mark()?;
        if places.iter().all(Option::is_none) {
            *seen = since;
        }
        let place = places.iter().position(Option::is_none).unwrap_or_else(|| {
            places.push(None);
            places.len() - 1
        });
        places[place] = Some(Handler { selection, function, since });
        c_int::try_from(place + FIRST_NUMBER).map_err(|_| Code::OutOfRes)
    })
}

/// Removes a handler.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn pvm_delmhf(number: c_int) -> c_int {
    traced!(DELMHF, pvm_delmhf(number), [MHI: number], |r| [CC: r]);
    call("pvm_delmhf", || {
        let number = usize::try_from(number).map_err(|_| Code::BadParam)?;
        let place = number.checked_sub(FIRST_NUMBER).ok_or(Code::NotFound)?;
        let mut handlers = HANDLERS.enter()?;
        let handler = handlers.places.get_mut(place).and_then(Option::take);
        handler.map(|_| 0).ok_or(Code::NotFound)
    })
}

unsafe extern "C" {
    static stdout: *mut c_void;
    fn fputs(text: *const c_char, stream: *mut c_void) -> c_int;
}

/// Prints the handlers to standard output, for programs that look for a fault.
///
/// # Safety
/// The texts are null or end with 0.
#[unsafe(no_mangle)]
unsafe extern "C" fn pvmdisplaymhfinfo(
    who: *const c_char,
    what: *const c_char,
    tid: c_int,
) -> c_int {
    call("pvmdisplaymhfinfo", || {
        // SAFETY: `who` is null or ends with 0; the text is copied before this call returns.
        let who = unsafe { pointer::text_or_none(who) }.unwrap_or_default();
        // SAFETY: `what` is null or ends with 0; the text is copied before this call returns.
        let what = unsafe { pointer::text_or_none(what) }.unwrap_or_default();
        let who = format!("{} t{tid:x}", String::from_utf8_lossy(who));
        let mut text = format!("\n{who}: {}\n", String::from_utf8_lossy(what));
        for (place, handler) in HANDLERS.enter()?.places.iter().enumerate() {
            let Some(Handler { selection, .. }) = handler else { continue };
            let Selection { source, tag, context } = selection;
            let number = place + FIRST_NUMBER;
            text += &format!("{who}: handler {number} src t{source:x} ctx {context} tag {tag}\n");
        }
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: the stream is the C library's own, open unless the program closed it.
        unsafe { fputs(text.as_ptr(), stdout) };
        Ok(0)
    })
}
