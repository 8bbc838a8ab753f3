"""The connection of this process to a machine."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Generic, Literal, TypeVar

from . import _core, aio, collective, launch, objects, results, spawning, worker
from .errors import (
    ClosedError,
    Code,
    Error,
    GroupError,
    HostError,
    HostResult,
    NoMachineError,
    NotFoundError,
    SpawnError,
    Timeout,
    UseError,
)
from .output import Output
from .space import Space, plan
from .tables import Host, HostTable, TaskInfo, TaskTable
from .team import Team, Tid

#: As a source: any task. As a tag: any tag.
ANY = -1

#: Kinds of notices.
TASK_EXIT, HOST_DELETE, HOST_ADD = 1, 2, 3
_CANCEL = 256

_NAME_PERSISTENT, _NAME_MANY, _NAME_OVERWRITABLE, _NAME_FIRST, _NAME_TAKE, _NAME_WAIT = 1, 2, 4, 8, 16, 32

_T = TypeVar("_T")


@dataclass(frozen=True)
class Received(Generic[_T]):
    """An object that was received, with the envelope of its message."""

    obj: _T
    source: Tid
    tag: int
    nbytes: int


def _received(message: _core.Message, copy: bool = True) -> Received[Any]:
    value = objects.decode(message, copy)
    return Received(value, Tid(message.source), message.tag, message.nbytes)


class Machine(_core.Task):
    """This process as a task of a machine. :func:`connect` returns it.

    ``send`` and ``recv`` transfer Python objects. ``Send`` and ``Recv`` transfer the items of
    buffers without further copies. :meth:`message` and ``receive`` are for typed messages that C
    and Fortran can read. Any thread may make any call. While a call waits, other threads run, and
    Ctrl-C ends the wait.
    """

    def __init__(self) -> None:
        self._daemon: launch.Daemon | None = None
        self._own_vmid = False
        self._output: Output | None = None
        self._pid = os.getpid()
        # Calls of `connect` that have returned this object and were not closed yet.
        self._uses = 0

    # ---- Leaving ----

    def close(self) -> None:
        """Undoes one :func:`connect`.

        The last ``close`` leaves the machine, and ends it if :func:`connect` started it. Further
        calls do nothing.
        """
        if self._pid != os.getpid():
            return
        with _connecting:
            self._uses -= 1
            if self._uses <= 0:
                self._depart()

    def _depart(self) -> None:
        """Leaves, even if other callers have connected. The caller holds `_connecting`."""
        self._uses = 0
        if self._output is not None:
            self._output.end()
            self._output = None
        daemon, self._daemon = self._daemon, None
        try:
            self.leave()
        except NoMachineError:
            pass  # The machine has ended already.
        if daemon is not None:
            daemon.end()
            if self._own_vmid and os.environ.get("PVM_VMID") == daemon.vmid:
                del os.environ["PVM_VMID"]
        _forget(self)

    def halt(self) -> None:
        """Leaves the machine and ends it, with all its tasks on all its hosts."""
        if self._pid != os.getpid():
            return
        started_it = self.started_it
        with _connecting:
            self._depart()
        if not started_it:
            launch.halt()

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def vmid(self) -> str:
        """The machine's name: ``PVM_VMID=NAME pvm ps`` shows its tasks."""
        return os.environ.get("PVM_VMID", "") or "default"

    @property
    def started_it(self) -> bool:
        """True if the machine was started for this process and ends with it."""
        return self._daemon is not None

    # ---- Objects ----

    def send(self, obj: object, dest: int | Iterable[int], tag: int = 0, *, context: int | None = None) -> None:
        """Sends an object to a task, or to each of several.

        The object may be changed when the call returns.
        """
        objects.send(self, obj, dest, tag, context)

    def recv(
        self,
        source: int = ANY,
        tag: int = ANY,
        timeout: float | None = None,
        *,
        context: int | None = None,
        copy: bool = True,
    ) -> Received[Any]:
        """Waits for an object. The result has ``.obj .source .tag .nbytes``.

        ``timeout`` is in seconds; raises ``Timeout`` when it expires. With ``copy=False`` large
        buffers in the object (arrays) are read-only views of the message.
        """
        return _received(self.receive(source, tag, timeout, context=context), copy)

    def try_recv(
        self, source: int = ANY, tag: int = ANY, *, context: int | None = None
    ) -> Received[Any] | None:
        """Takes an object that has arrived already. Returns None if there is none."""
        message = self.try_receive(source, tag, context=context)
        return None if message is None else _received(message)

    # ---- Typed messages ----

    def message(self, *, raw: bool = False) -> _core.Message:
        """Makes a message to be packed.

        A ``raw`` message contains bytes as they are in memory, for hosts with the same data format.
        """
        return _core.Message(_core.RAW if raw else _core.DEFAULT)

    # ---- asyncio ----

    async def areceive(
        self, source: int = ANY, tag: int = ANY, timeout: float | None = None, *, context: int | None = None
    ) -> _core.Message:
        """Does what :meth:`receive` does, for coroutines of asyncio."""
        return await aio.receive(self, source, tag, timeout, context)

    async def arecv(
        self, source: int = ANY, tag: int = ANY, timeout: float | None = None, *, context: int | None = None
    ) -> Received[Any]:
        """Does what :meth:`recv` does, for coroutines of asyncio."""
        return _received(await aio.receive(self, source, tag, timeout, context))

    async def messages(
        self, source: int = ANY, tag: int = ANY, *, context: int | None = None
    ) -> AsyncIterator[Received[Any]]:
        """Yields each object that arrives, for ``async for``."""
        while True:
            yield await self.arecv(source, tag, context=context)

    # ---- Tasks ----

    def spawn(
        self,
        program: str | os.PathLike[str] | Callable[..., object],
        *args: Any,
        n: int = 1,
        host: str | None = None,
        arch: str | None = None,
        others: bool = False,
        least_loaded: bool = False,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Team:
        """Starts ``n`` tasks.

        ``program`` is a function, which each task calls with ``args``; a Python script (``.py``),
        which this interpreter runs; or any program. Functions and scripts run with this process's
        folder and module path. ``host`` or ``arch`` say where the tasks run, or with ``others``
        where they do not. Raises ``SpawnError`` if a task was not started.
        """
        if n < 1:
            raise UseError(Code["BadParam"], "spawn", cause=f"{n} tasks cannot be started")
        worker.check_began()
        how = spawning.command(program, args, env, cwd)
        output = self._output.target if self._output is not None else None
        place, flags = spawning.place(host, arch, others, least_loaded)
        wish = how.wish | {"flags": flags, "place": place.encode(), "count": n, "output": output}
        # The core writes the ids here, so that no task is lost if an interrupt comes before the
        # next line.
        outcomes: list[int] = []
        try:
            tried = self._spawn(os.fsencode(how.file), wish, outcomes)
            if os.sep not in how.file and all(outcome == Code["NoFile"] for outcome in outcomes):
                found = launch.search(how.file)
                if found != how.file:
                    outcomes.clear()
                    tried = self._spawn(os.fsencode(found), wish, outcomes)
            team = Team.of(self, (tid for tid in outcomes if tid > 0))
            if how.boot is not None and team:
                self.send(how.boot, team, worker.BOOT_TAG, context=worker.BOOT_CONTEXT)
        except BaseException:
            self._end_all(tid for tid in outcomes if tid > 0)
            raise
        if len(team) < n:
            raise spawning.not_started(how.file, outcomes, tried, team)
        return team

    def _end_all(self, tids: Iterable[int]) -> None:
        """Ends tasks whose ids the caller will never get."""
        for tid in tids:
            try:
                self._signal(tid, signal.SIGKILL)
            except Error:
                return  # The machine has ended, and its tasks with it.

    def kill(self, tid: int) -> None:
        """Ends a task. It is no error if the task does not exist."""
        self._signal(tid, signal.SIGTERM)

    def signal(self, tid: int, number: int) -> None:
        """Sends a signal to a task."""
        self._signal(tid, int(number))

    def tasks(self, place: int = 0) -> TaskTable:
        """Returns the tasks of the machine, of a host, or one task.

        The table is empty if there are none.
        """
        return TaskTable(TaskInfo(*_task(row)) for row in self._tasks(place))

    def is_running(self, tid: int) -> bool:
        """Returns True if the task exists."""
        return bool(self._tasks(tid))

    def wait(self, tids: Iterable[int], timeout: float | None = None) -> None:
        """Waits until these tasks have ended."""
        watched = sorted(set(tids))
        if not watched:
            return
        context = self.new_context()
        try:
            self.notify(TASK_EXIT, 0, watched, context=context)
            limit = aio.Limit(timeout)
            for _ in watched:
                self.receive(tag=0, timeout=limit.left(), context=context)
        except Timeout as late:
            raise Timeout(
                Code["NoData"], "wait", cause="not all of the tasks have ended in time", hint=""
            ) from late
        finally:
            if self.is_connected:
                self.free_context(context)

    def notify(
        self,
        kind: int,
        tag: int,
        tids: Iterable[int] = (),
        *,
        count: int = -1,
        cancel: bool = False,
        context: int | None = None,
    ) -> None:
        """Requests a message with ``tag`` for each of these tasks (``TASK_EXIT``) or hosts
        (``HOST_DELETE``) when it ends.

        The message contains one int, the id. For ``HOST_ADD`` each message contains the number of
        new hosts and their ids; ``count`` is the number of messages that are wanted, -1 for all.
        """
        where = self.context if context is None else context
        self._notify((kind, cancel), (where, tag), count, list(tids))

    # ---- Hosts ----

    def hosts(self) -> HostTable:
        """Returns the hosts of the machine."""
        rows = self._hosts()
        return HostTable(
            Host(tid, name, arch, speed, cores, draining, tuple(addresses), version)
            for tid, name, arch, speed, cores, draining, addresses, version in rows
        )

    def add_hosts(self, *names: str) -> tuple[HostResult, ...]:
        """Adds hosts through ssh. Each argument is a name with options, as in a host file.

        Raises ``HostError`` if one could not be added; its ``results`` have for each host the stage
        that failed, the reason and the next command.
        """
        return results.changed("add_hosts", names, self._add_hosts([name.encode() for name in names]))

    def delete_hosts(self, *names: str) -> tuple[HostResult, ...]:
        """Removes hosts from the machine. Their tasks end."""
        return results.changed("delete_hosts", names, self._delete_hosts([name.encode() for name in names]))

    def add_local(self, count: int = 1) -> HostTable:
        """Starts more hosts on this computer."""
        if count < 1:
            raise UseError(Code["BadParam"], "add_local", cause=f"{count} hosts cannot be started")
        rows = self._add_local(count)
        results.changed("add_local", ["a host of this computer"] * len(rows), rows)
        return self.hosts()

    # ---- Groups (join, leave_group, members, freeze, barrier, Reduce, Gather, Scatter are the
    # core's) ----

    def instance(self, group: str, tid: int | None = None) -> int:
        """Returns the instance number of a task, or of this task, in a group."""
        wanted = self.tid if tid is None else tid
        tids = self.members(group)
        if wanted not in tids:
            raise GroupError(
                Code["NotInGroup"], "instance", cause=f"t{wanted:x} is not in group {group!r}"
            )
        return tids.index(wanted)

    def size(self, group: str) -> int:
        """Returns the number of members of a group."""
        return sum(1 for tid in self.members(group) if tid)

    def broadcast(self, obj: object, group: str, tag: int = 0) -> None:
        """Sends an object to all members of a group except this task.

        They receive it like any other object.
        """
        others = [tid for tid in self.members(group) if tid not in (0, self.tid)]
        if others:
            self.send(obj, others, tag)

    def gather(self, obj: object, group: str, root: int = 0, tag: int = 0) -> list[Any] | None:
        """Returns the objects of all members, in the order of instance numbers, at the root, and
        None elsewhere."""
        return collective.gather(self, obj, group, root, tag)

    def scatter(self, objs: Sequence[Any] | None, group: str, root: int = 0, tag: int = 0) -> Any:
        """Returns this member's object of the root's sequence, which has one object for each
        member."""
        return collective.scatter(self, objs, group, root, tag)

    def bcast(self, obj: Any, group: str, root: int = 0, tag: int = 0) -> Any:
        """Returns the root's object at every member. All members must call it."""
        return collective.bcast(self, obj, group, root, tag)

    def reduce(
        self, function: Callable[[Any, Any], Any], obj: Any, group: str, root: int = 0, tag: int = 0
    ) -> Any:
        """Combines the objects of all members with a function.

        Returns the result at the root, and None elsewhere.
        """
        return collective.reduce(self, function, obj, group, root, tag)

    async def abarrier(self, group: str, count: int = -1) -> None:
        """Does what ``barrier`` does, for coroutines of asyncio. It waits in a thread.

        A cancelled call leaves the barrier. If the barrier was met already, the call returns, and
        the next ``await`` is cancelled.
        """
        await aio.in_thread(lambda stop: self._barrier_unless(group, count, stop))

    # ---- Named messages ----

    def put(
        self,
        name: str,
        obj: object,
        *,
        persistent: bool = False,
        many: bool = False,
        overwritable: bool = False,
    ) -> int:
        """Stores an object, or a :class:`Message`, under a name that all tasks of the machine see;
        returns its index.

        A ``persistent`` entry stays when this task ends. With ``many`` there may be several entries
        under one name. Other tasks may replace an ``overwritable`` entry. An entry that this task
        has stored under the name before is replaced; if the entry belongs to another task, raises
        ``DeniedError``.
        """
        flags = _NAME_PERSISTENT * persistent | _NAME_MANY * many | _NAME_OVERWRITABLE * overwritable
        if isinstance(obj, _core.Message):
            return self._put(name, obj, flags)
        with _core.Message(_core.RAW) as message:
            for piece in objects.encode(obj):
                message.Pack(memoryview(piece).cast("B"))
            return self._put(name, message, flags)

    def get_message(
        self, name: str, index: int = 0, *, first: bool = False, take: bool = False, timeout: float | None = 0
    ) -> _core.Message:
        """Returns the message under a name.

        With ``first`` it is the first one at or behind the index, and with ``take`` it is also
        removed. The call waits up to ``timeout`` seconds, or with None for ever. Raises
        ``NotFoundError`` if there is no such entry.
        """
        flags = _NAME_FIRST * first | _NAME_TAKE * take | (_NAME_WAIT if timeout != 0 else 0)
        found = self._get(name, index, flags, timeout)
        if found is None:
            raise NotFoundError(Code["NotFound"], "get", cause=f"nothing is named {name!r}")
        return found[0]

    def get(
        self, name: str, index: int = 0, *, first: bool = False, take: bool = False, timeout: float | None = 0
    ) -> Any:
        """Returns the object under a name, see :meth:`get_message`."""
        return objects.decode(self.get_message(name, index, first=first, take=take, timeout=timeout))

    def delete(self, name: str, index: int = 0) -> None:
        """Deletes the entry of a name."""
        self._delete(name, index)

    def names(self, pattern: str = "*") -> dict[str, list[tuple[int, Tid, int]]]:
        """Returns the names that match a pattern, each with index, owner and flags of its
        entries."""
        return {
            name: [(index, Tid(owner), flags) for index, owner, flags in entries]
            for name, entries in self._names(pattern)
        }

    # ---- Output of tasks ----

    def space(
        self,
        name: str,
        *,
        create: bool = True,
        new: bool = False,
        owned: bool = False,
        copies: int = 0,
        limit: int = 0,
        full: Literal["block", "spill", "error"] = "block",
        durable: str | os.PathLike[str] | None = None,
        sync_every: float = 0.0,
    ) -> Space:
        """Opens a tuple space, and makes it if there is none.

        With ``new``, a space of this name must not exist; with ``create=False`` it must. The other
        arguments are for a space that the call makes: it ends with this task if it is ``owned``; it
        is held by servers on ``copies`` (0 to 2) further hosts; its tuples have at most ``limit``
        bytes (0: 1 GiB). When it is full, ``out`` waits (``full="block"``), raises ``FullError``
        (``"error"``), or its tuple goes to a file of the server (``"spill"``).

        With ``durable``, a directory, it is on disk, too: each server that keeps it writes a file
        there on its host, and the space begins with the tuples of a file that is found there;
        ``note`` of the space says what was damaged. An operation is done when it is on the disk;
        with ``sync_every``, 0.01 to 60 seconds, the disk has it at most so much later.
        """
        made = plan(copies, limit, full, durable, sync_every) if create or new else None
        core, note = _core.open_space(name, None if made is None else (*made, owned, new))
        return Space(core, name, note)

    def delete_space(self, name: str) -> None:
        """Deletes a tuple space with all its tuples. Calls that wait in it raise ``NotFoundError``."""
        _core.delete_space(name)

    def catch_output(self, stream: IO[str] | None = None) -> None:
        """Writes the output of tasks that are spawned from now on to ``stream``, by default to
        standard output.

        The output is written line by line, and each line begins with the id of its task.
        """
        if self._output is not None:
            self._output.end()
        self._output = Output(self, stream if stream is not None else sys.stdout)

    def __repr__(self) -> str:
        state = f"t{self.tid:x}" if self.is_connected else "closed"
        return f"<Machine {self.vmid} {state}>"

    def _repr_html_(self) -> str:
        if not self.is_connected:
            return "<p>a machine that is closed</p>"
        return self.hosts()._repr_html_() + self.tasks()._repr_html_()


def _task(row: tuple[int, int, int, int, int, str]) -> tuple[int, int, int, int, int, str]:
    tid, parent, host, flags, pid, name = row
    return Tid(tid), Tid(parent), Tid(host), flags, pid, name


_connecting = threading.RLock()
_current: Machine | None = None


def _forget(machine: Machine) -> None:
    global _current
    if _current is machine:
        _current = None


def current() -> Machine:
    """Returns the machine of this process. Raises ``ClosedError`` if it is in none."""
    if _current is None or not _current.is_connected:
        raise ClosedError(
            Code["SysErr"], "current", cause="this process is in no machine", hint="neopvm.connect() first"
        )
    return _current


def connected() -> Machine:
    """Returns the machine of this process, and connects if necessary; the connection lasts until
    the process ends."""
    with _connecting:
        if _current is not None and _current.is_connected:
            return _current
        return connect()


def connect(*, start: bool = True, lasting: bool = False, hosts: int = 1) -> Machine:
    """Becomes a task of the machine that runs, and returns the machine.

    Further calls return the same object. The process leaves the machine when each of these calls
    has been closed; the end of a ``with`` does that.

    If no machine runs, the call starts one that ends with this process, or with ``lasting`` one
    that goes on, as ``pvm up`` does. It starts ``hosts`` hosts on this computer. With
    ``start=False`` it raises ``NoMachineError`` instead. PVM_VMID names the machine if there are
    several.
    """
    global _current
    with _connecting:
        if _current is None or not _current.is_connected:
            if _current is not None:
                _current._depart()
            _current = _enrolled(start, lasting)
            if hosts > 1 and (_current.started_it or lasting):
                missing = hosts - len(_current.hosts())
                if missing > 0:
                    _current.add_local(missing)
        _current._uses += 1
        return _current


def _enrolled(start: bool, lasting: bool) -> Machine:
    """Makes this process a task of a machine that runs, or that is started now."""
    program = sys.argv[0] if sys.argv and sys.argv[0] else "python"
    vmid = os.environ.get("PVM_VMID", "")
    daemon = None
    try:
        try:
            _core.enrol(program)
        except NoMachineError:
            # A spawned task belongs to the machine that spawned it.
            if not start or os.environ.get("PVMSOCK"):
                raise
            if lasting:
                launch.start_lasting()
                _core.enrol(program)
            else:
                daemon = _started(vmid or f"python-{os.getpid()}", program)
        machine = Machine()
    except BaseException:
        _take_back()
        raise
    machine._daemon, machine._own_vmid = daemon, not vmid
    return machine


def _take_back() -> None:
    """Leaves after an interrupt that came when this process was a task already and the caller did
    not know it yet."""
    try:
        _core.Task().leave()
    except Error:
        pass  # It was none.


def _started(vmid: str, program: str) -> launch.Daemon | None:
    """Starts a daemon of this process's own and enrols there.

    Returns None if another program was faster with a machine of that name and this process is a
    task of that machine.
    """
    own = "PVM_VMID" in os.environ
    limit = aio.Limit(launch.READY_SECONDS_MAX)
    while True:
        daemon = launch.Daemon(vmid)
        try:
            if not _is_ready(daemon, limit):
                if _is_at_others(program):
                    return None
                # The other machine is not ready yet, or was about to end when it prevented ours.
                continue
            os.environ["PVM_VMID"] = vmid
            _core.enrol(program)
            return daemon
        except BaseException:
            # Also after an interrupt: a daemon that no caller knows would run until this process
            # ends.
            daemon.end()
            if not own:
                os.environ.pop("PVM_VMID", None)
            raise


def _is_ready(daemon: launch.Daemon, limit: aio.Limit) -> bool:
    """Starts the daemon.

    Returns False while another program runs a machine of that name, until the limit is over.
    """
    try:
        daemon.start()
    except NoMachineError as failure:
        if "already running" not in failure.hint or not limit.left():
            raise
        return False
    return True


def _is_at_others(program: str) -> bool:
    """Enrols in the machine that another program is starting. Returns True if that succeeded."""
    limit = aio.Limit(0.5)
    while True:
        try:
            _core.enrol(program)
            return True
        except NoMachineError:
            if not limit.left():
                return False
            time.sleep(0.02)


@atexit.register
def _close_at_exit() -> None:
    machine = _current
    if machine is not None and machine._pid == os.getpid():
        try:
            with _connecting:
                machine._depart()
        except Error:
            pass  # The process ends, and the task with it.


def _in_forked_child() -> None:
    global _current, _connecting
    _core.forked()
    _connecting = threading.RLock()
    if _current is not None and _current._daemon is not None:
        _current._daemon.in_forked_child()
    _current = None
    # The daemon belongs to the parent, and so does the variable that names it.
    if os.environ.get("PVM_VMID", "") == f"python-{os.getppid()}":
        del os.environ["PVM_VMID"]


os.register_at_fork(after_in_child=_in_forked_child)
