"""Share price protection (1870 §5.9).

Shares that a player sells are in the open market at once, and the player is paid. The price moves only after
the president has been asked; in a stock round that is after the seller's whole turn. Blocks are settled in
the order in which they were sold: the president either buys the whole block, at the price at which it was
sold, or the price falls. The stock round goes on at the left of the last president who bought a block.
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
from engine.core.reasons import CashReason
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
    certificate_count,
    certificate_limit,
    counted_certificates,
    counts_toward_limit,
    is_exempt_from_limit,
    move_shares,
    president_share_percent,
    share_percent,
)
from engine.finance.share_sales import refuse_share_sale
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.turn import has_turns_left

MAX_STANDING_PRICE = 10_000
"""The most dollars of a standing order: more than any block costs."""


def defer_price_fall(g: Game, sale: PendingSale) -> None:
    """Keep a block that was sold until the end of the turn; its price moves only then."""
    turn = g.top
    assert isinstance(turn, StockTurn | OperatingTurn)
    g.change_top(turn, pending_sales=(*turn.pending_sales, sale))


def ask_at_once_if_forced(g: Game, sale: PendingSale) -> None:
    """As `defer_price_fall`, but in a forced sale ask the president before anything else (1870 §5.9.7)."""
    turn = g.top
    if isinstance(turn, OperatingTurn):
        lapse_offers(g)
        g.push(PriceProtection(g.president(turn.company), (sale,)))
    else:
        defer_price_fall(g, sale)


def block_cost(g: Game, sale: PendingSale) -> int:
    """Dollars for a block, at the price at which it was sold: that has not moved since."""
    return g.price(sale.company) * sale.count


@dataclass(frozen=True)
class PriceProtectionQuestion:
    """Asks presidents whether they protect the price of their company.

    `after_own_sale`: also presidents who have sold shares of the company in this stock round.
    `seller_after_forced_sale`: outside stock rounds also the seller, if they were president when they sold.
    What they sold of the president's certificate is their successor's by then. No file of 18xx.games can say
    that it comes back, so they are asked but cannot protect; where a file is replayed, half is bought back
    from them.
    `delays_closing`: a company that falls into the closing section closes only once the next president is
    asked. Its certificates count until then, and in a stock round every player who could have traded in it
    gets a turn, even if they can do nothing in it. `defers_after_closing`: if the company whose turn it was
    closes by one of the blocks, the next company's turn begins after one more president has answered, and
    the others are asked at its end. After the last company of the round the presidents are asked one after
    the other, for as long as the next one can protect. `follows_file`: a file of 18xx.games is replayed; a
    president who can no longer protect, now that a company has closed, is asked all the same.
    """

    after_own_sale: bool = True
    seller_after_forced_sale: bool = False
    delays_closing: bool = False
    defers_after_closing: bool = False
    follows_file: bool = False

    def asked(self, g: Game, frame: PriceProtection) -> tuple[str, ...]:
        return (frame.pending_sales[0].president,)

    def prompt(self, g: Game, frame: PriceProtection) -> str:
        sale = frame.pending_sales[0]
        percent = sale.count * share_percent(g, sale.company)
        block = f"{percent} % for ${block_cost(g, sale):,}"
        return f"protect the price of the {sale.company} (buy {block}), or decline"

    def options(self, g: Game, frame: PriceProtection, seat: str) -> Iterator[Option]:
        sale = frame.pending_sales[0]
        percent = sale.count * share_percent(g, sale.company)
        if not (self.has_swapped_certificate(g, sale) or self.refuse_protection(g, frame)):
            label = f"Protect the {sale.company}: buy the {percent} % for ${block_cost(g, sale):,}"
            yield Option(ProtectPrice(sale.company), label)
        yield Option(Decline(), f"Decline: the price of the {sale.company} falls")

    def refusal(self, g: Game, frame: PriceProtection, seat: str, action: Action) -> str | None:
        sale = frame.pending_sales[0]
        match action:
            case Pass() | Decline(None):
                return None
            case ProtectPrice(company) if company == sale.company:
                if self.has_swapped_certificate(g, sale):
                    seller = f"{g.state.name(seat)} has sold of the president's certificate"
                    return f"{seller}, which 18xx.games cannot give back{g.cite('1870 §5.9')}."
                return self.refuse_protection(g, frame)
        return f"First protect the price of the {sale.company}, or decline{g.cite('1870 §5.9')}."

    def refuse_protection(self, g: Game, frame: PriceProtection) -> str | None:
        """Why the president who is asked can no longer protect, now that a company has closed, or None."""
        return self._refuse_first_block(
            g, msgspec.structs.replace(frame, lost_certificates={}, certificate_limit=None)
        )

    def has_swapped_certificate(self, g: Game, sale: PendingSale) -> bool:
        """Whether the block cannot be bought back, for the president's certificate that was in it is the
        successor's now."""
        percent = self._percent_from_successor(g, sale)
        return percent == president_share_percent(g, sale.company) if self.follows_file else percent > 0

    def _percent_from_successor(self, g: Game, sale: PendingSale) -> int:
        """The percent of the block that the seller has sold of their president's certificate."""
        if not self.seller_after_forced_sale or g.company(sale.company).president == sale.president:
            return 0
        held = g.percent_held(sale.president, sale.company)
        return max(president_share_percent(g, sale.company) - held, 0)

    def _refuse_first_block(self, g: Game, frame: PriceProtection) -> str | None:
        """Why the president cannot protect the first block, or None."""
        sale = frame.pending_sales[0]
        seat, company = sale.president, sale.company
        current_round = g.state.stack[0]
        own = self.seller_after_forced_sale and not isinstance(current_round, StockRound)
        if not own and (seat == frame.seller or g.company(company).president != seat):
            seller = "A player who has sold the shares, or become president by the sale, may not protect"
            return f"{seller}{g.cite('1870 §5.9')}."
        if (
            not self.after_own_sale
            and isinstance(current_round, StockRound)
            and company in current_round.sold_by_seat.get(seat, ())
        ):
            seller = f"{g.state.name(seat)} has sold shares of the {company} in this stock round"
            return f"{seller} and may not protect its price{g.cite('1870 §5.9')}."
        if block_cost(g, sale) > g.cash(seat):
            return (
                f"That costs ${block_cost(g, sale):,}, and {g.state.name(seat)} has "
                f"${g.cash(seat):,}{g.cite('1870 §5.9')}."
            )
        if is_exempt_from_limit(g.title.cell(market.token_space(g, company))):
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
        """Whether the company's certificates count now and will not after the price has fallen."""
        counts_now = not is_exempt_from_limit(g.title.cell(market.token_space(g, block.company)))
        return counts_now and not counts_toward_limit(g, block.company)

    def apply(self, g: Game, frame: PriceProtection, seat: str, action: Action) -> None:
        if not isinstance(action, ProtectPrice):
            g.emit(Passed(seat, "protection"))
        self._answer(g, frame, isinstance(action, ProtectPrice))

    def _answer(self, g: Game, frame: PriceProtection, protects: bool) -> None:
        current_round = g.state.stack[0]
        closed = (
            self.defers_after_closing
            and isinstance(current_round, OperatingRound)
            and self._closed_in_turn(g, current_round)
        )
        others = isinstance(current_round, OperatingRound) and has_turns_left(g, current_round)
        frame = msgspec.structs.replace(
            frame, guaranteed_turns=(), lost_certificates={}, certificate_limit=None
        )
        if protects:
            self._protect(g, frame)
        else:
            self._let_price_fall(g, frame)
        rest = msgspec.structs.replace(frame, pending_sales=frame.pending_sales[1:])
        if closed and rest.pending_sales and (others or self._refuse_first_block(g, rest)):
            g.pop()
            assert isinstance(g.top, OperatingRound)
            g.change_top(g.top, pending_sales=rest.pending_sales)

    def _closed_in_turn(self, g: Game, operating_round: OperatingRound) -> bool:
        """Whether the company whose turn it was in the round has closed."""
        return operating_round.last_operated is not None and g.company(operating_round.last_operated).closed

    def _protect(self, g: Game, frame: PriceProtection) -> None:
        sale = frame.pending_sales[0]
        seat, company = sale.president, sale.company
        g.change_top(frame, pending_sales=frame.pending_sales[1:], last_protector=seat)
        percent = sale.count * share_percent(g, company)
        g.emit(PriceProtected(seat, company))
        g.pay(seat, BANK, g.price(company) * sale.count, CashReason.SHARES, company)
        if returned := self._percent_from_successor(g, sale):
            move_shares(g, company, g.president(company), seat, returned)
        if percent > returned:
            move_shares(g, company, POOL, seat, percent - returned, latest=True)

    def _let_price_fall(self, g: Game, frame: PriceProtection) -> None:
        sale = frame.pending_sales[0]
        after = msgspec.structs.replace(frame, pending_sales=frame.pending_sales[1:])
        lower = g.title.cell(market.down(g, market.token_space(g, sale.company), sale.count))
        if self.delays_closing and MarketZone.CLOSING in lower.zones:
            lost = {
                s: frame.lost_certificates.get(s, 0) + certificate_count(g, s, sale.company)
                for s in g.state.active_seats
            }
            limit = certificate_limit(g) if frame.certificate_limit is None else frame.certificate_limit
            traders = (*frame.guaranteed_turns, *self._possible_traders(g, sale.company))
            after = msgspec.structs.replace(
                after, guaranteed_turns=traders, lost_certificates=lost, certificate_limit=limit
            )
        g.replace_top(after)
        drop_price(g, sale)

    def _possible_traders(self, g: Game, company: str) -> Iterator[str]:
        """Players who could trade in the company if it were open in the closing section."""
        current_round = g.state.stack[0]
        if not isinstance(current_round, StockRound):
            return
        share, limit = share_percent(g, company), g.components.limits.player_percent
        for seat in g.state.active_seats:
            held, own = g.percent_held(seat, company), certificate_count(g, seat, company)
            counted = counted_certificates(g, seat) + (0 if counts_toward_limit(g, company) else own)
            buys = company not in current_round.sold_by_seat.get(seat, ()) and counted < certificate_limit(g)
            blocks = range(share, held + 1, share)
            if (buys and held + share <= limit) or (
                current_round.number > 1
                and any(refuse_share_sale(g, seat, company, block) is None for block in blocks)
            ):
                yield seat

    def advance(self, g: Game, frame: PriceProtection) -> bool:
        if not frame.pending_sales:
            g.pop()
            if isinstance(g.top, StockRound):
                stock_round = msgspec.structs.replace(g.top, guaranteed_turns=frame.guaranteed_turns)
                if frame.last_protector:
                    following = g.state.left_of(frame.last_protector)
                    stock_round = msgspec.structs.replace(
                        stock_round,
                        current_seat=following,
                        consecutive_passes=0,
                        last_to_act=frame.last_protector,
                    )
                g.replace_top(stock_round)
            return True
        sale = frame.pending_sales[0]
        if g.company(sale.company).closed:
            g.change_top(frame, pending_sales=frame.pending_sales[1:])
            return True
        limit = g.state.standing_protections.get(sale.president, {}).get(sale.company)
        cannot_protect = self.refuse_protection(g, frame)
        in_stock_round = isinstance(g.state.stack[0], StockRound)
        if self._refuse_first_block(g, frame) or (cannot_protect and not in_stock_round):
            self._let_price_fall(g, frame)
            return True
        if cannot_protect and not self.follows_file:
            self.apply(g, frame, sale.president, Pass())
            return True
        if limit is None or cannot_protect or self.has_swapped_certificate(g, sale):
            return False
        self._answer(g, frame, limit >= block_cost(g, sale))
        return True


@dataclass(frozen=True)
class StandingProtectionOrders(OutOfTurn[Game, SetStandingProtection | CancelStandingProtection]):
    """Standing orders of presidents: up to how many dollars they protect a company. Nobody else sees them."""

    handles: ClassVar[tuple[type[Action], ...]] = (SetStandingProtection, CancelStandingProtection)

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        if g.state.game_over:
            return
        current = g.state.stack[0]
        nothing_is_sold = isinstance(current, StockRound) and current.is_first
        for company, co in g.state.companies.items():
            others_hold = any(co.shares.get(other) for other in g.state.seats if other != seat)
            if co.president == seat and others_hold and not nothing_is_sold:
                yield Option(
                    SetStandingProtection(company, 0),
                    f"Standing order: protect the {company} up to this many dollars (0: never)",
                    range(0, MAX_STANDING_PRICE + 1),
                )
            if company in g.state.standing_protections.get(seat, {}):
                yield Option(
                    CancelStandingProtection(company), f"Cancel the standing order for the {company}"
                )

    def refusal(
        self, g: Game, seat: str, action: SetStandingProtection | CancelStandingProtection
    ) -> str | None:
        company = action.company
        if isinstance(action, CancelStandingProtection):
            left = company in g.state.standing_protections.get(seat, {})
            return None if left else f"There is no standing order for the {company}."
        if g.company(company).president != seat:
            return f"Only its president protects the price of the {company}{g.cite('1870 §5.9')}."
        return (
            None
            if 0 <= action.amount <= MAX_STANDING_PRICE
            else f"Name an amount up to ${MAX_STANDING_PRICE:,}."
        )

    def apply(self, g: Game, seat: str, action: SetStandingProtection | CancelStandingProtection) -> None:
        g.emit(
            StandingProtectionChanged(
                seat, action.company, action.amount if isinstance(action, SetStandingProtection) else None
            )
        )
