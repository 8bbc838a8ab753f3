"""Python tasks in a NeoPVM machine.

>>> import neopvm as pvm
>>> with pvm.connect() as vm:
...     team = vm.spawn("worker.py", n=4)
...     team.send({"job": 1}, tag=1)
...     answer = vm.recv(tag=2, timeout=60)

Lower-case calls transfer objects. Upper-case calls transfer the items of buffers (numpy's arrays,
memoryview, array) without further copies. ``vm.message()`` packs typed messages that C and Fortran
can read.
"""

from __future__ import annotations

from ._core import DEFAULT, RAW, Exposed, Message, is_main_interpreter

if not is_main_interpreter():
    # The exceptions would be classes of another interpreter, which no `except` here matches.
    raise ImportError(
        "neopvm works only in the main interpreter: a subinterpreter cannot be a task"
    )

from .errors import (
    BrokenError,
    ClaimOverError,
    ClosedError,
    Code,
    DeniedError,
    Error,
    ForeignError,
    FullError,
    GroupError,
    HostError,
    HostResult,
    NoMachineError,
    NotFoundError,
    NoTaskError,
    ShortError,
    SpaceLostError,
    SpawnError,
    Timeout,
    TooLongError,
    UseError,
    ViewOpenError,
    WorkerLostError,
    WrongTypeError,
)
from .machine import ANY, HOST_ADD, HOST_DELETE, TASK_EXIT, Machine, Received, connect, current
from .pool import Pool
from .space import Claim, Formal, Row, Space, Typed
from .tables import Host, HostTable, TaskInfo, TaskTable
from .team import Team, Tid

__version__ = "0.1.0"

__all__ = [
    "ANY",
    "DEFAULT",
    "HOST_ADD",
    "HOST_DELETE",
    "RAW",
    "TASK_EXIT",
    "BrokenError",
    "Claim",
    "ClaimOverError",
    "ClosedError",
    "Code",
    "DeniedError",
    "Error",
    "Exposed",
    "ForeignError",
    "Formal",
    "FullError",
    "GroupError",
    "Host",
    "HostError",
    "HostResult",
    "HostTable",
    "Machine",
    "Message",
    "NoMachineError",
    "NoTaskError",
    "NotFoundError",
    "Pool",
    "Received",
    "Row",
    "ShortError",
    "Space",
    "SpaceLostError",
    "SpawnError",
    "TaskInfo",
    "TaskTable",
    "Team",
    "Tid",
    "Timeout",
    "TooLongError",
    "Typed",
    "UseError",
    "ViewOpenError",
    "WorkerLostError",
    "WrongTypeError",
    "connect",
    "current",
]
