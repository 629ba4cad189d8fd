"""A second opinion, the robot's: where its choice and the player's differ most in its own value.

It is what the robot thinks and no truth. Tiles, tokens and runs are left out: what they brought is exact in
`runs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import engine
from bot.features.review.game import Place
from engine.core.actions import (
    Accept,
    BuyShares,
    BuyTrain,
    Decline,
    Par,
    Pass,
    PayDividend,
    SellShares,
    SellShort,
)
from engine.core.components import train_label
from engine.game_text import GameHistory, HistoryLine
from engine.operating.trains import face_price

AMOUNT_FIELDS = ("amount", "price")
LEAST_DOLLARS = 50
MOST_DOLLARS = 4000
"""What differs by more is no judgement but an option that the robot takes for the only one."""


class ScoredOption(Protocol):
    """An option as the robot scores it: dollars against doing nothing, and why."""

    @property
    def action(self) -> engine.Action: ...
    @property
    def worth(self) -> float: ...
    @property
    def reason(self) -> str: ...


Ranking = Callable[[engine.State, str], Sequence[ScoredOption]]
"""The options of a seat, best first."""


class Opinion(NamedTuple):
    """A decision that the robot would have made otherwise.

    `at`: the index of the move. `played`, `advised`: the lines. `dollars`: what the robot's choice is worth
    more, to the robot. `reason`: of its choice. `offer`: in words, where one was answered.
    """

    at: int
    seat: str
    played: str
    advised: str
    dollars: int
    reason: str
    offer: str = ""


def second_opinion(
    game: GameHistory, where: Sequence[Place], ranking: Ranking, count: int = 10
) -> list[Opinion]:
    """The decisions where the robot and the players differ most, in order. One for each turn of a player.

    where: the place of each move.
    """
    state = engine.copy_state(game.start)
    by_turn: dict[tuple[object, ...], Opinion] = {}
    for index, move in enumerate(game.lines):
        if not _is_about_the_map(state) and (opinion := _opinion(game, state, index, ranking)):
            key = (move.seat, where[index])
            if key not in by_turn or by_turn[key].dollars < opinion.dollars:
                by_turn[key] = opinion
        engine.fold(move.events, state)
    largest = sorted(by_turn.values(), key=lambda each: -each.dollars)[:count]
    return sorted(largest, key=lambda each: each.at)


def _is_about_the_map(state: engine.State) -> bool:
    top = state.stack[-1]
    return isinstance(top, engine.OperatingTurn) and top.step in ("track", "token", "run")


def _opinion(game: GameHistory, state: engine.State, index: int, ranking: Ranking) -> Opinion | None:
    """The opinion about a move, where the robot would rather do something else."""
    move = game.lines[index]
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
    is_sale = isinstance(best.action, SellShares) or isinstance(action, SellShares)
    if is_sale and isinstance(state.stack[-1], engine.OperatingTurn):
        return None  # one sale of several for a train, which alone compares with nothing
    dollars = round(best.worth - played.worth)
    if not LEAST_DOLLARS <= dollars <= MOST_DOLLARS or _is_still_open(state, move, best.action):
        return None
    advised, why = engine.format_action(state, best.action), _reason(state, played, best)
    return Opinion(index, move.seat, move.line, advised, dollars, why, _offer(state, action))


def _is_still_open(state: engine.State, move: HistoryLine, action: engine.Action) -> bool:
    """Whether the player could still do it after the move, so that nothing was decided against it."""
    after = engine.copy_state(state)
    engine.fold(move.events, after)
    if isinstance(action, Pass) or move.seat not in engine.decision(after).acting:
        return False
    count = ("count",) if isinstance(action, BuyShares) else ()
    return any(_same(option.action, action, but=count) for option in engine.options(after, move.seat))


def _offer(state: engine.State, action: engine.Action) -> str:
    """The offer that an action answers, in words."""
    if not isinstance(action, Accept | Decline):
        return ""
    offers = [offer for offer in state.offers if action.offer in (None, offer.number)]
    return engine.offer_label(engine.game_of(state), offers[-1]) if offers else ""


def _reason(state: engine.State, played: ScoredOption, best: ScoredOption) -> str:
    """Why the robot's choice is better than what was played: what speaks for it, or if that is less, against
    what was played."""
    counts_against = -played.worth > max(best.worth, 0.0)
    match played.action, best.action:
        case BuyTrain(train, source), better if source in state.companies and (
            counts_against or (isinstance(better, BuyTrain) and better.source not in state.companies)
        ):
            return f"the {source} keeps its {train}-train"
        case SellShares(company, count), SellShares(other, fewer) if other == company and fewer < count:
            return f"the other shares of the {company} are worth more kept than sold"
        case BuyTrain(train) as purchase, _ if counts_against:
            if -played.worth > face_price(engine.game_of(state), purchase):
                return (
                    f"the {getattr(state.stack[-1], 'company', 'company')} cannot afford {train_label(train)}"
                )
            return f"the {train}-train will not earn its price"
        case SellShares(company), _ if counts_against and not isinstance(best.action, Pass):
            return f"shares of the {company} are worth more than their price"
        case Par(company), _ if counts_against:
            return f"the {company} costs more to start than it will bring"
        case SellShort(company), _ if counts_against:
            return f"shares of the {company} may cost more when they are bought back"
    return best.reason


def _same(one: engine.Action, other: engine.Action, but: Sequence[str] = ()) -> bool:
    """Whether two actions are the same but for an amount of dollars, and for other fields."""
    if type(one) is not type(other):
        return False
    fields = (field for field in one.__struct_fields__ if field not in (*AMOUNT_FIELDS, *but))
    return all(getattr(one, field) == getattr(other, field) for field in fields)
