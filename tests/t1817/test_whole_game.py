"""A whole game of 1817 through the running service, half by Discord, half by mail, and one said line by
line at the terminal."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.simulate import Simulated, simulated
from tests.terminal.conftest import COMMAND, environment
from tests.whole.test_recorded_game import played, random_game

HARD = frozenset(
    {
        "accept",
        "bankrupt",
        "bid up to a secret limit",
        "bridge",
        "convert",
        "lay with a mine",
        "merge",
        "remove a marker",
        "sell in a cash crisis",
        "sell short",
        "will act",
    }
)
"""What a game has to have in it to be worth playing whole."""
MOST_MOVES = 800


def rich_games() -> Iterator[Simulated]:
    """Random games of four with all that is hard in them."""
    for seed in range(1, 500):
        game = simulated("1817", 4, seed, most_moves=MOST_MOVES)
        if game.failure is None and set(game.kinds) >= HARD:
            yield game


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_by_discord_and_mail(tmp_path: Path) -> None:
    await played(tmp_path, random_game(next(rich_games())))


@pytest.mark.soak
def test_at_the_terminal(tmp_path: Path) -> None:
    game = random_game(next(rich_games()))
    begin = [f"table new 1817 {', '.join(game.names)}", "table start"]
    lines = [f"{game.names[said.seat]}: {said.line}" for said in game.said]
    done = subprocess.run(
        COMMAND, input="\n".join([*begin, *lines]), capture_output=True, text=True, cwd=tmp_path,
        env=environment(), timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    standing = done.stdout.rpartition("The game is over: ")[2]
    for name, dollars in zip(game.names, game.scores, strict=True):
        assert f"{name} ${dollars:,}" in standing
    assert "Possible:" not in done.stdout, "every line is one of the game"
