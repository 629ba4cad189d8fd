"""Share ownership: certificates, limits, presidencies, floating, and the net worth of players.

A company's president holds its president's certificate. Every other certificate is for one share, so the
percentage that somebody holds says how many certificates they have.
"""

from __future__ import annotations

from collections.abc import Collection

from engine.core.components import MarketCell, MarketZone, PresidentsCertificateAbility
from engine.core.events import (
    CompanyFloated,
    CoveredShortsChanged,
    CoveredShortsClosed,
    GrantedCertificateMoved,
    PresidentNamed,
    PrivateMoved,
    SharesMoved,
)
from engine.core.state import CLOSED, IPO, POOL, TREASURY, PendingSale, is_seat
from engine.core.words import counted, join_words
from engine.finance import market
from engine.finance.granted_certificates import (
    ShareMove,
    certificate_place,
    certificate_places,
    follow_certificates,
    granted_shares,
)
from engine.game import Game, cached


def share_percent(g: Game, company: str) -> int:
    """Percent of the company in one share."""
    size = g.state.companies[company].size
    return 100 // size if size else g.title.companies[company].shares[-1]


def president_share_percent(g: Game, company: str) -> int:
    """Percent in the president's certificate; two shares where a company's number of shares is chosen."""
    size = g.company(company).size
    return 200 // size if size else g.company_definition(company).shares[0]


def certificate_count(g: Game, owner: str, company: str) -> int:
    """How many certificates of the company the owner holds."""
    held = g.percent_held(owner, company)
    if g.company(company).president == owner:
        return 1 + (held - president_share_percent(g, company)) // share_percent(g, company)
    return held // share_percent(g, company)


def market_zones(g: Game, company: str) -> tuple[MarketZone, ...]:
    """The zones of the company's space on the market; none without a price."""
    return g.cell(company).zones if g.company(company).cell else ()


_EXEMPT_ZONES = frozenset({MarketZone.YELLOW, MarketZone.ORANGE, MarketZone.GREEN, MarketZone.BROWN})
ZONES_WITHOUT_PERCENT_LIMIT = frozenset({MarketZone.ORANGE, MarketZone.GREEN, MarketZone.BROWN})
ZONES_WITH_MULTIPLE_PURCHASES = frozenset({MarketZone.BROWN})


def is_exempt_from_limit(cell: MarketCell) -> bool:
    """Whether a company there has certificates that do not count towards the limit (1830 §10)."""
    return not _EXEMPT_ZONES.isdisjoint(cell.zones)


def pending_sales(g: Game) -> tuple[PendingSale, ...]:
    """Blocks sold in the current turn whose company's price has not moved yet."""
    return getattr(g.top, "pending_sales", ())


def counts_toward_limit(g: Game, company: str) -> bool:
    """Whether the company's certificates count towards the certificate limit (1830 §10).

    While a sale is pending, they do not count if they would not count after the price has moved
    (1870 §5.4.1). A company that the sale will close counts as it does now.
    """
    return company not in _exempt_companies(g, pending_sales(g))


@cached
def _exempt_companies(g: Game, sales: tuple[PendingSale, ...]) -> set[str]:
    """Companies whose certificates do not count, now or after those sales have moved their prices."""
    cells = {c: at for c in g.state.market_order if (at := g.company(c).cell)}
    exempt = {c for c, at in cells.items() if is_exempt_from_limit(g.title.cell(at))}
    for company in {sale.company for sale in sales} & cells.keys():
        sold = sum(sale.count for sale in sales if sale.company == company)
        if is_exempt_from_limit(g.title.cell(market.down(g, cells[company], sold))):
            exempt.add(company)
    return exempt


def counted_certificates(g: Game, seat: str) -> int:
    """The player's certificates that count towards the limit, privates included (1830 §10, Table 3)."""
    return _counted_certificates(g, seat, pending_sales(g))


def certificate_room(g: Game, seat: str) -> int:
    """How many more certificates the player may hold that count towards the limit; below 0 above it."""
    return certificate_limit(g) - counted_certificates(g, seat)


@cached
def _counted_certificates(g: Game, seat: str, sales: tuple[PendingSale, ...]) -> int:
    exempt = _exempt_companies(g, sales)
    shares = 0
    for company, co in g.state.companies.items():
        if co.shares.get(seat, 0) > 0 and company not in exempt:
            shares += certificate_count(g, seat, company)
    return shares + (len(g.privates_of(seat)) if g.components.privates_count_as_certificates else 0)


@cached
def certificate_limit(g: Game) -> int:
    """How many counted certificates one player may hold; in some titles fewer once companies have closed."""
    playing = max(len(g.state.active_seats), min(map(int, g.components.cert_limit or {"0": 0})))
    limits = g.components.cert_limits
    if not limits:
        return g.components.cert_limit[str(playing)]
    left = sum(not co.closed for co in g.state.companies.values())
    return limits[max(left, min(limits))][str(playing)]


def percent_limit(g: Game, company: str) -> int:
    """Percent of the company that one player may hold at most (1830 §10)."""
    if not ZONES_WITHOUT_PERCENT_LIMIT.isdisjoint(market_zones(g, company)):
        return 100
    return max(g.components.limits.player_percent, president_share_percent(g, company))


def companies_over_limit(g: Game, seat: str) -> list[str]:
    """Companies whose shares the player has to sell before anything else (1830 §10).

    They are the companies held above the percent limit, which happens when a price leaves the zone that
    lifts the limit, unless the title lets players keep them; and, for a player above the certificate limit,
    all companies that count towards it.
    """
    return _companies_over_limit(g, seat, pending_sales(g))


def excess_text(g: Game, seat: str, sellable: Collection[str] | None = None) -> str:
    """By how much a player is above the limits (1830 §10), and of which companies that is.

    `sellable`: name only these companies for certificates; None: all.
    """
    over = companies_over_limit(g, seat)
    above = ((c, g.percent_held(seat, c) - percent_limit(g, c)) for c in over if g.title.must_sell_excess)
    parts = [f"{percent} % of the {company}" for company, percent in above if percent > 0]
    if (certificates := counted_certificates(g, seat) - certificate_limit(g)) > 0:
        named = ", ".join(c for c in over if sellable is None or c in sellable)
        parts.append(f"{counted(certificates, 'certificate')} of {named}")
    return join_words(parts)


@cached
def _companies_over_limit(g: Game, seat: str, sales: tuple[PendingSale, ...]) -> list[str]:
    own = [c for c, co in g.state.companies.items() if seat in co.shares]
    above = (
        [c for c in own if g.percent_held(seat, c) > percent_limit(g, c)] if g.title.must_sell_excess else []
    )
    if _counted_certificates(g, seat, sales) > certificate_limit(g):
        above += [c for c in own if c not in above and c not in _exempt_companies(g, sales)]
    return above


def next_president(g: Game, company: str, *, losing: int = 0) -> str | None:
    """Who becomes president once the president holds `losing` percent less (1830 §13, §14).

    It is the largest holder with more than the president; of several, the first to the president's left.
    None if the president stays.
    """
    old = g.president(company)
    kept = g.percent_held(old, company) - losing
    best, new = kept, None
    for seat in g.state.seats_from(old)[1:]:
        if g.percent_held(seat, company) > best:
            best, new = g.percent_held(seat, company), seat
    return new


def short_count(g: Game, company: str) -> int:
    """How many shares of the company are sold short, covered ones included (1817 §5.3)."""
    co = g.company(company)
    return -sum(p for p in co.shares.values() if p < 0) // share_percent(g, company) + co.covered_shorts


def percent_for_sale(g: Game, holder: str, company: str) -> int:
    """Percent of the company that may be bought from that holder, the pool or the treasury."""
    held = g.percent_held(holder, company)
    loose = g.company(company).covered_shorts if holder == POOL else 0
    return max(held, 0) + loose * share_percent(g, company) if loose else held


def release_covered_shorts(g: Game, company: str, count: int) -> None:
    """Uncover shorts before that many shares leave the pool, as far as the others there do not suffice."""
    covered = count - max(g.percent_held(POOL, company), 0) // share_percent(g, company)
    if g.company(company).covered_shorts and covered > 0:
        g.emit(CoveredShortsChanged(company, -covered))


def close_covered_shorts(g: Game, *companies: str) -> None:
    """Let the bank close its shorts of these companies with the pool's shares that cover them (1817 §7.4)."""
    for company in companies:
        if g.company(company).covered_shorts:
            g.emit(CoveredShortsClosed(company))


def update_presidency(g: Game, company: str) -> None:
    """Hand the president's certificate to the player who now holds more than the president (1830 §13)."""
    if g.company(company).president and (new := next_president(g, company)):
        g.emit(PresidentNamed(company, new))


def float_if_sold(g: Game, company: str) -> None:
    """Float the company, with what follows, if enough of it has left the initial offering (1830 §11)."""
    facts, co = g.company_definition(company), g.company(company)
    if co.floated or co.par is None or 100 - co.shares.get(IPO, 0) < facts.float_percent:
        return
    g.emit(CompanyFloated(company))
    g.title.flotation(g, company)
    close_certificate_privates(g, company)


def close_certificate_privates(g: Game, company: str) -> None:
    """Close the private that stands for the president's certificate of a company that floats."""
    for private in g.components.privates:
        grant = private.grants if isinstance(private.ability, PresidentsCertificateAbility) else None
        if grant and grant.company == company and g.state.private_owners[private.sym] != CLOSED:
            g.emit(PrivateMoved(private.sym, CLOSED))


def move_shares(
    g: Game, company: str, source: str, target: str, percent: int, *, latest: bool = False
) -> None:
    """Move that many percent of a company, with what follows for its presidency and floating.

    `latest`: the certificates that the source received last move, not those that it received first.
    """
    co = g.company(company)
    places = certificate_places(g, company) if g.title.follows_granted_certificates else {}
    move = _share_move(g, company, source, target, percent, latest=latest) if places else None
    new = next_president(g, company, losing=percent) if co.president == source else None
    if new:
        g.emit(PresidentNamed(company, new))
    g.emit(SharesMoved(company, source, target, percent))
    if is_seat(target):
        update_presidency(g, company)
    if move:
        follow_certificates(g, places, move._replace(new=g.company(company).president))
    float_if_sold(g, company)


def give_granted_share(g: Game, private: str, buyer: str) -> None:
    """Give the share that came with a private to a player, from the pool or wherever no player holds it."""
    grant = granted_shares(g).get(private)
    if grant is None or g.company(grant.company).closed:
        return
    holder = certificate_place(g, private).owner
    move_shares(g, grant.company, holder, buyer, grant.percent)
    own = certificate_count(g, buyer, grant.company) - (g.company(grant.company).president == buyer)
    g.emit(GrantedCertificateMoved(private, buyer, own - 1))


def _share_move(
    g: Game, company: str, source: str, target: str, percent: int, *, latest: bool
) -> ShareMove | None:
    """A move of shares that is about to be made; None for the first sale of the president's certificate."""
    co, share = g.company(company), share_percent(g, company)
    president = president_share_percent(g, company) // share
    held = {owner: amount // share for owner, amount in co.shares.items()}
    sold = co.president is not None and held.get(co.president, 0) >= president
    holder = co.president if co.president is not None and sold else IPO
    if not sold and target == co.president and percent == president * share:
        return None
    held[holder] = held.get(holder, 0) - president
    count = percent // share
    return ShareMove(
        source=source,
        target=target,
        number=count,
        ordinary=held,
        president=president,
        old=co.president,
        new=None,
        leaves_certificate=holder == source and count > held[source],
        kept=held.get(co.president or "", 0) + president - (count if source == co.president else 0),
        latest=latest,
    )


def net_worth(g: Game, seat: str) -> int:
    """Dollars that the player is worth: cash, shares at market price, less those sold short, and privates at
    face value where the title counts them (1830 §1, §23.3; 1817 §1.3)."""
    shares = sum(
        co.shares[seat] * g.price(c) // share_percent(g, c)
        for c, co in g.state.companies.items()
        if seat in co.shares
    )
    privates = sum(g.private_definition(p).price for p in g.privates_of(seat))
    return g.cash(seat) + shares + (privates if g.components.privates_count_in_net_worth else 0)


SOURCE_LABELS = {IPO: "the initial offering", POOL: "the pool", TREASURY: "the treasury"}


def too_few_shares(holder: str, percent: int, company: str) -> str:
    """What a holder has of a company, as a refusal that still lacks its section and full stop."""
    has = f"only {percent} %" if percent > 0 else "no shares"
    return f"{holder} has {has} of the {company}"


def source_holder(company: str, source: str) -> str:
    """The holder of the shares in that place: the treasury's holder is the company."""
    return company if source == TREASURY else source


def share_price(g: Game, company: str, source: str) -> int | None:
    """Dollars for one share from there: par from the initial offering, else the market price (1830 §8.2)."""
    return g.company(company).par if source == IPO else g.price(company)
