"""Typed messages between Python and programs of pvm3.h in C and Fortran."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import neopvm as pvm
import pytest
from conftest import PATIENCE

# Where the C and Fortran libraries are installed; the wheel has none.
STAGE = os.environ.get("NEOPVM_PREFIX", "")
SOURCES = Path(__file__).parent / "native"

pytestmark = pytest.mark.skipif(not STAGE, reason="NEOPVM_PREFIX names no installation of the C library")


def build(compiler: str, source: str, options: list[str], libraries: list[str], folder: Path) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    program = folder / "answer"
    words = [compiler, *options, f"-I{STAGE}/include", str(SOURCES / source), "-o", str(program), f"-L{STAGE}/lib"]
    subprocess.run([*words, *libraries, f"-Wl,-rpath,{STAGE}/lib"], check=True)
    return program


@pytest.mark.parametrize("answer", ["default", "raw"])
@pytest.mark.parametrize("raw", [False, True])
def test_a_c_program_reads_every_type_and_answers(vm: pvm.Machine, tmp_path: Path, raw: bool, answer: str) -> None:
    program = build("cc", "answer.c", [], ["-lpvm3"], tmp_path)
    (task,) = vm.spawn(program, answer)
    message = vm.message(raw=raw).pack("i1", b"abc").pack("i2", [-5, 6]).pack("i4", [-(2**31), 7])
    message.pack("u4", 2**32 - 2).pack("long", [-9, 2**40]).pack("f4", 0.5).pack("f8", [1e300, -2.5])
    message.pack("c8", 1 + 2j).pack("c16", -1e10 + 4j).str("from Python").send(task, 5)
    got = vm.receive(task, 6, PATIENCE)
    assert bytes(got.unpack("i1", 3)) == b"bcd"
    assert got.unpack("i2", 2) == [-4, 7]
    assert got.unpack("i4", 2) == [-(2**31) + 1, 8]
    assert got.unpack("u4") == 2**32 - 1
    assert got.unpack("long", 2) == [-8, 2**40 + 1]
    assert got.unpack("f4") == 1.5
    assert got.unpack("f8", 2) == [1e300, -1.5]
    assert got.unpack("c8") == 2 + 2j
    assert got.unpack("c16") == -1e10 + 1 + 4j
    assert got.unpack_str() == "from Python!"
    vm.wait([task], PATIENCE)


def test_a_fortran_program_reads_every_type_and_answers(vm: pvm.Machine, tmp_path: Path) -> None:
    program = build("gfortran", "answer.f", ["-std=legacy", "-w"], ["-lfpvm3", "-lpvm3"], tmp_path)
    (task,) = vm.spawn(program)
    message = vm.message().pack("i2", [-5, 6]).pack("i4", [3, 7]).pack("f4", 0.5).pack("f8", [1e300, -2.5])
    # Fortran's strings travel as bytes.
    message.pack("c8", 1 + 2j).pack("c16", -1e10 + 4j).pack("i1", b"text?").send(task, 5)
    got = vm.receive(task, 6, PATIENCE)
    assert got.unpack("i2", 2) == [-4, 6]
    assert got.unpack("i4", 2) == [3, 8]
    assert got.unpack("f4") == 1.5
    assert got.unpack("f8", 2) == [1e300, -1.5]
    assert got.unpack("c8") == 2 + 2j
    assert got.unpack("c16") == -1e10 + 1 + 4j
    assert bytes(got.unpack("i1", 5)) == b"text!"
    vm.wait([task], PATIENCE)
