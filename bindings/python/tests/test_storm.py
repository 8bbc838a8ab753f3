"""Kills, interrupts, cancelled waits and forks at random: see `storm.py`. `NEOPVM_LONG=1`: for five minutes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conftest import PATIENCE
from programs import environment


def test_a_storm_loses_nothing_and_leaves_nothing() -> None:
    seconds = 300 if os.environ.get("NEOPVM_LONG") else 3
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("storm.py"), str(seconds)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=seconds + 4 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0 and "\ncalm " in done.stdout, done.stdout + done.stderr
