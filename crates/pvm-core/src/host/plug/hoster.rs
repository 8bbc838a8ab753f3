//! Hosts that a hoster starts.
//!
//! All hosts of one request are told together. The command starts our own daemon there; its one
//! line of answer lets it in as if it had been started from here.

use super::super::joining::LOCAL;
use super::super::names::HOSTER;
use super::Handler;
use crate::io::Act;
use crate::parcel::{Opened, Parcel};
use crate::plugs::{Guest, Hosting};
use pvm_wire::hostfile::parse_line;
use pvm_wire::plug;
use pvm_wire::request::Failure;
use pvm_wire::{Blob, Code, HostIndex, Message, Tid};
use std::collections::BTreeMap;

impl Handler<'_> {
    /// True where the eldest host is to be asked to add hosts, as the hoster is there.
    pub(in crate::host) fn hosts_elsewhere(&self, lines: &[Blob]) -> bool {
        let eldest = self.order.log().eldest();
        let there = |tid: &Tid| Some(tid.host()) == eldest;
        // One more daemon on this computer is no hoster's matter.
        let local = |line: &Blob| parse_line(&line.0).is_ok_and(|line| line.name.0 == LOCAL);
        eldest.is_some_and(|eldest| eldest != self.me())
            && self.agreed.registry().owners(&HOSTER.into()).iter().any(there)
            && !lines.iter().any(local)
    }

    /// Starts a daemon on another computer: by the hoster, if there is one.
    pub(in crate::host) fn start_elsewhere(&mut self, addition: u64, ticket: u64, line: Blob) {
        let Some(hoster) = self.service(HOSTER) else {
            return self.act(Act::StartHost { ticket, line });
        };
        let of = |hosting: &Hosting| hosting.addition == addition && !hosting.asked;
        let known = self.host.plugs.hostings.keys_where(|_, hosting| of(hosting)).first().copied();
        let wait = known.unwrap_or_else(|| {
            let wait = self.host.plugs.wait();
            let hosting = Hosting { hoster, addition, guests: Vec::new(), asked: false };
            self.host.plugs.hostings.insert(wait, hosting);
            wait
        });
        let before = self.host.plugs.hostings.values().map(|hosting| hosting.guests.len()).sum();
        let tid = self.place_to_be(before);
        if let Some(hosting) = self.host.plugs.hostings.get_mut(&wait) {
            hosting.guests.push(Guest { ticket, tid, words: Vec::new() });
        }
        self.act(Act::Invite { ticket, line });
    }

    /// The id that a host gets if `before` others come first. It only names the host to the
    /// hoster.
    fn place_to_be(&self, before: usize) -> Tid {
        let places = (1..=HostIndex::MAX.0).map(HostIndex);
        let place = places.filter(|&place| self.agreed.hosts().may_be_new(place)).nth(before);
        // No place left: the hoster must tell it from the others all the same.
        let beyond = u16::try_from(before).map_or(HostIndex(1), |n| HostIndex(n + 1));
        Tid::host_id(place.unwrap_or(beyond))
    }

    /// The command for a host is known: start options, login, command, machine.
    pub(in crate::host) fn invited(&mut self, ticket: u64, words: [Blob; 4]) {
        let of = |hosting: &Hosting| hosting.guests.iter().any(|guest| guest.ticket == ticket);
        for wait in self.host.plugs.hostings.keys_where(|_, hosting| of(hosting)) {
            if let Some(hosting) = self.host.plugs.hostings.get_mut(&wait)
                && let Some(guest) = hosting.guests.iter_mut().find(|g| g.ticket == ticket)
            {
                guest.words = words.to_vec();
            }
            self.ask_hoster(wait);
        }
    }

    /// A host of a request will not be started, or not any more: the hoster is asked for the
    /// others, and what it says of this one is too late.
    pub(in crate::host) fn not_invited(&mut self, ticket: u64) {
        let of = |hosting: &Hosting| hosting.guests.iter().any(|guest| guest.ticket == ticket);
        for wait in self.host.plugs.hostings.keys_where(|_, hosting| of(hosting)) {
            if let Some(hosting) = self.host.plugs.hostings.get_mut(&wait) {
                hosting.guests.retain(|guest| guest.ticket != ticket);
                if hosting.guests.is_empty() {
                    self.host.plugs.hostings.remove(&wait);
                }
            }
            self.ask_hoster(wait);
        }
    }

    /// Asks the hoster once all is known.
    fn ask_hoster(&mut self, wait: u32) {
        let Some(hosting) = self.host.plugs.hostings.get_mut(&wait) else { return };
        if hosting.asked || hosting.guests.iter().any(|guest| guest.words.is_empty()) {
            return;
        }
        hosting.asked = true;
        let hoster = hosting.hoster;
        let mut parcel = Parcel::new().count(hosting.guests.len());
        for guest in &hosting.guests {
            let word = |at: usize| guest.words.get(at).map_or(&[][..], |word| word.0.as_slice());
            // The fifth is PVM's command for Windows, for which there is none of ours.
            parcel = parcel.tid(guest.tid).text(word(0)).text(word(1)).text(word(2));
            parcel = parcel.text(b"").text(word(3));
        }
        self.tell_task(hoster, plug::START_HOST, wait, parcel);
    }

    /// The hoster tells what became of them.
    pub(super) fn hoster_answers(&mut self, message: &Message) -> Result<(), Code> {
        let wait = message.envelope.wait_id.cast_unsigned();
        // Late, or never asked for.
        let asked = self.host.plugs.hostings.get(&wait).is_some_and(|hosting| hosting.asked);
        let hosting = if asked { self.host.plugs.hostings.remove(&wait) } else { None };
        let hosting = hosting.ok_or(Code::NotFound)?;
        let Ok(mut answers) = answers_in(message, &hosting) else {
            self.fail_addition(hosting, "the hoster's answer makes no sense");
            return Err(Code::BadMsg);
        };
        for Guest { ticket, tid, .. } in hosting.guests {
            let Some(answer) = answers.remove(&tid) else {
                let failure = Failure::of("the hoster says nothing of it");
                self.host_failed(ticket, Code::CantStart, failure);
                continue;
            };
            match answer.to_text().strip_prefix("Pvm") {
                Some(name) => {
                    let failure = Failure::of(format!("the hoster says Pvm{name}"));
                    self.host_failed(ticket, code_named(name), failure);
                }
                None => self.act(Act::HosterSaid { ticket, answer }),
            }
        }
        Ok(())
    }

    /// As in PVM the whole request fails.
    fn fail_addition(&mut self, hosting: Hosting, why: &str) {
        if let Some(addition) = self.host.pending.additions.remove(&hosting.addition) {
            self.fail(addition.asker, Code::DSysErr);
        }
        for guest in hosting.guests {
            self.host_failed(guest.ticket, Code::DSysErr, Failure::of(why));
        }
    }

    pub(super) fn hoster_gone(&mut self, hoster: Tid) {
        for wait in self.host.plugs.hostings.keys_where(|_, hosting| hosting.hoster == hoster) {
            if let Some(hosting) = self.host.plugs.hostings.remove(&wait) {
                self.fail_addition(hosting, "the hoster has ended");
            }
        }
    }
}

/// The answer for each host. An id that was not asked for makes the whole worthless, as in PVM.
fn answers_in(message: &Message, hosting: &Hosting) -> Result<BTreeMap<Tid, Blob>, Code> {
    let mut opened = Opened::new(message)?;
    let mut answers = BTreeMap::new();
    for _ in 0..opened.count()? {
        let tid = opened.tid()?;
        if !hosting.guests.iter().any(|guest| guest.tid == tid) {
            return Err(Code::BadMsg);
        }
        answers.insert(tid, opened.text()?);
    }
    Ok(answers)
}

/// The codes that PVM 3.4.6 was seen to take; any other is as good as none.
fn code_named(name: &str) -> Code {
    match name {
        "DupHost" => Code::DupHost,
        "DSysErr" => Code::DSysErr,
        "NoHost" => Code::NoHost,
        "BadVersion" => Code::BadVersion,
        "OutOfRes" => Code::OutOfRes,
        _ => Code::CantStart,
    }
}
