"""The native part of `neopvm`: messages, exposed memory, and this process as a task."""

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

def open_space(
    name: str, made: tuple[int, int, int, bytes, float, bool, bool] | None
) -> tuple[Space, str]: ...
def delete_space(name: str) -> None: ...

class Stop:
    """Ends a wait of another thread."""

    def __new__(cls) -> Self: ...
    def set(self) -> None: ...

class Space:
    """An open tuple space, as ``neopvm.space`` uses it."""

    def put(self, rows: list[tuple[Any, ...]], timeout: float | None) -> bool: ...
    def find(
        self,
        template: tuple[Any, ...],
        how: tuple[int, float],
        timeout: float | None,
        stop: Stop | None,
    ) -> tuple[tuple[Any, ...], tuple[str, ...], int, int] | None: ...
    def count(self, template: tuple[Any, ...]) -> int: ...
    def gather(
        self, template: tuple[Any, ...], take: bool, room: int
    ) -> list[tuple[tuple[Any, ...], tuple[str, ...]]]: ...
    def done(self, claim: int, rows: list[tuple[Any, ...]]) -> None: ...
    def give_back(self, claim: int) -> None: ...
    def renew(self, claim: int, lease: float) -> None: ...
    def close(self) -> None: ...

class Message:
    """A message: a sequence of items of PVM's types.

    Packing methods return the message itself, so that calls can be chained. A received message can
    only be read. A message cannot be closed while a view of it is open. Closing it twice does
    nothing; any other use of a closed message raises ``ClosedError``.
    """

    def __new__(cls, encoding: int = 0) -> Self: ...
    def pack(self, kind: Type, values: Numbers) -> Self:
        """Packs a number, a sequence of numbers, or a buffer, as items of a type."""
    def Pack(self, items: Buffer) -> Self:
        """Packs the items of a buffer. The format of the buffer determines their type."""
    def str(self, text: str) -> Self:
        """Packs a string, as ``pvm_pkstr`` does."""
    def i8(self, values: Numbers) -> Self:
        """Packs 8-bit integers."""
    def i16(self, values: Numbers) -> Self:
        """Packs 16-bit integers."""
    def i32(self, values: Numbers) -> Self:
        """Packs 32-bit integers."""
    def i64(self, values: Numbers) -> Self:
        """Packs 64-bit integers."""
    def u16(self, values: Numbers) -> Self:
        """Packs unsigned 16-bit integers."""
    def u32(self, values: Numbers) -> Self:
        """Packs unsigned 32-bit integers."""
    def u64(self, values: Numbers) -> Self:
        """Packs unsigned 64-bit integers."""
    def f32(self, values: Numbers) -> Self:
        """Packs 32-bit floats."""
    def f64(self, values: Numbers) -> Self:
        """Packs 64-bit floats."""
    def c64(self, values: Numbers) -> Self:
        """Packs complex numbers of two 32-bit floats."""
    def c128(self, values: Numbers) -> Self:
        """Packs complex numbers of two 64-bit floats."""
    def allocate(self, kind: Type, count: int) -> memoryview[Any]:
        """Packs ``count`` items and returns their memory, which the program fills before it sends
        the message.

        The items are sent without a copy to other tasks of this host. Release the memory before
        more is packed.
        """
    def unpack(self, kind: Type, count: int | None = None, *, convert: bool = False) -> Any:
        """Returns the next item, or the next ``count`` items as a list.

        Items must be read as the type they were packed as; with ``convert`` they are converted as
        PVM does. Raises ``WrongTypeError`` or ``ShortError``.
        """
    def Unpack(self, into: Buffer, *, convert: bool = False) -> None:
        """Reads items until the buffer is full."""
    def unpack_str(self) -> Any:
        """Reads a string."""
    def view(self, kind: Type | None = None, count: int | None = None) -> memoryview[Any]:
        """Returns a read-only view of the data without a copy.

        Without a ``kind`` it shows all bytes; else the next ``count`` items of this type, or all
        that follow.
        """
    @property
    def next_type(self) -> Any:
        """The type of the next item, as C's word; None at the end and for raw data."""
    def rewind(self) -> None:
        """Moves the read position back to the first item."""
    def send(self, dest: int | Sequence[int], tag: int = 0, *, context: int | None = None) -> None:
        """Sends the message to a task, or to several. It can be sent again."""
    @property
    def is_being_read(self) -> bool:
        """True while a receiver reads what was sent.

        The program must not change allocated memory meanwhile.
        """
    @property
    def source(self) -> int:
        """The id of the sender; 0 for a message of this task's own."""
    @property
    def tag(self) -> int: ...
    @property
    def context(self) -> int: ...
    @property
    def encoding(self) -> int:
        """``DEFAULT`` or ``RAW``."""
    @property
    def nbytes(self) -> int:
        """The number of bytes of data."""
    @property
    def closed(self) -> bool: ...
    def close(self) -> None:
        """Frees the memory of the message. Raises ``ViewOpenError`` while a view of it is open."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

class Exposed:
    """Memory that this task exposes, see ``Machine.expose``. The end of a ``with`` withdraws it.

    The memory stays valid as long as this object or a view of it exists. After it has been
    withdrawn, only this process uses it.
    """

    @property
    def number(self) -> int:
        """The number that this task has chosen for the memory."""
    @property
    def writable(self) -> bool:
        """True if other tasks may write the memory."""
    @property
    def nbytes(self) -> int:
        """The size of the memory."""
    @property
    def view(self) -> memoryview[int]:
        """The memory itself, as bytes. Other tasks may read and write it at the same time.

        ``numpy.frombuffer`` makes it an array. The child of a fork must not use it.
        """
    def withdraw(self) -> None:
        """Ends the exposure: other tasks get ``NotFoundError``. A second call does nothing."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def __len__(self) -> int: ...

class Watch:
    """Wakes an event loop when another call may have examined a message that the loop's coroutines
    wait for."""

    def __new__(cls) -> Self: ...
    def fileno(self) -> int: ...
    def arm(self) -> None: ...
    def disarm(self) -> None: ...
    def drain(self) -> None: ...

class Task:
    """This process as a task. Timeouts are in seconds; a source or tag of -1 matches any."""

    def __new__(cls) -> Self: ...
    @property
    def tid(self) -> int:
        """The id of this task."""
    @property
    def parent(self) -> int | None:
        """The task that spawned this one; None if it was not spawned."""
    @property
    def siblings(self) -> list[int]:
        """The tasks that were spawned by the same call, including this one."""
    @property
    def is_connected(self) -> bool:
        """False after this task has left, in the child of a fork, and when the daemon has ended."""
    @property
    def context(self) -> int:
        """The context of calls that do not name one."""
    @context.setter
    def context(self, context: int) -> None: ...
    def leave(self) -> None:
        """Leaves the machine. A second call does nothing."""
    def receive(
        self, source: int = -1, tag: int = -1, timeout: float | None = None, *, context: int | None = None
    ) -> Message:
        """Waits for a message and takes it. Raises ``Timeout`` when the timeout expires."""
    def try_receive(self, source: int = -1, tag: int = -1, *, context: int | None = None) -> Message | None:
        """Takes a message that has arrived already. Returns None if there is none."""
    def _look(self, wanted: tuple[int, int, int], watch: Watch) -> Message | None: ...
    def _peek(self, wanted: tuple[int, int, int], watch: Watch) -> bool: ...
    @property
    def _passed_by(self) -> int: ...
    def probe(
        self, source: int = -1, tag: int = -1, *, context: int | None = None
    ) -> tuple[int, int, int] | None:
        """Returns source, tag and size of the first message that matches, without taking it; None
        if there is none."""
    def Recv(
        self,
        into: Buffer,
        source: int = -1,
        tag: int = -1,
        timeout: float | None = None,
        *,
        context: int | None = None,
    ) -> tuple[int, int]:
        """Waits for a message whose items fill the buffer, and returns its source and tag.

        If the message does not fit the buffer, raises ``ShortError``, ``TooLongError`` or
        ``WrongTypeError`` with the message as its ``message``.
        """
    def Send(
        self, items: Buffer, dest: int | Sequence[int], tag: int = 0, *, context: int | None = None
    ) -> None:
        """Sends the items of a buffer to a task, or to several.

        The buffer may be changed when the call returns.
        """
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
        """Exposes new memory, all 0, under a number that this task chooses.

        All tasks of the machine may read the memory and, if it is ``writable``, write it; this task
        makes no call for that. The exposure ends with the task. Raises ``UseError`` if the number
        is in use.
        """
    def withdraw(self, number: int) -> None:
        """Ends an exposure: other tasks get ``NotFoundError``."""
    def exposed(self, owner: int, number: int) -> tuple[int, bool]:
        """Returns the size of the memory that a task exposes under a number, and whether other
        tasks may write it."""
    @overload
    def get_memory(self, owner: int, number: int, offset: int, into: int) -> bytes: ...
    @overload
    def get_memory(self, owner: int, number: int, offset: int, into: Buffer) -> None:
        """Fills a buffer with bytes that a task exposes, beginning at ``offset``; or returns
        ``into`` bytes.

        Nothing is converted. On one host, aligned words of 4 or 8 bytes are read as a whole. Raises
        ``NotFoundError``, ``NoTaskError`` if the owner has ended, ``HostError`` if its host has
        left, or ``UseError`` if the bytes are not all inside the memory.
        """
    def put_memory(self, owner: int, number: int, offset: int, data: Buffer) -> None:
        """Writes the bytes of a buffer to memory that a task exposes, beginning at ``offset``.

        The copy is complete when the call returns. Raises the errors of :meth:`get_memory`, and
        ``DeniedError`` if the memory may only be read.
        """
    def add_memory(self, owner: int, number: int, offset: int, add: int, *, size: int = 8) -> int:
        """Adds to an aligned word of ``size`` bytes (4 or 8) atomically, modulo 2**32 or 2**64.

        Returns the previous value as a signed number. The change is made once for each call that
        returns; after ``HostError`` it is unknown whether it was made.
        """
    def exchange_memory(
        self, owner: int, number: int, offset: int, expected: int, wanted: int, *, size: int = 8
    ) -> int:
        """Sets a word to ``wanted`` if it is ``expected``, atomically, as :meth:`add_memory`.

        Returns the previous value; the word was set if that is ``expected``.
        """
    def mark(self, name: str, value: int = 0) -> None:
        """Puts a mark with a value into the trace. It has no effect while nobody records."""
    def state(self, name: str | None = None) -> None:
        """Says in the trace what the program does from now on; None for nothing more."""
    def progress(self, text: str, done: int, total: int) -> None:
        """Says in the trace how far the program is."""
    def fileno(self) -> int:
        """Returns a descriptor that is readable when a message has arrived that no receive or probe
        has examined."""
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
        """Makes a context that no other task has.

        A receive does not match messages of another context.
        """
    def free_context(self, context: int) -> None:
        """Gives a context back."""
    def join(self, group: str) -> int:
        """Joins a group and returns this task's instance number."""
    def leave_group(self, group: str) -> None:
        """Leaves a group."""
    def members(self, group: str) -> list[int]:
        """Returns the ids of the members in the order of instance numbers, with 0 for a number that
        no member has."""
    def freeze(self, group: str, size: int = -1) -> int:
        """Waits until ``size`` members (-1: all) have called it, and returns the number of members.

        From then on no task can join the group.
        """
    def barrier(self, group: str, count: int = -1) -> None:
        """Waits until ``count`` members (-1: all) have called it. Raises ``NoTaskError`` if one of
        them died.

        An interrupted call leaves the barrier, which does not count it. If the barrier was met
        already, the call returns, and the interrupt is raised after it.
        """
    def _barrier_unless(self, group: str, count: int, stop: Callable[[], bool]) -> bool: ...
    def broadcast_message(self, message: Message, group: str, tag: int = 0) -> None:
        """Sends a message to all members except this task."""
    def Reduce(
        self, op: str | Callable[[Any, Any], Any], items: Buffer, group: str, root: int = 0, tag: int = 0
    ) -> None:
        """Combines the items of all members in the root's buffer.

        ``op`` is 'max', 'min', 'sum', 'prod', or a function of two arrays that returns the result
        or changes the first.
        """
    def Gather(
        self, items: Buffer, result: Buffer | None, group: str, root: int = 0, tag: int = 0
    ) -> None:
        """Collects the items of all members in the root's ``result``, in the order of instance
        numbers."""
    def Scatter(self, items: Buffer | None, part: Buffer, group: str, root: int = 0, tag: int = 0) -> None:
        """Stores in each member's ``part`` its part of the root's ``items``."""
    def _from_member(self, group: str, source: int, root: int, tag: int) -> Message: ...
