"""The named players of a match.

`random` takes any legal option, `simulate` is the player of `railpost simulate`, and `robot` the computer
player; `robot:0.5` takes about half a second for a hard decision, `robot:0` as little as it can.
"""

from __future__ import annotations

from random import Random
from typing import Protocol

from bot.robots.player import DEFAULT_SECONDS, Robot, trials_in
from bot.simulation.invariants import with_amount
from bot.simulation.random_player import RandomPlayer
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


def contestant(name: str, seed: int, players: int) -> Contestant:
    """The player of that name, for a table of so many. Raises ValueError with a sentence for another."""
    kind, colon, seconds = name.partition(":")
    if kind == "robot":
        try:
            thinking = float(seconds) if colon else DEFAULT_SECONDS
        except ValueError:
            thinking = -1.0
        if 0 <= thinking <= 60:
            return Robot(seed, trials_in(thinking))
    if name == "random":
        return RandomContestant(seed)
    if name == "simulate":
        return SimulateContestant(seed, players)
    raise ValueError(
        f"There is no player {name!r}; the players are random, simulate, robot and robot:SECONDS."
    )
