"""Share price protection (1870 §5.9).

What a player sells lies in the open market at once, and he is paid; its price moves only when the
president has been asked. In a stock round that is after the seller's whole turn. Blocks are dealt with
in the order in which they were sold: either the president buys all of one, at the price at which it
was sold, or the price falls. The stock round goes on at the left of the last president who bought.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from engine import market
from engine.actions import Action, AskAgain, Decline, Pass, Protect, StandBy
from engine.events import AnswerLeft, Passed, Protected
from engine.game import Game
from engine.holdings import (
    EXEMPT_FROM_LIMIT,
    certificate_limit,
    certificates,
    counted_certificates,
    counts,
    move_shares,
    presidents_percent,
    sale_obstacle,
    unit,
)
from engine.offers import lapse_offers
from engine.operating.turn import still_to_run
from engine.state import BANK, POOL, OperatingRound, OperatingTurn, Protection, Sale, StockRound, StockTurn
from engine.title import Aside, Option, price_falls

MOST_LEFT = 10_000
"""Dollars that are as good as any number in an answer that is left."""


def note_sale(g: Game, sale: Sale) -> None:
    """Remember a block until the end of the turn in which it was sold."""
    turn = g.top
    assert isinstance(turn, StockTurn | OperatingTurn)
    g.change(msgspec.structs.replace(turn, sales=(*turn.sales, sale)))


def settle_forced_sale_at_once(g: Game, sale: Sale) -> None:
    """As `note_sale`; in a forced sale the president is asked before anything else is done (§5.9.7)."""
    turn = g.top
    if isinstance(turn, OperatingTurn):
        lapse_offers(g)
        g.open(Protection(g.president(turn.company), (sale,)))
    else:
        note_sale(g, sale)


def cost_of(g: Game, sale: Sale) -> int:
    """Dollars for a block: its price has not moved since it was sold."""
    return g.price(sale.company) * sale.count


@dataclass(frozen=True)
class Protections:
    """Asks presidents whether they protect.

    `if_sold`: also who has sold of the company himself in this stock round. `own_forced_sales`:
    outside stock rounds also the seller himself, where he was president when he sold; if he has sold
    his certificate itself he is asked, but it lies with his successor by then. `closes_late`: a
    company that falls out of the market is closed only once the next is asked: until then its certificates
    count; and in a stock round who could deal in it has a turn, even where nothing is left to do in it.
    `left_over`: where the company whose turn it was has closed by one of the blocks, the next company's
    turn begins as soon as one president more has answered; the others are asked at its end. After the
    round's last company they are asked on, as far as the next can protect.
    """

    if_sold: bool = True
    own_forced_sales: bool = False
    closes_late: bool = False
    left_over: bool = False

    def asked(self, g: Game, frame: Protection) -> tuple[str, ...]:
        return (frame.sales[0].president,)

    def needs(self, g: Game, frame: Protection) -> str:
        sale = frame.sales[0]
        percent = sale.count * unit(g, sale.company)
        return (
            f"to protect the price of the {sale.company}: {percent} % for ${cost_of(g, sale)}, or to decline"
        )

    def options(self, g: Game, frame: Protection, seat: str) -> Iterator[Option]:
        sale = frame.sales[0]
        percent = sale.count * unit(g, sale.company)
        if not (self._certificate_gone(g, sale) or self.in_vain(g, frame)):
            said = f"Protect the {sale.company}: buy the {percent} % for ${cost_of(g, sale)}"
            yield Option(Protect(sale.company), said)
        yield Option(Decline(), f"Decline: the price of the {sale.company} falls")

    def refuse(self, g: Game, frame: Protection, seat: str, action: Action) -> str | None:
        sale = frame.sales[0]
        match action:
            case Pass() | Decline(None):
                return None
            case Protect(company) if company == sale.company:
                if self._certificate_gone(g, sale):
                    return "Who has sold the president's certificate cannot buy it back (§5.9)."
                return self.in_vain(g, frame)
        return f"First say whether the price of the {sale.company} is protected (§5.9)."

    def in_vain(self, g: Game, frame: Protection) -> str | None:
        """Why the president who is asked cannot protect any more, now that a company has closed."""
        return self._obstacle(g, msgspec.structs.replace(frame, lost={}, limit=None))

    def _certificate_gone(self, g: Game, sale: Sale) -> bool:
        """Whether the block was of the president who is asked, and his certificate was part of it."""
        held = g.held(sale.president, sale.company)
        lost = g.company(sale.company).president != sale.president
        return self.own_forced_sales and lost and held < presidents_percent(g, sale.company)

    def _obstacle(self, g: Game, frame: Protection) -> str | None:
        """Why the president cannot protect the first block."""
        sale = frame.sales[0]
        seat, company = sale.president, sale.company
        span = g.state.stack[0]
        own = self.own_forced_sales and not isinstance(span, StockRound)
        if not own and (seat == frame.seller or g.company(company).president != seat):
            return "Who has sold, or become president by the sale, does not protect (§5.9)."
        if not self.if_sold and isinstance(span, StockRound) and company in span.sold.get(seat, ()):
            return f"Who has sold the {company} may not protect it in the same stock round (§5.9)."
        if cost_of(g, sale) > g.cash(seat):
            return f"That costs ${cost_of(g, sale)}, and {g.state.name(seat)} has ${g.cash(seat)} (§5.9)."
        at = g.title.cell(market.place(g, company))
        if not EXEMPT_FROM_LIMIT.isdisjoint(at.zones):
            return None
        held = counted_certificates(g, seat) + sum(
            certificates(g, seat, other)
            for other in {block.company for block in frame.sales if self._falls_out(g, block)}
        )
        limit = certificate_limit(g) if frame.limit is None else frame.limit
        if held + frame.lost.get(seat, 0) + sale.count > limit:
            return f"The limit is {limit} certificates (§5.9)."
        return None

    def _falls_out(self, g: Game, block: Sale) -> bool:
        """Whether the company still stands where its certificates count, and would not by the sale."""
        here = g.title.cell(market.place(g, block.company))
        return EXEMPT_FROM_LIMIT.isdisjoint(here.zones) and not counts(g, block.company)

    def take(self, g: Game, frame: Protection, seat: str, action: Action) -> None:
        if not isinstance(action, Protect):
            g.emit(Passed(seat, "protection"))
        self._answer(g, frame, isinstance(action, Protect))

    def _answer(self, g: Game, frame: Protection, protects: bool) -> None:
        before = g.state.stack[0]
        over = self.left_over and isinstance(before, OperatingRound) and self._closed_in_turn(g, before)
        others = isinstance(before, OperatingRound) and still_to_run(g, before)
        frame = msgspec.structs.replace(frame, tempted=(), lost={}, limit=None)
        if protects:
            self._protect(g, frame)
        else:
            self._fall(g, frame)
        rest = msgspec.structs.replace(frame, sales=frame.sales[1:])
        if over and rest.sales and (others or self._obstacle(g, rest)):
            g.close()
            assert isinstance(g.top, OperatingRound)
            g.change(msgspec.structs.replace(g.top, sales=rest.sales))

    def _closed_in_turn(self, g: Game, span: OperatingRound) -> bool:
        """Whether the company whose turn it was in the round has closed."""
        return span.ran is not None and g.company(span.ran).closed

    def _protect(self, g: Game, frame: Protection) -> None:
        sale = frame.sales[0]
        seat, company = sale.president, sale.company
        g.change(msgspec.structs.replace(frame, sales=frame.sales[1:], protector=seat))
        percent = sale.count * unit(g, company)
        g.emit(Protected(seat, company))
        g.pay(seat, BANK, g.price(company) * sale.count, f"{percent} % of the {company}")
        move_shares(g, company, POOL, seat, percent)

    def _fall(self, g: Game, frame: Protection) -> None:
        sale = frame.sales[0]
        after = msgspec.structs.replace(frame, sales=frame.sales[1:])
        there = g.title.cell(market.down(g, market.place(g, sale.company), sale.count))
        if self.closes_late and "closing" in there.zones:
            lost = {s: frame.lost.get(s, 0) + certificates(g, s, sale.company) for s in g.state.active}
            limit = certificate_limit(g) if frame.limit is None else frame.limit
            tempted = (*frame.tempted, *self._tempted(g, sale.company))
            after = msgspec.structs.replace(after, tempted=tempted, lost=lost, limit=limit)
        g.change(after)
        price_falls(g, sale)

    def _tempted(self, g: Game, company: str) -> Iterator[str]:
        """Who could deal in the company if it stood where it closes."""
        span = g.state.stack[0]
        if not isinstance(span, StockRound):
            return
        share, most = unit(g, company), g.facts.limits["player_percent"]
        for seat in g.state.active:
            held, own = g.held(seat, company), certificates(g, seat, company)
            counted = counted_certificates(g, seat) + (0 if counts(g, company) else own)
            buys = company not in span.sold.get(seat, ()) and counted < certificate_limit(g)
            blocks = range(share, held + 1, share)
            if (buys and held + share <= most) or (
                span.number > 1 and any(sale_obstacle(g, seat, company, block) is None for block in blocks)
            ):
                yield seat

    def settle(self, g: Game, frame: Protection) -> bool:
        if not frame.sales:
            g.close()
            if isinstance(g.top, StockRound):
                span = msgspec.structs.replace(g.top, tempted=frame.tempted)
                if frame.protector:
                    following = g.state.left_of(frame.protector)
                    span = msgspec.structs.replace(span, turn=following, passes=0, last=frame.protector)
                g.change(span)
            return True
        sale = frame.sales[0]
        if g.company(sale.company).closed:
            g.change(msgspec.structs.replace(frame, sales=frame.sales[1:]))
            return True
        limit = g.state.standing.get(sale.president, {}).get(sale.company)
        asked_in_vain = self.in_vain(g, frame)
        in_stock_round = isinstance(g.state.stack[0], StockRound)
        if self._obstacle(g, frame) or (asked_in_vain and not in_stock_round):
            self._fall(g, frame)
            return True
        if limit is None or asked_in_vain or self._certificate_gone(g, sale):
            return False
        self._answer(g, frame, limit >= cost_of(g, sale))
        return True


@dataclass(frozen=True)
class StandingAnswers(Aside):
    """A president may say beforehand up to how much he protects a company; the table is not told."""

    hears: ClassVar[tuple[type[Action], ...]] = (StandBy, AskAgain)

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        if g.state.over:
            return
        for company, co in g.state.companies.items():
            if co.president == seat:
                yield Option(
                    StandBy(company, 0),
                    f"Leave an answer: protect the {company} up to so many dollars (0: never)",
                    range(0, MOST_LEFT + 1),
                )
            if company in g.state.standing.get(seat, {}):
                yield Option(AskAgain(company), f"Take back the answer left for the {company}")

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, StandBy | AskAgain)
        company = action.company
        if isinstance(action, AskAgain):
            left = company in g.state.standing.get(seat, {})
            return None if left else f"No answer was left for the {company}."
        if g.company(company).president != seat:
            return f"The price of the {company} is protected by its president (§5.9)."
        return None if 0 <= action.amount <= MOST_LEFT else f"Say an amount up to ${MOST_LEFT}."

    def take(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, StandBy | AskAgain)
        g.emit(AnswerLeft(seat, action.company, action.amount if isinstance(action, StandBy) else None))
