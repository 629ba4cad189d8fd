"""Merger rounds: an export, conversions and mergers, and the sale of companies (1817 §7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine.core.actions import Action, Pass, WillAct
from engine.core.components import MarketZone
from engine.core.events import Passed, RoundStarted
from engine.core.state import (
    ActiveStage,
    GameOver,
    MergerAction,
    MergerPoll,
    MergerRound,
    MergerStage,
    MergerTurn,
    OperatingRound,
)
from engine.core.words import join_words
from engine.finance.loans import in_zone
from engine.game import Game
from engine.insolvency.cash_crisis import end_by_bankruptcy, open_cash_crisis
from engine.mechanics import AutomaticRules, Option
from engine.mergers.acquisition import auction_company, may_be_offered
from engine.mergers.conversion import current_merger_round, may_convert_or_merge
from engine.operating.trains import export_train
from engine.rounds.merger_sequence import GameLength, begin_operating_round, begin_stock_round

STAGES: tuple[MergerStage, ...] = ("export", "convert", "liquidate", "acquire", "offer", "end")
ONE_PASS_STAGES: tuple[MergerStage, ...] = ("export", "convert", "sales", "end")


def companies_able_to_act(g: Game, frame: MergerRound) -> list[str]:
    """Companies that may still convert, merge or be offered in this stage, in their order."""
    is_able = may_be_offered if frame.stage == "offer" else may_convert_or_merge
    return [company for company in frame.remaining_order if is_able(g, company)]


@dataclass(frozen=True)
class MergerRoundRules(AutomaticRules):
    """The stages of a merger round, and the companies in their order within each (1817 §7).

    `polls`: before a stage all presidents are asked at once whether they will act; otherwise each president
    is asked in their company's turn. `one_pass`: all sales form one stage, in the order at its beginning, and
    each company is treated by its market zone when its turn comes. `defers_crises`: a player whom a sale
    leaves with negative cash raises money only when the next company comes up, and a bankruptcy ends the game
    only then.
    """

    game_length: GameLength
    polls: bool = True
    one_pass: bool = False
    defers_crises: bool = False

    def advance(self, g: Game, frame: MergerRound) -> bool:
        at_once = not self.defers_crises
        if (at_once or frame.stage == "export") and end_by_bankruptcy(g):
            return True
        if at_once and open_cash_crisis(g):
            return True
        match frame.stage:
            case "export":
                self._export(g, frame)
            case "convert" | "offer" as stage:
                self._ask(g, frame, stage)
            case "sales":
                self._sales(g, frame)
            case "liquidate":
                self._liquidate(g, frame)
            case "acquire":
                self._acquire(g, frame)
            case _:
                self._end(g, frame)
        return True

    def _export(self, g: Game, frame: MergerRound) -> None:
        if (
            self.game_length.is_last_round(g, frame.stock_round, frame.number, frame.rounds_in_set)
            and not self.game_length.final_merger
        ):
            if open_cash_crisis(g):
                return
            g.replace_top(GameOver("The last operating round is over."))
            return
        g.change_top(frame, stage="convert")
        export_train(g)
        if not g.state.game_over:
            g.emit(RoundStarted(f"merger round {frame.stock_round}.{frame.number}"))

    def _next_stage(self, g: Game, frame: MergerRound) -> None:
        stages = ONE_PASS_STAGES if self.one_pass else STAGES
        stage = stages[stages.index(frame.stage) + 1]
        if stage == "sales":
            frame = msgspec.structs.replace(frame, initial_order=tuple(g.operating_order()))
        start = [c for c in frame.initial_order if g.company(c).cell is not None]
        others = [c for c in g.operating_order() if c not in start]
        order = tuple(reversed([*start, *others]))
        g.change_top(frame, stage=stage, remaining_order=order, willing_presidents=None, planned={})

    def _ask(self, g: Game, frame: MergerRound, stage: ActiveStage) -> None:
        """Give the next company that can act, and whose president will, its turn; or go to the next stage."""
        able = companies_able_to_act(g, frame)
        if able and self.polls and frame.willing_presidents is None:
            presidents = tuple(dict.fromkeys(g.president(c) for c in able))
            planned = {c: action for c, action in frame.planned.items() if c in able}
            willing = tuple(dict.fromkeys(g.president(c) for c in planned))
            unanswered = tuple(s for s in presidents if s not in willing)
            g.push(MergerPoll(stage, unanswered, willing, planned))
            return
        acting = [c for c in able if not self.polls or g.president(c) in (frame.willing_presidents or ())]
        if not acting:
            self._next_stage(g, frame)
            return
        self._skip_to(g, frame, acting[0])
        turn = MergerTurn(acting[0], stage)
        g.push(turn)
        if action := frame.planned.get(turn.company):
            question, seat = g.title.questions[MergerTurn], g.president(turn.company)
            if question.refusal(g, turn, seat, action) is None:
                question.apply(g, turn, seat, action)

    @staticmethod
    def _skip_to(g: Game, frame: MergerRound, company: str) -> None:
        """Leave only the companies after this one in the remaining order."""
        rest = frame.remaining_order[frame.remaining_order.index(company) + 1 :]
        planned = {c: action for c, action in frame.planned.items() if c in rest}
        g.change_top(frame, remaining_order=rest, planned=planned)

    def _liquidate(self, g: Game, frame: MergerRound) -> None:
        """Auction the company that went into liquidation last, until none is left (1817 §7).

        So a company that could not pay for its tokens, or lost its president by the sale of another, comes
        before the earlier ones: liquidations follow the conversions (1817 §7), and by then it is in the red
        space (1817 §7.1.1). The order at the start of the round is that of companies with a price (1817
        §7.2.4). One that loses its president after this stage waits for the next round.
        """
        in_liquidation = [c for c in g.operating_order() if in_zone(g, c, MarketZone.LIQUIDATION)]
        if in_liquidation:
            auction_company(g, in_liquidation[-1])
        else:
            self._next_stage(g, frame)

    def _acquire(self, g: Game, frame: MergerRound) -> None:
        """Auction the companies that were in acquisition when the round began, and still are (1817 §7)."""
        in_acquisition = [
            c
            for c in frame.remaining_order
            if c in frame.in_acquisition and in_zone(g, c, MarketZone.ACQUISITION)
        ]
        if in_acquisition:
            self._skip_to(g, frame, in_acquisition[0])
            auction_company(g, in_acquisition[0])
        else:
            self._next_stage(g, frame)

    def _sales(self, g: Game, frame: MergerRound) -> None:
        """Auction the next company, or ask its president about a sale.

        A company that came into liquidation or acquisition in this round is passed over.
        """
        if not frame.remaining_order:
            self._next_stage(g, frame)
            return
        company, *rest = frame.remaining_order
        g.change_top(frame, remaining_order=tuple(rest))
        if in_zone(g, company, MarketZone.LIQUIDATION):
            if company in frame.in_liquidation:
                auction_company(g, company)
        elif in_zone(g, company, MarketZone.ACQUISITION):
            if company in frame.in_acquisition:
                auction_company(g, company)
        elif may_be_offered(g, company):
            g.push(MergerTurn(company, "offer"))

    def _end(self, g: Game, frame: MergerRound) -> None:
        if g.title.interrupt(g):
            return
        if self.game_length.is_last_round(g, frame.stock_round, frame.number, frame.rounds_in_set):
            g.replace_top(GameOver("The last operating round is over."))
        elif frame.number < frame.rounds_in_set:
            g.replace_top(OperatingRound(frame.stock_round, frame.number + 1, frame.rounds_in_set))
            begin_operating_round(g)
        else:
            g.replace_top(begin_stock_round(g, frame.stock_round + 1))


def poll_subject(frame: MergerPoll) -> str:
    """What the presidents are asked about."""
    return "offer a company for sale" if frame.stage == "offer" else "convert or merge a company"


@dataclass(frozen=True)
class MergerPollQuestion:
    """Asks all presidents at once whether any of their companies will act in the stage.

    A president may also name the action itself. It is done at once if every company before theirs in the
    order has passed, and otherwise in the turn of their company.
    """

    def asked(self, g: Game, frame: MergerPoll) -> tuple[str, ...]:
        return tuple(s for s in frame.unanswered if s in g.state.active_seats)

    def prompt(self, g: Game, frame: MergerPoll) -> str:
        return f"say whether you will {poll_subject(frame)}: act, or pass"

    def options(self, g: Game, frame: MergerPoll, seat: str) -> Iterator[Option]:
        can_act = may_be_offered if frame.stage == "offer" else may_convert_or_merge
        own = [c for c in g.operating_order() if g.company(c).president == seat and can_act(g, c)]
        names = join_words([f"the {c}" for c in own], "or")
        verb = "is offered for sale" if frame.stage == "offer" else "converts or merges"
        yield Option(WillAct(), f"Act: {names} {verb}")
        yield Option(Pass(), f"Pass: not {names}")

    def refusal(self, g: Game, frame: MergerPoll, seat: str, action: Action) -> str | None:
        if isinstance(action, Pass | WillAct):
            return None
        if isinstance(action, MergerAction):
            company = self._company_for(g, frame, seat, action)
            return self._turn_refusal(g, frame, company, seat, action)
        return f"{g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1817 §7')}."

    def _company_for(self, g: Game, frame: MergerPoll, seat: str, action: MergerAction) -> str:
        """The first of the player's companies that could do that, or else the first that could act."""
        base = current_merger_round(g)
        own = [c for c in companies_able_to_act(g, base) if g.president(c) == seat]
        return next((c for c in own if self._turn_refusal(g, frame, c, seat, action) is None), own[0])

    @staticmethod
    def _turn_refusal(g: Game, frame: MergerPoll, company: str, seat: str, action: Action) -> str | None:
        """Why the action would be refused in the turn of that company, or None."""
        turn = MergerTurn(company, frame.stage)
        return g.title.questions[MergerTurn].refusal(g, turn, seat, action)

    def apply(self, g: Game, frame: MergerPoll, seat: str, action: Action) -> None:
        unanswered = tuple(s for s in frame.unanswered if s != seat)
        willing, planned = frame.willing_presidents, frame.planned
        if isinstance(action, Pass):
            g.emit(Passed(seat, "the merger round"))
        else:
            willing = (*willing, seat)
        if isinstance(action, MergerAction):
            company = self._company_for(g, frame, seat, action)
            if not self._has_earlier(g, frame, company, seat):
                self._act_now(g, frame, company, seat, action)
                return
            planned = planned | {company: action}
        g.replace_top(MergerPoll(frame.stage, unanswered, willing, planned))

    @staticmethod
    def _has_earlier(g: Game, frame: MergerPoll, company: str, seat: str) -> bool:
        """Whether a company before that one in the order may still act, by another president."""
        able = companies_able_to_act(g, current_merger_round(g))
        earlier = {g.president(c) for c in able[: able.index(company)]} - {seat}
        return any(s in frame.unanswered or s in frame.willing_presidents for s in earlier)

    @staticmethod
    def _act_now(g: Game, frame: MergerPoll, company: str, seat: str, action: MergerAction) -> None:
        """End the poll and carry the action out in the company's turn; later companies are polled again."""
        g.pop()
        base = current_merger_round(g)
        rest = base.remaining_order[base.remaining_order.index(company) + 1 :]
        planned = {c: plan for c, plan in frame.planned.items() if c in rest}
        g.change_top(base, remaining_order=rest, willing_presidents=None, planned=planned)
        turn = MergerTurn(company, frame.stage)
        g.push(turn)
        g.title.questions[MergerTurn].apply(g, turn, seat, action)

    def advance(self, g: Game, frame: MergerPoll) -> bool:
        if self.asked(g, frame):
            return False
        g.pop()
        base = g.top
        assert isinstance(base, MergerRound)
        g.change_top(base, willing_presidents=frame.willing_presidents, planned=frame.planned)
        return True
