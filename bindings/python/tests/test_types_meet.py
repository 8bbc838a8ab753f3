"""Each type of a tuple between each pair of languages: the table of doc/tuples.md."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import neopvm as pvm

PATIENCE = 300
HERE = Path(__file__).resolve().parent / "meet"
TYPES = (
    "char schar uchar short ushort int uint long ulong longlong ulonglong float double longdouble bool floatcomplex "
    "doublecomplex text bytes struct short[] ushort[] int[] long[] float[] double[]"
).split()


def run(*words: str | Path) -> str:
    prefix = Path(os.environ["NEOPVM_PREFIX"])
    path = f"{prefix / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        words, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def programs(folder: Path) -> dict[str, list[str | Path]]:
    """Builds the programs of the languages that are here: how each is called."""
    prefix = Path(os.environ["NEOPVM_PREFIX"])
    link = [f"-I{prefix / 'include'}", f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}", "-lpvm3"]
    jar = prefix / "share" / "java" / "neopvm.jar"
    found: dict[str, list[str | Path]] = {
        "Python": [sys.executable, HERE / "meet.py"],
        "shell": ["sh", HERE / "meet.sh"],
    }
    run("cc", "-Wall", "-Werror", "-o", folder / "c", HERE / "meet.c", *link)
    found["C"] = [folder / "c"]
    for tool in ("gfortran", "javac"):
        if not shutil.which(tool):
            print(f"skipped: there is no {tool}, and its language of the table is not tested")
    if shutil.which("gfortran"):
        module = prefix / "include" / "neotuple.f90"
        run("gfortran", "-Wall", "-J", folder, "-o", folder / "fortran", module, HERE / "meet.f90", *link)
        found["Fortran"] = [folder / "fortran"]
    if shutil.which("javac") and jar.is_file():
        run("javac", "-cp", jar, "-d", folder, HERE / "Meet.java")
        found["Java"] = ["java", "-cp", f"{jar}:{folder}", "Meet"]
    return found


def test_each_type_meets_between_each_pair_of_languages(vm: pvm.Machine, tmp_path: Path) -> None:
    languages = programs(tmp_path)
    vm.space("meet")
    for command in languages.values():
        run(*command, "put", *languages)
    for reader, command in languages.items():
        met = set(run(*command, "take", *languages).splitlines())
        # Python cannot make a long double.
        expected = {f"{writer} {kind}" for writer in languages for kind in TYPES} - {"Python longdouble"}
        assert met == expected, (reader, met ^ expected)
