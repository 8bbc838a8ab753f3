//! The shell's own records, which the parent keeps beside the machine's. Their keys begin with a
//! zero byte, the machine's never do.

use crate::launch::tunnel::Ends;
use crate::link::Membership;
use crate::link::tokens::StoredToken;
use crate::ports::Ports;
use pvm_core::io::Effect;
use pvm_wire::peer::HostFacts;
use pvm_wire::{Blob, HostIndex, Wire};
use std::sync::Arc;

const KEY: &[u8] = b"\0key";
const PORTS: &[u8] = b"\0ports";
const PLACE: &[u8] = b"\0place";
const TUNNELS: &[u8] = b"\0tunnels";
const HOSTS: &[u8] = b"\0hosts";
const TOKENS: &[u8] = b"\0tokens";

/// The records that the shell has again after a restart.
#[derive(Debug, Default)]
pub(crate) struct OwnRecords {
    /// The private key.
    pub(crate) key: Option<Blob>,
    /// The ports at which it listens.
    pub(crate) ports: Option<Ports>,
    /// This host's place.
    pub(crate) place: Option<Membership>,
    /// Tunnels that this host keeps.
    pub(crate) tunnels: Option<Vec<Ends>>,
    /// Tokens that are good.
    pub(crate) tokens: Option<Vec<StoredToken>>,
    /// All hosts when this one joined.
    pub(crate) hosts: Vec<(HostIndex, Arc<HostFacts>)>,
}

impl OwnRecords {
    /// Takes the shell's records out of `records`.
    pub(crate) fn take(records: &mut Vec<(Blob, Blob)>) -> Self {
        let own: Vec<_> = records.extract_if(.., |(key, _)| key.0.first() == Some(&0)).collect();
        let mut found = Self::default();
        for (key, value) in own {
            match key.0.as_slice() {
                KEY => found.key = Some(value),
                PORTS => {
                    let ports = <(u16, u16)>::from_bytes(&value.0).ok();
                    found.ports = ports.map(|(inside, outward)| Ports { inside, outward });
                }
                PLACE => {
                    let place = <(HostIndex, HostIndex)>::from_bytes(&value.0).ok();
                    found.place = place.map(|(host, first)| Membership { host, first });
                }
                TUNNELS => found.tunnels = Vec::from_bytes(&value.0).ok(),
                TOKENS => found.tokens = Vec::from_bytes(&value.0).ok(),
                HOSTS => found.hosts = Vec::from_bytes(&value.0).unwrap_or_default(),
                _ => {}
            }
        }
        found
    }

    /// The effects that make the parent keep all that is set here.
    pub(crate) fn effects(&self) -> Vec<Effect> {
        let place = self.place.map(|place| (place.host, place.first).to_bytes());
        let hosts = (!self.hosts.is_empty()).then(|| self.hosts.to_bytes());
        let all = [
            (KEY, self.key.as_ref().map(|key| key.0.clone())),
            (PORTS, self.ports.map(|ports| (ports.inside, ports.outward).to_bytes())),
            (PLACE, place),
            (TUNNELS, self.tunnels.as_ref().map(Wire::to_bytes)),
            (HOSTS, hosts),
            (TOKENS, self.tokens.as_ref().map(Wire::to_bytes)),
        ];
        let save = |(key, value): (&[u8], Option<Vec<u8>>)| {
            Some(Effect::Save { key: Blob(key.to_vec()), value: Some(Blob(value?)) })
        };
        all.into_iter().filter_map(save).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_records_are_told_from_the_machines() {
        let own = OwnRecords {
            key: Some("secret".into()),
            ports: Some(Ports { inside: 7, outward: 0 }),
            place: Some(Membership { host: HostIndex(3), first: HostIndex(1) }),
            ..OwnRecords::default()
        };
        let mut records: Vec<_> = own
            .effects()
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Save { key, value } => Some((key, value?)),
                _ => None,
            })
            .collect();
        records.push(("hmachine".into(), "x".into()));
        let found = OwnRecords::take(&mut records);
        assert_eq!(records, [("hmachine".into(), "x".into())]);
        assert_eq!((found.key, found.ports), (own.key, own.ports));
        assert_eq!(found.place.map(|place| place.host), Some(HostIndex(3)));
    }
}
