"""The task library of NeoPVM: what `neopvm` is made of."""

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias, overload

# Objects with the buffer protocol: numpy's arrays, memoryview, array, bytes, bytearray.
Buffer: TypeAlias = Any
Type: TypeAlias = Literal[
    "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16",
    "byte", "short", "int", "long", "ushort", "uint", "ulong", "float", "double", "cplx", "dcplx",
]  # fmt: skip
Numbers: TypeAlias = int | float | complex | Iterable[int] | Iterable[float] | Iterable[complex] | Buffer

DEFAULT: int
RAW: int
LEAST_LOADED: int

def is_main_interpreter() -> bool: ...
def codes() -> list[tuple[int, str, str]]: ...
def enrol(program: str) -> None: ...
def forked() -> None: ...
def combine(name: str, into: Buffer, other: Buffer) -> None: ...

class Message:
    """A message of the machine: items of PVM's types, one behind the other.

    Packing methods give the message itself, so that they can be chained. A received message is only read. While a view
    of it is open it cannot be closed. Closing twice does nothing; any other use of a closed message is ``ClosedError``.
    """

    def __new__(cls, encoding: int = 0) -> Self: ...
    def pack(self, kind: Type, values: Numbers) -> Self:
        """Packs a number, a sequence of numbers, or a buffer, as items of a type."""
    def Pack(self, items: Buffer) -> Self:
        """Packs the items of a buffer, whose format says of what type they are."""
    def str(self, text: str) -> Self:
        """Packs a text, as ``pvm_pkstr`` does."""
    def i8(self, values: Numbers) -> Self: ...
    def i16(self, values: Numbers) -> Self: ...
    def i32(self, values: Numbers) -> Self: ...
    def i64(self, values: Numbers) -> Self: ...
    def u16(self, values: Numbers) -> Self: ...
    def u32(self, values: Numbers) -> Self: ...
    def u64(self, values: Numbers) -> Self: ...
    def f32(self, values: Numbers) -> Self: ...
    def f64(self, values: Numbers) -> Self: ...
    def c64(self, values: Numbers) -> Self: ...
    def c128(self, values: Numbers) -> Self: ...
    def allocate(self, kind: Type, count: int) -> memoryview[Any]:
        """Packs ``count`` items that are written later, up to the sending, into the memory that this gives: sent without
        a copy to tasks of this host. Release it before more is packed."""
    def unpack(self, kind: Type, count: int | None = None, *, convert: bool = False) -> Any:
        """The next item, or the next ``count`` as a list. Items are read as the type that they were packed as; with
        ``convert`` as PVM converts them. ``WrongTypeError``, ``ShortError``."""
    def Unpack(self, into: Buffer, *, convert: bool = False) -> None:
        """Reads as many items as a buffer has room for."""
    def unpack_str(self) -> Any:
        """Reads a text."""
    def view(self, kind: Type | None = None, count: int | None = None) -> memoryview[Any]:
        """The data where they lie, read-only: all bytes, or the next items of a type (all that are of it)."""
    @property
    def next_type(self) -> Any:
        """What comes next, in words; None at the end, and for raw data."""
    def rewind(self) -> None: ...
    def send(self, dest: int | Sequence[int], tag: int = 0, *, context: int | None = None) -> None:
        """Sends it to a task, or to several. It stays and can be sent again."""
    @property
    def is_being_read(self) -> bool:
        """True while a receiver holds what was sent: allocated memory must not be changed."""
    @property
    def source(self) -> int: ...
    @property
    def tag(self) -> int: ...
    @property
    def context(self) -> int: ...
    @property
    def encoding(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None:
        """Gives its memory back. ``ViewOpenError`` while a view of it is open."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

class Exposed:
    """Memory that this task exposes, see ``Machine.expose``. In a ``with`` it is withdrawn at the end.

    The memory stays where it is while this, or a view of it, is there: what was withdrawn is this process's alone.
    """

    @property
    def number(self) -> int: ...
    @property
    def writable(self) -> bool:
        """Whether other tasks may write it."""
    @property
    def nbytes(self) -> int: ...
    @property
    def view(self) -> memoryview[int]:
        """The memory itself, as bytes that this task reads and writes; others do so at the same time. ``numpy.frombuffer``
        of it is an array. Not for the child of a fork."""
    def withdraw(self) -> None:
        """Exposes it no more: others are told ``NotFoundError``. Again it does nothing."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def __len__(self) -> int: ...

class Watch:
    """Tells an event loop that a call may have looked past what its coroutines wait for."""

    def __new__(cls) -> Self: ...
    def fileno(self) -> int: ...
    def arm(self) -> None: ...
    def disarm(self) -> None: ...
    def drain(self) -> None: ...

class Task:
    """This process as a task. Times are in seconds; a source or tag of -1 is any."""

    def __new__(cls) -> Self: ...
    @property
    def tid(self) -> int: ...
    @property
    def parent(self) -> int | None: ...
    @property
    def siblings(self) -> list[int]: ...
    @property
    def is_connected(self) -> bool: ...
    @property
    def context(self) -> int: ...
    @context.setter
    def context(self, context: int) -> None: ...
    def leave(self) -> None: ...
    def receive(
        self, source: int = -1, tag: int = -1, timeout: float | None = None, *, context: int | None = None
    ) -> Message:
        """Waits for a message and takes it; ``Timeout`` when the time is over."""
    def try_receive(self, source: int = -1, tag: int = -1, *, context: int | None = None) -> Message | None:
        """A message that is there already, or None."""
    def _look(self, wanted: tuple[int, int, int], watch: Watch) -> Message | None: ...
    def _peek(self, wanted: tuple[int, int, int], watch: Watch) -> bool: ...
    @property
    def _passed_by(self) -> int: ...
    def probe(
        self, source: int = -1, tag: int = -1, *, context: int | None = None
    ) -> tuple[int, int, int] | None:
        """Source, tag and bytes of the first message that fits, which stays; None if there is none."""
    def Recv(
        self,
        into: Buffer,
        source: int = -1,
        tag: int = -1,
        timeout: float | None = None,
        *,
        context: int | None = None,
    ) -> tuple[int, int]:
        """Waits for a message whose items fill the buffer; its source and tag. One that does not fit is ``ShortError``,
        ``TooLongError`` or ``WrongTypeError``, and is the exception's ``message``."""
    def Send(
        self, items: Buffer, dest: int | Sequence[int], tag: int = 0, *, context: int | None = None
    ) -> None:
        """Sends the items of a buffer to a task, or to several. It may be changed when this returns."""
    def send_pieces(
        self,
        pieces: Sequence[Buffer],
        dest: int | Sequence[int],
        tag: int,
        *,
        context: int | None = None,
    ) -> None:
        """Sends the bytes of several buffers as one raw message."""
    def expose(self, number: int, nbytes: int, *, writable: bool = False) -> Exposed:
        """Exposes fresh memory, all 0, under a number of this task's own. All tasks of the machine may read it and, if it
        is ``writable``, write it, without this task's taking part. It goes with the task. ``UseError`` for a number in use."""
    def withdraw(self, number: int) -> None:
        """Exposes memory no more: others are told ``NotFoundError``."""
    def exposed(self, owner: int, number: int) -> tuple[int, bool]:
        """Size of what a task exposes under a number, and whether tasks other than its owner may write it."""
    @overload
    def get_memory(self, owner: int, number: int, offset: int, into: int) -> bytes: ...
    @overload
    def get_memory(self, owner: int, number: int, offset: int, into: Buffer) -> None:
        """Reads what a task exposes, from ``offset`` on, into a buffer, which is filled; or that many bytes. Nothing is
        converted. On one host 4 or 8 bytes at a multiple of their number are read as a whole. ``NotFoundError``;
        ``NoTaskError`` and ``HostError`` if the owner or its host is gone; ``UseError`` for what is not all inside."""
    def put_memory(self, owner: int, number: int, offset: int, data: Buffer) -> None:
        """Writes the bytes of a buffer there, and is done when it returns. Errors as for :meth:`get_memory`, and
        ``DeniedError`` for memory that may only be read."""
    def add_memory(self, owner: int, number: int, offset: int, add: int, *, size: int = 8) -> int:
        """Adds to a word of ``size`` bytes (4 or 8, at a multiple of that) in one indivisible step, modulo 2**32 or 2**64.
        The value before, with its sign. Done once for each call that returns; after ``HostError`` it may have been done."""
    def exchange_memory(
        self, owner: int, number: int, offset: int, expected: int, wanted: int, *, size: int = 8
    ) -> int:
        """Sets a word to ``wanted`` if it is ``expected``, in one indivisible step. The value before: the word was set if
        that is ``expected``. Otherwise as :meth:`add_memory`."""
    def fileno(self) -> int:
        """A descriptor that is readable when something has come that no receive or probe has looked at."""
    def _spawn(self, program: bytes, wish: dict[str, object], outcomes: list[int]) -> list[str]: ...
    def _hosts(self) -> list[tuple[int, str, str, int, int, bool, list[str], str]]: ...
    def _tasks(self, place: int) -> list[tuple[int, int, int, int, int, str]]: ...
    def _signal(self, tid: int, signal: int) -> None: ...
    def _notify(self, what: tuple[int, bool], place: tuple[int, int], count: int, tids: list[int]) -> None: ...
    def _add_hosts(self, lines: list[bytes]) -> list[tuple[int, str, str, str]]: ...
    def _delete_hosts(self, names: list[bytes]) -> list[tuple[int, str, str, str]]: ...
    def _add_local(self, count: int) -> list[tuple[int, str, str, str]]: ...
    def _put(self, name: str, message: Message, flags: int) -> int: ...
    def _get(self, name: str, index: int, flags: int, timeout: float | None) -> tuple[Message, int] | None: ...
    def _delete(self, name: str, index: int) -> None: ...
    def _names(self, pattern: str) -> list[tuple[str, list[tuple[int, int, int]]]]: ...
    def new_context(self) -> int:
        """A context that nobody else in the machine has: messages of one are not seen in another."""
    def free_context(self, context: int) -> None: ...
    def join(self, group: str) -> int:
        """Joins a group; this task's instance number."""
    def leave_group(self, group: str) -> None: ...
    def members(self, group: str) -> list[int]:
        """The members by instance number; 0 where nobody is."""
    def freeze(self, group: str, size: int = -1) -> int:
        """Fixes the members once ``size`` of them have asked for it, however late; how many they are."""
    def barrier(self, group: str, count: int = -1) -> None:
        """Waits until ``count`` members (-1: all) have called it; ``NoTaskError`` if one died. Interrupted, it has
        left the barrier, which does not count it; if it was met already it returns, and the interrupt is raised behind
        it."""
    def _barrier_unless(self, group: str, count: int, stop: Callable[[], bool]) -> bool: ...
    def broadcast_message(self, message: Message, group: str, tag: int = 0) -> None:
        """Sends a message to all members but this task."""
    def Reduce(
        self, op: str | Callable[[Any, Any], Any], items: Buffer, group: str, root: int = 0, tag: int = 0
    ) -> None:
        """Combines the items of all members in the root's buffer: by 'max', 'min', 'sum', 'prod', or by a function of
        two arrays that gives the result or changes the first."""
    def Gather(
        self, items: Buffer, result: Buffer | None, group: str, root: int = 0, tag: int = 0
    ) -> None:
        """Collects the items of all members in the root's ``result``."""
    def Scatter(self, items: Buffer | None, part: Buffer, group: str, root: int = 0, tag: int = 0) -> None:
        """Gives each member its part of the root's ``items``."""
    def _from_member(self, group: str, source: int, root: int, tag: int) -> Message: ...
