"""This process in a machine."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Generic, TypeVar

from . import _core, aio, collective, launch, objects, worker
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

_ON_HOST, _ON_ARCH, _ON_OTHERS = 1, 2, 32
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

    # ---- Coming and going ----

    def close(self) -> None:
        """Leaves the machine, and ends it if :func:`connect` started it. Again it does nothing."""
        if self._pid != os.getpid():
            return
        with _connecting:
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
            if self._own_vmid and daemon is not None:
                if os.environ.get("PVM_VMID") == daemon.vmid:
                    del os.environ["PVM_VMID"]
            _forget(self)

    def halt(self) -> None:
        """Leaves the machine and ends it, with all its tasks on all its hosts."""
        started_it = self.started_it
        self.close()
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
        additions = dict(env or {})
        boot: bytes | None = None
        if callable(program):
            boot = worker.boot(program, args)
            file, arguments = sys.executable, ["-m", "neopvm.spawned"]
        elif os.fspath(program).endswith(".py"):
            script = Path(program)
            if not script.is_file():
                raise SpawnError(Code["NoFile"], "spawn", cause=f"there is no script {script}", hint="")
            file, arguments = sys.executable, [str(script.absolute()), *map(str, args)]
        else:
            file, arguments = os.fspath(program), [str(arg) for arg in args]
            if os.sep in file:
                file = os.path.abspath(file)
        if file == sys.executable:
            additions.setdefault("PYTHONPATH", worker.module_path(env))
            if cwd is None:
                cwd = os.getcwd()
        place, flags = _place(host, arch, others, least_loaded)
        lines = [f"{name}={value}" for name, value in {**_exported(), **additions}.items()]
        output = self._output.target if self._output is not None else None
        wish: dict[str, object] = {
            "args": [os.fsencode(argument) for argument in arguments],
            "flags": flags,
            "place": place.encode(),
            "count": n,
            "environment": [os.fsencode(line) for line in lines],
            "directory": os.fsencode(cwd) if cwd is not None else b"",
            "output": output,
        }
        outcomes, tried = self._spawn(os.fsencode(file), wish)
        if os.sep not in file and all(outcome == Code["NoFile"] for outcome in outcomes):
            found = launch.search(file)
            if found != file:
                outcomes, tried = self._spawn(os.fsencode(found), wish)
        started = tuple(tid for tid in outcomes if tid > 0)
        team = Team.of(self, started)
        if boot is not None and team:
            self.send(boot, team, worker.BOOT_TAG, context=worker.BOOT_CONTEXT)
        if len(started) < n:
            raise _not_spawned(file, outcomes, tried, started)
        return team

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
        return _changed("add_hosts", names, self._add_hosts([name.encode() for name in names]))

    def delete_hosts(self, *names: str) -> tuple[HostResult, ...]:
        """Takes hosts out of the machine; their tasks end."""
        return _changed("delete_hosts", names, self._delete_hosts([name.encode() for name in names]))

    def add_local(self, count: int = 1) -> HostTable:
        """Starts more hosts on this computer, linked as any others."""
        if count < 1:
            raise UseError(Code["BadParam"], "add_local", cause=f"{count} hosts cannot be started")
        results = self._add_local(count)
        _changed("add_local", ["a host of this computer"] * len(results), results)
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

    def abarrier(self, group: str, count: int = -1) -> aio.Awaitable[None]:
        """As ``barrier``, for coroutines of asyncio: it waits in a thread."""
        return aio.in_thread(self.barrier, group, count)

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


def _place(host: str | None, arch: str | None, others: bool, least_loaded: bool) -> tuple[str, int]:
    if host is not None and arch is not None:
        raise UseError(Code["BadParam"], "spawn", cause="a host or an architecture, not both")
    flags = (_ON_OTHERS if others else 0) | (_core.LEAST_LOADED if least_loaded else 0)
    if host is not None:
        return host, flags | _ON_HOST
    if arch is not None:
        return arch, flags | _ON_ARCH
    return "", flags


def _exported() -> dict[str, str]:
    """The variables that PVM_EXPORT names."""
    names = os.environ.get("PVM_EXPORT", "")
    exported = {name: os.environ[name] for name in names.split(":") if name in os.environ}
    return {**exported, "PVM_EXPORT": names} if names else exported


def _not_spawned(file: str, outcomes: list[int], tried: list[str], started: tuple[int, ...]) -> SpawnError:
    code = next(outcome for outcome in outcomes if outcome <= 0)
    cause = f"{len(outcomes) - len(started)} of {len(outcomes)} tasks of {file} were not started: "
    cause += Error(code or Code["DSysErr"]).cause
    if tried:
        cause += f" (looked in {', '.join(tried)})"
    error = SpawnError(code or Code["DSysErr"], "spawn", cause=cause)
    error.started = started
    return error


def _changed(
    call: str, names: Sequence[str], rows: Sequence[tuple[int, str, str, str]]
) -> tuple[HostResult, ...]:
    results = tuple(HostResult(name, *row) for name, row in zip(names, rows))
    failed = [result for result in results if result.outcome < 0]
    if failed:
        first = failed[0]
        detail = first.detail or Error(first.outcome).cause
        at = f" at stage {first.stage}" if first.stage else ""
        cause = f"{first.name}{at}: {detail}"
        error = HostError(first.outcome, call, cause=cause, hint=first.remedy)
        error.results = results
        raise error
    return results


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


def connect(*, start: bool = True, lasting: bool = False, hosts: int = 1) -> Machine:
    """Becomes a task of the machine that runs, and gives it; connected already, the same one again.

    Where none runs, one is started that ends with this process; ``lasting``: one that goes on, as ``pvm up`` starts it.
    With ``start=False`` it is ``NoMachineError``. ``hosts``: so many hosts on this computer, if it is started.
    PVM_VMID names the machine, if there are several.
    """
    global _current
    with _connecting:
        if _current is not None and _current.is_connected:
            return _current
        if _current is not None:
            _current.close()
        program = sys.argv[0] if sys.argv and sys.argv[0] else "python"
        daemon = None
        own_vmid = False
        try:
            _core.enrol(program)
        except NoMachineError:
            # A spawned task belongs to the machine that spawned it.
            if not start or os.environ.get("PVMSOCK"):
                raise
            if lasting:
                launch.start_lasting()
            else:
                vmid = os.environ.get("PVM_VMID", "")
                own_vmid = not vmid
                vmid = vmid or f"python-{os.getpid()}"
                daemon = launch.Daemon(vmid)
                os.environ["PVM_VMID"] = vmid
            _core.enrol(program)
        machine = Machine()
        machine._daemon, machine._own_vmid = daemon, own_vmid
        _current = machine
        if hosts > 1 and (daemon is not None or lasting):
            missing = hosts - len(machine.hosts())
            if missing > 0:
                machine.add_local(missing)
        return machine


@atexit.register
def _close_at_exit() -> None:
    machine = _current
    if machine is not None:
        try:
            machine.close()
        except Error:
            pass  # The process ends, and with it its being a task.


def _in_forked_child() -> None:
    global _current, _connecting
    _core.forked()
    _connecting = threading.RLock()
    _current = None
    # The daemon is the parent's, and what names it.
    if os.environ.get("PVM_VMID", "") == f"python-{os.getppid()}":
        del os.environ["PVM_VMID"]


os.register_at_fork(after_in_child=_in_forked_child)
