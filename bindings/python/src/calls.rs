//! The records of this binding's calls, for those who record the task.

use pvm::Task;
use pvm::probe::{Current, Noting, begin};
use pvm_wire::record::What;
use std::cell::Cell;

thread_local! {
    /// Calls that this thread is in: a signal handler, or a function that combines, may make more.
    static DEPTH: Cell<u8> = const { Cell::new(0) };
}

/// A call, from its begin to the end of this value. While nobody records, a look at one word.
pub(crate) struct Call {
    noting: Option<(Noting, Current)>,
    what: Option<What>,
}

impl Call {
    /// A call of this number (`pvm_wire::record::calls`).
    pub(crate) fn begin(task: &'static Task, call: u16) -> Self {
        let noting = task.noting_slowly().map(|noting| {
            let depth = DEPTH.get();
            DEPTH.set(depth.saturating_add(1));
            (noting, begin(call, depth))
        });
        Self { noting, what: None }
    }

    /// Whether the call is recorded.
    pub(crate) const fn is_noted(&self) -> bool {
        self.noting.is_some()
    }

    /// Notes the work of a call that is no message.
    pub(crate) fn did(&mut self, what: What) {
        self.what = Some(what);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some((noting, outer)) = self.noting.take() {
            DEPTH.set(DEPTH.get().saturating_sub(1));
            noting.end(outer, 0, self.what.take());
        }
    }
}
