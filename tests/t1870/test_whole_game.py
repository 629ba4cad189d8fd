"""A whole game of 1870 through the running service, half by Discord, half by mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.test_whole_games import played, random_game, table_game


@pytest.mark.soak
async def test_by_discord_and_mail(tmp_path: Path) -> None:
    await played(tmp_path, random_game(table_game("1870", 3, 2)))
