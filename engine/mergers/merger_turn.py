"""A company's turn in a merger round: to convert, to merge, or to be offered for sale (1817 §7.1, §7.2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.core.actions import Action, Convert, Merge, OfferCompanyForSale, Pass
from engine.core.events import Passed
from engine.core.state import MergerTurn, Offer
from engine.finance import market
from engine.finance.loans import token_cost_label
from engine.finance.offers import lapse_offers, make_offer
from engine.game import Game
from engine.mechanics import Option
from engine.mergers.acquisition import auction_company, may_be_offered
from engine.mergers.conversion import (
    convert_company,
    current_merger_round,
    may_convert_or_merge,
    next_size,
    tokens_to_buy,
)
from engine.mergers.merger import BY_THE_BOOK, MergerConventions, merge_companies, merged_cell, refuse_merger


@dataclass(frozen=True)
class MergerTurnQuestion:
    """Asks a president whether their company converts, merges, or is offered for sale (1817 §7.1, §7.2.3).

    `initiator_survives`: the company whose turn it is survives a merger, as on the site.
    `checks_buyers_once`: whether anybody could buy the company is checked only when its turn begins, not
    again after a bankruptcy in the turn. `conventions`: see there.
    """

    initiator_survives: bool = False
    checks_buyers_once: bool = False
    conventions: MergerConventions = BY_THE_BOOK

    def asked(self, g: Game, frame: MergerTurn) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: MergerTurn) -> str:
        if frame.stage == "offer":
            return f"offer the {frame.company} for sale, or pass"
        return f"convert or merge the {frame.company}, or pass"

    def options(self, g: Game, frame: MergerTurn, seat: str) -> Iterator[Option]:
        if frame.stage == "offer":
            price = g.price(frame.company) * (g.company(frame.company).size or 0)
            yield Option(
                OfferCompanyForSale(frame.company),
                f"Offer the {frame.company} for sale at ${price:,} or more",
            )
        else:
            if self.refusal(g, frame, seat, Convert()) is None:
                size = next_size(g, frame.company)
                assert size is not None
                cost = token_cost_label(g, size, tokens_to_buy(g, frame.company, size))
                yield Option(Convert(), f"Convert the {frame.company} to {size} shares{cost}")
            for other in g.operating_order():
                for survivor in (None, other):
                    merger = Merge(other, survivor)
                    if self.refusal(g, frame, seat, merger) is None:
                        same = g.company(other).president == seat
                        consent = "" if same else f", if {g.state.name(g.president(other))} agrees"
                        space = market.space_label(g, merged_cell(g, frame.company, other))
                        gone, left = (frame.company, other) if survivor else (other, frame.company)
                        yield Option(merger, f"Merge the {gone} into the {left}, {space}{consent}")
        yield Option(Pass(), f"The {frame.company} does nothing")

    def refusal(self, g: Game, frame: MergerTurn, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case OfferCompanyForSale(company) if frame.stage == "offer":
                if company == frame.company:
                    return None
                return f"It is the turn of the {frame.company}{g.cite('1817 §7.2.3')}."
            case Convert() if frame.stage == "convert":
                if not may_convert_or_merge(g, frame.company):
                    return f"The {frame.company} cannot convert in this round{g.cite('1817 §7.1')}."
                return None
            case Merge() if frame.stage == "convert":
                return self._refuse_merge(g, frame.company, seat, action)
        return f"{g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1817 §7')}."

    def _refuse_merge(self, g: Game, company: str, seat: str, action: Merge) -> str | None:
        survivor = action.survivor or company
        if self.initiator_survives and survivor != company:
            return f"The {company} survives the merger{g.cite('1817 §7.1.2')}."
        if any(_is_same_merger(o, company, action.company, survivor) for o in g.state.offers):
            return "That merger is already offered."
        return refuse_merger(g, company, action)

    def apply(self, g: Game, frame: MergerTurn, seat: str, action: Action) -> None:
        match action:
            case Convert():
                convert_company(g, frame.company)
            case Merge(other, survivor):
                if g.president(other) == seat:
                    merge_companies(g, frame.company, other, survivor or frame.company, self.conventions)
                else:
                    make_offer(g, seat, g.president(other), action, frame.company, other, 0)
            case OfferCompanyForSale(company):
                merger_round = current_merger_round(g)
                g.pop()
                g.change_top(merger_round, willing_presidents=None)
                auction_company(g, company)
            case _:
                g.emit(Passed(frame.company, "a sale" if frame.stage == "offer" else "growth"))
                g.pop()
                lapse_offers(g)

    def advance(self, g: Game, frame: MergerTurn) -> bool:
        if g.company(frame.company).president is None:
            g.pop()
            return True
        if frame.stage == "offer":
            is_idle = not (self.checks_buyers_once or may_be_offered(g, frame.company))
        else:
            is_idle = not may_convert_or_merge(g, frame.company)
        if is_idle:
            g.pop()
            lapse_offers(g)
        return is_idle


def _is_same_merger(offer: Offer, company: str, other: str, survivor: str) -> bool:
    """Whether an open offer is that merger, the survivor named or not."""
    deal = offer.deal
    if not isinstance(deal, Merge) or (offer.source, deal.company) != (company, other):
        return False
    return (deal.survivor or company) == survivor
