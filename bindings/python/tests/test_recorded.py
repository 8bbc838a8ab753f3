"""What a recorded Python program has in its trace: its calls by name, its messages and what it says of itself."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import PATIENCE
from test_native import STAGE

ROUNDS = 5
PROGRAM = f"""
with pvm.connect() as vm:
    if vm.parent is None:
        team = vm.spawn(__file__, n=1)
        vm.state("asking")
        for number in range({ROUNDS}):
            team.send({{"number": number}}, tag=1)
            assert vm.recv(tag=2, timeout=60).obj == number + 1
            vm.progress("rounds", number + 1, {ROUNDS})
        vm.state()
        vm.mark("done", -7)
    else:
        for _ in range({ROUNDS}):
            vm.send(vm.recv(tag=1, timeout=60).obj["number"] + 1, vm.parent, tag=2)
"""

pytestmark = pytest.mark.skipif(not STAGE, reason="NEOPVM_PREFIX names no installation")


def command(*words: str) -> str:
    """The output of a command of the installation."""
    done = subprocess.run(
        [f"{STAGE}/bin/pvm", *words], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_recorded_program_has_its_calls_messages_and_marks_in_its_trace(
    script: Callable[[str], str], tmp_path: Path
) -> None:
    trace = str(tmp_path / "run.trace")
    command("run", "--quiet", "--trace", trace, sys.executable, script(PROGRAM))
    lines = command("trace", "show", "--events", "--json", trace).splitlines()
    records: list[dict[str, Any]] = [json.loads(line) for line in lines]
    whole = Counter((record["function"], record["what"]) for record in records if record["depth"] == 0)
    assert whole["neopvm.send", "send"] == whole["neopvm.receive", "receive"] == 2 * ROUNDS
    assert whole["neopvm.spawn", "spawn"] + whole["neopvm.spawn", "call"] == 1
    told = [record for record in records if record["function"] == "neopvm.progress"]
    assert [(record["name"], record["done"], record["total"]) for record in told] == [
        ("rounds", number + 1, ROUNDS) for number in range(ROUNDS)
    ]
    states = [record.get("name") for record in records if record["function"] == "neopvm.state"]
    assert states == ["asking", None]
    [mark] = [record for record in records if record["function"] == "neopvm.mark"]
    assert (mark["name"], mark["value"]) == ("done", -7)
    tasks = json.loads(command("trace", "profile", "--json", trace))["tasks"]
    assert [(task["sent"], task["received"]) for task in tasks] == [(ROUNDS, ROUNDS)] * 2
