//! Numbers of calls: PVM's own kinds of events, then a range for each of our other interfaces.
//!
//! A binding notes its calls by its own range where they are not made of those of `neopvm.h` (those
//! of Java are; Python's stand on the task library). A call that is not in the tables here gets its
//! name by a record ([`super::Class::Call`]).

/// No call at all.
pub const NONE: u16 = u16::MAX;
/// The first number of `neopvm.h`.
pub const NEOPVM: u16 = 0x400;
/// The first number of Java's task library.
pub const JAVA: u16 = 0x500;
/// The first number of Python's.
pub const PYTHON: u16 = 0x600;

macro_rules! calls {
    (
        $first:expr, $names:ident:
        $($(#[$attr:meta])* $constant:ident = $number:literal $name:literal),* $(,)?
    ) => {
        $(
            #[doc = concat!("`", $name, "`")]
            $(#[$attr])*
            pub const $constant: u16 = $first + $number;
        )*
        const $names: &[(u16, &str)] = &[$(($constant, $name)),*];
    };
}

calls! { 0, PVM:
    ADDHOSTS = 0 "pvm_addhosts", BARRIER = 1 "pvm_barrier", BCAST = 2 "pvm_bcast",
    BUFINFO = 3 "pvm_bufinfo", CONFIG = 4 "pvm_config", DELETE = 5 "pvm_delete",
    DELHOSTS = 6 "pvm_delhosts", EXIT = 7 "pvm_exit", FREEBUF = 8 "pvm_freebuf",
    GETFDS = 9 "pvm_getfds", GETINST = 10 "pvm_getinst", GETOPT = 11 "pvm_getopt",
    GETRBUF = 12 "pvm_getrbuf", GETSBUF = 13 "pvm_getsbuf", GETTID = 14 "pvm_gettid",
    GSIZE = 15 "pvm_gsize", HALT = 16 "pvm_halt", INITSEND = 17 "pvm_initsend",
    INSERT = 18 "pvm_insert", JOINGROUP = 19 "pvm_joingroup", KILL = 20 "pvm_kill",
    LOOKUP = 21 "pvm_lookup", LVGROUP = 22 "pvm_lvgroup", MCAST = 23 "pvm_mcast",
    MKBUF = 24 "pvm_mkbuf", MSTAT = 25 "pvm_mstat", MYTID = 26 "pvm_mytid",
    NOTIFY = 27 "pvm_notify", NRECV = 28 "pvm_nrecv", PARENT = 29 "pvm_parent",
    PERROR = 30 "pvm_perror", PKBYTE = 31 "pvm_pkbyte", PKCPLX = 32 "pvm_pkcplx",
    PKDCPLX = 33 "pvm_pkdcplx", PKDOUBLE = 34 "pvm_pkdouble", PKFLOAT = 35 "pvm_pkfloat",
    PKINT = 36 "pvm_pkint", PKUINT = 37 "pvm_pkuint", PKLONG = 38 "pvm_pklong",
    PKULONG = 39 "pvm_pkulong", PKSHORT = 40 "pvm_pkshort", PKUSHORT = 41 "pvm_pkushort",
    PKSTR = 42 "pvm_pkstr", PROBE = 43 "pvm_probe", PSTAT = 44 "pvm_pstat", RECV = 45 "pvm_recv",
    RECVF = 46 "pvm_recvf", SEND = 47 "pvm_send", SENDSIG = 48 "pvm_sendsig",
    SETOPT = 49 "pvm_setopt", SETRBUF = 50 "pvm_setrbuf", SETSBUF = 51 "pvm_setsbuf",
    SPAWN = 52 "pvm_spawn", START_PVMD = 53 "pvm_start_pvmd", TASKS = 54 "pvm_tasks",
    TICKLE = 55 "pvm_tickle", TIDTOHOST = 56 "pvm_tidtohost", TRECV = 57 "pvm_trecv",
    UPKBYTE = 58 "pvm_upkbyte", UPKCPLX = 59 "pvm_upkcplx", UPKDCPLX = 60 "pvm_upkdcplx",
    UPKDOUBLE = 61 "pvm_upkdouble", UPKFLOAT = 62 "pvm_upkfloat", UPKINT = 63 "pvm_upkint",
    UPKUINT = 64 "pvm_upkuint", UPKLONG = 65 "pvm_upklong", UPKULONG = 66 "pvm_upkulong",
    UPKSHORT = 67 "pvm_upkshort", UPKUSHORT = 68 "pvm_upkushort", UPKSTR = 69 "pvm_upkstr",
    VERSION = 70 "pvm_version", REG_HOSTER = 71 "pvm_reg_hoster", REG_RM = 72 "pvm_reg_rm",
    REG_TASKER = 73 "pvm_reg_tasker", REG_TRACER = 74 "pvm_reg_tracer", NEWTASK = 75 "newtask",
    ENDTASK = 76 "endtask", SPNTASK = 77 "spntask", ARCHCODE = 78 "pvm_archcode",
    CATCHOUT = 79 "pvm_catchout", GETMWID = 80 "pvm_getmwid", GETTMASK = 81 "pvm_gettmask",
    HOSTSYNC = 82 "pvm_hostsync", PACKF = 83 "pvm_packf", PRECV = 84 "pvm_precv",
    PSEND = 85 "pvm_psend", REDUCE = 86 "pvm_reduce", SETMWID = 87 "pvm_setmwid",
    SETTMASK = 88 "pvm_settmask", UNPACKF = 89 "pvm_unpackf", GATHER = 90 "pvm_gather",
    SCATTER = 91 "pvm_scatter", PUTINFO = 92 "pvm_putinfo", GETINFO = 93 "pvm_getinfo",
    DELINFO = 94 "pvm_delinfo", GETMBOXINFO = 95 "pvm_getmboxinfo",
    NEWCONTEXT = 96 "pvm_newcontext", FREECONTEXT = 97 "pvm_freecontext",
    SETCONTEXT = 98 "pvm_setcontext", GETCONTEXT = 99 "pvm_getcontext",
    SIBLINGS = 100 "pvm_siblings", GETMINFO = 101 "pvm_getminfo", SETMINFO = 102 "pvm_setminfo",
    ADDMHF = 103 "pvm_addmhf", DELMHF = 104 "pvm_delmhf", MHF_INVOKE = 105 "mhf_invoke",
    TIMING = 106 "timing", PROFILING = 107 "profiling", USER_DEFINED = 108 "user_defined",
}

calls! { NEOPVM, OURS:
    NEOPVM_ENROL = 0 "neopvm_enrol", NEOPVM_LEAVE = 1 "neopvm_leave", NEOPVM_NEW = 2 "neopvm_new",
    NEOPVM_FREE = 3 "neopvm_free", NEOPVM_PACK = 4 "neopvm_pack",
    NEOPVM_PACK_TEXT = 5 "neopvm_pack_text", NEOPVM_SEND = 6 "neopvm_send",
    NEOPVM_MULTICAST = 7 "neopvm_multicast", NEOPVM_BROADCAST = 8 "neopvm_broadcast",
    NEOPVM_WHEN_FULL = 9 "neopvm_when_full", NEOPVM_RECEIVE = 10 "neopvm_receive",
    NEOPVM_PROBE = 11 "neopvm_probe", NEOPVM_INFO = 12 "neopvm_info",
    NEOPVM_SEND_ITEMS = 13 "neopvm_send_items", NEOPVM_RECEIVE_ITEMS = 14 "neopvm_receive_items",
    NEOPVM_UNPACK = 15 "neopvm_unpack", NEOPVM_UNPACK_TEXT = 16 "neopvm_unpack_text",
    NEOPVM_REWIND = 17 "neopvm_rewind", NEOPVM_VIEW = 18 "neopvm_view",
    NEOPVM_VIEW_ITEMS = 19 "neopvm_view_items", NEOPVM_ALLOCATE = 20 "neopvm_allocate",
    NEOPVM_IS_READ = 21 "neopvm_is_read", NEOPVM_EXPOSE = 22 "neopvm_expose",
    NEOPVM_WITHDRAW = 23 "neopvm_withdraw", NEOPVM_EXPOSED = 24 "neopvm_exposed",
    NEOPVM_GET_MEMORY = 25 "neopvm_get_memory", NEOPVM_PUT_MEMORY = 26 "neopvm_put_memory",
    NEOPVM_SET_PROBES = 27 "neopvm_set_probes", NEOPVM_READ_RECORDS = 28 "neopvm_read_records",
    NEOPVM_DESCRIPTOR = 29 "neopvm_descriptor", NEOPVM_WAIT = 30 "neopvm_wait",
    NEOPVM_PUT = 31 "neopvm_put", NEOPVM_GET = 32 "neopvm_get",
    NEOPVM_GET_UNTIL = 33 "neopvm_get_until", NEOPVM_WAKE = 34 "neopvm_wake",
    NEOPVM_DELETE = 35 "neopvm_delete", NEOPVM_JOIN = 36 "neopvm_join",
    NEOPVM_LEAVE_GROUP = 37 "neopvm_leave_group", NEOPVM_MEMBERS = 38 "neopvm_members",
    NEOPVM_BARRIER = 39 "neopvm_barrier", NEOPVM_BARRIER_UNTIL = 40 "neopvm_barrier_until",
    NEOPVM_FREEZE_UNTIL = 41 "neopvm_freeze_until", NEOPVM_NEW_CONTEXT = 42 "neopvm_new_context",
    NEOPVM_FREE_CONTEXT = 43 "neopvm_free_context", NEOPVM_SPAWN = 44 "neopvm_spawn",
    NEOPVM_SPAWN_UNTIL = 45 "neopvm_spawn_until", NEOPVM_SIGNAL = 46 "neopvm_signal",
    NEOPVM_NOTIFY = 47 "neopvm_notify", NEOPVM_HOSTS = 48 "neopvm_hosts",
    NEOPVM_TASKS = 49 "neopvm_tasks", NEOPVM_MARK = 50 "neopvm_mark",
    NEOPVM_STATE = 51 "neopvm_state", NEOPVM_PROGRESS = 52 "neopvm_progress",
    NEOPVM_ADD_MEMORY = 53 "neopvm_add_memory",
    NEOPVM_EXCHANGE_MEMORY = 54 "neopvm_exchange_memory",
    NEOPVM_IS_BEING_READ = 55 "neopvm_is_being_read",
    NEOTUPLE_OPEN = 56 "neotuple_open",
    NEOTUPLE_DELETE = 57 "neotuple_delete",
    NEOTUPLE_OUT = 58 "neotuple_out",
    NEOTUPLE_OUT_ALL = 59 "neotuple_out_all",
    NEOTUPLE_IN = 60 "neotuple_in",
    NEOTUPLE_RD = 61 "neotuple_rd",
    NEOTUPLE_CLAIM = 62 "neotuple_claim",
    NEOTUPLE_DONE = 63 "neotuple_done",
    NEOTUPLE_GIVE_BACK = 64 "neotuple_give_back",
    NEOTUPLE_RENEW = 65 "neotuple_renew",
    NEOTUPLE_DONE_ALL = 66 "neotuple_done_all",
    NEOTUPLE_COUNT = 67 "neotuple_count",
    NEOTUPLE_COLLECT = 68 "neotuple_collect",
    NEOTUPLE_COPY = 69 "neotuple_copy",
    NEOTUPLE_CREATE_DURABLE = 70 "neotuple_create_durable",
}

calls! { PYTHON, OF_PYTHON:
    PYTHON_RECEIVE = 0 "neopvm.receive", PYTHON_TRY_RECEIVE = 1 "neopvm.try_receive",
    PYTHON_PROBE = 2 "neopvm.probe", PYTHON_RECV_ITEMS = 3 "neopvm.Recv",
    PYTHON_SEND_ITEMS = 4 "neopvm.Send", PYTHON_SEND = 5 "neopvm.send",
    PYTHON_WAIT = 6 "neopvm.wait", PYTHON_SPAWN = 7 "neopvm.spawn",
    PYTHON_HOSTS = 8 "neopvm.hosts", PYTHON_TASKS = 9 "neopvm.tasks",
    PYTHON_SIGNAL = 10 "neopvm.signal", PYTHON_NOTIFY = 11 "neopvm.notify",
    PYTHON_ADD_HOSTS = 12 "neopvm.add_hosts", PYTHON_DELETE_HOSTS = 13 "neopvm.delete_hosts",
    PYTHON_PUT = 14 "neopvm.put", PYTHON_GET = 15 "neopvm.get", PYTHON_DELETE = 16 "neopvm.delete",
    PYTHON_NAMES = 17 "neopvm.names", PYTHON_NEW_CONTEXT = 18 "neopvm.new_context",
    PYTHON_FREE_CONTEXT = 19 "neopvm.free_context", PYTHON_JOIN = 20 "neopvm.join",
    PYTHON_LEAVE_GROUP = 21 "neopvm.leave_group", PYTHON_MEMBERS = 22 "neopvm.members",
    PYTHON_FREEZE = 23 "neopvm.freeze", PYTHON_BARRIER = 24 "neopvm.barrier",
    PYTHON_BROADCAST = 25 "neopvm.broadcast", PYTHON_REDUCE = 26 "neopvm.reduce",
    PYTHON_GATHER = 27 "neopvm.gather", PYTHON_SCATTER = 28 "neopvm.scatter",
    PYTHON_MARK = 29 "neopvm.mark", PYTHON_STATE = 30 "neopvm.state",
    PYTHON_PROGRESS = 31 "neopvm.progress",
}

/// The function's name.
pub fn name(call: u16) -> Option<&'static str> {
    let (first, names) = match call {
        PYTHON.. => (PYTHON, OF_PYTHON),
        NEOPVM.. => (NEOPVM, OURS),
        _ => (0, PVM),
    };
    let (number, name) = names.get(usize::from(call - first))?;
    debug_assert_eq!(*number, call, "the tables have no holes");
    Some(name)
}

/// The number of the function of this name.
pub fn number(name: &str) -> Option<u16> {
    PVM.iter()
        .chain(OURS)
        .chain(OF_PYTHON)
        .find(|(_, known)| *known == name)
        .map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_its_name_and_each_name_its_number() {
        for table in [PVM, OURS, OF_PYTHON] {
            assert!(table.iter().all(|(call, known)| name(*call) == Some(*known)));
            assert!(table.iter().all(|(call, known)| number(known) == Some(*call)));
        }
        assert_eq!((name(47), name(NEOPVM + 10)), (Some("pvm_send"), Some("neopvm_receive")));
        assert_eq!((name(109), name(0x3ff), name(JAVA), name(NONE)), (None, None, None, None));
    }
}
