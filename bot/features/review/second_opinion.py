"""A second opinion, the robot's: where its choice and the player's differ most in its own value.

It is what the robot thinks and no truth. Tiles, tokens and runs are left out: what they brought is exact in
`runs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import engine
from bot.features.review.game import PlayedGame, places
from engine.core.actions import BuyTrain, Pass, PayDividend, SellShares

AMOUNT_FIELDS = ("amount", "price")
LEAST_DOLLARS = 50
MOST_DOLLARS = 4000
"""What differs by more is no judgement but an option that the robot takes for the only one."""


class ScoredOption(Protocol):
    """An option as the robot scores it: dollars against doing nothing, and why."""

    @property
    def action(self) -> engine.Action: ...
    @property
    def value(self) -> float: ...
    @property
    def reason(self) -> str: ...


Ranking = Callable[[engine.State, str], Sequence[ScoredOption]]
"""The options of a seat, best first."""


class Opinion(NamedTuple):
    """A decision that the robot would have made otherwise.

    `number`: of the move, for `at`. `played`, `advised`: the lines. `dollars`: what the robot's choice is
    worth more, to the robot. `reason`: of its choice.
    """

    number: int
    at: int
    round: str
    seat: str
    played: str
    advised: str
    dollars: int
    reason: str


def second_opinion(game: PlayedGame, ranking: Ranking, count: int = 10) -> list[Opinion]:
    """The decisions where the robot and the players differ most, in order. One for each turn of a player."""
    state, where = engine.copy_state(game.start), places(game)
    by_turn: dict[tuple[object, ...], Opinion] = {}
    for index, move in enumerate(game.moves):
        if not _is_about_the_map(state) and (found := _opinion(game, state, index, ranking)) is not None:
            opinion = Opinion(move.number, index, where[index].round, *found)
            key = (move.seat, where[index])
            if key not in by_turn or by_turn[key].dollars < opinion.dollars:
                by_turn[key] = opinion
        engine.fold(move.events, state)
    largest = sorted(by_turn.values(), key=lambda each: -each.dollars)[:count]
    return sorted(largest, key=lambda each: each.at)


def _is_about_the_map(state: engine.State) -> bool:
    top = state.stack[-1]
    return isinstance(top, engine.OperatingTurn) and top.step in ("track", "token", "run")


def _opinion(
    game: PlayedGame, state: engine.State, index: int, ranking: Ranking
) -> tuple[str, str, str, int, str] | None:
    """Seat, lines, dollars and reasons, where the robot would rather do something else."""
    move = game.moves[index]
    try:
        action = engine.parse(state, move.seat, move.line)
    except (engine.UnreadableError, engine.RefusedError, engine.AmbiguousError):
        return None  # a line that only the file has, such as an end by agreement
    if isinstance(action, PayDividend):
        return None  # the usual, and not worth the thinking
    ranked = ranking(state, move.seat)
    if not ranked:
        return None
    best = ranked[0]
    played = next((each for each in ranked if _same(each.action, action)), None)
    if played is None or played is best:
        return None
    if isinstance(best.action, SellShares) and isinstance(state.stack[-1], engine.OperatingTurn):
        return None  # one sale of several for a train, which alone compares with nothing
    if isinstance(action, SellShares) and not isinstance(best.action, SellShares | Pass):
        return None  # who sells can still buy in the same turn
    dollars = round(best.value - played.value)
    if not LEAST_DOLLARS <= dollars <= MOST_DOLLARS:
        return None
    advised = engine.format_action(state, best.action)
    if _played_soon(game, index, advised):
        return None
    return move.seat, move.line, advised, dollars, _reason(state, action, best)


def _reason(state: engine.State, action: engine.Action, best: ScoredOption) -> str:
    """Why the robot's choice is better than what was played."""
    if isinstance(action, BuyTrain) and isinstance(best.action, Pass):
        return f"the {action.train}-train will not earn its price"
    if (
        isinstance(action, BuyTrain)
        and isinstance(best.action, BuyTrain)
        and action.source in state.companies
        and best.action.source not in state.companies
    ):
        return f"the {action.source} keeps its {action.train}-train"
    if (
        isinstance(action, SellShares)
        and isinstance(best.action, SellShares)
        and best.action.company == action.company
        and best.action.count < action.count
    ):
        return f"the other shares of the {action.company} are worth more kept than sold"
    return best.reason


def _same(one: engine.Action, other: engine.Action) -> bool:
    """Whether two actions are the same but for an amount of dollars."""
    if type(one) is not type(other):
        return False
    fields = (field for field in one.__struct_fields__ if field not in AMOUNT_FIELDS)
    return all(getattr(one, field) == getattr(other, field) for field in fields)


def _played_soon(game: PlayedGame, index: int, line: str) -> bool:
    """Whether the player plays the line later in the same turn, before anybody else moves."""
    seat = game.moves[index].seat
    for move in game.moves[index + 1 :]:
        if move.seat != seat:
            return False
        if move.line == line:
            return True
    return False
