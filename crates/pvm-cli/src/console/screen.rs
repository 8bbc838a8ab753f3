//! The destination of the console's output.

use std::io::{Write as _, stderr, stdout};

/// Shows texts.
pub(crate) trait Screen {
    /// Shows a command's answer, or the output of a task.
    fn say(&mut self, text: &[u8]);
    /// Shows an error of PVM's library, which goes to standard error.
    fn complain(&mut self, text: &str);
}

/// Standard output as it is; at once, because others read it while we live.
#[derive(Debug)]
pub(crate) struct Plain;

impl Screen for Plain {
    fn say(&mut self, text: &[u8]) {
        let mut out = stdout().lock();
        if out.write_all(text).and_then(|()| out.flush()).is_err() {
            // The reader has gone; a script without a reader has no purpose.
            std::process::exit(1);
        }
    }

    fn complain(&mut self, text: &str) {
        let _ = stderr().write_all(text.as_bytes());
    }
}
