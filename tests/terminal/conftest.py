"""The terminal, and the command `railpost` in an empty folder."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.__main__ import app_for, run_command
from bot.service import Service
from bot.terminal.console import Console
from storage import open_store
from tests.end_to_end.fork_server import ForkServer, environment

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path, forks: ForkServer) -> Run:
    """Run `railpost` with arguments and standard input."""

    def running(*words: str, lines: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "in.txt").write_text(lines)
        process = forks.start(
            tmp_path, environment(**settings), words=words, standard_input="in.txt", errors="err.txt"
        )
        code = asyncio.run(process.wait())
        said, complained = tmp_path / "out.txt", tmp_path / "err.txt"
        done = subprocess.CompletedProcess(words, code, said.read_text(), complained.read_text())
        said.unlink()
        complained.unlink()
        return done

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


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    async with await open_store(tmp_path / "railpost.db") as store:
        yield Console(Service(store), tmp_path)


async def enter(console: Console, *lines: str) -> str:
    """Enter lines; the reply to the last."""
    text = ""
    for line in lines:
        text = (await console.handle_line(line)).text
    return text
