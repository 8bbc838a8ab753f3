//! Variations: a platform and a program changed by factors.

use crate::action::{Action, Matching, TaskNumber};
use crate::error::Error;
use crate::platform::{Network, Platform};
use crate::program::Source;
use crate::unit::Rate;

/// The changes. Factors of 1 change nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// The factor of the rate of all links.
    pub rate: f64,
    /// The factor of the latency of all links.
    pub latency: f64,
    /// The new share of frames that switches lose.
    pub loss: Option<f64>,
    /// The factor of the speed of computing.
    pub speed: f64,
    /// The factor of the time in calls of the library.
    pub overhead: f64,
}

impl Default for Change {
    fn default() -> Self {
        Self { rate: 1.0, latency: 1.0, loss: None, speed: 1.0, overhead: 1.0 }
    }
}

impl Change {
    /// The changed platform.
    pub fn of(&self, platform: &Platform) -> Result<Platform, Error> {
        let mut changed = platform.clone();
        let rate = |rate: Rate| {
            let what = || Error::Unfit(format!("{} times the rate is no rate", self.rate));
            Rate::bits(rate.to_bits() * self.rate).ok_or_else(what)
        };
        match &mut changed.network {
            Network::Line(line) => {
                line.latency = line.latency.scaled(self.latency);
                line.byte /= self.rate;
            }
            Network::Cable(rules) => {
                rules.rate = rate(rules.rate)?;
                let longest = rules.rate.time_of_bits(rules.slot / 2);
                rules.propagation = rules.propagation.scaled(self.latency).min(longest);
            }
            Network::Fabric(switch) => {
                switch.rate = rate(switch.rate)?;
                switch.latency = switch.latency.scaled(self.latency);
                switch.loss = self.loss.unwrap_or(switch.loss);
            }
        }
        if self.loss.is_some_and(|loss| loss > 0.0) && platform.transport.is_lossless() {
            let what = format!("{} needs a switch that loses nothing", platform.name);
            return Err(Error::Unfit(what));
        }
        if self.loss.is_some() && !matches!(changed.network, Network::Fabric(_)) {
            let what = format!("{} has no switch that could lose frames", platform.name);
            return Err(Error::Unfit(what));
        }
        let host = &mut changed.host;
        host.speed *= self.speed;
        host.send = host.send.scaled(self.overhead);
        host.receive = host.receive.scaled(self.overhead);
        host.byte *= self.overhead;
        Ok(changed)
    }
}

/// A program whose calls take another time.
pub struct Lighter<'a> {
    source: &'a mut dyn Source,
    factor: f64,
}

impl<'a> Lighter<'a> {
    /// The changed program.
    pub fn new(source: &'a mut dyn Source, factor: f64) -> Self {
        Self { source, factor }
    }
}

impl Source for Lighter<'_> {
    fn tasks(&self) -> TaskNumber {
        self.source.tasks()
    }

    fn matching(&self) -> Matching {
        self.source.matching()
    }

    fn is_started(&self, task: TaskNumber) -> bool {
        self.source.is_started(task)
    }

    fn section(&self, number: u32) -> Option<&str> {
        self.source.section(number)
    }

    fn next(&mut self, task: TaskNumber) -> Result<Option<Action>, Error> {
        if self.factor == 1.0 {
            return self.source.next(task);
        }
        let mut action = self.source.next(task)?;
        if let Some(
            Action::Call(time)
            | Action::Send { time, .. }
            | Action::Multicast { time, .. }
            | Action::Receive { time, .. }
            | Action::Meet { time, .. },
        ) = &mut action
        {
            *time = time.scaled(self.factor);
        }
        Ok(action)
    }
}
