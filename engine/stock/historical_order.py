"""The variant in which companies start in historical order (1870 §16.5).

Half of the shares of a company whose turn has not come may be sold: it has a price then, but does not float.
"""

from __future__ import annotations

from engine.core.state import IPO
from engine.game import Game

PERCENT_BEFORE_START = 50


def historical_order(g: Game) -> list[str]:
    """All companies by the year in which they were founded."""
    return sorted(
        g.state.companies, key=lambda company: (g.company_definition(company).founded or 0, company)
    )


def may_start(g: Game, company: str) -> bool:
    """Whether every company before it has sold the shares that it needs to float."""
    order = historical_order(g)
    return all(
        100 - g.percent_held(IPO, earlier) >= g.company_definition(earlier).float_percent
        for earlier in order[: order.index(company)]
    )


def refuse_purchase_out_of_order(g: Game, company: str, source: str, percent: int) -> str | None:
    """Why that many percent of a company may not be bought yet, or None."""
    if (
        source != IPO
        or 100 - g.percent_held(IPO, company) + percent <= PERCENT_BEFORE_START
        or may_start(g, company)
    ):
        return None
    first = next(
        c
        for c in historical_order(g)
        if not may_start(g, c) or g.percent_held(IPO, c) > 100 - PERCENT_BEFORE_START - 10
    )
    return (
        f"Half of the {company} may be sold before it may start: it is the turn of the "
        f"{first}{g.cite('1870 §16.5')}."
    )
