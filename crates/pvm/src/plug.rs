//! The messages that the daemons carry: those for one of them, and between them and the tasks that
//! do a part of their work (`pvmsdpro.h`).

use crate::buffer::Buffer;
use pvm_wire::request::Request;
use pvm_wire::{Address, Code, FRAME_BYTES_MAX, Tag, Tid, plug};

/// True for a message that does not go from task to task.
pub(crate) const fn is_carried(to: Tid, tag: Tag) -> bool {
    to.is_daemon() || plug::is_plug_tag(tag.0)
}

/// The request that has it carried. As with every sending the buffer remembers tag and receiver.
pub(crate) fn post(buffer: &mut Buffer, from: Tid, address: Address) -> Result<Request, Code> {
    let Address { to, tag, context } = address;
    if !to.is_daemon() && !to.is_task() {
        return Err(Code::BadParam);
    }
    buffer.edit(|about| (about.tag, about.dst) = (tag.0, to));
    let mut message = buffer.to_message()?;
    (message.envelope.src, message.envelope.context) = (from, context.0);
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
    use pvm_wire::{Context, Encoding};

    #[test]
    fn daemons_and_their_tags_are_carried_and_nothing_else() {
        let task = Tid(0x40001);
        assert!(is_carried(Tid::NOTICE_SOURCE, Tag(1)) && is_carried(task, Tag(plug::CONFIG)));
        assert!(!is_carried(task, Tag(-5)) && !is_carried(task, Tag(0)));
        let mut buffer = Buffer::new(Encoding::Default);
        let to = |to, tag, context| Address { to, tag: Tag(tag), context: Context(context) };
        let nobody = post(&mut buffer, task, to(Tid::NONE, plug::CONFIG, 0));
        assert_eq!(nobody, Err(Code::BadParam));
        let Ok(Request::Post { to, message }) = post(&mut buffer, task, to(task, plug::ADD, 7))
        else {
            panic!("refused")
        };
        let envelope = message.envelope;
        assert_eq!((to, envelope.src, envelope.tag, envelope.context), (task, task, plug::ADD, 7));
    }
}
