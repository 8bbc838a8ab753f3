"""The daemon: where it is, and starting it."""

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
# Stands in the daemon of NeoPVM and not in PVM 3's, which has the same name.
_MARK = b"neopvm-host-"


def folders() -> list[Path]:
    """Where the programs are looked for, in this order: PVM_ROOT, this package, beside the interpreter, PATH."""
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
    """``pvm`` or ``pvmd`` of NeoPVM."""
    for folder in folders():
        if _is_ours(folder / "pvmd") and os.access(folder / name, os.X_OK):
            return folder / name
    raise NoMachineError(
        Code["SysErr"],
        "connect",
        cause=f"no machine runs, and the program {name} was not found",
        hint="set PVM_ROOT to the folder that `make install PREFIX=` was given",
    )


class _Starting:
    """A process that is started in a thread of its own, where no signal is seen: Popen does not know the process any more
    in which it was interrupted."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._failure: Exception | None = None
        self._done = threading.Event()

    def run(self, command: list[str], said: IO[bytes], environment: dict[str, str]) -> None:
        """Returns or raises when it is known whether there is a process."""
        threads: list[int] = []
        try:
            # No step of Python's between the start and the noting of it.
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
            # Its standard input is its life; Ctrl-C on our terminal is not for it.
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
    """A daemon that ends with this process, however that ends."""

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
        """Starts it and waits until it is ready. Interrupted, it is ended: nobody will have it."""
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
            # Somebody else holds the other end of its life, such as a child that C code has forked.
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
        """The daemon's life is the parent's: a child that holds it, too, would keep it from ending."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        # It is no child of this process, which must neither wait for it nor complain of it.
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
        raise NoMachineError(Code["SysErr"], call, cause=cause, hint="`pvm doctor` looks for the reason")


def search(program: str) -> str:
    """The program that a name without a folder means for a user: one of PATH, else as it is."""
    return shutil.which(program) or program
