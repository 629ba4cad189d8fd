"""A whole game of 1851 through the running service, half by Discord, half by mail, as one of 1830 is."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from bot.service import lobby
from tests.end_to_end.test_whole_games import own_game, played

GAME = Path(__file__).parent / "games" / "3p-811-claims.18xx"
LOT = 811
"""The seed of the game, which also determined its deal."""


@pytest.mark.timeout(900)
async def test_by_discord_and_mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lobby, "secrets", SimpleNamespace(randbelow=lambda most: LOT))
    await played(tmp_path, own_game(GAME))
