"""Set-up lines of the round, and of the end of the game."""

from __future__ import annotations

from engine.core.components import MarketZone
from engine.core.state import MergerRound, MergerStage, OperatingRound, StockRound
from engine.finance.loans import in_zone, interest_rate
from engine.game import Game
from engine.game_text.position_trains import phases_so_far
from engine.game_text.setup import Setup
from engine.game_text.word_reader import InvalidLineError
from engine.mergers.merger_rounds import MergerRoundRules
from engine.rounds.merger_sequence import GameLength
from engine.rounds.sequence import OperatingRoundRules

LATER_ROUND = 2
"""The number of the stock round: not the first, in which no shares may be sold."""


def _finishes_set(g: Game) -> bool:
    """Whether the set of operating rounds is finished after the bank breaks."""
    rounds = g.title.questions[OperatingRound]
    return not isinstance(rounds, OperatingRoundRules) or rounds.finish_set


def _sale_stage(g: Game, company: str) -> MergerStage:
    """The stage of a merger round in which the company is sold."""
    if in_zone(g, company, MarketZone.LIQUIDATION):
        return "liquidate"
    return "acquire" if in_zone(g, company, MarketZone.ACQUISITION) else "offer"


def _set_merger_round(g: Game, kind: str, company: str, number: int, rounds_in_set: int) -> None:
    """Push a merger round at the turn of that company to convert or merge, or at its sale."""
    order = g.operating_order()
    if company not in order:
        raise InvalidLineError(f"The {company} is not in play.", "round")
    in_acquisition = tuple(c for c in order if in_zone(g, c, MarketZone.ACQUISITION))
    in_liquidation = tuple(c for c in order if in_zone(g, c, MarketZone.LIQUIDATION))
    rounds = g.title.questions[MergerRound]
    one_pass = isinstance(rounds, MergerRoundRules) and rounds.one_pass
    stage: MergerStage = "convert" if kind == "merger" else "sales" if one_pass else _sale_stage(g, company)
    sequence = order if kind == "merger" else order[::-1]
    remaining = tuple(sequence[sequence.index(company) :])
    g.state.stack = [
        MergerRound(
            LATER_ROUND - 1,
            number,
            rounds_in_set,
            stage,
            remaining,
            in_acquisition,
            in_liquidation,
            initial_order=tuple(order),
        )
    ]


def set_round(g: Game, setup: Setup) -> None:
    """Push the frame of the round, and set the priority deal and the end of the game."""
    g.state.mine_hexes, g.state.bridge_hexes = setup.mines, setup.bridges
    if g.components.loans is not None:
        g.state.interest_per_loan = interest_rate(g) if setup.interest is None else setup.interest
    g.state.priority = setup.priority or setup.stock_turn or g.state.seats[0]
    if setup.merger_turn:
        kind, company, number = setup.merger_turn
        rounds_in_set = _set_end(g, setup, number)
        _set_merger_round(g, kind, company, number, rounds_in_set)
    elif setup.operating_turn:
        company, number = setup.operating_turn
        if not g.company(company).floated:
            raise InvalidLineError(f"The {company} has not floated, so it does not operate.", "round")
        rounds_in_set = _set_end(g, setup, number)
        if g.company(company).awaits_capital:
            raise InvalidLineError(f"The {company} awaits its capital, so it does not operate yet.", "round")
        order = [c for c in g.operating_order() if g.company(c).floated and not g.company(c).awaits_capital]
        yet_to_operate = tuple(order[order.index(company) :])
        g.state.stack = [OperatingRound(LATER_ROUND - 1, number, rounds_in_set, yet_to_operate)]
    else:
        _set_end(g, setup, 0)
        g.state.stack = [StockRound(LATER_ROUND, setup.stock_turn or g.state.priority)]


def _set_end(g: Game, setup: Setup, number: int) -> int:
    """Set whether the end of the game is triggered. Returns the number of operating rounds in this set.

    `number`: of the operating round in its set, 0 in a stock round.
    """
    rounds = g.title.questions.get(MergerRound)
    if isinstance(rounds, MergerRoundRules):
        rounds_in_set = _set_end_by_phase(g, setup, rounds.game_length, number)
    else:
        rounds_in_set = _set_end_by_bank(g, setup, number)
    if number > rounds_in_set or (number < 1 and not _is_stock_round(setup)):
        raise InvalidLineError(
            f"In phase {g.state.phase} there are {g.phase.operating_rounds} operating rounds in a set.",
            "round",
        )
    return rounds_in_set


def _is_stock_round(setup: Setup) -> bool:
    return setup.operating_turn is None and setup.merger_turn is None


def _set_end_by_phase(g: Game, setup: Setup, length: GameLength, number: int) -> int:
    """The end that a phase triggers (1817 §8). Without a line `left` it was triggered just now."""
    if not any(phase.triggers_game_end for phase in phases_so_far(g)):
        if setup.rounds_left is not None:
            raise InvalidLineError(f"In phase {g.state.phase} the end of the game is not in sight.", "left")
        return g.phase.operating_rounds
    stock_round = LATER_ROUND - (number > 0)
    trigger = length.trigger_for(g, stock_round, number, setup.rounds_left)
    if trigger is None:
        left = "this" if setup.rounds_left is None else f"{setup.rounds_left} more"
        raise InvalidLineError(f"The game cannot end after {left} operating rounds from here.", "left")
    g.state.end_triggered_in = trigger
    return length.operating_rounds(g, stock_round)


def _set_end_by_bank(g: Game, setup: Setup, number: int) -> int:
    """The end by a broken bank (1830 §25), which a line `left` sets."""
    rounds, left = g.phase.operating_rounds, setup.rounds_left
    g.state.bank_broken = left is not None
    finishes_set = _finishes_set(g)
    if _is_stock_round(setup):
        last = rounds if finishes_set else 1
        if left not in (None, last):
            raise InvalidLineError(
                f"A stock round in phase {g.state.phase} is followed by {last} rounds.", "left"
            )
        return rounds
    if left and not finishes_set:
        raise InvalidLineError("Once the bank is broken, the game ends with this round.", "left")
    return rounds if left is None or not finishes_set else number + left
