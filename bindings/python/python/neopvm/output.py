"""The output of spawned tasks, written by the task that spawned them.

The machine sends the output as messages: the id of the task, the number of bytes, and the bytes. In
place of the number of bytes, 0 means the end of the output, -1 its beginning, and -2 that a task
was created whose output will follow.
"""

from __future__ import annotations

import threading
import time
import traceback
from typing import IO

from . import _core
from .errors import Error

_TAG = 1
_STOP_TAG = 2
# How long the end waits for the output of ended tasks, which their hosts are still sending.
_DRAIN_SECONDS_MAX = 10.0
_PAUSE_SECONDS = 0.005


class Output:
    """A thread that writes the output of tasks."""

    def __init__(self, task: _core.Task, stream: IO[str]) -> None:
        self._task = task
        self._stream: IO[str] | None = stream
        self._context = task.new_context()
        # Tasks whose output has begun and has not ended.
        self._open: set[int] = set()
        # The pieces of lines that have not ended.
        self._partial: dict[int, list[bytes]] = {}
        self._thread = threading.Thread(target=self._run, name="neopvm-output", daemon=True)
        self._thread.start()

    @property
    def target(self) -> tuple[int, int, int]:
        """The destination of the output: task id, context and tag."""
        return self._task.tid, self._context, _TAG

    def _run(self) -> None:
        try:
            while (message := self._task.receive(context=self._context)).tag != _STOP_TAG:
                self._take(message)
            limit = time.monotonic() + _DRAIN_SECONDS_MAX
            while True:
                if (last := self._task.try_receive(context=self._context)) is not None:
                    self._take(last)
                elif time.monotonic() > limit or all(self._task._tasks(tid) for tid in self._open):
                    break
                else:
                    time.sleep(_PAUSE_SECONDS)
        except Error:
            pass  # The machine has ended, so there is no more output.

    def _take(self, message: _core.Message) -> None:
        tid, number = message.unpack("i4"), message.unpack("i4")
        if number < 0:
            self._open.add(tid)
        elif number > 0:
            room = bytearray(number)
            message.Unpack(room)
            self._split(tid, bytes(room))
        else:
            self._open.discard(tid)
            if rest := self._partial.pop(tid, []):
                self._write(tid, b"".join(rest))

    def _split(self, tid: int, text: bytes) -> None:
        first, *lines = text.split(b"\n")
        if first:
            self._partial.setdefault(tid, []).append(first)
        if lines:
            self._write(tid, b"".join(self._partial.pop(tid, [])))
            for line in lines[:-1]:
                self._write(tid, line)
            if lines[-1]:
                self._partial[tid] = [lines[-1]]

    def _write(self, tid: int, line: bytes) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(f"[t{tid:x}] {line.decode(errors='replace')}\n")
            self._stream.flush()
        except (OSError, ValueError):
            pass  # The reader has closed the stream.
        except Exception:
            # A stream of the program that fails is not used again; the output is still received.
            self._stream = None
            traceback.print_exc()

    def end(self) -> None:
        """Writes the remaining output of tasks that have ended, and ends the thread."""
        try:
            with _core.Message() as stop:
                stop.send(self._task.tid, _STOP_TAG, context=self._context)
            self._thread.join(2 * _DRAIN_SECONDS_MAX)
            self._task.free_context(self._context)
        except Error:
            pass  # The machine has ended, and the thread with it.
