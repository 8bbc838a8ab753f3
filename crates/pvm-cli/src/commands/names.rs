//! Names and groups that tasks have registered: `names`, `groups`. `names`, `groups`.

use crate::failure::Failure;
use crate::operator::Operator;
use crate::options::tasks::NamesOptions;
use crate::show::{show, show_json};
use crate::table::{Side, Table};
use pvm_wire::Tid;
use pvm_wire::request::{GroupInfo, Reply, Request};
use serde_json::{Value, json};

/// `pvm names`.
pub(crate) fn names(options: &NamesOptions) -> Result<(), Failure> {
    let pattern = options.pattern.as_str().into();
    let mailboxes = match Operator::connect()?.ask(&Request::MailboxInfo { pattern }) {
        Ok(Reply::Mailboxes { mailboxes }) => mailboxes,
        Ok(_) => return Err(Failure::unexpected("names")),
        Err(code) => return Err(Failure::refused("names", code)),
    };
    if options.json {
        let rows = mailboxes.iter().map(|name| {
            let entries = name.entries.iter().map(|entry| {
                json!({"index": entry.index, "owner": owner(entry.owner), "flags": entry.flags})
            });
            json!({"name": name.name.to_text(), "entries": entries.collect::<Vec<Value>>()})
        });
        return Ok(show_json(&json!({ "names": rows.collect::<Vec<Value>>() }))?);
    }
    let mut table = Table::new(&[
        ("NAME", Side::Left),
        ("INDEX", Side::Right),
        ("OWNER", Side::Right),
        ("FLAGS", Side::Right),
    ]);
    for name in &mailboxes {
        for entry in &name.entries {
            table.row([
                name.name.to_text(),
                entry.index.to_string(),
                owner(entry.owner).unwrap_or_else(|| "-".to_owned()),
                format!("{:#x}", entry.flags),
            ]);
        }
    }
    Ok(show(table)?)
}

/// The owner, unless it is gone.
fn owner(tid: Tid) -> Option<String> {
    (tid != Tid::NONE).then(|| tid.to_string())
}

/// `pvm groups`.
pub(crate) fn groups(as_json: bool) -> Result<(), Failure> {
    let groups = match Operator::connect()?.ask(&Request::Groups) {
        Ok(Reply::Groups { groups }) => groups,
        Ok(_) => return Err(Failure::unexpected("groups")),
        Err(code) => return Err(Failure::refused("groups", code)),
    };
    if as_json {
        let rows = groups.iter().map(|group| {
            let members: Vec<Option<String>> =
                group.members.iter().map(|&tid| owner(tid)).collect();
            json!({"name": group.name.to_text(), "members": members, "waiting": group.waiting})
        });
        return Ok(show_json(&json!({ "groups": rows.collect::<Vec<Value>>() }))?);
    }
    let mut table = Table::new(&[
        ("GROUP", Side::Left),
        ("SIZE", Side::Right),
        ("AT BARRIER", Side::Right),
        ("MEMBERS", Side::Left),
    ]);
    for group in &groups {
        table.row([
            group.name.to_text(),
            size(group).to_string(),
            group.waiting.to_string(),
            members(group),
        ]);
    }
    Ok(show(table)?)
}

fn size(group: &GroupInfo) -> usize {
    group.members.iter().filter(|&&tid| tid != Tid::NONE).count()
}

/// By instance; a hole is a dash.
fn members(group: &GroupInfo) -> String {
    let names = group.members.iter().map(|&tid| owner(tid).unwrap_or_else(|| "-".to_owned()));
    names.collect::<Vec<String>>().join(" ")
}
