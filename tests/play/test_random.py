"""Random games of every title: they end, and everything that must hold holds at the steps that are checked.

A few here; `make soak` plays hundreds. A failure names the seed and the move, and
`railpost simulate --title … --players … --seed … --check` shows it again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from bot.simulate import CONSEQUENCES, WEIGHTS, options_of, simulated
from engine import titles
from engine.facts import facts_of
from engine.record import replay

ROOT = Path(__file__).parents[2]
CONVENTIONS = ("rulebook", "18xx.games")
OPTIONAL = {
    "1830": ("multiple_brown_from_ipo", "optional_6_train"),
    "1851": ("claims", "johnson_city_falling"),
    "1870": ("diesels", "finish_on_400", "historical_order", "non_blocking_tokens", "private_treasuries"),
}

SEATS = [
    (title, players)
    for title in titles()
    for players in range(facts_of(title).players["min"], facts_of(title).players["max"] + 1)
]
RULES = [
    (title, conventions, optional)
    for title in titles()
    for conventions in CONVENTIONS
    for optional in OPTIONAL.get(title, ())
]
SOAKED = 200
CHECKED_OF_SOAKED = 10
"""Every so many games of a soak are checked at every step."""

CONVENTION_OF_KIND = {
    "run worse than best": "18xx.games",
    "no private": "18xx.games",
    "offer a private to a player": "rulebook",
    "connect": "rulebook",
    "wait with a connection": "rulebook",
    "ask for a connection": "rulebook",
    "buy a private from the open market": "rulebook",
}
"""Kinds of decision that only one set of conventions has."""

_DESTINATIONS = {
    *("protect a price", "do not protect", "leave an answer", "take back an answer", "company closed"),
    *("redeem from the pool", "redeem from a player", "reissue", "buy a private from the open market"),
    *("place the token of a private", "close a port", "connect", "wait with a connection"),
    *("ask for a connection", "place a destination token", "keep a destination token"),
}
_CLAIMS = {"point out a better run", "let a run stand"}
ABSENT = {
    "1830": {"buy from a treasury", "pay half", "issue shares", "redeem shares", "no issue", *_CLAIMS}
    | _DESTINATIONS,
    "1851": _DESTINATIONS
    | {
        *(k for k in WEIGHTS if "private" in k and k != "par, after a private"),
        *(k for k in WEIGHTS if "auction" in k or k == "pass in the opening"),
        *("buy several at once", "buy again in the same turn", "buy a train with a trade-in"),
        *("no free token", "choose a home", "run worse than best", *_CLAIMS),
        *("private's price cut", "income paid in the opening", "act beside the question"),
    },
    "1870": {
        *("buy from a treasury", "issue shares", "redeem shares", "no issue", *_CLAIMS),
        *("exchange a private", "token by the power of a private", "no free token", "choose a home"),
        *("buy a train with a trade-in",),
    },
}
"""Kinds of decision, and things that happen seldom, that a title has not."""


@pytest.mark.parametrize("conventions", CONVENTIONS)
@pytest.mark.parametrize(("title", "players"), SEATS)
def test_a_random_game_ends_with_what_must_hold_at_every_step_looked_at(
    title: str, players: int, conventions: str
) -> None:
    game = simulated(title, players, 40 + players, options_of(conventions, ()), check_every=6)
    assert game.failure is None
    assert game.state.over


@pytest.mark.parametrize(("title", "conventions", "optional"), RULES)
def test_optional_rules(title: str, conventions: str, optional: str) -> None:
    game = simulated(title, 3, 7, options_of(conventions, (optional,)), check_every=5)
    assert game.failure is None
    assert optional in game.state.options


def test_the_text_of_a_game_replays_to_the_same_end() -> None:
    game = simulated(titles()[0], 3, 5)
    report = replay(game.text)
    assert report.ok, report.failure
    assert (report.moves, report.state) == (game.moves, game.state)
    assert report.checks > game.moves / 10


SHOWN = """
import sys
from hashlib import sha256
from bot.simulate import simulated
print(sha256(simulated(sys.argv[1], 4, 11).text.encode()).hexdigest())
"""


@pytest.mark.parametrize("hashing", ["0", "20"])
def test_a_seed_gives_the_same_game_in_every_process(hashing: str) -> None:
    """Options stand in the same order whatever the order of sets, so their places can be buttons."""
    shown = subprocess.run(
        [sys.executable, "-c", SHOWN, titles()[0]],
        env=os.environ | {"PYTHONHASHSEED": hashing},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert shown.stdout.strip() == _digest(titles()[0])


@cache
def _digest(title: str) -> str:
    return sha256(simulated(title, 4, 11).text.encode()).hexdigest()


def test_a_game_that_does_not_end_is_a_failure() -> None:
    game = simulated(titles()[0], 2, 1, most_moves=30)
    assert game.failure == "seed 1, move 31: the game has not ended after 30 moves"
    assert game.moves == 30


# -- long play -------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("conventions", CONVENTIONS)
@pytest.mark.parametrize(("title", "players"), SEATS)
def test_soak(title: str, players: int, conventions: str) -> None:
    """200 games over all seats under either set of conventions; every tenth checked at every step."""
    games = [
        simulated(
            title,
            players,
            100 * players + at,
            options_of(conventions, ()),
            check_every=int(at % CHECKED_OF_SOAKED == 0),
        )
        for at in range(SOAKED // sum(t == title for t, _ in SEATS))
    ]
    assert [game.failure for game in games if game.failure] == []
    by_the_bank = sum(not game.state.over.bankrupt for game in games if game.state.over)
    assert by_the_bank > len(games) / 3


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("conventions", CONVENTIONS)
@pytest.mark.parametrize("title", titles())
def test_every_kind_of_decision_occurs(title: str, conventions: str) -> None:
    kinds, seen = Counter[str](), Counter[str]()
    for seed in range(60):
        players = [p for t, p in SEATS if t == title]
        game = simulated(title, players[seed % len(players)], 1000 + seed, options_of(conventions, ()))
        kinds += game.kinds
        seen += game.seen
    expected = {k for k in WEIGHTS if CONVENTION_OF_KIND.get(k, conventions) == conventions}
    assert expected - kinds.keys() == ABSENT[title] & expected
    assert set(CONSEQUENCES) - seen.keys() == ABSENT[title] & set(CONSEQUENCES)
