"""Finding and starting the daemon."""

from __future__ import annotations

import _thread
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

from .errors import Code, NoMachineError

READY_SECONDS_MAX = 20.0
END_SECONDS_MAX = 20.0
# The daemon of NeoPVM contains these bytes. PVM 3's daemon, which has the same name, does not.
_MARK = b"neopvm-host-"


def folders() -> list[Path]:
    """Returns the folders in which programs are searched:

    PVM_ROOT, this package, the interpreter's folder, PATH.
    """
    places = [Path(root) / "bin" for root in [os.environ.get("PVM_ROOT")] if root]
    places.append(Path(__file__).resolve().parent / "bin")
    places.append(Path(sys.executable).parent)
    places += [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    return places


def _is_ours(daemon: Path) -> bool:
    try:
        return os.access(daemon, os.X_OK) and _MARK in daemon.read_bytes()
    except OSError:
        return False


def find(name: str) -> Path:
    """Returns the path of NeoPVM's ``pvm`` or ``pvmd``."""
    for folder in folders():
        if _is_ours(folder / "pvmd") and os.access(folder / name, os.X_OK):
            return folder / name
    raise NoMachineError(
        Code["SysErr"],
        "connect",
        cause=f"no machine runs, and the program {name} was not found",
        hint="set PVM_ROOT to the PREFIX of `make install PREFIX=...`",
    )


class _Starting:
    """Starts a process in a thread of its own, where no signal handler runs.

    If a signal handler interrupted Popen, the process would run and Popen would not know it.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._failure: Exception | None = None
        self._done = threading.Event()

    def run(self, command: list[str], said: IO[bytes], environment: dict[str, str]) -> None:
        """Starts the process.

        Returns or raises only when it is known whether the process exists.
        """
        threads: list[int] = []
        try:
            # No Python instruction runs between the start of the thread and the change of the list.
            threads.extend(map(_thread.start_new_thread, [self._start], [(command, said, environment)]))
            self._done.wait()
        finally:
            while threads and not self._done.is_set():
                with contextlib.suppress(BaseException):
                    self._done.wait()
        if self._failure is not None:
            raise self._failure

    def _start(self, command: list[str], said: IO[bytes], environment: dict[str, str]) -> None:
        try:
            # The daemon ends with its standard input. Its own process group does not get our
            # Ctrl-C.
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env=environment,
                process_group=0,
            )
        except Exception as failure:
            self._failure = failure
        finally:
            self._done.set()


class Daemon:
    """A daemon that ends with this process, in whatever way the process ends."""

    def __init__(self, vmid: str) -> None:
        self.vmid = vmid
        self._lock = threading.Lock()
        self._starting = _Starting()

    @property
    def _process(self) -> subprocess.Popen[bytes]:
        process = self._starting.process
        assert process is not None
        return process

    def start(self) -> None:
        """Starts the daemon and waits until it is ready. An interrupt ends the daemon."""
        command = [str(find("pvmd")), "--bound"]
        environment = dict(os.environ, PVM_VMID=self.vmid)
        environment.pop("PVMSOCK", None)
        with tempfile.TemporaryFile() as said:
            try:
                self._starting.run(command, said, environment)
                ready = self._first_line()
            except BaseException:
                self.end()
                raise
            said.seek(0)
            reason = said.read().decode(errors="replace").strip()
        if not ready:
            self.end()
            raise NoMachineError(Code["SysErr"], "connect", cause="the daemon did not start", hint=reason)

    def _first_line(self) -> bytes:
        out = self._process.stdout
        assert out is not None
        line: list[bytes] = []
        reader = threading.Thread(target=lambda: line.append(out.readline()), daemon=True)
        reader.start()
        reader.join(READY_SECONDS_MAX)
        if reader.is_alive():
            self._process.kill()
            reader.join()
        out.close()
        return line[0].strip() if line else b""

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """Ends the machine, and waits until its files are gone."""
        with self._lock:
            if self._starting.process is None:
                return
            if self._process.stdin is not None and not self._process.stdin.closed:
                self._process.stdin.close()
            if self._has_ended(END_SECONDS_MAX / 4):
                return
            # Another process still has the pipe open, such as a child that C code has forked.
            self._process.terminate()
            if not self._has_ended(END_SECONDS_MAX):
                self._process.kill()
                self._process.wait()

    def _has_ended(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def in_forked_child(self) -> None:
        """Closes the daemon's pipe: a child that kept it open would prevent the daemon from
        ending."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        # The daemon is not a child of this process, so Popen must neither wait for it nor warn.
        self._process.returncode = 0


def start_lasting() -> None:
    """Starts a machine that goes on when this process has ended, as ``pvm up`` does."""
    _command("connect", "up")


def halt() -> None:
    """Ends the machine that the environment names, as ``pvm halt`` does."""
    _command("halt", "halt")


def _command(call: str, word: str) -> None:
    done = subprocess.run([find("pvm"), word], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        cause = done.stderr.strip() or f"`pvm {word}` ended with status {done.returncode}"
        raise NoMachineError(Code["SysErr"], call, cause=cause, hint="`pvm doctor` searches for the cause")


def search(program: str) -> str:
    """Returns the path of a program in PATH, or the name itself if there is none."""
    return shutil.which(program) or program
