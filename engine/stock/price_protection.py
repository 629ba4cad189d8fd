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

from engine.core.actions import (
    Action,
    CancelStandingProtection,
    Decline,
    Pass,
    ProtectPrice,
    SetStandingProtection,
)
from engine.core.components import MarketZone
from engine.core.events import Passed, PriceProtected, StandingProtectionChanged
from engine.core.state import (
    BANK,
    POOL,
    OperatingRound,
    OperatingTurn,
    PendingSale,
    PriceProtection,
    StockRound,
    StockTurn,
)
from engine.finance import market
from engine.finance.market import drop_price
from engine.finance.offers import lapse_offers
from engine.finance.ownership import (
    ZONES_EXEMPT_FROM_CERTIFICATE_LIMIT,
    certificate_count,
    certificate_limit,
    counted_certificates,
    counts_toward_limit,
    move_shares,
    president_share_percent,
    share_percent,
)
from engine.finance.share_sales import refuse_share_sale
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.turn import has_turns_left

MAX_STANDING_PRICE = 10_000
"""Dollars that are as good as any number in an answer that is left."""


def defer_price_fall(g: Game, sale: PendingSale) -> None:
    """Remember a block until the end of the turn in which it was sold."""
    turn = g.top
    assert isinstance(turn, StockTurn | OperatingTurn)
    g.replace_top(msgspec.structs.replace(turn, pending_sales=(*turn.pending_sales, sale)))


def ask_at_once_if_forced(g: Game, sale: PendingSale) -> None:
    """As `note_sale`; in a forced sale the president is asked before anything else is done (1870 §5.9.7)."""
    turn = g.top
    if isinstance(turn, OperatingTurn):
        lapse_offers(g)
        g.push(PriceProtection(g.president(turn.company), (sale,)))
    else:
        defer_price_fall(g, sale)


def block_cost(g: Game, sale: PendingSale) -> int:
    """Dollars for a block: its price has not moved since it was sold."""
    return g.price(sale.company) * sale.count


@dataclass(frozen=True)
class PriceProtectionQuestion:
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

    after_own_sale: bool = True
    seller_after_forced_sale: bool = False
    delays_closing: bool = False
    defers_after_closing: bool = False

    def asked(self, g: Game, frame: PriceProtection) -> tuple[str, ...]:
        return (frame.pending_sales[0].president,)

    def prompt(self, g: Game, frame: PriceProtection) -> str:
        sale = frame.pending_sales[0]
        percent = sale.count * share_percent(g, sale.company)
        block = f"{percent} % for ${block_cost(g, sale)}"
        return f"to protect the price of the {sale.company}: {block}, or to decline"

    def options(self, g: Game, frame: PriceProtection, seat: str) -> Iterator[Option]:
        sale = frame.pending_sales[0]
        percent = sale.count * share_percent(g, sale.company)
        if not (self._sold_president_certificate(g, sale) or self.refuse_protection(g, frame)):
            said = f"Protect the {sale.company}: buy the {percent} % for ${block_cost(g, sale)}"
            yield Option(ProtectPrice(sale.company), said)
        yield Option(Decline(), f"Decline: the price of the {sale.company} falls")

    def refusal(self, g: Game, frame: PriceProtection, seat: str, action: Action) -> str | None:
        sale = frame.pending_sales[0]
        match action:
            case Pass() | Decline(None):
                return None
            case ProtectPrice(company) if company == sale.company:
                if self._sold_president_certificate(g, sale):
                    return (
                        f"Who has sold the president's certificate cannot buy it back{g.cite('1870 §5.9')}."
                    )
                return self.refuse_protection(g, frame)
        return f"First say whether the price of the {sale.company} is protected{g.cite('1870 §5.9')}."

    def refuse_protection(self, g: Game, frame: PriceProtection) -> str | None:
        """Why the president who is asked cannot protect any more, now that a company has closed."""
        return self._refuse_first_block(
            g, msgspec.structs.replace(frame, lost_certificates={}, certificate_limit=None)
        )

    def _sold_president_certificate(self, g: Game, sale: PendingSale) -> bool:
        """Whether the block was of the president who is asked, and his certificate was part of it."""
        held = g.percent_held(sale.president, sale.company)
        lost = g.company(sale.company).president != sale.president
        return self.seller_after_forced_sale and lost and held < president_share_percent(g, sale.company)

    def _refuse_first_block(self, g: Game, frame: PriceProtection) -> str | None:
        """Why the president cannot protect the first block."""
        sale = frame.pending_sales[0]
        seat, company = sale.president, sale.company
        span = g.state.stack[0]
        own = self.seller_after_forced_sale and not isinstance(span, StockRound)
        if not own and (seat == frame.seller or g.company(company).president != seat):
            return f"Who has sold, or become president by the sale, does not protect{g.cite('1870 §5.9')}."
        if (
            not self.after_own_sale
            and isinstance(span, StockRound)
            and company in span.sold_by_seat.get(seat, ())
        ):
            return (
                f"Who has sold the {company} may not protect it in the same stock round{g.cite('1870 §5.9')}."
            )
        if block_cost(g, sale) > g.cash(seat):
            return (
                f"That costs ${block_cost(g, sale)}, and {g.state.name(seat)} has "
                f"${g.cash(seat)}{g.cite('1870 §5.9')}."
            )
        at = g.title.cell(market.token_space(g, company))
        if not ZONES_EXEMPT_FROM_CERTIFICATE_LIMIT.isdisjoint(at.zones):
            return None
        held = counted_certificates(g, seat) + sum(
            certificate_count(g, seat, other)
            for other in {
                block.company for block in frame.pending_sales if self._leaves_limit_by_sale(g, block)
            }
        )
        limit = certificate_limit(g) if frame.certificate_limit is None else frame.certificate_limit
        if held + frame.lost_certificates.get(seat, 0) + sale.count > limit:
            return f"The limit is {limit} certificates{g.cite('1870 §5.9')}."
        return None

    def _leaves_limit_by_sale(self, g: Game, block: PendingSale) -> bool:
        """Whether the company still stands where its certificates count, and would not by the sale."""
        here = g.title.cell(market.token_space(g, block.company))
        return ZONES_EXEMPT_FROM_CERTIFICATE_LIMIT.isdisjoint(here.zones) and not counts_toward_limit(
            g, block.company
        )

    def apply(self, g: Game, frame: PriceProtection, seat: str, action: Action) -> None:
        if not isinstance(action, ProtectPrice):
            g.emit(Passed(seat, "protection"))
        self._answer(g, frame, isinstance(action, ProtectPrice))

    def _answer(self, g: Game, frame: PriceProtection, protects: bool) -> None:
        before = g.state.stack[0]
        over = (
            self.defers_after_closing
            and isinstance(before, OperatingRound)
            and self._closed_in_turn(g, before)
        )
        others = isinstance(before, OperatingRound) and has_turns_left(g, before)
        frame = msgspec.structs.replace(
            frame, guaranteed_turns=(), lost_certificates={}, certificate_limit=None
        )
        if protects:
            self._protect(g, frame)
        else:
            self._let_price_fall(g, frame)
        rest = msgspec.structs.replace(frame, pending_sales=frame.pending_sales[1:])
        if over and rest.pending_sales and (others or self._refuse_first_block(g, rest)):
            g.pop()
            assert isinstance(g.top, OperatingRound)
            g.replace_top(msgspec.structs.replace(g.top, pending_sales=rest.pending_sales))

    def _closed_in_turn(self, g: Game, span: OperatingRound) -> bool:
        """Whether the company whose turn it was in the round has closed."""
        return span.last_operated is not None and g.company(span.last_operated).closed

    def _protect(self, g: Game, frame: PriceProtection) -> None:
        sale = frame.pending_sales[0]
        seat, company = sale.president, sale.company
        g.replace_top(
            msgspec.structs.replace(frame, pending_sales=frame.pending_sales[1:], last_protector=seat)
        )
        percent = sale.count * share_percent(g, company)
        g.emit(PriceProtected(seat, company))
        g.pay(seat, BANK, g.price(company) * sale.count, f"{percent} % of the {company}")
        move_shares(g, company, POOL, seat, percent)

    def _let_price_fall(self, g: Game, frame: PriceProtection) -> None:
        sale = frame.pending_sales[0]
        after = msgspec.structs.replace(frame, pending_sales=frame.pending_sales[1:])
        there = g.title.cell(market.down(g, market.token_space(g, sale.company), sale.count))
        if self.delays_closing and MarketZone.CLOSING in there.zones:
            lost = {
                s: frame.lost_certificates.get(s, 0) + certificate_count(g, s, sale.company)
                for s in g.state.active_seats
            }
            limit = certificate_limit(g) if frame.certificate_limit is None else frame.certificate_limit
            tempted = (*frame.guaranteed_turns, *self._possible_traders(g, sale.company))
            after = msgspec.structs.replace(
                after, guaranteed_turns=tempted, lost_certificates=lost, certificate_limit=limit
            )
        g.replace_top(after)
        drop_price(g, sale)

    def _possible_traders(self, g: Game, company: str) -> Iterator[str]:
        """Who could deal in the company if it stood where it closes."""
        span = g.state.stack[0]
        if not isinstance(span, StockRound):
            return
        share, most = share_percent(g, company), g.components.limits.player_percent
        for seat in g.state.active_seats:
            held, own = g.percent_held(seat, company), certificate_count(g, seat, company)
            counted = counted_certificates(g, seat) + (0 if counts_toward_limit(g, company) else own)
            buys = company not in span.sold_by_seat.get(seat, ()) and counted < certificate_limit(g)
            blocks = range(share, held + 1, share)
            if (buys and held + share <= most) or (
                span.number > 1
                and any(refuse_share_sale(g, seat, company, block) is None for block in blocks)
            ):
                yield seat

    def advance(self, g: Game, frame: PriceProtection) -> bool:
        if not frame.pending_sales:
            g.pop()
            if isinstance(g.top, StockRound):
                span = msgspec.structs.replace(g.top, guaranteed_turns=frame.guaranteed_turns)
                if frame.last_protector:
                    following = g.state.left_of(frame.last_protector)
                    span = msgspec.structs.replace(
                        span, current_seat=following, consecutive_passes=0, last_to_act=frame.last_protector
                    )
                g.replace_top(span)
            return True
        sale = frame.pending_sales[0]
        if g.company(sale.company).closed:
            g.replace_top(msgspec.structs.replace(frame, pending_sales=frame.pending_sales[1:]))
            return True
        limit = g.state.standing_protections.get(sale.president, {}).get(sale.company)
        asked_in_vain = self.refuse_protection(g, frame)
        in_stock_round = isinstance(g.state.stack[0], StockRound)
        if self._refuse_first_block(g, frame) or (asked_in_vain and not in_stock_round):
            self._let_price_fall(g, frame)
            return True
        if limit is None or asked_in_vain or self._sold_president_certificate(g, sale):
            return False
        self._answer(g, frame, limit >= block_cost(g, sale))
        return True


@dataclass(frozen=True)
class StandingProtectionOrders(OutOfTurn):
    """A president may say beforehand up to how much he protects a company; the table is not told."""

    handles: ClassVar[tuple[type[Action], ...]] = (SetStandingProtection, CancelStandingProtection)

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        if g.state.game_over:
            return
        for company, co in g.state.companies.items():
            if co.president == seat:
                yield Option(
                    SetStandingProtection(company, 0),
                    f"Leave an answer: protect the {company} up to so many dollars (0: never)",
                    range(0, MAX_STANDING_PRICE + 1),
                )
            if company in g.state.standing_protections.get(seat, {}):
                yield Option(
                    CancelStandingProtection(company), f"Take back the answer left for the {company}"
                )

    def refusal(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, SetStandingProtection | CancelStandingProtection)
        company = action.company
        if isinstance(action, CancelStandingProtection):
            left = company in g.state.standing_protections.get(seat, {})
            return None if left else f"No answer was left for the {company}."
        if g.company(company).president != seat:
            return f"The price of the {company} is protected by its president{g.cite('1870 §5.9')}."
        return (
            None
            if 0 <= action.amount <= MAX_STANDING_PRICE
            else f"Say an amount up to ${MAX_STANDING_PRICE}."
        )

    def apply(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, SetStandingProtection | CancelStandingProtection)
        g.emit(
            StandingProtectionChanged(
                seat, action.company, action.amount if isinstance(action, SetStandingProtection) else None
            )
        )
