"""The command `railpost` in a process of its own, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.__main__ import app_for, run_command

ROOT = Path(__file__).parent.parent.parent
COMMAND = (sys.executable, "-m", "bot")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(**settings: str) -> dict[str, str]:
    """The environment of the process, without the settings of this machine."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("RAILPOST_")}
    return variables | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | settings


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `railpost` with arguments and standard input."""

    def running(*words: str, lines: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *words],
            input=lines,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(**settings),
            timeout=180,
            check=False,
        )

    return running


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a sub-command in this process, which has all modules loaded."""
    monkeypatch.chdir(tmp_path)

    def running(*words: str) -> subprocess.CompletedProcess[str]:
        try:
            code = run_command(lambda: app_for(words)(words, prog_name="railpost"))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        captured = capsys.readouterr()
        return subprocess.CompletedProcess(words, code, captured.out, captured.err)

    return running
