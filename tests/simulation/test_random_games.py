"""Random games of every title: they end, and all invariants hold at the steps that are checked.

A few here; `make soak` plays hundreds. A failure names the players, the seed and the move, and
`railpost simulate --title … --conventions … --players … --seed … --vary --check` shows it again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path

import pytest

from bot.tools.simulation.action_kinds import CONSEQUENCES, WEIGHTS
from bot.tools.simulation.simulate import SimulatedGame, random_options, simulate_game
from engine import optional_rules, title_names, title_of
from tests.simulation.position_cache import cache_checked
from tests.simulation.referee import refereed
from tests.t1817.test_referee import check_game

ROOT = Path(__file__).parents[2]
CONVENTIONS = ("rulebook", "18xx.games")


def _plays(title: str, players: int) -> bool:
    try:
        return bool(random_options(title, players, 1) or title)
    except ValueError:
        return False


SEATS = [(title, players) for title in title_names() for players in range(2, 13) if _plays(title, players)]
PLAYED = [
    *(("1830", 2, "18xx.games"), ("1830", 4, "rulebook"), ("1830", 6, "18xx.games"), ("1851", 4, "rulebook")),
    *(("1870", 4, "rulebook"), ("1870", 6, "18xx.games"), ("1817", 4, "rulebook"), ("1817", 6, "18xx.games")),
]
"""Every title in each of its conventions; the soak plays every number of players in both."""
CACHE_CHECKED = {("1830", 4), ("1851", 4), ("1870", 6), ("1817", 6)}
"""Two by the rulebook, and two by the conventions of 18xx.games."""
SOAKED = 60
"""How many games of each title in each of its conventions a soak plays."""
CHECKED_OF_SOAKED = 7
"""One of so many steps of these games is checked."""

CONVENTION_OF_KIND = {
    "run worse than best": "18xx.games",
    "no private": "18xx.games",
    "offer a private to a player": "rulebook",
    "connect": "rulebook",
    "wait with a connection": "rulebook",
    "ask for a connection": "rulebook",
    "buy a private from the open market": "rulebook",
    "announce an action": "rulebook",
    "bid nothing": "rulebook",
}
"""Kinds of decisions that are possible in one set of conventions only."""

_PRIVATE_DEALS = {
    "buy a private for the company from its president",
    "ask another player for a private for the company",
    "offer a private to a player",
    "ask a player for a private",
    "exchange a private",
    "no private",
}
_WATERFALL = {
    "buy a private that is offered",
    "buy a private after price cuts",
    "bid on a later private",
    "par, after a private",
    "income paid in the opening",
    "private's price cut",
}
_FORCED_PURCHASES = {
    "buy a train with the president's money",
    "sell shares for a train",
    "sell a presidency for a train",
    "president's money spent",
}
_DESTINATIONS = {
    *(
        "protect a price",
        "do not protect",
        "set a standing order",
        "withdraw a standing order",
        "company closed",
    ),
    *("redeem from the pool", "redeem from a player", "reissue", "buy a private from the open market"),
    *("place the token of a private", "close a port", "connect", "wait with a connection"),
    *("ask for a connection", "place a destination token", "keep a destination token"),
}
_ISSUES = {"issue shares", "redeem shares", "no issue"}
_LENDING = {
    *(
        "put a private up for auction",
        "bid up to a secret limit",
        "bid nothing",
        "start a company",
        "choose a size",
    ),
    *("bid for a company", "sell short", "loan in the stock round", "redeem for a company"),
    *("loan", "loan for a train", "repay", "no repay", "no more loans", "sell in a cash crisis"),
    *(
        "lay with a mine",
        "lay the tile of a private",
        "bridge",
        "announce an action",
        "no conversion or merger",
        "convert",
        "merge",
    ),
    *(
        "buy after a conversion or merger",
        "sell after a conversion or merger",
        "stop buying a company",
        "offer for sale",
    ),
    *("no offer for sale", "name the buyer", "remove a token", "company in liquidation"),
    *("company without a president in liquidation", "companies merged", "company bought by another"),
    *("company bid for by several", "company returned to the supply", "player in a cash crisis"),
    *("player out of the game", "short sellers pay a dividend", "short position closed"),
    *("held by players, price rose", "station tokens above the limit", "loan assumed"),
    *("train exported", "obsolete train gone"),
}
_CLAIMS = {"claim a better run", "accept a run"}
_POWERS = {"lay by the power of a private", "token by the power of a private", "no free token"}
ABSENT = {
    "1830": {"buy from a treasury", "pay half", *_ISSUES, *_CLAIMS, *_DESTINATIONS, *_LENDING},
    "1851": {
        *(_PRIVATE_DEALS | _WATERFALL | _POWERS | _DESTINATIONS | _LENDING) - {"par, after a private"},
        *("raise in an auction", "leave an auction", "pass in the opening"),
        *("buy several at once", "buy again in the same turn", "buy a train with a trade-in"),
        *("choose a home", "act out of turn", "run worse than best", *_CLAIMS),
    },
    "1870": {
        *("buy from a treasury", *_ISSUES, *_CLAIMS, *_LENDING),
        *("exchange a private", "token by the power of a private", "no free token", "choose a home"),
        *("buy a train with a trade-in", "tokens moved with an upgrade"),
    },
    "1817": {
        *(_PRIVATE_DEALS | _WATERFALL | _POWERS | _FORCED_PURCHASES | _DESTINATIONS | _ISSUES | _CLAIMS),
        *("par", "buy from the initial offering", "buy several at once", "buy again in the same turn"),
        *("buy a train with a trade-in", "choose a home", "sold out, price rose"),
        *("bank broken", "act out of turn"),
    },
}
"""Kinds of decisions and consequences that the rules of a title do not have."""
BY_OPTION = {
    "1851": {"run worse than best", *_CLAIMS},
    "1870": {"buy a train with a trade-in"},
}
"""Those of them that an optional rule adds."""


def kinds_without(title: str, conventions: str) -> set[str]:
    """The kinds of decisions and consequences that never occur in a title, whatever the options."""
    others = {kind for kind, of in CONVENTION_OF_KIND.items() if of != conventions}
    return (ABSENT[title] | others) - BY_OPTION.get(title, set())


def conserved(game: SimulatedGame) -> None:
    """After every move: cash, shares and trains are conserved, and a short seller owes a share."""
    state, start = game.state, game.start
    assert sum(state.cash.values()) == sum(start.cash.values())
    for sym, company in state.companies.items():
        held = sum(percent for percent in company.shares.values() if percent > 0)
        short = sum(-percent for percent in company.shares.values() if percent < 0)
        assert held - short == sum(start.companies[sym].shares.values())
    trains = Counter(t for company in state.companies.values() for t in company.trains) + Counter(
        state.pool_trains
    )
    for train, count in start.depot.items():
        assert count is None or trains[train] + (state.depot[train] or 0) <= count


def checked_game(title: str, players: int, seed: int, conventions: str, check_every: int) -> SimulatedGame:
    """A random game to its end in which nothing is wrong; by the rulebook, a referee finds nothing either."""
    rules = random_options(title, players, seed, conventions)
    game = simulate_game(title, players, seed, rules, check_every=check_every, watch=conserved)
    assert game.failure is None, (players, game.failure)
    assert game.state.game_over
    if conventions == "rulebook":
        refereed(game)
        if title == "1817":
            check_game(game)
    return game


@pytest.mark.parametrize(("title", "players", "conventions"), PLAYED)
def test_a_random_game_ends_without_violations(title: str, players: int, conventions: str) -> None:
    with cache_checked() if (title, players) in CACHE_CHECKED else nullcontext():
        game = checked_game(title, players, 40 + players, conventions, check_every=2 * players)
    assert kinds_without(title, conventions).isdisjoint([*game.kind_counts, *game.consequence_counts])


@pytest.mark.parametrize("title", title_names())
def test_rules_vary_with_the_seed(title: str) -> None:
    """Every optional rule is drawn in some games of the soaks and not in others."""
    seats = [players for name, players in SEATS if name == title]
    drawn = [random_options(title, seats[at % len(seats)], at, CONVENTIONS[at % 2]) for at in range(80)]
    for rule in optional_rules(title):
        assert 10 < sum(rule in rules for rules in drawn) < 70
    assert drawn == [
        random_options(title, seats[at % len(seats)], at, CONVENTIONS[at % 2]) for at in range(80)
    ]


PRINT_DIGEST = """
import sys
from hashlib import sha256
from bot.tools.simulation.simulate import simulate_game
print(sha256(simulate_game(sys.argv[1], 4, 11, max_moves=250).text.encode()).hexdigest())
"""


def test_a_seed_gives_the_same_game_in_every_process() -> None:
    """The order of options does not depend on the order of sets, so buttons can name their places.

    That order is another one in each process.
    """
    shown = subprocess.run(
        [sys.executable, "-c", PRINT_DIGEST, title_names()[0]],
        env=os.environ | {"PYTHONHASHSEED": "0"},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    game = simulate_game(title_names()[0], 4, 11, max_moves=250)
    assert shown.stdout.strip() == sha256(game.text.encode()).hexdigest()


def test_a_game_that_does_not_end_is_a_failure() -> None:
    game = simulate_game(title_names()[0], 2, 1, max_moves=30)
    assert game.failure == "seed 1, move 31: the game has not ended after 30 moves"
    assert game.move_count == 30


# -- long play -------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.parametrize("conventions", CONVENTIONS)
@pytest.mark.parametrize("title", title_names())
def test_soak(title: str, conventions: str) -> None:
    """With all numbers of players, and optional rules drawn from the seed, every kind of decision occurs."""
    seats = [players for name, players in SEATS if name == title]
    seen, whole, late = Counter[str](), 0, 0
    for seed in range(1000, 1000 + SOAKED):
        players = seats[seed % len(seats)]
        game = checked_game(title, players, seed, conventions, check_every=CHECKED_OF_SOAKED)
        seen += game.kind_counts + game.consequence_counts
        over = game.state.game_over
        whole += over is not None and not over.bankrupt and len(game.state.active_seats) > 1
        late += game.state.phase == title_of(title, game.options).components.phases[-1].name
    assert whole > SOAKED / 3, "too few games come to their last round"
    assert late > SOAKED / 4, "too few games come to their last phase"
    assert seen.keys() == {*WEIGHTS, *CONSEQUENCES} - kinds_without(title, conventions)
