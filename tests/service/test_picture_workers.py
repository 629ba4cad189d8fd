"""The processes that draw pictures: one that hangs does not stop the others for good."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from bot.pictures import workers
from bot.pictures.workers import PictureWorkers
from engine import new_game
from renderers import CHART_KINDS, market_png
from renderers.files import smaller_png


async def test_a_worker_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    state = new_game("1830", ["Ann", "Bob", "Cid"]).state
    with PictureWorkers(1) as pictures:
        drawn = await pictures.draw("market", state)
        assert drawn and drawn.png == smaller_png(market_png(state).png)
        assert pictures._pool is not None
        (hung,) = pictures._pool._processes
        os.kill(hung, signal.SIGSTOP)
        patience, kill, hung_since = workers.DRAW_TIMEOUT, pictures._kill, []

        def note_and_kill(pool: ProcessPoolExecutor) -> None:
            hung_since.append(pictures.hung_since)
            monkeypatch.setattr(workers, "DRAW_TIMEOUT", patience)
            kill(pool)

        monkeypatch.setattr(workers, "DRAW_TIMEOUT", 0.1)
        monkeypatch.setattr(pictures, "_kill", note_and_kill)
        assert await pictures.draw("map", state), "the new workers draw it"
        assert None not in hung_since and len(hung_since) == 1
        assert pictures.hung_since is None


async def test_a_picture_at_which_workers_hang_twice_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "DRAW_TIMEOUT", 0.0)
    with PictureWorkers(1) as pictures:
        assert await pictures.draw("map", new_game("1830", ["Ann", "Bob", "Cid"]).state) is None
        assert pictures.hung_since is not None


async def test_an_empty_chart_is_not_drawn() -> None:
    """Before anybody has a price or a revenue, or more than they began with."""
    state = new_game("1830", ["Ann", "Bob", "Cid"]).state
    with PictureWorkers(1) as pictures:
        for kind in CHART_KINDS:
            assert await pictures.of_game(kind, state, ()) is None
        assert pictures.hung_since is None


def test_an_interrupt_while_a_worker_starts_is_left_to_its_parent(tmp_path: Path) -> None:
    """A worker imports the program of its parent first, which takes a second of a start in a terminal."""
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing, os, signal\n"
        "import bot.service\n"
        "if __name__ != '__main__':\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "    worker = multiprocessing.get_context('spawn').Process(target=print, args=('done',))\n"
        "    worker.start()\n"
        "    worker.join()\n"
    )
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("done\n", "")
