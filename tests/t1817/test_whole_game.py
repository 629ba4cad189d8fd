"""Whole games of 1817 through the running service: by Discord and mail, and at the terminal."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import engine
from bot.tools.simulation.simulate import SimulatedGame
from engine.core.events import PlayerBankrupt
from tests.end_to_end.fork_server import COMMAND, environment
from tests.end_to_end.test_whole_games import played, random_game, table_game, told_game

BEGINNING = """title 1817
players Ann, Bob, Cid
---
Ann: bid OBC 40
Bob: bid MAIL 90
Cid: pass
Ann: pass
Bob: pass
Cid: start WT F19 100
Ann: bid 105
Bob: bid 110
Cid: pass
Ann: bid 130
Bob: pass
Ann: float 2 with OBC
Ann: pass
Bob: start SR G18 150
Cid: bid 155
Ann: pass
Bob: bid 165
Cid: pass
Bob: float 2 with MAIL
Cid: pass
Ann: pass
Bob: pass
Bob: lay 7 G20 1
Bob: loan 1
Bob: buy train 2
Bob: pass
Bob: pass
Ann: lay 57 F19 2
Ann: loan 1
Ann: bridge H9
Ann: buy train 2
Ann: pass
Ann: pass
Ann: act
Bob: act
Bob: pass
Ann: merge SR
Bob: accept
Cid: pass
Bob: pass
Ann: buy 1
Ann: loan 1
Ann: pass
"""
"""Privates, two companies at auction, their first turns, and their merger, after which Cid and Bob answer in
advance."""

HARD = frozenset(
    {
        "accept",
        "bankrupt",
        "bridge",
        "convert",
        "lay with a mine",
        "merge",
        "remove a token",
        "sell in a cash crisis",
        "sell short",
        "announce an action",
    }
)
"""What a game has to have in it to be worth playing whole."""
MOST_MOVES = 1000


def rich_games() -> Iterator[SimulatedGame]:
    """Random games of four with all that is hard in them."""
    for seed in range(2, 500):
        game = table_game("1817", 4, seed, max_moves=MOST_MOVES)
        if game.failure is None and set(game.kind_counts) >= HARD:
            yield game


def goes_bankrupt(events: Sequence[engine.AnyEvent]) -> bool:
    """Whether a line with these events has to be confirmed."""
    return any(isinstance(event, PlayerBankrupt) for event in events)


async def test_a_beginning(tmp_path: Path) -> None:
    await played(tmp_path, told_game(BEGINNING))


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_by_discord_and_mail(tmp_path: Path) -> None:
    await played(tmp_path, random_game(next(rich_games())))


@pytest.mark.soak
def test_at_the_terminal(tmp_path: Path) -> None:
    simulated = next(rich_games())
    game = random_game(simulated)
    begin = [f"table new 1817 {', '.join(game.names)}", "table start"]
    lines = [
        f"{game.names[said.seat]}: {said.line}" + " yes" * goes_bankrupt(played.events)
        for said, played in zip(game.lines, simulated.history_lines, strict=True)
    ]
    done = subprocess.run(
        COMMAND, input="\n".join([*begin, *lines]), capture_output=True, text=True, cwd=tmp_path,
        env=environment(), timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    standing = done.stdout.rpartition("The game is over: ")[2]
    for name, dollars in zip(game.names, game.scores, strict=True):
        assert f"{name} ${dollars:,}" in standing
    assert "Possible:" not in done.stdout, "every line is one of the game"
