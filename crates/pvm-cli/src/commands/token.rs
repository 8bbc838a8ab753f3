//! `pvm token`.

use crate::failure::{Failure, Status};
use crate::operator::Operator;
use crate::options::hosts::TokenOptions;
use crate::show::{show, show_json};
use pvm_wire::request::{Reply, Request};
use serde_json::json;

/// Prints a token with which one host may join.
pub(crate) fn token(options: &TokenOptions) -> Result<(), Failure> {
    let mut operator = Operator::connect()?;
    let seconds = options.minutes * 60;
    let token = match operator.ask(&Request::Token { seconds }) {
        Ok(Reply::Token { token }) => token,
        Ok(_) => return Err(Failure::unexpected("token")),
        Err(code) => return Err(Failure::refused("token", code)),
    };
    let text = std::str::from_utf8(&token.0)
        .map_err(|_| Failure::new(Status::Daemon, "token: the daemon's answer is not a text"))?;
    if options.json {
        return Ok(show_json(&json!({"token": text, "seconds": seconds}))?);
    }
    Ok(show(format_args!("{text}\n"))?)
}
