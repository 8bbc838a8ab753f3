"""This process in a machine."""

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
from typing import IO, Any, Generic, TypeVar

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
from .tables import Host, HostTable, TaskInfo, TaskTable
from .team import Team, Tid

#: Any task as a source, any tag.
ANY = -1

#: Kinds of notices.
TASK_EXIT, HOST_DELETE, HOST_ADD = 1, 2, 3
_CANCEL = 256

_NAME_PERSISTENT, _NAME_MANY, _NAME_OVERWRITABLE, _NAME_FIRST, _NAME_TAKE, _NAME_WAIT = 1, 2, 4, 8, 16, 32

_T = TypeVar("_T")


@dataclass(frozen=True)
class Received(Generic[_T]):
    """An object that was received, and its message's head."""

    obj: _T
    source: Tid
    tag: int
    nbytes: int


def _received(message: _core.Message, copy: bool = True) -> Received[Any]:
    value = objects.decode(message, copy)
    return Received(value, Tid(message.source), message.tag, message.nbytes)


class Machine(_core.Task):
    """This process as a task of a machine. :func:`connect` gives it.

    Lower-case ``send`` and ``recv`` carry Python objects, ``Send`` and ``Recv`` the items of buffers without copies in
    between, :meth:`message` and ``receive`` typed messages that C and Fortran read. All calls may be used from any
    thread; calls that wait let other threads run, and Ctrl-C ends them.
    """

    def __init__(self) -> None:
        self._daemon: launch.Daemon | None = None
        self._own_vmid = False
        self._output: Output | None = None
        self._pid = os.getpid()
        # Calls of `connect` that have given it and were not closed yet.
        self._uses = 0

    # ---- Coming and going ----

    def close(self) -> None:
        """Takes back one :func:`connect`; the last one leaves the machine, and ends it if :func:`connect` started it.
        Again it does nothing."""
        if self._pid != os.getpid():
            return
        with _connecting:
            self._uses -= 1
            if self._uses <= 0:
                self._depart()

    def _depart(self) -> None:
        """Leaves, whoever else has connected. Called with `_connecting`."""
        self._uses = 0
        if self._output is not None:
            self._output.end()
            self._output = None
        daemon, self._daemon = self._daemon, None
        try:
            self.leave()
        except NoMachineError:
            pass  # It has ended before us, which comes to the same.
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
        """Sends an object to a task, or to each of several. It may be changed when this returns."""
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
        """Waits for an object: ``.obj .source .tag .nbytes``. ``timeout`` is in seconds; ``Timeout`` when it is over.

        Without ``copy`` large buffers in the object (arrays) are read-only views of the message, without a copy.
        """
        return _received(self.receive(source, tag, timeout, context=context), copy)

    def try_recv(
        self, source: int = ANY, tag: int = ANY, *, context: int | None = None
    ) -> Received[Any] | None:
        """An object that is there already, or None."""
        message = self.try_receive(source, tag, context=context)
        return None if message is None else _received(message)

    # ---- Typed messages ----

    def message(self, *, raw: bool = False) -> _core.Message:
        """A new message to be packed. A raw one is bytes as they are in memory, for hosts of one kind."""
        return _core.Message(_core.RAW if raw else _core.DEFAULT)

    # ---- asyncio ----

    async def areceive(
        self, source: int = ANY, tag: int = ANY, timeout: float | None = None, *, context: int | None = None
    ) -> _core.Message:
        """As :meth:`receive`, for coroutines of asyncio."""
        return await aio.receive(self, source, tag, timeout, context)

    async def arecv(
        self, source: int = ANY, tag: int = ANY, timeout: float | None = None, *, context: int | None = None
    ) -> Received[Any]:
        """As :meth:`recv`, for coroutines of asyncio."""
        return _received(await aio.receive(self, source, tag, timeout, context))

    async def messages(
        self, source: int = ANY, tag: int = ANY, *, context: int | None = None
    ) -> AsyncIterator[Received[Any]]:
        """All objects that come, for ``async for``."""
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

        ``program`` is a function, which is called with ``args`` in each of them; a Python script (``.py``), run by this
        interpreter; or any program. Functions and scripts run with this process's folder and module path.
        ``host`` or ``arch`` say where (``others``: everywhere else). ``SpawnError`` if not all could be started.
        """
        if n < 1:
            raise UseError(Code["BadParam"], "spawn", cause=f"{n} tasks cannot be started")
        worker.check_began()
        how = spawning.command(program, args, env, cwd)
        output = self._output.target if self._output is not None else None
        place, flags = spawning.place(host, arch, others, least_loaded)
        wish = how.wish | {"flags": flags, "place": place.encode(), "count": n, "output": output}
        # The core writes the answer here, so that an interrupt between its coming and the next line loses nobody.
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
        """Ends tasks that nobody will know."""
        for tid in tids:
            try:
                self._signal(tid, signal.SIGKILL)
            except Error:
                return  # The machine has gone, and they with it.

    def kill(self, tid: int) -> None:
        """Ends a task. One that does not exist is no error."""
        self._signal(tid, signal.SIGTERM)

    def signal(self, tid: int, number: int) -> None:
        """Sends a signal to a task."""
        self._signal(tid, int(number))

    def tasks(self, place: int = 0) -> TaskTable:
        """The tasks of the machine, of a host, or one task; without a row for what is not there."""
        return TaskTable(TaskInfo(*_task(row)) for row in self._tasks(place))

    def is_running(self, tid: int) -> bool:
        """True if there is such a task."""
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
        """Asks for a message under ``tag`` when one of these tasks (``TASK_EXIT``) or hosts (``HOST_DELETE``) ends: one
        int, its id. ``HOST_ADD``: the number of new hosts and their ids, ``count`` times, -1 for ever."""
        where = self.context if context is None else context
        self._notify((kind, cancel), (where, tag), count, list(tids))

    # ---- Hosts ----

    def hosts(self) -> HostTable:
        """The hosts of the machine."""
        rows = self._hosts()
        return HostTable(
            Host(tid, name, arch, speed, cores, draining, tuple(addresses), version)
            for tid, name, arch, speed, cores, draining, addresses, version in rows
        )

    def add_hosts(self, *names: str) -> tuple[HostResult, ...]:
        """Adds hosts through ssh, each as in a host file (a name and options). ``HostError`` if one could not be added;
        its ``results`` tell of each the stage that failed, the reason and the next command."""
        return results.changed("add_hosts", names, self._add_hosts([name.encode() for name in names]))

    def delete_hosts(self, *names: str) -> tuple[HostResult, ...]:
        """Takes hosts out of the machine; their tasks end."""
        return results.changed("delete_hosts", names, self._delete_hosts([name.encode() for name in names]))

    def add_local(self, count: int = 1) -> HostTable:
        """Starts more hosts on this computer, linked as any others."""
        if count < 1:
            raise UseError(Code["BadParam"], "add_local", cause=f"{count} hosts cannot be started")
        rows = self._add_local(count)
        results.changed("add_local", ["a host of this computer"] * len(rows), rows)
        return self.hosts()

    # ---- Groups (join, leave_group, members, freeze, barrier, Reduce, Gather, Scatter are the core's) ----

    def instance(self, group: str, tid: int | None = None) -> int:
        """The instance number of a task, or of this one, in a group."""
        wanted = self.tid if tid is None else tid
        tids = self.members(group)
        if wanted not in tids:
            raise GroupError(
                Code["NotInGroup"], "instance", cause=f"t{wanted:x} is not in group {group!r}"
            )
        return tids.index(wanted)

    def size(self, group: str) -> int:
        """How many members a group has."""
        return sum(1 for tid in self.members(group) if tid)

    def broadcast(self, obj: object, group: str, tag: int = 0) -> None:
        """Sends an object to all members of a group but this task, who receive it as any other."""
        others = [tid for tid in self.members(group) if tid not in (0, self.tid)]
        if others:
            self.send(obj, others, tag)

    def gather(self, obj: object, group: str, root: int = 0, tag: int = 0) -> list[Any] | None:
        """The objects of all members in the order of their instances at the root; None elsewhere."""
        return collective.gather(self, obj, group, root, tag)

    def scatter(self, objs: Sequence[Any] | None, group: str, root: int = 0, tag: int = 0) -> Any:
        """This member's object of the root's sequence, which has one for each member."""
        return collective.scatter(self, objs, group, root, tag)

    def bcast(self, obj: Any, group: str, root: int = 0, tag: int = 0) -> Any:
        """The root's object at every member: all call it."""
        return collective.bcast(self, obj, group, root, tag)

    def reduce(
        self, function: Callable[[Any, Any], Any], obj: Any, group: str, root: int = 0, tag: int = 0
    ) -> Any:
        """The objects of all members made one by a function at the root; None elsewhere."""
        return collective.reduce(self, function, obj, group, root, tag)

    async def abarrier(self, group: str, count: int = -1) -> None:
        """As ``barrier``, for coroutines of asyncio: it waits in a thread. Cancelled, it has left the barrier; one that was
        met already returns, and the next ``await`` is cancelled."""
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
        """Puts an object, or a :class:`Message`, under a name that all tasks of the machine see. Its index.

        ``persistent``: it stays when this task has gone. ``many``: several under one name. ``overwritable``: by other
        tasks. What this task has put under the name before is replaced; the name of another is ``DeniedError``.
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
        """The message under a name. ``first``: at or behind the index. ``take``: and remove it. It is waited for up to
        ``timeout`` seconds, None being for ever; ``NotFoundError`` if it is not there."""
        flags = _NAME_FIRST * first | _NAME_TAKE * take | (_NAME_WAIT if timeout != 0 else 0)
        found = self._get(name, index, flags, timeout)
        if found is None:
            raise NotFoundError(Code["NotFound"], "get", cause=f"nothing is named {name!r}")
        return found[0]

    def get(
        self, name: str, index: int = 0, *, first: bool = False, take: bool = False, timeout: float | None = 0
    ) -> Any:
        """The object under a name, see :meth:`get_message`."""
        return objects.decode(self.get_message(name, index, first=first, take=take, timeout=timeout))

    def delete(self, name: str, index: int = 0) -> None:
        """Removes what is under a name."""
        self._delete(name, index)

    def names(self, pattern: str = "*") -> dict[str, list[tuple[int, Tid, int]]]:
        """The names that fit a pattern, each with index, owner and flags of its entries."""
        return {
            name: [(index, Tid(owner), flags) for index, owner, flags in entries]
            for name, entries in self._names(pattern)
        }

    # ---- Output of tasks ----

    def catch_output(self, stream: IO[str] | None = None) -> None:
        """Has what tasks spawned from now on print written to ``stream`` (standard output), line by line, each behind
        its task's id."""
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
    """The machine that this process is in; ``ClosedError`` if it is in none."""
    if _current is None or not _current.is_connected:
        raise ClosedError(
            Code["SysErr"], "current", cause="this process is in no machine", hint="neopvm.connect() first"
        )
    return _current


def connected() -> Machine:
    """The machine that this process is in, or is from now on. Nobody takes that back but the end of the process."""
    with _connecting:
        if _current is not None and _current.is_connected:
            return _current
        return connect()


def connect(*, start: bool = True, lasting: bool = False, hosts: int = 1) -> Machine:
    """Becomes a task of the machine that runs, and gives it; connected already, the same one again, which is left when
    each of these calls has been closed (``with`` does so).

    Where none runs, one is started that ends with this process; ``lasting``: one that goes on, as ``pvm up`` starts it.
    With ``start=False`` it is ``NoMachineError``. ``hosts``: so many hosts on this computer, if it is started.
    PVM_VMID names the machine, if there are several.
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
    """This process as a task of a machine that runs, or is started now."""
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
    """An interrupt may come when this process is a task and nobody has it yet."""
    try:
        _core.Task().leave()
    except Error:
        pass  # It was none.


def _started(vmid: str, program: str) -> launch.Daemon | None:
    """A daemon of our own in which this process is a task now; None if another program was quicker with one of that
    name, and this process is a task of that."""
    own = "PVM_VMID" in os.environ
    limit = aio.Limit(launch.READY_SECONDS_MAX)
    while True:
        daemon = launch.Daemon(vmid)
        try:
            if not _is_ready(daemon, limit):
                if _is_at_others(program):
                    return None
                # That one is not ready yet, or was about to end when it was in the way of ours.
                continue
            os.environ["PVM_VMID"] = vmid
            _core.enrol(program)
            return daemon
        except BaseException:
            # An interrupt, too: a daemon that nobody knows would go on until this process ends.
            daemon.end()
            if not own:
                os.environ.pop("PVM_VMID", None)
            raise


def _is_ready(daemon: launch.Daemon, limit: aio.Limit) -> bool:
    """Starts it; False where another program has one of that name, until the time is over."""
    try:
        daemon.start()
    except NoMachineError as failure:
        if "already running" not in failure.hint or not limit.left():
            raise
        return False
    return True


def _is_at_others(program: str) -> bool:
    """True if this process is a task now of the machine that another program is starting."""
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
            pass  # The process ends, and with it its being a task.


def _in_forked_child() -> None:
    global _current, _connecting
    _core.forked()
    _connecting = threading.RLock()
    if _current is not None and _current._daemon is not None:
        _current._daemon.in_forked_child()
    _current = None
    # The daemon is the parent's, and what names it.
    if os.environ.get("PVM_VMID", "") == f"python-{os.getppid()}":
        del os.environ["PVM_VMID"]


os.register_at_fork(after_in_child=_in_forked_child)
