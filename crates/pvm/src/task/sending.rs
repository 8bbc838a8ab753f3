//! Sending: the long way, which decides how a message travels.

use super::Task;
use crate::buffer::{Buffer, Store};
use crate::credit::Sending;
use crate::{plug, probe};
use pvm_wire::{Address, Code, Context, Envelope, HostIndex, Tag, Tid};
use std::collections::{BTreeMap, BTreeSet};

impl Task {
    /// Sends a message. It is the receiver's from now on, whatever becomes of this task; a
    /// receiver that does not exist gets nothing, and nobody is told.
    ///
    /// # Errors
    /// [`Code::BadParam`] for an id that is no task's, [`Code::NoMem`], [`Code::SysErr`].
    pub fn send(&self, buffer: &mut Buffer, address: Address) -> Result<(), Code> {
        let Address { to, tag, context } = address;
        if plug::is_carried(to, tag) {
            return self.request(&plug::post(buffer, self.tid(), address)?).map(drop);
        }
        if !to.is_task() {
            return Err(Code::BadParam);
        }
        // Within the host it may go faster.
        let here = to.host() == self.tid().host() && to != self.tid();
        self.ready_probes();
        if here && self.send_here(buffer, address)? {
            buffer.edit(|about| (about.tag, about.dst) = (tag.0, to));
            return Ok(());
        }
        self.send_all(buffer, &[to], tag, context)
    }

    /// Sends a message that rides in its lane, or that its receiver reads while it is written;
    /// false if it is neither.
    fn send_here(&self, buffer: &mut Buffer, address: Address) -> Result<bool, Code> {
        let begin = probe::moment(&self.probes);
        if let Some((head, data)) = buffer.small() {
            let mut state = self.live()?.enter()?;
            let sent = state.send_small(address, head, data).is_some();
            state.probe_small(begin.filter(|_| sent), address, (head, data.len()));
            return Ok(sent);
        }
        let Some((described, size, pieces)) = buffer.stream() else { return Ok(false) };
        let Address { to, tag: Tag(tag), context: Context(context) } = address;
        let envelope = Envelope { src: self.tid(), dst: to, tag, context, ..described };
        let mut state = self.live()?.enter()?;
        let sent = state.send_stream(envelope, (size, pieces))?;
        state.probe_sent_here(begin.filter(|_| sent), to, &envelope);
        Ok(sent)
    }

    /// Sends a message to many, once to each, this task itself left out.
    ///
    /// # Errors
    /// As for [`Task::send`]; then some may have it.
    pub fn multicast(
        &self,
        buffer: &mut Buffer,
        to: &[Tid],
        tag: Tag,
        context: Context,
    ) -> Result<(), Code> {
        if to.iter().any(|tid| !tid.is_task()) {
            return Err(Code::BadParam);
        }
        let mut seen = BTreeSet::from([self.tid()]);
        let others: Vec<Tid> = to.iter().copied().filter(|tid| seen.insert(*tid)).collect();
        let fast = self.fast_multicast(buffer, &others, tag, context)?;
        if fast == others.len() {
            return Ok(());
        }
        self.send_all(buffer, &others[fast..], tag, context)
    }

    fn send_all(
        &self,
        buffer: &mut Buffer,
        to: &[Tid],
        tag: Tag,
        context: Context,
    ) -> Result<(), Code> {
        self.live()?;
        self.ready_probes();
        // As in PVM the buffer remembers tag and receiver of its last sending, no more.
        let last = to.last().copied().unwrap_or_default();
        buffer.edit(|about| (about.tag, about.dst) = (tag.0, last));
        let to_self = to.contains(&self.tid()).then(|| buffer.to_message()).transpose()?;
        // Takes slabs through the gate, so it comes before entering it.
        let (described, mut body) = self.probe_copy(buffer.sent_size(), || buffer.prepare())?;
        let (tag, context) = (tag.0, context.0);
        let envelope = Envelope { src: self.tid(), tag, context, ..described };
        let mut state = self.enter()?;
        let mut hosts: BTreeMap<HostIndex, Vec<Tid>> = BTreeMap::new();
        for &to in to.iter().filter(|to| **to != self.tid()) {
            if to.host() == self.tid().host() {
                let sending = Sending::Here(to);
                state = self.patiently(state, (sending, envelope), &mut body)?;
            } else {
                hosts.entry(to.host()).or_default().push(to);
            }
        }
        for (host, tasks) in hosts {
            let sending = match tasks[..] {
                [to] => Sending::Abroad(to),
                _ => Sending::Spread(host, &tasks),
            };
            state = self.patiently(state, (sending, envelope), &mut body)?;
        }
        if let Some(message) = to_self {
            let begin = probe::moment(&self.probes);
            let own = Envelope { dst: self.tid(), sequence: state.number_own(), ..envelope };
            state.probe_sent_here(begin, self.tid(), &own);
            crate::orders::taken_in(&own);
            state.mailbox.insert(own, Store::Heap(message.body.0));
            state.news = true;
            self.rewatch(&mut state, false);
        }
        Ok(())
    }
}
