//! Tokens: made here on request, used by their bearers.

use super::Shell;
use crate::clock;
use crate::launch::token::{HOSTED, SECRET_BYTES, Token};
use crate::link::ShellEvent;
use crate::link::redeem::Redeem;
use crate::link::tokens::Tried;
use crate::shell::hosting::HOSTER_SECONDS;
use crate::shell::joining::Joining;
use crate::shell::own_records::OwnRecords;
use crate::tls;
use anyhow::Result;
use pvm_core::io::{Effect, News};
use pvm_wire::request::Failure;
use pvm_wire::route::Secret;
use pvm_wire::{Blob, Code};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

const SECOND_NS: u64 = 1_000_000_000;
/// The time that a host that has used its token may take to call.
const CALL_TIME: Duration = Duration::from_secs(10);

impl Shell {
    /// Makes a token.
    pub(super) async fn make_token(&mut self, ticket: u64, mark: Blob, seconds: u32) -> Result<()> {
        self.open_outward().await?;
        let secret = tls::new_secret::<SECRET_BYTES>()?;
        let id = tls::new_number()? & !HOSTED;
        let until = clock::now(self.begin.clock).0 + u64::from(seconds) * SECOND_NS;
        self.links.tokens.add((id, ticket), &secret, until);
        self.keep_tokens().await?;
        let token = Token {
            vmid: self.begin.vmid.clone(),
            addresses: self.ports.invitation(),
            fingerprint: self.facts.key.clone(),
            id,
            secret: Secret(secret.to_vec()),
        };
        self.events.push_back(ShellEvent::News(News::Token { mark, token: token.to_text() }));
        Ok(())
    }

    /// A hoster has brought back the key of the host with this ticket: the owner of that key may
    /// tell the rest.
    pub(super) async fn admit_hosted(&mut self, ticket: u64, key: &[u8]) -> Result<()> {
        let until = clock::now(self.begin.clock).0 + u64::from(HOSTER_SECONDS) * SECOND_NS;
        self.links.tokens.add((HOSTED | ticket, ticket), key, until);
        self.keep_tokens().await
    }

    /// A bearer brings a token. It is gone before the bearer hears that it was good.
    pub(super) async fn redeem(
        &mut self,
        redeem: Redeem,
        answer: oneshot::Sender<String>,
    ) -> Result<()> {
        let Redeem { id, secret, facts, .. } = redeem;
        let name = facts.name.to_text();
        let now = clock::now(self.begin.clock).0;
        // The fingerprint of a key is no secret: only the owner of that key may use it.
        let of_another = id & HOSTED != 0 && secret.0 != facts.key.0;
        let tried = match of_another {
            true => Tried::Wrong,
            false => self.links.tokens.redeem(id, &secret.0, now),
        };
        self.keep_tokens().await?;
        let (text, refusal) = match tried {
            Tried::Good(ticket) => {
                let call = Some((Instant::now() + CALL_TIME, facts.key.0.clone()));
                self.joining.insert(ticket, Joining { elsewhere: None, call });
                self.links.expect(ticket, facts);
                (format!("{name} has used a token"), String::new())
            }
            Tried::Wrong => {
                let refusal = "the token is not valid (any more)".to_owned();
                (format!("{name} tried a token that is not valid"), refusal)
            }
            Tried::Revoked(ticket) => {
                let (code, text) = (Code::Denied, "wrong secrets were tried with a token");
                let failure = Failure::of(text.to_owned());
                self.events.push_back(ShellEvent::News(News::HostFailed { ticket, code, failure }));
                (format!("{text}: it is not valid any more"), "the token is not valid".to_owned())
            }
        };
        self.uplink.effects(0, vec![Effect::Log { text }]).await?;
        let _ = answer.send(refusal);
        Ok(())
    }

    async fn keep_tokens(&self) -> Result<()> {
        let tokens = Some(self.links.tokens.kept());
        self.uplink.effects(0, OwnRecords { tokens, ..OwnRecords::default() }.effects()).await
    }
}
