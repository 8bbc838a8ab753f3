//! The tasks of this host, their numbers, and the client at the other end of each connection.
//!
//! A task is *launched* (the parent was told to start it), *enrolled* (its process has said
//! hello), or both. `pvm_exit` makes it *left*: gone for PVM, while its process lives on and may
//! enrol again under the next number.

use crate::io::Connection;
use crate::launches::SpawnedTaskKey;
use crate::records::{Change, Slot, Table};
use pvm_wire::peer::Operator;
use pvm_wire::request::{HIDDEN, Inherited, Role, Target, TraceOptions};
use pvm_wire::{Blob, Code, HostIndex, Tid, record};

/// The tasks of one spawn call: as many as a host has ids for tasks.
pub(crate) const SPAWN_COUNT_MAX: usize = Tid::LOCAL_MAX as usize;
/// The tasks that a host begins to start at once.
pub(crate) const START_COUNT_MAX: usize = 1 << 14;

record! {
    /// One task of this host.
    pub struct Task {
        pub pid: u32,
        pub connection: Option<Connection>,
        /// As `pvm_parent` tells: an id or a code.
        pub parent: i32,
        /// Program name as given to spawn, empty for others.
        pub name: Blob,
        pub launched: bool,
        pub enrolled: bool,
        pub left: bool,
        /// False if `reset` spares it.
        pub reset: bool,
        /// True once groups or named messages may know it: all hosts must hear of its end.
        pub known_everywhere: bool,
        pub inherited: Inherited,
        /// True if another task has set its tracing since it enrolled: the task does not know that,
        /// so this host passes the setting on to tasks that it spawns.
        pub retraced: bool,
        /// The first of its siblings, which all are listed under; none until all results of its
        /// spawn call are known.
        pub family: Option<Tid>,
        /// The host that the spawn call was made on: it will tell the siblings.
        pub origin: HostIndex,
        /// The place in a spawn call here that waits for its start.
        pub batch: Option<SpawnedTaskKey>,
        /// Its hello, if it came before the siblings were known.
        pub hello: Option<Greeting>,
    }

    /// A hello that waits.
    pub struct Greeting {
        pub connection: Connection,
        pub id: u32,
        pub pid: u32,
    }

    /// The tasks of one spawn call.
    pub struct Family {
        pub tids: Vec<Tid>,
        /// The number of these tasks that are still in the table of this host.
        pub here: u32,
    }

    /// A connected process.
    pub struct Client {
        pub role: Role,
        /// Its task, while it has one.
        pub tid: Option<Tid>,
        pub pid: u32,
        pub program: Blob,
        pub reset: bool,
    }

    /// A program that this host runs, until its process and its output have both ended.
    pub struct Child {
        /// The destination of its output, if that is neither the command nor the log.
        pub output: Target,
        pub parent: i32,
        /// The command whose run it belongs to.
        pub operator: Option<Operator>,
        pub status: Option<i32>,
        pub output_ended: bool,
        /// The line being written to the log, by stream.
        pub line: Vec<Blob>,
    }
}

/// The inheritance of tasks that were not spawned.
pub(crate) fn nothing_inherited() -> Inherited {
    let nobody = Target { tid: Tid::NONE, context: 0, tag: 0 };
    let trace =
        TraceOptions { target: nobody.clone(), buffer: 0, options: 0, mask: Blob::default() };
    Inherited { context: 0, output: nobody, trace }
}

impl Task {
    /// A task whose process said hello without having been launched.
    pub(crate) fn enrolled(client: &Client, connection: Connection, me: HostIndex) -> Self {
        Self {
            pid: client.pid,
            connection: Some(connection),
            parent: Code::NoParent.number(),
            name: if is_hidden(&client.program) { client.program.clone() } else { Blob::default() },
            launched: false,
            enrolled: true,
            left: false,
            reset: client.reset,
            known_everywhere: false,
            inherited: nothing_inherited(),
            retraced: false,
            family: Some(Tid::NONE),
            origin: me,
            batch: None,
            hello: None,
        }
    }

    /// True for the machine's own tools that are tasks: programs, managers and tracers are not told
    /// of them.
    pub(crate) fn is_hidden(&self) -> bool {
        !self.launched && is_hidden(&self.name)
    }

    /// PVM's flags: 4 connected, 2 child of the daemon.
    pub(crate) fn flags(&self) -> i32 {
        i32::from(self.enrolled) * 4 + i32::from(self.launched) * 2
    }
}

/// No program is called so.
fn is_hidden(program: &Blob) -> bool {
    program.0.first() == Some(&HIDDEN)
}

impl Child {
    /// True for what a command has started itself, false for what its tasks have spawned.
    pub(crate) fn is_direct(&self) -> bool {
        self.operator.is_some() && self.parent == Code::NoParent.number()
    }
}

/// The tasks and connections of this host.
#[derive(Debug)]
pub(crate) struct Tasks {
    host: HostIndex,
    tasks: Table<Tid, Task>,
    clients: Table<Connection, Client>,
    children: Table<Tid, Child>,
    families: Table<Tid, Family>,
    /// The local number that was given last.
    last: Slot<u32>,
    /// The highest one that is given.
    highest: u32,
    /// When to welcome more of the waiting tasks; 0 for never.
    greeting: Slot<u64>,
    /// When a task whose connection ended counts as gone, although its process lives on.
    closing: Table<Tid, u64>,
}

impl Tasks {
    pub(crate) const fn new(host: HostIndex) -> Self {
        Self {
            host,
            tasks: Table::new(b't'),
            clients: Table::new(b'k'),
            children: Table::new(b'o'),
            families: Table::new(b'F'),
            last: Slot::new(b'T', 0),
            highest: Tid::LOCAL_MAX,
            greeting: Slot::new(b'G', 0),
            closing: Table::new(b'x'),
        }
    }

    /// Numbers come again behind this one: fewer than a host has, so that tests see them again
    /// soon.
    pub(crate) fn number_up_to(&mut self, highest: u32) {
        self.highest = highest.clamp(1, Tid::LOCAL_MAX);
    }

    /// Consecutive ids for `count` tasks. A number comes again only after all others, and never
    /// while it still means the old task somewhere (`named` tells).
    pub(crate) fn number(
        &mut self,
        count: usize,
        named: impl Fn(Tid) -> bool,
    ) -> Result<Vec<Tid>, Code> {
        if count == 0 || count > START_COUNT_MAX {
            return Err(Code::OutOfRes);
        }
        let mut tids = Vec::with_capacity(count);
        let mut local = *self.last.get();
        for _ in 0..self.highest as usize + count {
            if local >= self.highest {
                // A block does not run over the end: its numbers are consecutive.
                local = 0;
                tids.clear();
            }
            local += 1;
            let tid = Tid::task(self.host, local);
            let taken = self.tasks.contains(&tid) || self.children.contains(&tid) || named(tid);
            if taken {
                tids.clear()
            } else {
                tids.push(tid)
            }
            if tids.len() == count {
                self.last.set(local);
                return Ok(tids);
            }
        }
        Err(Code::OutOfRes)
    }

    /// A task that PVM knows: not one that has left.
    pub(crate) fn alive(&self, tid: Tid) -> Option<&Task> {
        self.tasks.get(&tid).filter(|task| !task.left)
    }

    pub(crate) fn get(&self, tid: Tid) -> Option<&Task> {
        self.tasks.get(&tid)
    }

    pub(crate) fn get_mut(&mut self, tid: Tid) -> Option<&mut Task> {
        self.tasks.get_mut(&tid)
    }

    pub(crate) fn insert(&mut self, tid: Tid, task: Task) {
        self.tasks.insert(tid, task);
    }

    pub(crate) fn remove(&mut self, tid: Tid) -> Option<Task> {
        self.closing.remove(&tid);
        let task = self.tasks.remove(&tid)?;
        if let Some(first) = task.family
            && let Some(family) = self.families.get_mut(&first)
        {
            family.here -= 1;
            if family.here == 0 {
                self.families.remove(&first);
            }
        }
        Some(task)
    }

    /// These are siblings: notes that for each of them that lives here and did not know yet.
    pub(crate) fn set_family(&mut self, tids: &[Tid]) {
        let Some(&first) = tids.first() else { return };
        let mut here = 0;
        for tid in tids {
            if self.tasks.get(tid).is_some_and(|task| task.family.is_none())
                && let Some(task) = self.tasks.get_mut(tid)
            {
                task.family = Some(first);
                here += 1;
            }
        }
        if here > 0 {
            self.families.insert(first, Family { tids: tids.to_vec(), here });
        }
    }

    /// The siblings of a task, itself included.
    pub(crate) fn siblings(&self, tid: Tid) -> Vec<Tid> {
        let family = self.tasks.get(&tid).and_then(|task| self.families.get(&task.family?));
        family.map_or_else(|| vec![tid], |family| family.tids.clone())
    }

    /// A task whose hello has waited long enough: its siblings are known.
    pub(crate) fn next_greeted(&self) -> Option<Tid> {
        let ready = |task: &Task| task.hello.is_some() && task.family.is_some();
        self.tasks.iter().find(|(_, task)| ready(task)).map(|(tid, _)| *tid)
    }

    /// The tasks that PVM knows, by id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Tid, &Task)> {
        self.tasks.iter().filter(|(_, task)| !task.left).map(|(&tid, task)| (tid, task))
    }

    /// True if no task of this host is left, nor output of one. Hidden tasks, such as a recorder,
    /// do not count.
    pub(crate) fn is_empty(&self) -> bool {
        self.iter().all(|(_, task)| task.is_hidden()) && self.children.is_empty()
    }

    /// The ids of the tasks that fit.
    pub(crate) fn tids_where(&self, fits: impl Fn(&Task) -> bool) -> Vec<Tid> {
        self.iter().filter(|(_, task)| fits(task)).map(|(tid, _)| tid).collect()
    }

    pub(crate) fn client(&self, connection: Connection) -> Option<&Client> {
        self.clients.get(&connection)
    }

    pub(crate) fn client_mut(&mut self, connection: Connection) -> Option<&mut Client> {
        self.clients.get_mut(&connection)
    }

    pub(crate) fn connect(&mut self, connection: Connection, client: Client) {
        self.clients.insert(connection, client);
    }

    pub(crate) fn disconnect(&mut self, connection: Connection) -> Option<Client> {
        self.clients.remove(&connection)
    }

    pub(crate) fn child(&self, tid: Tid) -> Option<&Child> {
        self.children.get(&tid)
    }

    pub(crate) fn child_mut(&mut self, tid: Tid) -> Option<&mut Child> {
        self.children.get_mut(&tid)
    }

    /// The command whose run a task belongs to. A process that has left and enrolled again under
    /// another number stays in it.
    pub(crate) fn operator_of(&self, tid: Tid) -> Option<Operator> {
        let same_process = || {
            let pid = self.tasks.get(&tid)?.pid;
            let left = self.tasks.iter().filter(|(_, task)| task.left && task.pid == pid);
            left.filter_map(|(earlier, _)| self.children.get(earlier)).next_back()
        };
        self.children.get(&tid).or_else(same_process)?.operator.clone()
    }

    /// The tasks of commands' runs that were spawned by a task of this host.
    pub(crate) fn spawned_from(&self, host: HostIndex) -> Vec<(Tid, Operator)> {
        let spawned = |tid: &Tid| self.tasks.get(tid).is_some_and(|task| task.origin == host);
        let theirs = self.children.iter().filter(|(tid, _)| spawned(tid));
        theirs.filter_map(|(&tid, child)| Some((tid, child.operator.clone()?))).collect()
    }

    pub(crate) fn add_child(&mut self, tid: Tid, child: Child) {
        self.children.insert(tid, child);
    }

    pub(crate) fn remove_child(&mut self, tid: Tid) -> Option<Child> {
        self.children.remove(&tid)
    }

    /// The children that fit.
    pub(crate) fn children_where(&self, fits: impl Fn(&Child) -> bool) -> Vec<Tid> {
        self.children.keys_where(|_, child| fits(child))
    }

    /// The task's connection ended: it counts as gone at `at` if its process has not ended by
    /// then.
    pub(crate) fn close_at(&mut self, tid: Tid, at: u64) {
        self.closing.insert(tid, at);
    }

    pub(crate) fn never_close(&mut self, tid: Tid) {
        self.closing.remove(&tid);
    }

    /// The tasks whose time has come.
    pub(crate) fn closed_by(&self, now: u64) -> Vec<Tid> {
        self.closing.keys_where(|_, &at| at <= now)
    }

    /// The next moment at which something is due here.
    pub(crate) fn next_time(&self) -> Option<u64> {
        self.closing.values().min().copied().into_iter().chain(self.greet_time()).min()
    }

    /// There are more to welcome, at this time.
    pub(crate) fn greet_at(&mut self, time: u64) {
        // 0 means never, and the world did not begin at 0.
        self.greeting.set(time.max(1));
    }

    pub(crate) fn stop_greeting(&mut self) {
        self.greeting.set(0);
    }

    pub(crate) fn greet_time(&self) -> Option<u64> {
        Some(*self.greeting.get()).filter(|&time| time != 0)
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.tasks.take_changes(out);
        self.clients.take_changes(out);
        self.children.take_changes(out);
        self.families.take_changes(out);
        self.last.take_changes(out);
        self.greeting.take_changes(out);
        self.closing.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.tasks.restore(key, value)
            || self.clients.restore(key, value)
            || self.children.restore(key, value)
            || self.families.restore(key, value)
            || self.last.restore(key, value)
            || self.greeting.restore(key, value)
            || self.closing.restore(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_consecutive_and_come_again_only_after_all_others() {
        let mut tasks = Tasks::new(HostIndex(1));
        let first = tasks.number(3, |_| false).expect("there are enough");
        assert_eq!(first, [Tid(0x40001), Tid(0x40002), Tid(0x40003)]);
        tasks.last.set(Tid::LOCAL_MAX - 1);
        // Two do not fit before the end; 1 still means a task.
        let again = tasks.number(2, |tid| tid == Tid(0x40001)).expect("there are enough");
        assert_eq!(again, [Tid(0x40002), Tid(0x40003)]);
        assert_eq!(tasks.number(START_COUNT_MAX + 1, |_| false), Err(Code::OutOfRes));
        tasks.number_up_to(4);
        let few = [tasks.number(2, |_| false), tasks.number(2, |_| false)];
        assert_eq!(
            few,
            [Ok(vec![Tid(0x40001), Tid(0x40002)]), Ok(vec![Tid(0x40003), Tid(0x40004)])]
        );
        assert_eq!(tasks.number(5, |_| false), Err(Code::OutOfRes));
    }
}
