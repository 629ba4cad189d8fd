"""Conversions: a company grows to the next number of shares (1817 §7.1, §7.1.1)."""

from __future__ import annotations

from engine.core.events import SharesRestructured
from engine.core.state import MergerRound, PostMergerLoans, PostMergerTrade
from engine.finance.loans import is_tradable
from engine.finance.offers import lapse_offers
from engine.game import Game
from engine.mergers.assets import token_hexes


def next_size(g: Game, company: str) -> int | None:
    """The number of shares that the company would have after converting or merging."""
    size = g.company(company).size
    larger = [s for s in sorted(g.components.company_sizes) if size is not None and s > size]
    return larger[0] if larger else None


def current_merger_round(g: Game) -> MergerRound:
    """The merger round that is going on. Raises AssertionError outside one."""
    frame = g.state.stack[0]
    assert isinstance(frame, MergerRound)
    return frame


def may_convert_or_merge(g: Game, company: str) -> bool:
    """Whether the company may still convert or merge in this round (1817 §7.1)."""
    merger_round = current_merger_round(g)
    return (
        g.company(company).president is not None
        and is_tradable(g, company)
        and company not in merger_round.converted_or_merged
        and company not in merger_round.in_acquisition
        and next_size(g, company) is not None
    )


def tokens_to_buy(g: Game, company: str, size: int) -> int:
    """How many tokens a company buys when it converts to that number of shares, up to eight (1817 §7.1.1)."""
    sizes = sorted(g.components.company_sizes)
    before = g.components.company_sizes[sizes[sizes.index(size) - 1]]
    additional = g.components.company_sizes[size].stations - before.stations
    owned = len(token_hexes(g, company)) + g.company(company).unplaced_tokens
    return max(min(additional, g.components.max_stations - owned), 0)


def convert_company(g: Game, company: str) -> None:
    """Convert the company to the next number of shares; the new shares go to its treasury (1817 §7.1.1)."""
    size, old = next_size(g, company), g.company(company)
    assert size is not None and old.size is not None
    shares = {h: p * old.size // size for h, p in old.shares.items()}
    shares[company] = shares.get(company, 0) + 100 - sum(shares.values())
    g.emit(SharesRestructured(company, size, shares))
    begin_share_trade(g, company, (company,), converted=company)


def begin_share_trade(g: Game, company: str, merged: tuple[str, ...], converted: str | None = None) -> None:
    """Begin what follows a conversion or merger: share trades, then loans (1817 §7.1.4).

    `merged`: the companies that may not act again in this round; `converted`: the one that has converted.
    """
    merger_round = current_merger_round(g)
    lapse_offers(g)
    g.pop()
    g.change_top(
        merger_round,
        converted_or_merged=(*merger_round.converted_or_merged, *merged),
        willing_presidents=None,
        last_converted=converted,
    )
    g.push(PostMergerLoans(company))
    g.push(PostMergerTrade(company, tuple(g.state.seats_from(g.president(company)))))
