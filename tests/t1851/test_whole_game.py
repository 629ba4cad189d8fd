"""Games of 1851 through the running service, half by Discord, half by mail. Whole games are a soak."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from bot.features.lobby import tables
from tests.end_to_end.test_whole_games import beginning_of, own_game, played, random_game, table_game

GAME = Path(__file__).parent / "games" / "3p-811-claims.18xx"
SEED = 811
"""The seed of the game, which also determined its deal."""
SHORT = 0
"""The seed of a random game that ends early, by bankruptcy."""


def deal(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(tables, "secrets", SimpleNamespace(randbelow=lambda most: seed))


async def test_a_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deal(monkeypatch, SHORT)
    await played(tmp_path, beginning_of("1851", 3, SHORT, 32))


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_by_discord_and_mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deal(monkeypatch, SHORT)
    await played(tmp_path, random_game(table_game("1851", 3, SHORT)))


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_a_longer_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deal(monkeypatch, SEED)
    await played(tmp_path, own_game(GAME))
