"""What the sheet shows: players and companies, bank, phase, the trains that are left.

Where companies choose their number of shares as they start, only those that have are listed, with
their size and loans; the others are named in one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine import (
    BANK,
    IPO,
    POOL,
    Game,
    HexTokenAbility,
    LoanStatus,
    State,
    certificate_limit,
    counted_certificates,
    decision,
    game_of,
    hidden_treasuries,
    loan_status,
    net_worth,
    space_label,
)
from renderers.views.labels import Badge, bank_text, clip_text, company_badges, dollars


@dataclass(frozen=True)
class Holding:
    """One holder's part of a company in percent; below zero what he has sold short."""

    percent: int
    president: bool = False


@dataclass(frozen=True)
class PlayerView:
    """A player: cash in dollars, certificates that count, holdings by the companies' order.

    `out`: bankrupt while the others play on.
    """

    seat: str
    name: str
    cash: int
    certificates: int
    worth: int
    privates: tuple[str, ...]
    holdings: tuple[Holding, ...]
    priority: bool
    acting: bool
    bankrupt: bool = False


@dataclass(frozen=True)
class CompanyView:
    """A company's charter: money in dollars (None: not to be seen), what lies in the offering, pool and
    treasury in percent.

    `zone`: where its token stands without a price. `tokens`: what those on its charter cost, `unpaid`
    the dollars that it owes for some. `size`: its number of shares, `loans` those taken, `most` it may have.
    """

    badge: Badge
    name: str
    par: int | None
    price: int | None
    cash: int | None
    trains: tuple[str, ...]
    tokens: tuple[int, ...]
    privates: tuple[str, ...]
    president: str | None
    ipo: int
    pool: int
    treasury: int
    floated: bool
    started: bool
    closed: bool
    acting: bool
    zone: str | None = None
    size: int | None = None
    loans: int = 0
    max_loans: int = 0
    unpaid_tokens: int = 0

    @property
    def summary(self) -> str:
        """The charter in words, where the company has begun."""
        cash = () if self.cash is None else (dollars(self.cash),)
        loans = (f"{self.loans} loan{'s' if self.loans > 1 else ''}",) if self.loans else ()
        at = f"at {self.price}" if self.price is not None else "without a price"
        where = f"in {self.zone}" if self.zone else at
        shares = f" of {self.size} shares" if self.size else ""
        trains = " ".join(self.trains) or "no train"
        return f"{self.badge.sym}{shares} {', '.join((where, *cash, *loans, trains))}"


@dataclass(frozen=True)
class SheetView:
    """The table beside the board: players, companies, bank, phase, trains left.

    `bank`: None where it has no limit. `places`: who holds shares beside the players: `ipo`, `pool`,
    `treasury`. `idle`: companies that are not listed as they have not begun.
    """

    title: str
    round: str
    phase: str
    bank: int | None
    certificate_limit: int | None
    train_limit: int
    depot: tuple[tuple[str, int | None, int], ...]
    pool_trains: tuple[str, ...]
    players: tuple[PlayerView, ...]
    companies: tuple[CompanyView, ...]
    unsold_privates: tuple[tuple[str, int], ...] = ()
    share_holders: tuple[str, ...] = ()
    unstarted: tuple[Badge, ...] = ()
    loans: LoanStatus | None = None

    @property
    def has_sizes(self) -> bool:
        """Whether companies differ in their number of shares and in loans."""
        return self.loans is not None

    @property
    def alt(self) -> str:
        """The picture in words."""
        return clip_text(". ".join(self._alt_sentences()) + ".")

    def _alt_sentences(self) -> Iterator[str]:
        yield f"{self.title}, {self.round}, phase {self.phase}"
        if self.bank is not None:
            yield bank_text(self.bank).capitalize()
        left = [f"{count if count is not None else 'any'} of {name}" for name, count, _ in self.depot]
        yield f"Trains left: {', '.join(left) or 'none'}"
        if self.loans:
            yield str(self.loans).capitalize()
        for p in self.players:
            held = [
                _holding_text(c.badge.sym, h)
                for c, h in zip(self.companies, p.holdings, strict=True)
                if h.percent
            ]
            how = "bankrupt" if p.bankrupt else f"{dollars(p.cash)}{' priority' if p.priority else ''}"
            yield " ".join([p.name, how, *held])
        yield from (c.summary for c in self.companies if c.started)


def _holding_text(sym: str, holding: Holding) -> str:
    if holding.percent < 0:
        return f"{sym} short {-holding.percent}%"
    return f"{sym} {holding.percent}%{' president' if holding.president else ''}"


def sheet_view(state: State, viewer: str | None = None) -> SheetView:
    """The table of players and companies of a position, as that seat or the whole table may see it."""
    g = game_of(state)
    asked = decision(state)
    acting = {*asked.asked, asked.company}
    veiled = hidden_treasuries(state, viewer)
    badges = company_badges(g.components)
    sized = bool(g.components.company_sizes)
    idle = [sym for sym in badges if sized and not _has_started(g, sym)]
    companies = {sym: badge for sym, badge in badges.items() if sym not in idle}
    return SheetView(
        title=g.components.title,
        round=asked.round,
        phase=state.phase,
        bank=None if g.components.bank is None else g.cash(BANK),
        certificate_limit=certificate_limit(g),
        train_limit=g.phase.train_limit,
        depot=tuple(
            (t.name, state.depot[t.name], t.price)
            for t in g.components.trains
            if state.depot.get(t.name, 0) != 0
        ),
        pool_trains=tuple(state.pool_trains),
        players=tuple(_player_view(g, seat, seat in acting, tuple(companies)) for seat in state.seats),
        companies=tuple(_company_view(g, c, badge, c in acting, veiled) for c, badge in companies.items()),
        unsold_privates=tuple(
            (p.sym, p.price) for p in g.components.privates if state.private_owners.get(p.sym) in (BANK, IPO)
        ),
        share_holders=("pool", "treasury") if sized else ("ipo", "pool", *_treasury_column(g)),
        unstarted=tuple(badges[sym] for sym in idle),
        loans=loan_status(state),
    )


def _has_started(g: Game, sym: str) -> bool:
    return g.company(sym).par is not None or g.company(sym).cell is not None


def _treasury_column(g: Game) -> tuple[str, ...]:
    """The treasury, where companies of the title hold shares of their own."""
    own = any(company.shares.get(sym) for sym, company in g.state.companies.items())
    return ("treasury",) if g.title.flotation.rest_to_treasury or own else ()


def _player_view(g: Game, seat: str, acting: bool, companies: tuple[str, ...]) -> PlayerView:
    state = g.state
    return PlayerView(
        seat=seat,
        name=state.name(seat),
        cash=g.cash(seat),
        certificates=counted_certificates(g, seat),
        worth=net_worth(g, seat),
        privates=tuple(g.privates_of(seat)),
        holdings=tuple(Holding(g.percent_held(seat, c), g.company(c).president == seat) for c in companies),
        priority=state.priority == seat,
        acting=acting,
        bankrupt=seat in state.bankrupt_seats,
    )


def _company_view(g: Game, sym: str, badge: Badge, acting: bool, veiled: frozenset[str]) -> CompanyView:
    company, printed = g.company(sym), g.company_definition(sym)
    size = g.components.company_sizes.get(company.size or 0)
    costs = (*printed.tokens, *[g.components.kept_token_cost] * company.kept_destination_tokens)
    zone = space_label(g, company.cell).partition(" ")[2] if company.cell and not g.price(sym) else None
    return CompanyView(
        badge=badge,
        name=printed.name,
        par=company.par,
        price=g.price(sym) if company.cell else None,
        cash=None if sym in veiled else g.state.cash.get(sym, 0),
        trains=tuple(company.trains),
        tokens=(0,) * company.unplaced_tokens if size else costs[len(costs) - company.unplaced_tokens :],
        privates=tuple(_private_label(g, p) for p in g.privates_of(sym)),
        president=_president_name(g, sym),
        ipo=g.percent_held(IPO, sym),
        pool=g.percent_held(POOL, sym),
        treasury=g.percent_held(sym, sym),
        floated=company.floated,
        started=_has_started(g, sym),
        closed=company.closed,
        acting=acting,
        zone=zone,
        size=company.size,
        loans=company.loans,
        max_loans=size.max_loans if size else 0,
        unpaid_tokens=company.owed_tokens * size.station_cost if size else 0,
    )


def _president_name(g: Game, sym: str) -> str | None:
    """Who runs the company: a player's name, or the bank where it has lost its president."""
    company = g.company(sym)
    if company.president:
        return g.state.name(company.president)
    return BANK if company.former_president else None


def _private_label(g: Game, private: str) -> str:
    """A private; where it has tokens to place, with how many are left (`CM×1`)."""
    ability = g.private_definition(private).ability
    if not isinstance(ability, HexTokenAbility):
        return private
    return f"{private}×{ability.tokens - g.state.used_abilities.count(private)}"
