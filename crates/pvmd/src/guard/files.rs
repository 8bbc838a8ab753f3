//! Files: rules of Landlock.

use landlock::{
    ABI, Access as _, AccessFs, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus,
    path_beneath_rules,
};
use std::path::Path;

/// The readable files: libraries and tables of names that the resolver loads, devices, facts.
const READABLE: [&str; 10] =
    ["/etc", "/usr", "/lib", "/lib32", "/lib64", "/nix", "/proc", "/sys", "/dev", "/run"];
/// A daemon writes to nothing else but to its host's folder.
const WRITABLE: [&str; 2] = ["/dev/null", "/dev/tty"];

/// Takes all other files away from this thread and the threads that it starts.
pub(super) fn restrict(folder: &Path) -> Result<(), String> {
    // The rights of the first version that knows all that a daemon does; older kernels know less.
    let all = AccessFs::from_all(ABI::V3);
    let read = AccessFs::from_read(ABI::V3) & !AccessFs::Execute;
    let restricted = Ruleset::default()
        .handle_access(all)
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(READABLE, read)))
        .and_then(|rules| {
            rules.add_rules(path_beneath_rules(WRITABLE, AccessFs::ReadFile | AccessFs::WriteFile))
        })
        .and_then(|rules| rules.add_rules(path_beneath_rules([folder], all & !AccessFs::Execute)))
        .and_then(|rules| rules.restrict_self());
    match restricted {
        Ok(status) if status.ruleset == RulesetStatus::NotEnforced => {
            Err("the kernel has none".to_owned())
        }
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
