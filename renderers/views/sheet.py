"""The view of the sheet: players, companies, bank, phase, trains in the depot.

In titles in which a company chooses its number of shares when it starts, only started companies are listed,
with their size and loans; the others are named in one line.
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
    held_back_cash,
    hidden_treasuries,
    loan_status,
    net_worth,
    space_label,
)
from renderers.views.labels import Badge, bank_text, clip_text, company_badges, dollars


@dataclass(frozen=True)
class Holding:
    """A player's shares of one company in percent; negative if the player is short."""

    percent: int
    president: bool = False


@dataclass(frozen=True)
class PlayerView:
    """A player: cash and worth in dollars, counted certificates, holdings in the order of the companies.

    `acting`: the player has to act now. `bankrupt`: the others continue without them.
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
    """A company: its cash in dollars (None: hidden), and its shares in each place in percent.

    `zone`: the cell of its price token, where that has no price. `tokens`: the costs of the tokens on its
    charter in dollars; `unpaid_tokens`: the dollars that it owes for tokens. `size`: its number of shares.
    `held_back`: dollars of its cash that it may not spend in this stock round.
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
    held_back: int = 0

    @property
    def summary(self) -> str:
        """A started company in words."""
        held_back = f" ({dollars(self.held_back)} held back)" if self.held_back else ""
        cash = () if self.cash is None else (f"{dollars(self.cash)}{held_back}",)
        loans = (f"{self.loans} loan{'s' if self.loans > 1 else ''}",) if self.loans else ()
        price = f"at {self.price}" if self.price is not None else "without a price"
        place = f"in {self.zone}" if self.zone else price
        shares = f" of {self.size} shares" if self.size else ""
        trains = " ".join(self.trains) or "no train"
        return f"{self.badge.sym}{shares} {', '.join((place, *cash, *loans, trains))}"


@dataclass(frozen=True)
class SheetView:
    """The sheet of a position.

    `bank`: its cash in dollars; None where it is unlimited. `depot`: (train, price, number left; None:
    unlimited). `unsold_privates`: (private, price). `share_holders`: columns beside the players: "ipo",
    "pool", "treasury". `unstarted`: companies that are not listed.
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
        """Whether companies have sizes and loans."""
        return self.loans is not None

    @property
    def alt(self) -> str:
        """A description of the picture."""
        return clip_text(". ".join(self._alt_sentences()) + ".")

    def _alt_sentences(self) -> Iterator[str]:
        yield f"{self.title}, {self.round}, phase {self.phase}"
        if self.bank is not None:
            yield bank_text(self.bank).capitalize()
        trains = [f"{count if count is not None else 'any'} of {name}" for name, count, _ in self.depot]
        yield f"Trains left: {', '.join(trains) or 'none'}"
        if self.loans:
            yield str(self.loans).capitalize()
        for p in self.players:
            holdings = [
                _holding_text(c.badge.sym, h)
                for c, h in zip(self.companies, p.holdings, strict=True)
                if h.percent
            ]
            cash = "bankrupt" if p.bankrupt else f"{dollars(p.cash)}{' priority' if p.priority else ''}"
            yield " ".join([p.name, cash, *holdings])
        yield from (c.summary for c in self.companies if c.started)


def _holding_text(sym: str, holding: Holding) -> str:
    if holding.percent < 0:
        return f"{sym} short {-holding.percent}%"
    return f"{sym} {holding.percent}%{' president' if holding.president else ''}"


def sheet_view(state: State, viewer: str | None = None) -> SheetView:
    """The sheet of a position as the seat `viewer` may see it; None: as the whole table may see it."""
    game = game_of(state)
    current = decision(state)
    acting = {*current.asked, current.company}
    hidden_cash = hidden_treasuries(state, viewer)
    held_back = held_back_cash(state)
    badges = company_badges(game.components)
    has_sizes = bool(game.components.company_sizes)
    unstarted = [sym for sym in badges if has_sizes and not _has_started(game, sym)]
    companies = {sym: badge for sym, badge in badges.items() if sym not in unstarted}
    return SheetView(
        title=game.components.title,
        round=current.round,
        phase=state.phase,
        bank=None if game.components.bank is None else game.cash(BANK),
        certificate_limit=certificate_limit(game),
        train_limit=game.phase.train_limit,
        depot=tuple(
            (t.name, state.depot[t.name], t.price)
            for t in game.components.trains
            if state.depot.get(t.name, 0) != 0
        ),
        pool_trains=tuple(state.pool_trains),
        players=tuple(_player_view(game, seat, seat in acting, tuple(companies)) for seat in state.seats),
        companies=tuple(
            _company_view(game, c, badge, c in acting, hidden_cash, held_back.get(c, 0))
            for c, badge in companies.items()
        ),
        unsold_privates=tuple(
            (p.sym, p.price)
            for p in game.components.privates
            if state.private_owners.get(p.sym) in (BANK, IPO)
        ),
        share_holders=("pool", "treasury") if has_sizes else ("ipo", "pool", *_treasury_column(game)),
        unstarted=tuple(badges[sym] for sym in unstarted),
        loans=loan_status(state),
    )


def _has_started(game: Game, sym: str) -> bool:
    return game.company(sym).par is not None or game.company(sym).cell is not None


def _treasury_column(game: Game) -> tuple[str, ...]:
    """The column of treasuries, where companies of the title hold their own shares."""
    any_held = any(company.shares.get(sym) for sym, company in game.state.companies.items())
    return ("treasury",) if game.title.flotation.rest_to_treasury or any_held else ()


def _player_view(game: Game, seat: str, acting: bool, companies: tuple[str, ...]) -> PlayerView:
    state = game.state
    return PlayerView(
        seat=seat,
        name=state.name(seat),
        cash=game.cash(seat),
        certificates=counted_certificates(game, seat),
        worth=net_worth(game, seat),
        privates=tuple(game.privates_of(seat)),
        holdings=tuple(
            Holding(game.percent_held(seat, c), game.company(c).president == seat) for c in companies
        ),
        priority=state.priority == seat,
        acting=acting,
        bankrupt=seat in state.bankrupt_seats,
    )


def _company_view(
    game: Game, sym: str, badge: Badge, acting: bool, hidden_cash: frozenset[str], held_back: int
) -> CompanyView:
    company, definition = game.company(sym), game.company_definition(sym)
    size = game.components.company_sizes.get(company.size or 0)
    costs = (*definition.tokens, *[game.components.kept_token_cost] * company.kept_destination_tokens)
    zone = space_label(game, company.cell).partition(" ")[2] if company.cell and not game.price(sym) else None
    return CompanyView(
        badge=badge,
        name=definition.name,
        par=company.par,
        price=game.price(sym) if company.cell else None,
        cash=None if sym in hidden_cash else game.state.cash.get(sym, 0),
        trains=tuple(company.trains),
        tokens=(0,) * company.unplaced_tokens if size else costs[len(costs) - company.unplaced_tokens :],
        privates=tuple(_private_label(game, p) for p in game.privates_of(sym)),
        president=_president_name(game, sym),
        ipo=game.percent_held(IPO, sym),
        pool=game.percent_held(POOL, sym),
        treasury=game.percent_held(sym, sym),
        floated=company.floated,
        started=_has_started(game, sym),
        closed=company.closed,
        acting=acting,
        zone=zone,
        size=company.size,
        loans=company.loans,
        max_loans=size.max_loans if size else 0,
        unpaid_tokens=company.owed_tokens * size.station_cost if size else 0,
        held_back=held_back,
    )


def _president_name(game: Game, sym: str) -> str | None:
    """The name of a company's president, or the bank where the company has lost its president."""
    company = game.company(sym)
    if company.president:
        return game.state.name(company.president)
    return BANK if company.former_president else None


def _private_label(game: Game, private: str) -> str:
    """A private's symbol, with the number of tokens that it has left to place (`CM×1`)."""
    ability = game.private_definition(private).ability
    if not isinstance(ability, HexTokenAbility):
        return private
    return f"{private}×{ability.tokens - game.state.used_abilities.count(private)}"
