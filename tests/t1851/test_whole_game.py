"""A game of 1851 through the running service, half by Discord, half by mail. To its end it is a soak."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from bot.features.lobby import tables
from tests.end_to_end.test_whole_games import beginning_of, own_game, played

GAME = Path(__file__).parent / "games" / "3p-811-claims.18xx"
SEED = 811
"""The seed of both games, which also determines the deal."""


@pytest.fixture(autouse=True)
def _the_deal_is_that_of_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "secrets", SimpleNamespace(randbelow=lambda most: SEED))


async def test_a_beginning(tmp_path: Path) -> None:
    await played(tmp_path, beginning_of("1851", 3, SEED, 32))


@pytest.mark.soak
async def test_by_discord_and_mail(tmp_path: Path) -> None:
    await played(tmp_path, own_game(GAME))
