"""The hellos of the README, as they are printed there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import neopvm as pvm
import pytest
from conftest import PATIENCE

README = Path(__file__).resolve().parents[3] / "README.md"
# Where the other languages' libraries are installed.
STAGE = os.environ.get("NEOPVM_PREFIX", "")

needs_stage = pytest.mark.skipif(not STAGE, reason="NEOPVM_PREFIX names no installation of the C library")


def printed(language: str) -> str:
    section = README.read_text().split("### Hello, in four languages")[1]
    section = re.split(r"\n###? ", section)[0]
    (text,) = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return str(text)


def build(tool: str, *words: str | Path) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}")
    subprocess.run([tool, *words], check=True)


def heard(vm: pvm.Machine, program: Path, *args: str) -> pvm.Message:
    (task,) = vm.spawn(program, *args, env={"PVM_ROOT": STAGE})
    return vm.receive(task, 1, PATIENCE)


@needs_stage
def test_the_hello_in_c(vm: pvm.Machine, tmp_path: Path) -> None:
    (tmp_path / "greeter.c").write_text(printed("c"))
    libraries = [f"-L{STAGE}/lib", f"-Wl,-rpath,{STAGE}/lib", "-lpvm3"]
    build("cc", f"-I{STAGE}/include", tmp_path / "greeter.c", "-o", tmp_path / "greeter", *libraries)
    assert heard(vm, tmp_path / "greeter").unpack_str() == "hello from C"


@needs_stage
def test_the_hello_in_fortran(vm: pvm.Machine, tmp_path: Path) -> None:
    (tmp_path / "greeter.f").write_text(printed("fortran"))
    libraries = [f"-L{STAGE}/lib", f"-Wl,-rpath,{STAGE}/lib", "-lfpvm3", "-lpvm3"]
    build("gfortran", f"-I{STAGE}/include", tmp_path / "greeter.f", "-o", tmp_path / "greeter", *libraries)
    # Fortran's strings travel as bytes.
    assert bytes(heard(vm, tmp_path / "greeter").unpack("i1", 18)) == b"hello from Fortran"


@needs_stage
def test_the_hello_in_java(vm: pvm.Machine, tmp_path: Path) -> None:
    jar = Path(STAGE) / "share/java/neopvm.jar"
    if not jar.exists():
        pytest.skip("there is no neopvm.jar")
    (tmp_path / "Greeter.java").write_text(printed("java"))
    build("javac", "-cp", jar, "-d", tmp_path, tmp_path / "Greeter.java")
    java = shutil.which("java")
    assert java is not None
    message = heard(vm, Path(java), "-cp", f"{jar}:{tmp_path}", "Greeter")
    assert message.unpack_str() == f"hello from {pvm.Tid(message.source)}"


def test_the_hello_in_python(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(printed("python"))
    environment = {name: value for name, value in os.environ.items() if name != "PVM_VMID"}
    done = subprocess.run(
        [sys.executable, tmp_path / "hello.py"], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert re.fullmatch(r"(hello world, this is t[0-9a-f]+\n){3}", done.stdout)


def test_the_hellos_have_about_ten_lines() -> None:
    for language in ("c", "fortran", "java", "python"):
        assert len(printed(language).splitlines()) <= 12
