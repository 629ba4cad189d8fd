"""The named players of a match.

`random` takes any legal option, `simulate` is the player of `railpost simulate`, `greedy` and `pass-and-pay`
are the players of few rules (`greedy.py`), and `robot` is the computer player; `robot:0.5` takes about half a
second for a hard decision, `robot:0` as little as it can. `judgement:0.5` is the robot without plans. Both
may have other weights: `robot:0.5+reach=0.2`.
"""

from __future__ import annotations

from random import Random
from typing import Protocol

from bot.features.robots.robot import DEFAULT_SECONDS, Robot, effort_in
from bot.features.robots.weights import DEFAULT_WEIGHTS, varied
from bot.tools.arena.greedy import Greedy, PassAndPay
from bot.tools.simulation.invariants import with_amount
from bot.tools.simulation.random_player import RandomPlayer
from engine import Action, State, options


class Contestant(Protocol):
    """A player of one seat."""

    def choose_action(self, state: State, seat: str) -> Action:
        """The action of a seat that is to act."""


class RandomContestant:
    """Any legal option, at any of its dollars."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(f"random {seed}")

    def choose_action(self, state: State, seat: str) -> Action:
        option = self.rng.choice(options(state, seat))
        if option.amounts is None:
            return option.action
        return with_amount(option, self.rng.choice(option.amounts))


class SimulateContestant:
    """The player of `railpost simulate`, in one seat."""

    def __init__(self, seed: int, players: int) -> None:
        self.player = RandomPlayer(seed, players)

    def choose_action(self, state: State, seat: str) -> Action:
        return self.player.choose_for(state, seat)[0]


MOST_SECONDS = 60


def contestant(name: str, seed: int, players: int) -> Contestant:
    """The player of that name, for a table of so many. Raises ValueError with a sentence for another."""
    if name == "random":
        return RandomContestant(seed)
    if name == "simulate":
        return SimulateContestant(seed, players)
    if name == "greedy":
        return Greedy(seed)
    if name == "pass-and-pay":
        return PassAndPay()
    return robot(name, seed)


def robot(name: str, seed: int) -> Robot:
    """The robot of that name. Raises ValueError with a sentence for another player."""
    player, plus, changes = name.partition("+")
    kind, colon, seconds = player.partition(":")
    try:
        thinking = float(seconds) if colon else DEFAULT_SECONDS
    except ValueError:
        thinking = -1.0
    if kind not in ("robot", "judgement") or not 0 <= thinking <= MOST_SECONDS:
        raise ValueError(
            f"There is no player {name!r}; the players are random, simulate, greedy, pass-and-pay, robot, "
            "robot:SECONDS and judgement:SECONDS."
        )
    effort = effort_in(thinking)
    if kind == "judgement":
        effort = effort._replace(projections=0)
    return Robot(seed, effort, varied(DEFAULT_WEIGHTS, changes) if plus else DEFAULT_WEIGHTS)
