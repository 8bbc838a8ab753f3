"""Programs as people start them: forks, modules, paths, interrupts, several at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import PATIENCE
from programs import environment, printed, program, run


def test_a_forked_child_kept_close_from_ending_and_the_program_was_killed(tmp_path: Path, runtime: Path) -> None:
    lines = printed(
        tmp_path,
        """
        import os, time
        read, write = os.pipe()
        with pvm.connect() as vm:
            if os.fork() == 0:
                os.close(write); os.read(read, 1); os._exit(0)
        print("results written", os.path.exists(os.environ["PVM_TMP"] + f"/neopvm-{os.getuid()}/python-{os.getpid()}"))
        """,
    )
    assert lines == ["results written False"]


def test_processes_of_concurrent_futures_kept_close_from_ending(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        """
        from concurrent.futures import ProcessPoolExecutor
        if __name__ == "__main__":
            local = ProcessPoolExecutor(2)
            with pvm.connect() as vm:
                print(local.submit(abs, -3).result(120))
            print("closed")
            local.shutdown()
        """,
    )
    assert lines == ["3", "closed"]


def test_the_machine_lived_on_with_a_forked_child_of_who_was_killed(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        """
        import os, signal, time
        vm = pvm.connect()
        if os.fork() == 0:
            # Its output is not the program's, which ends.
            os.close(1); os.close(2)
            time.sleep(300)
        vm.spawn("sleep", "1000")
        print(vm._daemon._process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    started = subprocess.Popen(
        [sys.executable, path], env=environment(), stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert started.stdout is not None
        daemon = int(started.stdout.readline())
        limit = time.monotonic() + PATIENCE
        while Path(f"/proc/{daemon}").exists():
            assert time.monotonic() < limit, "the machine goes on"
            time.sleep(0.05)
    finally:
        # The forked child is of the same session.
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        assert started.stdout is not None
        started.stdout.close()


APP = """
from . import helper
def work(x): return helper.name, x
if __name__ == "__main__":
    with pvm.connect(), pvm.Pool(1) as pool:
        print(*pool.submit(work, 3).result(120))
"""


def test_workers_of_a_module_that_imports_beside_itself_died(tmp_path: Path) -> None:
    program(tmp_path, APP, "pkg/app.py")
    (tmp_path / "pkg/__init__.py").touch()
    (tmp_path / "pkg/helper.py").write_text("name = 'here'\n")
    done = run("-m", "pkg.app", cwd=tmp_path)
    assert done.stdout == "here 3\n", done.stderr


def test_workers_of_unittest_died(tmp_path: Path) -> None:
    program(
        tmp_path,
        """
        import unittest
        def double(x): return 2 * x
        class Doubles(unittest.TestCase):
            def test_it(self):
                with pvm.connect(), pvm.Pool(1) as pool:
                    self.assertEqual(pool.submit(double, 2).result(120), 4)
                    self.assertEqual(pool.lost, 0)
        """,
        "test_it.py",
    )
    done = run("-m", "unittest", "test_it", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_worker_imported_from_where_it_stood_and_not_what_its_spawner_does(tmp_path: Path) -> None:
    app, cwd = tmp_path / "app", tmp_path / "cwd"
    path = program(
        app,
        """
        import helper
        def name(): return helper.name
        if __name__ == "__main__":
            with pvm.connect(), pvm.Pool(1) as pool:
                print(helper.name, pool.submit(name).result(120))
        """,
    )
    cwd.mkdir()
    (app / "helper.py").write_text("name = 'app'\n")
    (cwd / "helper.py").write_text("name = 'cwd, the wrong one'\n")
    # This one broke the workers' own imports.
    (cwd / "queue.py").write_text("raise ImportError('not the one that is meant')\n")
    done = run(path, cwd=cwd)
    assert done.stdout == "app app\n", done.stderr


def test_what_is_installed_came_before_the_standard_library_in_workers(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        """
        import os, sys
        def where(): return [os.path.abspath(p) for p in sys.path], os.environ.get("PYTHONPATH")
        if __name__ == "__main__":
            with pvm.connect(), pvm.Pool(1) as pool:
                print(pool.submit(where).result(120) == where())
        """,
    )
    assert lines == ["True"]


def test_options_of_the_interpreter_were_not_those_of_its_workers(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        """
        import sys
        def options(): return __debug__, sys.flags.optimize, sys.warnoptions, sys._xoptions, sys.argv[1:]
        if __name__ == "__main__":
            with pvm.connect(), pvm.Pool(1) as pool:
                print(pool.submit(options).result(120) == options(), options()[1])
        """,
    )
    done = run("-O", "-W", "error::UserWarning", "-X", "dev", path, "argument")
    assert done.stdout == "True 1\n", done.stderr


def test_a_with_inside_of_another_left_the_machine(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        """
        def library():
            with pvm.connect() as vm: return vm.tid
        with pvm.connect() as vm:
            print(library() == vm.tid, vm.is_connected)
        print(vm.is_connected)
        vm = pvm.connect(); pvm.connect(); vm.close(); print(vm.is_connected); vm.close(); print(vm.is_connected)
        """,
    )
    assert lines == ["True True", "False", "True", "False"]


def test_two_programs_that_connect_at_once_hindered_each_other(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        """
        import sys
        vm = pvm.connect()
        print(vm.is_connected, flush=True)
        sys.stdin.readline()
        vm.close()
        """,
    )
    for turn in range(4):
        more = environment(PVM_VMID=f"pair{turn}")
        pair = [
            subprocess.Popen(
                [sys.executable, path], env=more, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(3)
        ]
        said = [one.stdout.readline() for one in pair if one.stdout is not None]
        for one in pair:
            one.communicate("\n", timeout=PATIENCE)
        assert said == ["True\n"] * 3


def test_an_interrupted_spawn_left_interpreters_that_wait_for_ever(tmp_path: Path) -> None:
    lines = printed(
        tmp_path,
        """
        import signal, threading, time
        def nothing(): pass
        if __name__ == "__main__":
            with pvm.connect() as vm:
                for turn in range(12):
                    timer = threading.Timer(0.003 * turn, signal.raise_signal, [signal.SIGINT])
                    try:
                        timer.start()
                        vm.spawn(nothing); timer.join(); time.sleep(0.01)
                    except KeyboardInterrupt:
                        pass
                    while timer.is_alive():
                        try: timer.join()
                        except KeyboardInterrupt: pass
                end = time.monotonic() + 100
                while len(vm.tasks()) > 1 and time.monotonic() < end: time.sleep(0.05)
                print(len(vm.tasks()))
        """,
    )
    assert lines == ["1"]


def test_a_spawner_that_was_killed_left_interpreters_that_wait_for_ever(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        """
        import os, signal, threading, sys
        def nothing(): pass
        if __name__ == "__main__":
            vm = pvm.connect(start=False)
            threading.Timer(float(sys.argv[1]), os.kill, [os.getpid(), signal.SIGKILL]).start()
            while True: vm.spawn(nothing)
        """,
    )
    lines = printed(
        tmp_path,
        f"""
        import subprocess, sys, time
        with pvm.connect() as vm:
            for turn in range(6):
                subprocess.run([sys.executable, {str(path)!r}, str(0.05 + 0.01 * turn)])
            end = time.monotonic() + 100
            while len(vm.tasks()) > 1 and time.monotonic() < end: time.sleep(0.05)
            print(len(vm.tasks()))
        """.replace(str(path), str(path.rename(tmp_path / "killed.py"))),
    )
    assert lines == ["1"]


@pytest.mark.parametrize("going", ["vm.leave()", "pass"])
def test_the_death_of_the_daemon_ended_who_had_only_connected(tmp_path: Path, going: str) -> None:
    lines = printed(
        tmp_path,
        f"""
        import os, signal, time
        vm = pvm.connect()
        {going}
        os.kill(vm._daemon._process.pid, signal.SIGKILL)
        try: vm.recv()
        except pvm.Error as error: print(type(error).__name__)
        vm._daemon._process.wait()
        time.sleep(0.5)
        print("goes on")
        """,
    )
    assert lines == ["NoMachineError", "goes on"]
