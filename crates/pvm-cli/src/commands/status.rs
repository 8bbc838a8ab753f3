//! `pvm status`.

use crate::failure::Failure;
use crate::operator::Operator;
use crate::show::{show, show_json};
use crate::text;
use pvm_wire::request::{DaemonStatus, Reply, Request};
use serde_json::json;

/// The daemon's report about itself.
pub(crate) fn of(operator: &mut Operator) -> Result<DaemonStatus, Failure> {
    match operator.ask(&Request::DaemonStatus) {
        Ok(Reply::Status { status }) => Ok(status),
        Ok(_) => Err(Failure::unexpected("status")),
        Err(code) => Err(Failure::refused("status", code)),
    }
}

/// Shows it.
pub(crate) fn status(as_json: bool) -> Result<(), Failure> {
    let status = of(&mut Operator::connect()?)?;
    let folder = pvm::locate::runtime_directory().display().to_string();
    if as_json {
        return Ok(show_json(&json!({
            "version": status.version, "host": status.host.0, "name": status.name.to_text(),
            "parent_pid": status.parent_pid, "daemon_pid": status.daemon_pid,
            "address": status.address, "bad_peers": status.bad_peers,
            "restarts": status.restarts, "guard": status.guard,
            "order": status.order, "folder": folder,
        }))?);
    }
    let rows = [
        ("host", format!("{} ({})", status.name.to_text(), status.host)),
        ("version", status.version),
        ("address", status.address),
        ("parent", status.parent_pid.to_string()),
        ("daemon", status.daemon_pid.to_string()),
        ("restarts", status.restarts.to_string()),
        ("bad peers", status.bad_peers.to_string()),
        ("guard", status.guard),
        ("order", if status.order.is_empty() { "a leader is known".into() } else { status.order }),
        ("files", folder),
    ];
    for (name, value) in rows {
        show(format_args!("{name:<10}{}\n", text::plain(&value)))?;
    }
    Ok(())
}
