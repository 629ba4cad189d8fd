"""Who holds what: certificates, limits, presidencies, floating, and what a player is worth.

The president's certificate of a company is its first, and lies with its president; every other
certificate is of the smallest unit, so a holding in percent says how many there are.
"""

from __future__ import annotations

from engine.core.components import MarketZone, PresidentsCertificateAbility
from engine.core.events import (
    CompanyFloated,
    CoveredShortsChanged,
    CoveredShortsClosed,
    PresidentNamed,
    PrivateMoved,
    SharesMoved,
)
from engine.core.state import CLOSED, IPO, POOL, TREASURY, PendingSale, is_seat
from engine.finance import market
from engine.game import Game, cached


def share_percent(g: Game, company: str) -> int:
    """Percent of the smallest share."""
    size = g.state.companies[company].size
    return 100 // size if size else g.title.companies[company].shares[-1]


def president_share_percent(g: Game, company: str) -> int:
    """Percent of the president's certificate: two shares where the company chose its number of shares."""
    size = g.company(company).size
    return 200 // size if size else g.company_definition(company).shares[0]


def certificate_count(g: Game, owner: str, company: str) -> int:
    """How many certificates of the company the owner holds."""
    held = g.percent_held(owner, company)
    if g.company(company).president == owner:
        return 1 + (held - president_share_percent(g, company)) // share_percent(g, company)
    return held // share_percent(g, company)


def market_zones(g: Game, company: str) -> tuple[MarketZone, ...]:
    """The zones of the market that the company's token stands in."""
    return g.cell(company).zones if g.company(company).cell else ()


ZONES_EXEMPT_FROM_CERTIFICATE_LIMIT = frozenset(
    {MarketZone.YELLOW, MarketZone.ORANGE, MarketZone.GREEN, MarketZone.BROWN}
)
ZONES_WITHOUT_PERCENT_LIMIT = frozenset({MarketZone.ORANGE, MarketZone.GREEN, MarketZone.BROWN})
ZONES_WITH_MULTIPLE_PURCHASES = frozenset({MarketZone.BROWN})


def pending_sales(g: Game) -> tuple[PendingSale, ...]:
    """Blocks that have been sold in the turn that is going on, and whose price has still to move."""
    return getattr(g.top, "pending_sales", ())


def counts_toward_limit(g: Game, company: str) -> bool:
    """Whether its certificates count towards the certificate limit (1830 §10).

    Of a company that will fall by a sale, those do not that would not in the end (1870 §5.4.1); one that
    will fall out of the market by it counts no more than it does now.
    """
    return company not in _exempt_companies(g, pending_sales(g))


@cached
def _exempt_companies(g: Game, sales: tuple[PendingSale, ...]) -> set[str]:
    """Companies whose certificates do not count once those sales have moved their prices."""
    found = set()
    for company in g.state.market_order:
        at = g.company(company).cell
        if at is None:
            continue
        sold = sum(sale.count for sale in sales if sale.company == company)
        places = (at, market.down(g, at, sold)) if sold else (at,)
        if any(
            not ZONES_EXEMPT_FROM_CERTIFICATE_LIMIT.isdisjoint(g.title.cell(place).zones) for place in places
        ):
            found.add(company)
    return found


def counted_certificates(g: Game, seat: str) -> int:
    """Certificates that count, privates included (1830 §10, Table 3)."""
    return _counted_certificates(g, seat, pending_sales(g))


@cached
def _counted_certificates(g: Game, seat: str, sales: tuple[PendingSale, ...]) -> int:
    left_out = _exempt_companies(g, sales)
    shares = 0
    for company, co in g.state.companies.items():
        if co.shares.get(seat, 0) > 0 and company not in left_out:
            shares += certificate_count(g, seat, company)
    return shares + (len(g.privates_of(seat)) if g.components.privates_count_as_certificates else 0)


@cached
def certificate_limit(g: Game) -> int:
    """How many certificates that count one player may hold: fewer where companies have closed."""
    playing = max(len(g.state.active_seats), min(map(int, g.components.cert_limit or {"0": 0})))
    limits = g.components.cert_limits
    if not limits:
        return g.components.cert_limit[str(playing)]
    left = sum(not co.closed for co in g.state.companies.values())
    return limits[max(left, min(limits))][str(playing)]


def percent_limit(g: Game, company: str) -> int:
    """Percent of the company that one player may hold (1830 §10)."""
    if not ZONES_WITHOUT_PERCENT_LIMIT.isdisjoint(market_zones(g, company)):
        return 100
    return max(g.components.limits.player_percent, president_share_percent(g, company))


def companies_over_limit(g: Game, seat: str) -> list[str]:
    """Companies of which the player has to sell before anything else (1830 §10).

    Above the certificate limit: all that count. Otherwise those held above the percent limit,
    as happens where a price has left the zone that lifted it, unless the title lets him keep them.
    """
    return _companies_over_limit(g, seat, pending_sales(g))


@cached
def _companies_over_limit(g: Game, seat: str, sales: tuple[PendingSale, ...]) -> list[str]:
    mine = [c for c, co in g.state.companies.items() if seat in co.shares]
    above = (
        [c for c in mine if g.percent_held(seat, c) > percent_limit(g, c)] if g.title.must_sell_excess else []
    )
    if _counted_certificates(g, seat, sales) > certificate_limit(g):
        above += [c for c in mine if c not in above and c not in _exempt_companies(g, sales)]
    return above


def next_president(g: Game, company: str, *, losing: int = 0) -> str | None:
    """Who takes the presidency once the president has `losing` percent less (1830 §13, §14).

    The largest holder above him, the first to his left where several are; None where he stays.
    """
    old = g.president(company)
    kept = g.percent_held(old, company) - losing
    best, new = kept, None
    for seat in g.state.seats_from(old)[1:]:
        if g.percent_held(seat, company) > best:
            best, new = g.percent_held(seat, company), seat
    return new


def short_count(g: Game, company: str) -> int:
    """How many of its shares are sold short (1817 §5.3)."""
    co = g.company(company)
    return -sum(p for p in co.shares.values() if p < 0) // share_percent(g, company) + co.covered_shorts


def percent_for_sale(g: Game, holder: str, company: str) -> int:
    """Percent of a company that may be bought of the pool, or of its treasury."""
    held = g.percent_held(holder, company)
    loose = g.company(company).covered_shorts if holder == POOL else 0
    return max(held, 0) + loose * share_percent(g, company) if loose else held


def release_covered_shorts(g: Game, company: str, count: int) -> None:
    """Reckon with shares that are about to leave the pool, and may be some of those beside shorts."""
    covered = count - max(g.percent_held(POOL, company), 0) // share_percent(g, company)
    if g.company(company).covered_shorts and covered > 0:
        g.emit(CoveredShortsChanged(company, -covered))


def close_covered_shorts(g: Game, *companies: str) -> None:
    """The bank closes what it is short of with the shares that lie beside it (1817 §7.4)."""
    for company in companies:
        if g.company(company).covered_shorts:
            g.emit(CoveredShortsClosed(company))


def update_presidency(g: Game, company: str) -> None:
    """Hand the president's certificate to whoever holds more by now (1830 §13)."""
    if g.company(company).president and (new := next_president(g, company)):
        g.emit(PresidentNamed(company, new))


def float_if_sold(g: Game, company: str) -> None:
    """Float the company once enough has left the initial offering, with what goes with it (1830 §11)."""
    facts, co = g.company_definition(company), g.company(company)
    if co.floated or co.par is None or 100 - co.shares.get(IPO, 0) < facts.float_percent:
        return
    g.emit(CompanyFloated(company))
    g.title.flotation(g, company)
    close_certificate_privates(g, company)


def close_certificate_privates(g: Game, company: str) -> None:
    """A private that is no more than the president's certificate ends as the company floats."""
    for private in g.components.privates:
        grant = private.grants if isinstance(private.ability, PresidentsCertificateAbility) else None
        if grant and grant.company == company and g.state.private_owners[private.sym] != CLOSED:
            g.emit(PrivateMoved(private.sym, CLOSED))


def move_shares(g: Game, company: str, source: str, target: str, percent: int) -> None:
    """Move percent of a company, with all that follows for presidency and floating."""
    co = g.company(company)
    new = next_president(g, company, losing=percent) if co.president == source else None
    if new:
        g.emit(PresidentNamed(company, new))
    g.emit(SharesMoved(company, source, target, percent))
    if is_seat(target):
        update_presidency(g, company)
    float_if_sold(g, company)


def net_worth(g: Game, seat: str) -> int:
    """Cash, shares at market price, those sold short taken off, and privates at face value where the
    title counts them (1830 §1, §23.3; 1817 §1.3)."""
    shares = sum(
        co.shares[seat] * g.price(c) // share_percent(g, c)
        for c, co in g.state.companies.items()
        if seat in co.shares
    )
    privates = sum(g.private_definition(p).price for p in g.privates_of(seat))
    return g.cash(seat) + shares + (privates if g.components.privates_count_in_net_worth else 0)


SOURCE_LABELS = {IPO: "the initial offering", POOL: "the pool", TREASURY: "the treasury"}


def source_holder(company: str, source: str) -> str:
    """Who holds what a buyer finds in that place: a treasury is the company itself."""
    return company if source == TREASURY else source


def share_price(g: Game, company: str, source: str) -> int | None:
    """Dollars for one certificate from there: par from the bank, else the market's price (§8.2)."""
    return g.company(company).par if source == IPO else g.price(company)
