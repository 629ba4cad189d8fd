"""The command `railpost` in a process of its own, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
COMMAND = (sys.executable, "-m", "bot")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(**settings: str) -> dict[str, str]:
    """The variables of the process: nothing of this machine's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAILPOST_")}
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | settings


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`railpost` with arguments and standard input, to its end."""

    def running(*words: str, lines: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *words],
            input=lines,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(**settings),
            timeout=60,
            check=False,
        )

    return running


@pytest.fixture(autouse=True)
def _no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    """What a process of a test says goes through `run`, never past it."""
