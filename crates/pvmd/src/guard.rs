//! The daemon speaks to the network, so it gives up what it does not need, where the kernel lets it:
//! seccomp takes away calls, Landlock takes away files. Where it does not, the daemon runs on without
//! and says so in `pvm status`.
//!
//! Both hold for the thread that calls and for those that it starts. What is left out is the starter
//! ([`crate::starter`]), which hears nothing from the network.

use landlock::{
    ABI, Access as _, AccessFs, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus,
    path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::path::Path;

/// What is there to be read: libraries and tables of names that the resolver loads, devices, facts.
const READABLE: [&str; 10] =
    ["/etc", "/usr", "/lib", "/lib32", "/lib64", "/nix", "/proc", "/sys", "/dev", "/run"];
/// A daemon writes to nothing else but to its host's folder.
const WRITABLE: [&str; 2] = ["/dev/null", "/dev/tty"];

/// Calls that no daemon makes: starting programs, looking into other processes, changing the system.
/// A call that is refused fails with "operation not permitted".
const REFUSED: [libc::c_long; 40] = [
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_sethostname,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_open_by_handle_at,
    libc::SYS_personality,
];

/// Gives up what the daemon does not need. Returns what holds from here on, in words.
pub(crate) fn confine(folder: &Path) -> String {
    if !crate::starter::is_there() {
        return "none: no thread for programs".to_owned();
    }
    // Landlock first: the filter would not be in its way, but it is the larger step.
    let files = restrict_files(folder);
    let calls = restrict_calls();
    match (files, calls) {
        (Ok(()), Ok(())) => "landlock, seccomp".to_owned(),
        (Ok(()), Err(why)) => format!("landlock (no seccomp: {why})"),
        (Err(why), Ok(())) => format!("seccomp (no landlock: {why})"),
        (Err(files), Err(calls)) => format!("none (no landlock: {files}; no seccomp: {calls})"),
    }
}

fn restrict_files(folder: &Path) -> Result<(), String> {
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

fn restrict_calls() -> Result<(), String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH);
    let arch = arch.map_err(|_| "no filter for this processor".to_owned())?;
    let filter = filter(arch).map_err(|error| error.to_string())?;
    seccompiler::apply_filter(&filter).map_err(|error| error.to_string())
}

fn filter(arch: TargetArch) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (i64::from(*call), Vec::new())).collect();
    // A thread is made with its flag; without it, a process.
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let no_thread =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(thread), 0)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![no_thread])?]);
    #[cfg(target_arch = "x86_64")]
    rules.extend([(libc::SYS_fork, Vec::new()), (libc::SYS_vfork, Vec::new())]);
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a thread of its own: what it gives up is gone for good.
    #[test]
    fn a_confined_thread_starts_no_program_and_reads_no_home() {
        let folder = std::env::temp_dir().join(format!("pvmd-guard-{}", std::process::id()));
        let (ours, home) = (folder.join("ours"), folder.join("home"));
        std::fs::create_dir_all(&ours).unwrap();
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("key"), "secret").unwrap();
        let inside = std::thread::spawn(move || {
            let (files, calls) = (restrict_files(&ours), restrict_calls());
            // Threads and files of its own are what it lives of.
            assert!(std::thread::spawn(|| true).join().unwrap());
            std::fs::write(ours.join("own"), "x").unwrap();
            std::fs::remove_file(ours.join("own")).unwrap();
            assert!(std::fs::read("/etc/passwd").is_ok());
            let socket = std::os::unix::net::UnixDatagram::bind(ours.join("bell"));
            assert!(socket.is_ok());
            if files.is_ok() {
                assert!(std::fs::read(home.join("key")).is_err());
                assert!(std::fs::write(home.join("key"), "x").is_err());
            }
            if calls.is_ok() {
                assert!(std::process::Command::new("/bin/true").status().is_err());
            }
            (files, calls)
        });
        let (files, calls) = inside.join().unwrap();
        eprintln!("landlock {files:?}, seccomp {calls:?}");
        // This thread is as free as before.
        assert!(std::fs::read(folder.join("home/key")).is_ok());
        assert!(std::process::Command::new("/bin/true").status().unwrap().success());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
