//! The messages for people when a host cannot be added: one place for sentences that several checks
//! have in common.

use crate::launch::places::pushed_folder;
use crate::launch::ssh::Target;
use pvm_wire::PROTOCOL_VERSION;

/// The sentence about a pvmd that is not there.
pub(crate) fn looked_for(name: &str, tried: &[String]) -> String {
    format!("no pvmd on {name} (tried {})", tried.join(", "))
}

/// The sentence about a daemon that is there already, and what to do about it if that can be known
/// there: `own` is the name of the member of the very machine that asks.
pub(crate) fn already(vmid: &str, socket: &str, own: Option<&str>) -> (String, String) {
    match own {
        Some(own) => (format!("it is in the machine already, as {own}"), "pvm conf".to_owned()),
        None => (
            format!("a daemon of another machine `{vmid}` runs there already ({socket})"),
            String::new(),
        ),
    }
}

/// The remedy for a daemon of another machine that is there already.
pub(crate) fn already_remedy(target: &Target) -> String {
    format!("{} pvm halt (or give this machine another name: PVM_VMID, id=)", target.typed())
}

/// The sentence about two versions.
pub(crate) fn versions(name: &str, version: &str, protocol: u16) -> String {
    format!(
        "{name} has NeoPVM {version} (protocol {protocol}), here is NeoPVM {} (protocol \
         {PROTOCOL_VERSION})",
        crate::version::version(),
    )
}

/// The sentence about a version that does not say which one it is.
pub(crate) fn other_version(name: &str) -> String {
    format!(
        "the pvmd on {name} is of another version than NeoPVM {} (protocol {PROTOCOL_VERSION}) \
         here",
        crate::version::version(),
    )
}

/// The sentence about a host that cannot call back.
pub(crate) fn no_call(name: &str, tried: &[(String, String)]) -> String {
    let tried: Vec<String> = tried.iter().map(|(at, why)| format!("{at} {why}")).collect();
    format!("{name} cannot call this host back (tried from there: {})", tried.join(", "))
}

/// The advice how to install pvmd there: our binary runs on the same kind of system only.
pub(crate) fn push_remedy(name: &str, system: &str) -> String {
    if system == here() {
        format!("pvm add --push {name}")
    } else {
        format!("install NeoPVM for {system} on {name}, below ~/{}", pushed_folder())
    }
}

/// This system, as `uname -sm` names it.
pub(crate) fn here() -> String {
    let names = rustix::system::uname();
    format!("{} {}", names.sysname().to_string_lossy(), names.machine().to_string_lossy())
}
