//! New hosts: started here or elsewhere, waited for, let in.

use super::Shell;
use crate::launch::invitation::Invitation;
use crate::launch::remote;
use crate::launch::reply::{self, Answer};
use crate::launch::ssh::Target;
use crate::launch::{sentences, tunnel};
use crate::link::ShellEvent;
use crate::local;
use crate::shell::joining::{Joining, Started};
use crate::shell::own_records::OwnRecords;
use anyhow::Result;
use pvm_core::io::News;
use pvm_wire::hostfile::{HostLine, parse_line};
use pvm_wire::request::Failure;
use pvm_wire::{Blob, Code};
use std::time::{Duration, Instant};

/// The time that a daemon that has answered may take to call.
const CALL_TIME: Duration = Duration::from_secs(4);
/// Like `CALL_TIME`, on this computer, where only its load can be the reason.
const LOCAL_CALL_TIME: Duration = Duration::from_secs(20);

/// The time for which a daemon waits for the hoster that carries its answer.
pub(super) const HOSTER_SECONDS: u32 = 60;

impl Shell {
    /// Starts the daemon that a line of a host file names; an empty one means this computer.
    pub(super) async fn start_host(&mut self, ticket: u64, line: &Blob) -> Result<()> {
        let starts = self.starts.0.clone();
        let key = self.facts.key.0.clone();
        if line.0.is_empty() {
            let address = self.ports.inside();
            self.joining.insert(ticket, Joining::default());
            tokio::spawn(async move {
                let started = local::start(&address, &key).await;
                let failure = |error| (Code::CantStart, Failure::of(format!("{error:#}")));
                let _ = starts.send((ticket, started.map_err(failure))).await;
            });
            return Ok(());
        }
        let line = match parse_line(&line.0) {
            Ok(line) => line,
            Err(error) => {
                let refused = (Code::BadParam, Failure::of(error.to_string()));
                return self.started((ticket, Err(refused))).await;
            }
        };
        let invited = self.invitation(&line).await?;
        let elsewhere = Some((line.clone(), invited.clone()));
        self.joining.insert(ticket, Joining { elsewhere, call: None });
        tokio::spawn(async move {
            let started = remote::start(&line, invited).await;
            let _ = starts.send((ticket, started)).await;
        });
        Ok(())
    }

    /// The invitation for the new host of a line.
    async fn invitation(&mut self, line: &HostLine) -> Result<Invitation> {
        self.open_outward().await?;
        let vmid = line.id.as_ref().map(Blob::to_text);
        Ok(Invitation {
            addresses: self.ports.invitation(),
            fingerprint: self.facts.key.0.clone(),
            name: Target::new(line).name,
            vmid: vmid.unwrap_or_else(|| self.begin.vmid.clone()),
            options: remote::options(line),
            again: line.again,
            via: if line.tunnel { tunnel::far_port()? } else { 0 },
            patience: 0,
            hosted: 0,
        })
    }

    /// A hoster is to start the daemon of a line: what to run, and where.
    pub(super) async fn invite(&mut self, ticket: u64, line: &Blob) -> Result<()> {
        let line = match parse_line(&line.0) {
            Ok(line) => line,
            Err(error) => {
                let refused = (Code::BadParam, Failure::of(error.to_string()));
                return self.started((ticket, Err(refused))).await;
            }
        };
        let invited = self.invitation(&line).await?;
        let invited = Invitation { patience: HOSTER_SECONDS, hosted: ticket, ..invited };
        self.joining.insert(ticket, Joining::default());
        let target = Target::new(&line);
        let at = target.at;
        let login = target.login.map_or_else(|| at.clone(), |login| format!("{login}@{at}"));
        self.events.push_back(ShellEvent::News(News::Invited {
            ticket,
            login: Blob(login.into()),
            options: line.so.clone().unwrap_or_default(),
            command: Blob(remote::command(&line, &invited).into()),
            vmid: Blob(invited.vmid.into()),
        }));
        Ok(())
    }

    /// The line with which a daemon has answered its hoster.
    pub(super) async fn hoster_said(&mut self, ticket: u64, answer: &Blob) -> Result<()> {
        let started = match reply::answer_in(&answer.to_text()) {
            Some(Answer::Key(key)) => return self.admit_hosted(ticket, &key).await,
            Some(Answer::Ready(facts)) => Ok(*facts),
            Some(Answer::Refused(code, failure)) => Err((code, failure)),
            Some(Answer::Foreign { version, protocol }) => {
                let detail = sentences::versions("the new host", &version, protocol);
                Err((Code::BadVersion, Failure { stage: "version".into(), ..Failure::of(detail) }))
            }
            None => {
                let detail =
                    format!("the hoster's answer is not a line of pvmd: {}", answer.to_text());
                Err((Code::CantStart, Failure { stage: "pvmd".into(), ..Failure::of(detail) }))
            }
        };
        self.started((ticket, started)).await
    }

    /// A daemon was started, or not.
    pub(super) async fn started(&mut self, (ticket, started): Started) -> Result<()> {
        let mut facts = match started {
            Ok(facts) => facts,
            Err((code, failure)) => {
                self.joining.remove(&ticket);
                let news = News::HostFailed { ticket, code, failure };
                self.events.push_back(ShellEvent::News(news));
                return Ok(());
            }
        };
        let Some(joining) = self.joining.get_mut(&ticket) else { return Ok(()) };
        let time = if joining.elsewhere.is_some() { CALL_TIME } else { LOCAL_CALL_TIME };
        joining.call = Some((Instant::now() + time, facts.key.0.clone()));
        if let Some((line, Invitation { via: via @ 1.., .. })) = joining.elsewhere.clone() {
            match self.tunnel_to(&line, via, facts).await {
                Ok(known) => facts = known,
                Err(error) => {
                    self.joining.remove(&ticket);
                    let failure = Failure::of(format!("no tunnel: {error:#}"));
                    let news = News::HostFailed { ticket, code: Code::CantStart, failure };
                    self.events.push_back(ShellEvent::News(news));
                    return Ok(());
                }
            }
        }
        self.links.expect(ticket, facts);
        Ok(())
    }

    /// Daemons that have answered and do not call are waited for no longer: their keys are worth
    /// nothing from now on.
    pub(super) fn end_waiting(&mut self, now: Instant) {
        let late = |joining: &Joining| joining.deadline().is_some_and(|until| until <= now);
        let late: Vec<_> = self.joining.extract_if(.., |_, joining| late(joining)).collect();
        for (ticket, Joining { elsewhere, call }) in late {
            if let Some((_, key)) = call {
                self.give_up(&key);
            }
            let starts = self.starts.0.clone();
            tokio::spawn(async move {
                let why = match elsewhere {
                    Some((line, invited)) => remote::no_call(&line, &invited).await,
                    None => (Code::CantStart, Failure::of("the new daemon did not call in time")),
                };
                let _ = starts.send((ticket, Err(why))).await;
            });
        }
    }

    /// Listens for other computers too, and tells the machine where.
    pub(super) async fn open_outward(&mut self) -> Result<()> {
        if self.ports.outward != 0 {
            return Ok(());
        }
        self.ports.open_outward(&self.links, 0)?;
        let addresses = self.ports.addresses();
        self.facts.addresses.clone_from(&addresses);
        let kept = OwnRecords { ports: Some(self.ports), ..OwnRecords::default() };
        self.uplink.effects(0, kept.effects()).await?;
        self.events.push_back(ShellEvent::News(News::Addresses { addresses }));
        Ok(())
    }
}
