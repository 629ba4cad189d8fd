"""The view of an auction: what is for sale or auctioned, the bids, and everybody's free money."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine import BANK, IPO, State, auctioned_company, bids, decision, dollars, free_cash, game_of
from renderers.views.labels import clip_text


@dataclass(frozen=True)
class LotView:
    """A private or company of an auction; dollars.

    `price`: what it costs now; None: that is open. `face`: its face value. `revenue`: its fixed income.
    `bids`: (name, dollars), the leader last. `is_next`: it is asked about now.
    """

    sym: str
    name: str
    face: int | None
    price: int | None
    revenue: int | None
    power: str
    bids: tuple[tuple[str, int], ...]
    is_next: bool

    @property
    def text(self) -> str:
        """`CA $160: Ann $165, Bob $170 leads`."""
        bids = ", ".join(f"{name} {dollars(amount)}" for name, amount in self.bids)
        price = f" {dollars(self.price)}" if self.price is not None else ""
        return f"{self.sym}{price}{f': {bids} leads' if bids else ''}"

    @property
    def summary(self) -> str:
        """The lot in words."""
        facts = [f"face value ${self.face}"] if self.face is not None else []
        facts += [f"costs ${self.price}"] if self.price is not None and self.price != self.face else []
        facts += [f"pays ${self.revenue}"] if self.revenue else []
        facts += [f"{name} bids ${amount:,}" for name, amount in self.bids]
        leads = f", {self.bids[-1][0]} leads" if self.bids else ""
        return f"{self.sym} {self.name}: {', '.join(facts)}{leads}"


@dataclass(frozen=True)
class AuctionView:
    """An auction. `players`: (name, cash, free cash, acts now) each."""

    title: str
    round: str
    lots: tuple[LotView, ...]
    players: tuple[tuple[str, int, int, bool], ...]

    @property
    def alt(self) -> str:
        """A description of the picture."""
        money = (
            f"{name} {dollars(cash)}, {dollars(free)} free, {dollars(cash - free)} in bids"
            for name, cash, free, _ in self.players
        )
        parts = [f"Auction of {self.title}, {self.round}", *money, *(lot.summary for lot in self.lots)]
        parts += [f"{lot.sym}: {lot.power.removesuffix('.')}" for lot in self.lots if lot.power]
        return clip_text(". ".join(parts) + ".")


def auction_view(state: State) -> AuctionView:
    """The auction of a position: the bank's privates, and what is auctioned now."""
    game, free = game_of(state), free_cash(state)
    asked = decision(state)
    return AuctionView(
        game.components.title,
        asked.round,
        tuple(lots(state)),
        tuple((state.name(seat), game.cash(seat), free[seat], seat in asked.acting) for seat in state.seats),
    )


def lots(state: State) -> Iterator[LotView]:
    """The privates of the bank, and what is auctioned."""
    game, standing, company = game_of(state), bids(state), auctioned_company(state)
    top = state.stack[-1]
    auctioned = getattr(top, "private", None) or getattr(top, "item", None)
    discount = getattr(state.stack[-1], "discount", 0)
    cheapest = True
    for private in game.components.privates:
        if private.sym == company or state.private_owners.get(private.sym) not in (BANK, IPO):
            continue
        offers = _named(state, standing.pop(private.sym, {}))
        is_next = private.sym == auctioned or (auctioned is None and cheapest)
        yield LotView(
            private.sym,
            private.name,
            private.price,
            private.price - (discount if cheapest else 0),
            private.revenue,
            private.description or "",
            offers,
            is_next,
        )
        cheapest = False
    for sym, standing_bids in standing.items():
        name = game.company_definition(sym).name if sym in state.companies else ""
        yield LotView(sym, name, None, None, None, "", _named(state, standing_bids), True)


def _named(state: State, offers: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple((state.name(seat), amount) for seat, amount in offers.items())
