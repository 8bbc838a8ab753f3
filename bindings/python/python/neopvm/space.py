"""Tuple spaces: rows of typed fields that tasks of any language put, take and claim.

>>> with pvm.connect() as vm:
...     space = vm.space("work")
...     space.out("task", 7, 2.5)
...     with space.claim("task", int, float) as task:
...         task.put("result", task[1])

doc/tuples.md of NeoPVM says what a space guarantees. In a template, a type stands for any value of
it. Types are C's, without promotion: ``int`` is C's int, ``float`` its double, ``str`` a text.
:class:`Typed` and :class:`Formal` name the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import threading
import typing
from collections.abc import AsyncIterator, Iterable, Iterator
from types import TracebackType
from typing import Any, NamedTuple

from . import _core
from .errors import ClaimOverError, Code, SpaceLostError, Timeout, UseError, WrongTypeError

__all__ = ["Claim", "Formal", "Row", "Space", "Typed", "field"]

#: The number of each type in a tuple.
_NUMBERS = {
    "char": 1,
    "signed char": 2,
    "unsigned char": 3,
    "short": 4,
    "unsigned short": 5,
    "int": 6,
    "unsigned int": 7,
    "long": 8,
    "unsigned long": 9,
    "long long": 10,
    "unsigned long long": 11,
    "float": 12,
    "double": 13,
    "long double": 14,
    "bool": 15,
    "float complex": 16,
    "double complex": 17,
    "text": 32,
    "bytes": 33,
    "struct": 34,
}
#: The types of integers, with their bytes in a tuple.
_INTEGERS = {
    "char": 1,
    "signed char": 1,
    "unsigned char": 1,
    "short": 2,
    "unsigned short": 2,
    "int": 4,
    "unsigned int": 4,
    "long": 8,
    "unsigned long": 8,
    "long long": 8,
    "unsigned long long": 8,
}
#: The type of the items of a buffer, by its format.
_FORMATS = {
    "c": "char",
    "b": "signed char",
    "B": "unsigned char",
    "h": "short",
    "H": "unsigned short",
    "i": "int",
    "I": "unsigned int",
    "l": "long",
    "L": "unsigned long",
    "q": "long long",
    "Q": "unsigned long long",
    "f": "float",
    "d": "double",
    "?": "bool",
    "Zf": "float complex",
    "Zd": "double complex",
}
#: The types that Python's own stand for.
_NAMES: dict[Any, str] = {
    int: "int",
    float: "double",
    str: "text",
    bytes: "bytes",
    bool: "bool",
    complex: "double complex",
}


class Typed(NamedTuple):
    """A value of a type that Python does not have: ``Typed("long", 1 << 40)``.

    The type is ``char``, ``short``, ``int``, ``long``, ``long long``, ``signed`` and ``unsigned``
    ones, ``float``, ``double``, ``bool``, ``float complex``, ``double complex``, ``text``,
    ``bytes`` or ``struct``. A struct is any buffer, for instance a ``ctypes.Structure``.
    """

    type: str
    value: object


class Formal(NamedTuple):
    """Any value of a type, in a template: ``Formal("long")``, ``Formal("double[]")`` for an array.

    ``size`` is that of a struct.
    """

    type: str
    size: int = 0


class Row(tuple[Any, ...]):
    """The values of a tuple. Arrays are memoryviews without a copy, which ``numpy.asarray`` takes.

    ``types`` has the names of C's types, and ``tries`` says how often a claim of it came back.
    """

    types: tuple[str, ...]
    tries: int

    def typed(self) -> tuple[Any, ...]:
        """Returns the fields with their types, so that ``out(*row.typed())`` puts an equal tuple."""
        pairs = zip(self.types, self, strict=True)
        return tuple(value if kind.endswith("[]") else Typed(kind, value) for kind, value in pairs)


def _refuse(cause: str, call: str) -> WrongTypeError:
    return WrongTypeError(Code["BadParam"], call, cause=cause)


def _number(name: str, call: str) -> int:
    if name not in _NUMBERS:
        raise _refuse(f"there is no type {name!r} in tuples", call)
    return _NUMBERS[name]


#: Type, whether it is an array, the data of an actual, and the size of a formal struct.
_Described = tuple[int, bool, Any, int]


def field(value: Any, call: str) -> _Described:
    """Describes a field whose type is none of Python's own, for the core."""
    if isinstance(value, Formal):
        if not isinstance(value.type, str) or not 0 <= value.size < 1 << 63:
            raise _refuse(f"{value!r} is no type of a tuple", call)
        is_array = value.type.endswith("[]")
        return _number(value.type.removesuffix("[]"), call), is_array, None, value.size
    if isinstance(value, Typed):
        return _number(value.type, call), False, _data(value, call), 0
    if isinstance(value, complex):
        return _described(memoryview(_pair("d", value)), "double complex")
    if isinstance(value, bytearray):
        return _described(value, "bytes")
    if isinstance(value, type):
        raise _refuse(f"{value.__name__} is no type of a tuple; Formal('double[]') and its like are", call)
    try:
        view = memoryview(value)
    except (TypeError, ValueError):
        raise _refuse(f"{type(value).__name__} is no type of a tuple", call) from None
    return _array(value, view, call)


def _array(value: Any, view: memoryview, call: str) -> _Described:
    name = _FORMATS.get(view.format.lstrip("@=<"))
    if name is None or (view.format.startswith("<") and view.itemsize != _size(name)):
        raise _refuse(f"items of format {view.format!r} have no type in tuples", call)
    if view.ndim > 1:
        raise _refuse(f"an array has one dimension, and this one has {view.ndim}; use ravel()", call)
    return _NUMBERS[name], view.ndim == 1, value, 0


def _size(name: str) -> int:
    others = {"float": 4, "double": 8, "bool": 1, "float complex": 8, "double complex": 16}
    return _INTEGERS.get(name) or others[name]


def _described(data: Any, name: str) -> _Described:
    return _NUMBERS[name], False, data, 0


def _pair(code: str, value: complex) -> bytes:
    import array

    return array.array(code, [value.real, value.imag]).tobytes()


def _data(typed: Typed, call: str) -> Any:
    name = typed.type
    value: Any = typed.value
    size = _INTEGERS.get(name)
    if size is not None:
        if isinstance(value, bytes) and len(value) == size == 1:
            return value
        try:
            return int(value).to_bytes(size, "little", signed=not name.startswith("unsigned"))
        except (OverflowError, TypeError, ValueError):
            raise _refuse(f"{value!r} is no {name}", call) from None
    if name == "bool":
        return bytes([bool(value)])
    if name in ("float", "double"):
        import struct

        try:
            return struct.pack("<f" if name == "float" else "<d", value)
        except (struct.error, OverflowError):
            raise _refuse(f"{value!r} is no {name}", call) from None
    if name in ("float complex", "double complex"):
        try:
            return _pair("f" if name == "float complex" else "d", complex(value))
        except (OverflowError, TypeError, ValueError):
            raise _refuse(f"{value!r} is no {name}", call) from None
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def _is_dataclass(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _names_of(kind: type[Any]) -> dict[str, str]:
    """The type of each field of a dataclass: that of its annotation, or the text of an Annotated."""
    hints = typing.get_type_hints(kind, include_extras=True)
    names = {}
    for one in dataclasses.fields(kind):
        hint = hints[one.name]
        extra = [text for text in getattr(hint, "__metadata__", ()) if isinstance(text, str)]
        if not extra and hint not in _NAMES:
            raise _refuse(
                f"{kind.__name__}.{one.name}: annotate it with int, float, str, bytes, bool, complex,"
                ' or Annotated[T, "long[]"]',
                "space",
            )
        names[one.name] = extra[0] if extra else _NAMES[hint]
    return names


def _row_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The fields of one dataclass, behind its name; other values as they are."""
    if len(values) != 1 or not _is_dataclass(values[0]):
        return values
    kind = type(values[0])
    fields = [_typed(name, getattr(values[0], at)) for at, name in _names_of(kind).items()]
    return (kind.__name__, *fields)


def _typed(name: str, value: Any) -> Any:
    return value if name.endswith("[]") else Typed(name, value)


def _template_of(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], type[Any] | None]:
    """The template for any row of a dataclass, and that; other values as they are."""
    if len(values) != 1:
        return values, None
    (kind,) = values
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return (kind.__name__, *map(Formal, _names_of(kind).values())), kind
    return _row_of(values), type(kind) if _is_dataclass(kind) else None


#: Copies, limit, what a put does in a full space, directory, and loss window.
_Plan = tuple[int, int, int, bytes, float]
#: What a put does in a full space, by its number for the core.
_FULL = ("block", "error", "spill")


def plan(copies: int, limit: int, full: str, durable: Any, sync_every: float) -> _Plan:
    """Checks the options of a space that is to be made, for the core."""
    directory = b"" if durable is None else os.fsencode(durable)
    cause = None
    if copies not in (0, 1, 2):
        cause = "a space has 0 to 2 copies"
    elif not 0 <= limit < 1 << 64:
        cause = f"limit={limit}: a number of bytes"
    elif full not in _FULL:
        cause = f"full={full!r}: one of {', '.join(_FULL)}"
    elif durable is not None and (not directory or b"\0" in directory):
        cause = f"durable={durable!r} is no directory"
    elif sync_every and not 0.01 <= sync_every <= 60:
        cause = f"sync_every={sync_every}: 0.01 to 60 seconds"
    elif sync_every and durable is None:
        cause = "sync_every is for a durable space"
    if cause is not None:
        raise UseError(Code["BadParam"], "space", cause=cause)
    return copies, limit, _FULL.index(full), directory, sync_every


_Found = tuple[tuple[Any, ...], tuple[str, ...], int, int]


class Space:
    """An open tuple space: ``vm.space(NAME)`` opens it.

    The calls may be made by any thread. A timeout is in seconds; None waits for ever, and 0 not at
    all. A template may be one dataclass: it fits the rows that ``out`` has made of its objects, and
    what is found is such an object.

    ``note`` is what its server has to say about a file that a durable space was made of: which part
    of it was damaged; mostly nothing.
    """

    def __init__(self, core: _core.Space, name: str, note: str = "") -> None:
        self._core = core
        self.name = name
        self.note = note

    def __repr__(self) -> str:
        return f"<neopvm.Space {self.name!r}>"

    def out(self, *values: Any, timeout: float | None = None) -> None:
        """Puts a tuple of these values, or of a dataclass' fields behind its name.

        Raises ``Timeout`` if the space stays full, and ``FullError`` if it was made so.
        """
        self.out_all([values], timeout=timeout)

    def out_all(self, rows: Iterable[tuple[Any, ...]], *, timeout: float | None = None) -> None:
        """Puts several tuples in one step: others see all of them or none."""
        if not self._core.put([_row_of(tuple(row)) for row in rows], timeout):
            raise Timeout(Code["NoData"], "out", cause="the space has stayed full")

    def take(self, *template: Any, timeout: float | None = None) -> Any:
        """Takes the oldest tuple that fits. Raises ``Timeout`` if there was none in time."""
        return self._found(template, (1, 0.0), timeout)

    def read(self, *template: Any, timeout: float | None = None) -> Any:
        """Copies the oldest tuple that fits; it stays. Raises ``Timeout`` if there was none in time."""
        return self._found(template, (0, 0.0), timeout)

    def claim(self, *template: Any, timeout: float | None = None, lease: float = 0.0) -> Claim:
        """Takes a tuple so that it comes back if this task dies before the claim is done.

        With a lease (seconds) it also comes back when that has passed. The end of a ``with`` is
        ``done()``, and an exception in it ``give_back()``.
        """
        values, kind = _template_of(template)
        found = self._core.find(values, (2, lease), timeout, None)
        if found is None:
            raise Timeout(Code["NoData"], "claim", cause="no tuple that fits has come in time")
        return _row(found, Claim)._begin(self, found[2], kind)

    def each(self, *template: Any, timeout: float | None = None) -> Each:
        """Takes tuples one after the other, with ``for`` or ``async for``.

        It ends when none has come for ``timeout`` seconds.
        """
        return Each(self, template, timeout)

    async def take_async(self, *template: Any, timeout: float | None = None) -> Any:
        """Takes a tuple as :meth:`take` does, in a coroutine. One that is cancelled has taken none."""
        values, kind = _template_of(template)
        found = await _in_thread(self._core, values, timeout)
        if found is None:
            raise Timeout(Code["NoData"], "take", cause="no tuple that fits has come in time")
        return _made(_row(found, Row), kind)

    def count(self, *template: Any) -> int:
        """Returns how many tuples fit; claimed ones do not count."""
        return self._core.count(_template_of(template)[0])

    def collect(self, *template: Any, most: int = 1 << 32) -> list[Any]:
        """Takes all tuples that fit, at most ``most``, in one step, the oldest first.

        There are fewer also if they have more than 64 MiB together.
        """
        return self._gather(template, True, most)

    def copy(self, *template: Any, most: int = 1 << 32) -> list[Any]:
        """Copies all tuples that fit, as :meth:`collect` takes them."""
        return self._gather(template, False, most)

    def close(self) -> None:
        """Closes it here. The space stays, and so do the claims of this task."""
        self._core.close()

    def __enter__(self) -> Space:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _found(self, template: tuple[Any, ...], how: tuple[int, float], timeout: float | None) -> Any:
        values, kind = _template_of(template)
        found = self._core.find(values, how, timeout, None)
        if found is None:
            call = "take" if how[0] else "read"
            raise Timeout(Code["NoData"], call, cause="no tuple that fits has come in time")
        return _made(_row(found, Row), kind)

    def _gather(self, template: tuple[Any, ...], take: bool, most: int) -> list[Any]:
        values, kind = _template_of(template)
        rows = self._core.gather(values, take, max(0, min(most, (1 << 64) - 1)))
        return [_made(_row((*row, 0, 0), Row), kind) for row in rows]


_R = typing.TypeVar("_R", bound=Row)


def _row(found: _Found, kind: type[_R]) -> _R:
    values, types, _, tries = found
    row = kind(values)
    row.types, row.tries = types, tries
    return row


def _made(row: Row, kind: type[Any] | None) -> Any:
    return row if kind is None else kind(*row[1:])


class Claim(Row):
    """A claimed tuple: its values, and what becomes of it.

    ``item`` is the object of a dataclass, if the template was one.
    """

    item: Any

    def _begin(self, space: Space, number: int, kind: type[Any] | None) -> Claim:
        self._space, self._claim = space, number
        self._puts: list[tuple[Any, ...]] = []
        self._is_over = False
        self.item = _made(self, kind)
        return self

    def put(self, *values: Any) -> None:
        """Notes a tuple that ``done()`` puts in the step that ends the claim."""
        self._puts.append(_row_of(values))

    def done(self) -> None:
        """Takes the tuple for good and puts what was noted: others see all of it or nothing.

        Raises ``ClaimOverError`` if the claim is over; then nothing is put.
        """
        self._space._core.done(self._claim, self._puts)
        self._is_over = True

    def give_back(self) -> None:
        """Ends the claim: the tuple is in its old place, with one try more."""
        self._space._core.give_back(self._claim)
        self._is_over = True

    def renew(self, lease: float) -> None:
        """Lets the lease begin anew."""
        self._space._core.renew(self._claim, lease)

    def _done_or_given_back(self) -> None:
        try:
            self.done()
        except (ClaimOverError, SpaceLostError):
            raise
        except BaseException:
            # Nobody else can end the claim any more. An interrupted end may be done all the same.
            with contextlib.suppress(ClaimOverError):
                self.give_back()
            raise

    def __enter__(self) -> Claim:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._is_over:
            return
        if kind is None:
            self._done_or_given_back()
        elif not isinstance(error, SpaceLostError):
            self.give_back()


class Each:
    """Tuples that are taken one after the other."""

    def __init__(self, space: Space, template: tuple[Any, ...], timeout: float | None) -> None:
        self._space, self._template, self._timeout = space, template, timeout

    def __iter__(self) -> Iterator[Any]:
        try:
            while True:
                yield self._space.take(*self._template, timeout=self._timeout)
        except Timeout:
            return

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            while True:
                yield await self._space.take_async(*self._template, timeout=self._timeout)
        except Timeout:
            return


async def _in_thread(core: _core.Space, values: tuple[Any, ...], timeout: float | None) -> _Found | None:
    """Takes a tuple in a thread of its own. It is claimed first, so that a coroutine that is cancelled gives it back."""
    loop = asyncio.get_running_loop()
    stop, arrived = _core.Stop(), loop.create_future()

    def tell(found: _Found | None, error: BaseException | None) -> None:
        if arrived.cancelled():
            return
        if error is None:
            arrived.set_result(found)
        else:
            arrived.set_exception(error)

    def wait() -> None:
        found, error = None, None
        try:
            found = core.find(values, (2, 0.0), timeout, stop)
        except Exception as raised:
            error = raised
        loop.call_soon_threadsafe(tell, found, error)

    thread = threading.Thread(target=wait, daemon=True, name="neopvm space")
    thread.start()
    try:
        found: _Found | None = await asyncio.shield(arrived)
    except asyncio.CancelledError:
        stop.set()
        found = await arrived
        if found is not None:
            core.give_back(found[2])
        raise
    if found is not None:
        core.done(found[2], [])
    return found
