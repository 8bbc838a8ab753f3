//! The requests of a run to connections and cables.

use super::daemons::Parcel;
use super::fleet::Packet;
use super::{Mail, Packets, Planned};
use crate::action::TaskNumber;
use crate::error::Error;
use crate::model::run::OPEN_MAX;
use crate::model::run::inbox::Message;
use crate::model::run::network::{Network, Output};
use crate::report::Report;
use crate::transport::tcp::Input;
use crate::unit::Time;

impl Network for Packets {
    type Transfer = Packet;
    type Planned = Planned;
    type Mail = Mail;

    /// A message alone has no effect: the packet with its last byte does.
    fn due(mail: &Mail) -> Time {
        match mail {
            Mail::Packet(at, _) => *at,
            Mail::Parcel(..) => Time::END,
        }
    }

    fn deliver(&mut self, mail: Mail) -> Result<(), Error> {
        match mail {
            Mail::Packet(at, packet) => {
                let planned = Planned::Wire(self.wires.deliver(packet));
                self.out.push_back(Output::At(at, planned));
            }
            Mail::Parcel(until, parcel) => {
                let end = self.connection(parcel.to, parcel.from);
                self.expected(end, until, parcel)?;
            }
        }
        Ok(())
    }

    fn mail(&mut self) -> impl Iterator<Item = (u32, Mail)> {
        self.mail.drain(..)
    }

    /// At least one byte, because nothing reports the arrival of an empty message.
    fn length(&self, bytes: u64) -> u64 {
        self.session.records(bytes + self.extra).max(1)
    }

    fn there_and_back(&self) -> Time {
        self.base
    }

    fn offer(
        &mut self,
        now: Time,
        (from, to): (TaskNumber, TaskNumber),
        message: Message,
        left: u64,
    ) -> Result<u64, Error> {
        let parcel = Parcel { from, to, message };
        if let Some(daemons) = &mut self.daemons {
            if daemons.count() >= OPEN_MAX {
                let what = "its daemon";
                return Err(Error::TooMany { task: from, what, limit: OPEN_MAX });
            }
            self.under_way += 1;
            let (at, place) = daemons.hop(now, parcel, None);
            self.out.push_back(Output::At(at, Planned::Hop(place)));
            return Ok(left);
        }
        let (end, mut taken) = (self.connection(from, to), 0);
        while taken < left {
            let some = self.room(now, end).min(left - taken);
            if some == 0 {
                break;
            }
            taken += some;
            if taken == left {
                let until = self.ends[end as usize].written + some;
                self.expect(end, until, parcel)?;
            }
            self.write(now, end, some);
        }
        Ok(taken)
    }

    fn is_busy(&self) -> bool {
        self.under_way > 0
    }

    fn has_beats(&self) -> bool {
        self.session.beat > Time::ZERO
    }

    fn cipher(&self, bytes: u64) -> Time {
        let byte = if self.daemons.is_some() { 0.0 } else { self.session.cipher };
        Time((bytes as f64 * byte).round() as u64)
    }

    fn sent(&mut self, from: TaskNumber, to: TaskNumber) {
        self.debts.told(from, to);
    }

    fn looks(&mut self, now: Time, task: TaskNumber, waits: bool) {
        for end in self.readers.reads(task, waits) {
            self.handle(now, end, Input::Read, None);
        }
        self.debts.look(task);
        if !waits {
            return;
        }
        for other in self.debts.take(task) {
            let (bytes, end) = (self.debts.bytes, self.connection(task, other));
            self.write(now, end, bytes);
        }
    }

    fn handle_timeout(&mut self, now: Time, planned: Planned) {
        match planned {
            Planned::End(end) => self.timeout(now, end),
            Planned::Wire(planned) => {
                self.wires.handle_timeout(now, planned);
                self.wire(now);
            }
            Planned::Look(end) => {
                if self.ends[end as usize].ahead.is_due(now) {
                    self.has_room(now, end);
                }
            }
            Planned::Hop(place) => self.hopped(now, place),
            Planned::Beat(number) => {
                let (hosts, next) = self.beats.handle_timeout(now, number);
                let end = self.link(hosts);
                if !self.ends[end as usize].end.is_behind() {
                    self.write(now, end, self.session.beat_bytes);
                }
                self.out.push_back(Output::Idle(next, planned));
            }
        }
    }

    fn poll_output(&mut self) -> Option<Output<Planned, Packet>> {
        self.out.pop_front()
    }

    fn report(&self, report: &mut Report) {
        let is_empty = self.wires.sent == self.wires.ended;
        debug_assert!(is_empty || self.has_beats(), "each packet arrives or is lost");
        for (station, net) in report.stations.iter_mut().zip(&self.net) {
            station.net += *net;
        }
        report.collisions = self.wires.collisions();
        report.lost += self.wires.lost;
        report.resent += self.ends.iter().map(|side| side.end.resent()).sum::<u64>();
    }
}
