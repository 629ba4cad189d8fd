"""Agreement with people: how often a player's choice is what people did in recorded games.

Forced questions, those with one option, are counted apart from free ones. `top1` and `top5`: the move was the
first, or among the first five, of the player's ranking. `uniform1`, `uniform5`: what a guess among all
options would reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from bot.cli.import_games import read_game_file
from bot.features.robots.scored import Scored
from engine import Action, State, copy_state, options
from engine.core.actions import BidUpTo, BuyShares, BuyTrain, RunTrains, TradePrivate
from engine.site_18xx.game_file import SiteFile, read_site_file
from engine.site_18xx.replay import SiteReplay

IGNORED = (RunTrains,)
"""Runs are no choice: the best is given."""


@dataclass
class Agreement:
    """Counts over the questions of one or several games."""

    questions: int = 0
    top1: int = 0
    top5: int = 0
    uniform1: float = 0.0
    uniform5: float = 0.0

    def add(self, rank: int | None, count: int) -> None:
        """Count a question with so many options; rank: the place of the move from 0."""
        self.questions += 1
        self.top1 += rank == 0
        self.top5 += rank is not None and rank < 5
        self.uniform1 += 1 / count
        self.uniform5 += min(5 / count, 1)


class Recorded(SiteReplay):
    """A replay that shows every action with the position before it."""

    def __init__(self, file: SiteFile, seen: Callable[[State, str, Action], None]) -> None:
        super().__init__(file)
        self.seen = seen

    def apply(self, seat: str, action: Action) -> None:
        self.seen(self.state, seat, action)
        super().apply(seat, action)


def same_move(one: Action, other: Action) -> bool:
    """Whether two actions are the same move, whatever dollars are named and wherever a default is written."""
    if type(one) is not type(other):
        return (isinstance(one, BidUpTo) and hasattr(other, "amount")) or (
            isinstance(other, BidUpTo) and hasattr(one, "amount")
        )
    match one, other:
        case BuyTrain(), BuyTrain():
            return (one.train, one.source) == (other.train, other.source)
        case TradePrivate(), TradePrivate():
            return one.private == other.private and one.target == other.target
        case BuyShares(), BuyShares():
            return (one.company, one.source, one.count) == (other.company, other.source, other.count)
    if hasattr(one, "amount"):
        return msgspec.structs.replace(one, amount=0) == msgspec.structs.replace(other, amount=0)
    return one == other


class Ranker(Protocol):
    """A player that can rank what a seat may do."""

    def ranking(self, state: State, seat: str) -> list[Scored]:
        """What the seat may do, best first."""


class Compared(NamedTuple):
    """A player with its agreement, over questions with one option and with several."""

    player: Ranker
    forced: Agreement
    free: Agreement


def measure(path: Path, compared: Sequence[Compared], every: int = 1) -> Iterator[int]:
    """Compare players with the people of one file, at every so many questions; yields as it goes."""
    seen = 0

    def compare(state: State, seat: str, action: Action) -> None:
        nonlocal seen
        if isinstance(action, IGNORED):
            return
        found = options(state, seat)
        if not any(same_move(o.action, action) for o in found):
            return
        seen += 1
        if seen % every:
            return
        for player, forced, free in compared:
            ranking = player.ranking(copy_state(state), seat)
            rank = next((i for i, each in enumerate(ranking) if same_move(each.action, action)), None)
            (free if len(found) > 1 else forced).add(rank, len(found))

    for _ in Recorded(read_site_file(read_game_file(path)), compare).run():
        yield seen
