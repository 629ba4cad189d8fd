"""Who holds what: certificates, limits, presidencies, floating, and what a player is worth.

The president's certificate of a company is its first, and lies with its president; every other
certificate is of the smallest unit, so a holding in percent says how many there are.
"""

from __future__ import annotations

from engine import market
from engine.events import Floated, PairsClosed, PoolPaired, PresidentNamed, PrivateMoved, SharesMoved
from engine.game import Game, derived
from engine.state import CLOSED, IPO, POOL, OperatingTurn, Sale, is_seat


def unit(g: Game, company: str) -> int:
    """Percent of the smallest share."""
    size = g.state.companies[company].size
    return 100 // size if size else g.title.companies[company].shares[-1]


def presidents_percent(g: Game, company: str) -> int:
    """Percent of the president's certificate: two shares where the company chose its number of shares."""
    size = g.company(company).size
    return 200 // size if size else g.company_facts(company).shares[0]


def certificates(g: Game, owner: str, company: str) -> int:
    """How many certificates of the company the owner holds."""
    held = g.held(owner, company)
    if g.company(company).president == owner:
        return 1 + (held - presidents_percent(g, company)) // unit(g, company)
    return held // unit(g, company)


def zones(g: Game, company: str) -> tuple[str, ...]:
    """The zones of the market that the company's token stands in."""
    return g.cell(company).zones if g.company(company).cell else ()


EXEMPT_FROM_LIMIT = frozenset({"yellow", "orange", "green", "brown"})
HELD_WITHOUT_LIMIT = frozenset({"orange", "green", "brown"})
BOUGHT_WITHOUT_LIMIT = frozenset({"brown"})


def pending_sales(g: Game) -> tuple[Sale, ...]:
    """Blocks that have been sold in the turn that is going on, and whose price has still to move."""
    return getattr(g.top, "sales", ())


def counts(g: Game, company: str) -> bool:
    """Whether its certificates count towards the certificate limit (1830 §10).

    Of a company that will fall by a sale, those do not that would not in the end (1870 §5.4.1); one that
    will fall out of the market by it counts no more than it does now.
    """
    return company not in _uncounted(g, pending_sales(g))


@derived
def _uncounted(g: Game, sales: tuple[Sale, ...]) -> set[str]:
    """Companies whose certificates do not count once those sales have moved their prices."""
    found = set()
    for company in g.state.market:
        at = g.company(company).cell
        if at is None:
            continue
        sold = sum(sale.count for sale in sales if sale.company == company)
        places = (at, market.down(g, at, sold)) if sold else (at,)
        if any(not EXEMPT_FROM_LIMIT.isdisjoint(g.title.cell(place).zones) for place in places):
            found.add(company)
    return found


def counted_certificates(g: Game, seat: str) -> int:
    """Certificates that count, privates included (1830 §10, Table 3)."""
    return _counted(g, seat, pending_sales(g))


@derived
def _counted(g: Game, seat: str, sales: tuple[Sale, ...]) -> int:
    left_out = _uncounted(g, sales)
    shares = 0
    for company, co in g.state.companies.items():
        if co.shares.get(seat, 0) > 0 and company not in left_out:
            shares += certificates(g, seat, company)
    return shares + g.facts.limits.get("private_counts", 1) * len(g.privates_of(seat))


@derived
def certificate_limit(g: Game) -> int:
    """How many certificates that count one player may hold: fewer where companies have closed."""
    playing = max(len(g.state.active), min(map(int, g.facts.cert_limit or {"0": 0})))
    limits = g.facts.cert_limits
    if not limits:
        return g.facts.cert_limit[str(playing)]
    left = sum(not co.closed for co in g.state.companies.values())
    return limits[max(left, min(limits))][str(playing)]


def percent_limit(g: Game, company: str) -> int:
    """Percent of the company that one player may hold (1830 §10)."""
    if not HELD_WITHOUT_LIMIT.isdisjoint(zones(g, company)):
        return 100
    return max(g.facts.limits["player_percent"], presidents_percent(g, company))


def excess(g: Game, seat: str) -> list[str]:
    """Companies of which the player has to sell before anything else (1830 §10).

    Above the certificate limit: all that count. Otherwise those held above the percent limit,
    as happens where a price has left the zone that lifted it, unless the title lets him keep them.
    """
    return _excess(g, seat, pending_sales(g))


@derived
def _excess(g: Game, seat: str, sales: tuple[Sale, ...]) -> list[str]:
    mine = [c for c, co in g.state.companies.items() if seat in co.shares]
    above = [c for c in mine if g.held(seat, c) > percent_limit(g, c)] if g.title.excess_sold else []
    if _counted(g, seat, sales) > certificate_limit(g):
        above += [c for c in mine if c not in above and c not in _uncounted(g, sales)]
    return above


def successor(g: Game, company: str, *, losing: int = 0) -> str | None:
    """Who takes the presidency once the president has `losing` percent less (1830 §13, §14).

    The largest holder above him, the first to his left where several are; None where he stays.
    """
    old = g.president(company)
    kept = g.held(old, company) - losing
    best, new = kept, None
    for seat in g.state.seats_from(old)[1:]:
        if g.held(seat, company) > best:
            best, new = g.held(seat, company), seat
    return new


def shorts(g: Game, company: str) -> int:
    """How many of its shares are sold short (1817 §5.3)."""
    co = g.company(company)
    return -sum(p for p in co.shares.values() if p < 0) // unit(g, company) + co.loose


def for_sale_by(g: Game, holder: str, company: str) -> int:
    """Percent of a company that may be bought of the pool, or of its treasury."""
    held = g.held(holder, company)
    loose = g.company(company).loose if holder == POOL else 0
    return max(held, 0) + loose * unit(g, company) if loose else held


def leave_pool(g: Game, company: str, count: int) -> None:
    """Reckon with shares that are about to leave the pool, and may be some of those beside shorts."""
    covered = count - max(g.held(POOL, company), 0) // unit(g, company)
    if g.company(company).loose and covered > 0:
        g.emit(PoolPaired(company, -covered))


def close_pairs(g: Game, *companies: str) -> None:
    """The bank closes what it is short of with the shares that lie beside it (1817 §7.4)."""
    for company in companies:
        if g.company(company).loose:
            g.emit(PairsClosed(company))


def settle_presidency(g: Game, company: str) -> None:
    """Hand the president's certificate to whoever holds more by now (1830 §13)."""
    if g.company(company).president and (new := successor(g, company)):
        g.emit(PresidentNamed(company, new))


def settle_float(g: Game, company: str) -> None:
    """Float the company once enough has left the initial offering, with what goes with it (1830 §11)."""
    facts, co = g.company_facts(company), g.company(company)
    if co.floated or co.par is None or 100 - co.shares.get(IPO, 0) < facts.float_percent:
        return
    g.emit(Floated(company))
    g.title.flotation(g, company)
    close_certificates(g, company)


def close_certificates(g: Game, company: str) -> None:
    """A private that is no more than the president's certificate ends as the company floats."""
    for private in g.facts.privates:
        grant = private.grants if private.effect.get("kind") == "certificate" else None
        if grant and grant.company == company and g.state.privates[private.sym] != CLOSED:
            g.emit(PrivateMoved(private.sym, CLOSED))


def move_shares(g: Game, company: str, source: str, target: str, percent: int) -> None:
    """Move percent of a company, with all that follows for presidency and floating."""
    co = g.company(company)
    new = successor(g, company, losing=percent) if co.president == source else None
    if new:
        g.emit(PresidentNamed(company, new))
    g.emit(SharesMoved(company, source, target, percent))
    if is_seat(target):
        settle_presidency(g, company)
    settle_float(g, company)


def not_operated(g: Game, company: str) -> str | None:
    """Why shares of a company that has not completed a turn may not be sold (1851, Selling Stock)."""
    first = any(isinstance(f, OperatingTurn) and f.company == company and f.first for f in g.state.stack)
    if first or not g.company(company).running:
        return f"The {company} has not completed a turn of an operating round (§12.1)."
    return None


def sale_obstacle(g: Game, seat: str, company: str, percent: int) -> str | None:
    """Why the player cannot sell that much into the pool (1830 §12, §13), or None."""
    held = g.held(seat, company)
    if percent > held:
        return f"{g.state.name(seat)} holds {held} % of the {company} (§12)."
    if g.company(company).cell is None:
        return f"The {company} has no price yet, so its shares cannot be sold (§8.1)."
    if not g.title.excess_sold and held > (most := percent_limit(g, company)) and held - percent > most:
        return f"Who sells of more than {most} % of the {company} has to come down to that (§5.9)."
    for objection in g.title.sale_objections:
        if why := objection(g, company):
            return why
    limit, pool = g.facts.limits["pool_percent"], g.held(POOL, company)
    if pool + percent > limit:
        return f"The pool may hold {limit} % of the {company} at most, and holds {pool} % (§12.2)."
    if g.company(company).president == seat and held - percent < presidents_percent(g, company):
        heir = successor(g, company, losing=percent)
        if heir is None or g.held(heir, company) < presidents_percent(g, company):
            return f"Nobody else holds enough of the {company} to take the president's certificate (§13)."
    return None


def worth(g: Game, seat: str) -> int:
    """Cash, shares at market price, those sold short taken off, and privates at face value where the
    title counts them (1830 §1, §23.3; 1817 §1.3)."""
    shares = sum(
        co.shares[seat] * g.price(c) // unit(g, c) for c, co in g.state.companies.items() if seat in co.shares
    )
    privates = sum(g.private_facts(p).price for p in g.privates_of(seat))
    return g.cash(seat) + shares + g.facts.limits.get("private_worth", 1) * privates
