//! Two hosts, whose link or one of which fails.

use super::{Run, SECOND};
use crate::time::MS;
use crate::world::Crash;
use pvm_wire::HostIndex;

impl Run {
    pub(super) fn two(&mut self) -> Result<(), String> {
        let (a, b) = (HostIndex(1), HostIndex(2));
        self.world.lossy = self.random.below(3) * 40;
        for _ in 0..3 {
            match self.random.below(8) {
                0 => {
                    let heal = (100 + self.random.below(4000)) * MS;
                    self.world.cut(a, b, Some(heal));
                }
                1 => {
                    let host = if self.random.below(2) == 0 { a } else { b };
                    self.world.crash(host);
                }
                2 => {
                    let time = (100 + self.random.below(2500)) * MS;
                    self.world.pause(a, time);
                }
                3 => self.world.latency = (1 + self.random.below(20)) * MS,
                4 => {
                    let (from, to) = if self.random.below(2) == 0 { (a, b) } else { (b, a) };
                    let heal = (200 + self.random.below(3800)) * MS;
                    self.world.deafen(from, to, heal);
                }
                5 => {
                    let host = if self.random.below(2) == 0 { a } else { b };
                    let before = [Crash::BeforeEffects, Crash::BeforeActs];
                    self.world.crash_next.extend(self.random.pick(&before).map(|at| (host, at)));
                }
                _ => {}
            }
            let pause = self.random.below(5000) * MS;
            self.go(pause)?;
        }
        match self.random.below(6) {
            // The link fails for longer than silence lasts.
            0 => {
                let heal = (6000 + self.random.below(20_000)) * MS;
                self.world.cut(a, b, Some(heal));
                self.go(heal + 5 * SECOND)?;
            }
            1 | 2 => self.end_apart(a, b)?,
            3 => self.end_one(b)?,
            _ => self.end_one(a)?,
        }
        Ok(())
    }

    /// Like `two`, and meanwhile daemons are started again and stand still: what each knew and
    /// counted of the other one begins anew at any moment of the silence.
    fn end_apart(&mut self, a: HostIndex, b: HostIndex) -> Result<(), String> {
        let heal = (6000 + self.random.below(20_000)) * MS;
        self.world.cut(a, b, Some(heal));
        let end = self.world.now() + heal;
        for _ in 0..1 + self.random.below(3) {
            let before = self.random.below(6000) * MS;
            self.go(before.min(end.saturating_sub(self.world.now())))?;
            let host = if self.random.below(3) == 0 { b } else { a };
            if self.random.below(2) == 0 {
                self.world.crash(host);
            } else {
                let time = (50 + self.random.below(1500)) * MS;
                self.world.pause(host, time);
            }
        }
        self.go(end.saturating_sub(self.world.now()) + 5 * SECOND)
    }

    /// One of two dies, and its computer can still be asked.
    fn end_one(&mut self, host: HostIndex) -> Result<(), String> {
        let other = HostIndex(3 - host.0);
        // Puts that were confirmed while they were apart may be lost with it, until the other one
        // has them.
        let up = self.world.links.made(host, other).is_some();
        let stopped = |at| self.world.nodes.get(&at).is_some_and(|n| n.paused_until > 0);
        self.actors.may_lose |= !up || stopped(other) || self.world.lags(other, host);
        if self.world.nodes.len() < 2 {
            return Ok(());
        }
        self.world.kill_seen(host, 300 * MS);
        let confirmed = self.actors.confirmed.len();
        self.go(12 * SECOND)?;
        if self.actors.confirmed.len() == confirmed && self.world.nodes.contains_key(&other) {
            return Err(format!("host {other} did not go on after host {host} died"));
        }
        Ok(())
    }
}
