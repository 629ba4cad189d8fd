"""A whole game of 1817 through the running service, half by Discord, half by mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.whole.test_recorded_game import own_game, played

GAME = Path(__file__).parent / "games" / "4p-141.18xx"


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_by_discord_and_mail(tmp_path: Path) -> None:
    await played(tmp_path, own_game(GAME))
