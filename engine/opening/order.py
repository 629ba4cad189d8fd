"""Companies that start in the order of history (1870 §16.5).

Of a company that is not yet eligible half may be sold, so that it has a price and does not float.
"""

from __future__ import annotations

from engine.game import Game
from engine.state import IPO

HALF = 50


def historical_order(g: Game) -> list[str]:
    """All companies by the year in which they began."""
    return sorted(g.state.companies, key=lambda company: (g.company_facts(company).founded or 0, company))


def eligible(g: Game, company: str) -> bool:
    """Whether every company before it has sold what it takes to operate."""
    order = historical_order(g)
    return all(
        100 - g.held(IPO, earlier) >= g.company_facts(earlier).float_percent
        for earlier in order[: order.index(company)]
    )


def barred_by_history(g: Game, company: str, source: str, percent: int) -> str | None:
    """Why so much of a company may not be bought yet, or None."""
    if source != IPO or 100 - g.held(IPO, company) + percent <= HALF or eligible(g, company):
        return None
    first = next(c for c in historical_order(g) if not eligible(g, c) or g.held(IPO, c) > 100 - HALF - 10)
    return f"Half of the {company} may be sold before it may start: it is the turn of the {first} (§16.5)."
