"""The processes that draw pictures: one that hangs does not stop the others for good."""

from __future__ import annotations

import os
import signal

import pytest

from bot.pictures import workers
from bot.pictures.workers import PictureWorkers
from engine import new_game
from renderers import CHART_KINDS


async def test_a_worker_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    state = new_game("1830", ["Ann", "Bob", "Cid"]).state
    with PictureWorkers(1) as pictures:
        assert await pictures.draw("market", state)
        assert pictures._pool is not None
        (hung,) = pictures._pool._processes
        os.kill(hung, signal.SIGSTOP)
        with monkeypatch.context() as impatient:
            impatient.setattr(workers, "DRAW_TIMEOUT", 0.1)
            assert await pictures.draw("map", state) is None
        assert pictures.hung_since is not None
        assert await pictures.draw("map", state)
        assert pictures.hung_since is None


async def test_an_empty_chart_is_not_drawn() -> None:
    """Before anybody has a price or a revenue, or more than they began with."""
    state = new_game("1830", ["Ann", "Bob", "Cid"]).state
    with PictureWorkers(1) as pictures:
        for kind in CHART_KINDS:
            assert await pictures.chart(state, (), kind) is None
        assert pictures.hung_since is None
