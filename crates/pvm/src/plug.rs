//! The messages that the daemons carry: those for one of them, and between them and the tasks that
//! do a part of their work (`pvmsdpro.h`).

use crate::buffer::Buffer;
use pvm_wire::request::Request;
use pvm_wire::{Code, FRAME_BYTES_MAX, Tid, plug};

/// True for a message that does not go from task to task.
pub(crate) const fn is_carried(to: Tid, tag: i32) -> bool {
    to.is_daemon() || plug::is_plug_tag(tag)
}

/// The request that has it carried. As with every sending the buffer remembers tag and receiver.
pub(crate) fn post(
    buffer: &mut Buffer,
    (from, to): (Tid, Tid),
    tag: i32,
    context: i32,
) -> Result<Request, Code> {
    if !to.is_daemon() && !to.is_task() {
        return Err(Code::BadParam);
    }
    buffer.edit(|about| (about.tag, about.dst) = (tag, to));
    let mut message = buffer.to_message()?;
    (message.envelope.src, message.envelope.context) = (from, context);
    if message.body.0.len() > FRAME_BYTES_MAX / 4 {
        return Err(Code::Overflow);
    }
    Ok(Request::Post { to, message })
}

/// The cookie that a tasker has put into the environment of its child; 0 for all other processes.
pub(crate) fn cookie() -> u32 {
    std::env::var("PVMEPID").ok().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::Encoding;

    #[test]
    fn daemons_and_their_tags_are_carried_and_nothing_else() {
        let task = Tid(0x40001);
        assert!(is_carried(Tid::NOTICE_SOURCE, 1) && is_carried(task, plug::CONFIG));
        assert!(!is_carried(task, -5) && !is_carried(task, 0));
        let mut buffer = Buffer::new(Encoding::Default);
        let nobody = post(&mut buffer, (task, Tid::NONE), plug::CONFIG, 0);
        assert_eq!(nobody, Err(Code::BadParam));
        let Ok(Request::Post { to, message }) = post(&mut buffer, (task, task), plug::ADD, 7)
        else {
            panic!("refused")
        };
        let envelope = message.envelope;
        assert_eq!((to, envelope.src, envelope.tag, envelope.context), (task, task, plug::ADD, 7));
    }
}
