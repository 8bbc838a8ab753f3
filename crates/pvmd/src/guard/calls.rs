//! Calls: a filter of seccomp, on the processors that its library knows.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

/// Calls that no daemon makes: starting programs, looking into other processes, changing the
/// system. A call that is refused fails with "operation not permitted".
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

/// The bits of a socket's type that are not flags.
const SOCKET_KIND: u64 = 0xf;

/// Takes the calls away from this thread and the threads that it starts.
pub(super) fn restrict() -> Result<(), String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH);
    let arch = arch.map_err(|_| "no filter for this processor".to_owned())?;
    let filters = filters(arch).map_err(|error| error.to_string())?;
    filters
        .iter()
        .try_for_each(|filter| seccompiler::apply_filter(filter).map_err(|error| error.to_string()))
}

fn filters(arch: TargetArch) -> Result<[BpfProgram; 2], seccompiler::BackendError> {
    // Its flags lie in memory, where no filter sees them. C libraries that are told that there is
    // no such call make their threads with the older one.
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let newer = SeccompFilter::new(rules, SeccompAction::Allow, unknown, arch)?.try_into()?;
    Ok([newer, filter(arch)?])
}

/// Forbids sockets that could reach servers at sockets in the file system: keepers of keys,
/// containers, desktops. (Landlock has no say in that.) The daemon's own sockets to its parent are
/// there before, and doorbells are of another kind.
fn connections() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let is = |argument, mask, value: i32| {
        let operator = SeccompCmpOp::MaskedEq(mask);
        let value = u64::from(value.unsigned_abs());
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
    };
    let of_kind = |kind| {
        let local = is(0, u64::from(u32::MAX), libc::AF_UNIX)?;
        SeccompRule::new(vec![local, is(1, SOCKET_KIND, kind)?])
    };
    Ok(vec![of_kind(libc::SOCK_STREAM)?, of_kind(libc::SOCK_SEQPACKET)?])
}

fn filter(arch: TargetArch) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    // A thread is made with its flag; without it, a process.
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let no_thread =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(thread), 0)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![no_thread])?]);
    rules.insert(libc::SYS_socket, connections()?);
    #[cfg(target_arch = "x86_64")]
    rules.extend([(libc::SYS_fork, Vec::new()), (libc::SYS_vfork, Vec::new())]);
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()
}
