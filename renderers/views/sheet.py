"""The view of the sheet: players, companies, bank, phase, trains in the depot.

In titles in which a company chooses its number of shares when it starts, only started companies are listed,
with their size and loans; the picture names the others in one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine import (
    BANK,
    CLOSED,
    IPO,
    POOL,
    Game,
    HexTokenAbility,
    LoanStatus,
    OperatingRound,
    State,
    certificate_limit,
    counted,
    counted_certificates,
    decision,
    dollars,
    game_of,
    held_back_cash,
    hidden_treasuries,
    loan_status,
    net_worth,
    space_label,
    tile_faces,
    tiles_left,
    trains_rusted_by,
)
from renderers.views.auction import LotView, lots
from renderers.views.labels import Badge, bank_text, clip_text, company_badges, tile_name


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
    `held_back`: dollars of its cash that it may not spend in this stock round. `awaited`: dollars of capital
    that are to come (1830 §11). `last_revenue`: dollars of its
    last run. `turn`: its place in the operating order. `has_run`: it has had its turn in this round.
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
    last_revenue: int | None = None
    turn: int | None = None
    has_run: bool = False
    zone: str | None = None
    size: int | None = None
    loans: int = 0
    max_loans: int = 0
    unpaid_tokens: int = 0
    held_back: int = 0
    awaited: int = 0

    @property
    def cash_text(self) -> str:
        """Its cash, with what of it is held back or still to come; nothing where it is hidden."""
        if self.cash is None:
            return ""
        held_back = f" ({dollars(self.held_back)} held back)" if self.held_back else ""
        awaited = f" ({dollars(self.awaited)} to come)" if self.awaited else ""
        return f"{dollars(self.cash)}{held_back}{awaited}"

    @property
    def summary(self) -> str:
        """A started company in words."""
        cash = () if not self.cash_text else (self.cash_text if self.floated else "not floated",)
        loans = (counted(self.loans, "loan"),) if self.loans else ()
        price = f"at {dollars(self.price)}" if self.price is not None else "without a price"
        place = f"in {self.zone}" if self.zone else price
        shares = f" of {self.size} shares" if self.size else ""
        trains = f"train{'s' * (len(self.trains) > 1)} {' '.join(self.trains)}" if self.trains else "no train"
        revenue = () if self.last_revenue is None else (f"last ran {dollars(self.last_revenue)}",)
        president = (f"president {self.president}",) if self.president else ()
        ran = ("has operated",) if self.has_run else ()
        order = f"{self.turn}. " if self.turn else ""
        facts = (place, *cash, *loans, trains, *revenue, *president, *ran)
        return f"{order}{self.badge.sym}{shares} {', '.join(facts)}"

    @property
    def details(self) -> list[str]:
        """What else the sheet shows of a company: its par price, shares that no player has, tokens, loans."""
        places = (("IPO", self.ipo), ("pool", self.pool), ("treasury", self.treasury))
        facts = [f"par {dollars(self.par)}"] if self.par is not None and not self.size else []
        facts += [f"{place} {_percent_text(percent)}" for place, percent in places if percent]
        facts += [f"loans {self.loans}/{self.max_loans}"] if self.max_loans else []
        if self.started and self.tokens:
            costs = "" if self.size else f" ({' '.join(map(dollars, self.tokens))})"
            facts.append(f"{counted(len(self.tokens), 'token')} left{costs}")
        facts += [f"owes {dollars(self.unpaid_tokens)} for tokens"] if self.unpaid_tokens else []
        return facts + ([f"privates {' '.join(self.privates)}"] if self.privates else [])

    @property
    def details_line(self) -> str:
        """`PRR: par $76, IPO 40%`; nothing without details."""
        return f"{self.badge.sym}: {', '.join(self.details)}" if self.details else ""


@dataclass(frozen=True)
class TrainView:
    """A train of the bank: how many are left (None: any number), the price, and what its purchase rusts."""

    name: str
    left: int | None
    price: int
    rusts: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """`4: 3 at $300, rusts 2`."""
        rusts = f", rusts {' '.join(self.rusts)}" if self.rusts else ""
        return f"{self.name}: {'∞' if self.left is None else self.left} at ${self.price:,}{rusts}"


@dataclass(frozen=True)
class SheetView:
    """The sheet of a position.

    `bank`: its cash in dollars; None where it is unlimited. `for_sale`: the privates of the bank and what is
    auctioned. `share_holders`: columns beside the players: "ipo", "pool", "treasury". `unstarted`: companies
    that are not listed. `tiles`: (grade, (tile, number left; None: any number) each). `privates`: those that
    somebody owns, with their income: `CA Camden & Amboy $25`.
    """

    title: str
    round: str
    phase: str
    bank: int | None
    certificate_limit: int | None
    train_limit: int
    depot: tuple[TrainView, ...]
    pool_trains: tuple[str, ...]
    players: tuple[PlayerView, ...]
    companies: tuple[CompanyView, ...]
    for_sale: tuple[LotView, ...] = ()
    share_holders: tuple[str, ...] = ()
    unstarted: tuple[Badge, ...] = ()
    loans: LoanStatus | None = None
    tiles: tuple[tuple[str, tuple[tuple[str, int | None], ...]], ...] = ()
    privates: tuple[str, ...] = ()

    @property
    def has_sizes(self) -> bool:
        """Whether companies have sizes and loans."""
        return self.loans is not None

    @property
    def alt(self) -> str:
        """A description of the picture. What is said last is cut first, so the details of companies are."""
        details = [text for company in self.companies if (text := company.details_line)]
        return clip_text(". ".join([*self._head(), *self._started(), *details, *self._footer()]) + ".")

    def lines(self, waiting: str) -> list[str]:
        """Everything that the sheet has, in lines: one for each player and each company that has started.

        waiting: whom the table waits for, or why for nobody.
        """
        first, *head = self._head()
        started = [company for company in self.companies if company.started]
        companies = ["; ".join([c.summary, *filter(None, [", ".join(c.details)])]) for c in started]
        closed = [c.badge.sym for c in self.companies if c.closed]
        others = [c.badge.sym for c in self.companies if not c.started and not c.closed]
        others += [badge.sym for badge in self.unstarted]
        kinds = (("Not started", others), ("Closed", closed))
        more = [f"{kind}: {', '.join(symbols)}" for kind, symbols in kinds if symbols]
        told = [f"{line}." for line in (*head, *companies, *more, *self._footer())]
        return [f"{first}.", *([waiting] if waiting else []), *told]

    def _head(self) -> Iterator[str]:
        yield f"{self.title}, {self.round}, phase {self.phase}"
        if self.bank is not None:
            yield bank_text(self.bank).capitalize()
        yield f"Trains left: {'; '.join(train.text for train in self.depot) or 'none'}"
        pool = f", in the pool: {' '.join(self.pool_trains)}" if self.pool_trains else ""
        yield f"Train limit {self.train_limit}{pool}"
        if self.loans:
            yield str(self.loans).capitalize()
        if self.for_sale:
            yield f"For sale: {'; '.join(each.text for each in self.for_sale)}"
        yield from map(self._player_text, self.players)

    def _player_text(self, player: PlayerView) -> str:
        """`Ann: $240, priority, worth $620, 4/16 certificates, CA, PRR 20% president`."""
        over = player.certificates - (self.certificate_limit or player.certificates)
        limit = f"/{self.certificate_limit}" if self.certificate_limit else ""
        facts = [
            "bankrupt" if player.bankrupt else dollars(player.cash),
            *(["priority"] if player.priority and not player.bankrupt else []),
            f"worth {dollars(player.worth)}",
            f"{player.certificates}{limit} certificates{f' ({over} over)' if over > 0 else ''}",
            *player.privates,
            *(
                _holding_text(company.badge.sym, holding)
                for company, holding in zip(self.companies, player.holdings, strict=True)
                if holding.percent
            ),
        ]
        return f"{player.name}: {', '.join(facts)}"

    def _started(self) -> Iterator[str]:
        return (company.summary for company in self.companies if company.started)

    def _footer(self) -> Iterator[str]:
        if self.privates:
            yield f"Privates: {', '.join(self.privates)}"
        for color, tiles in self.tiles:
            left = (f"{tile_name(tile)}×{'∞' if count is None else count}" for tile, count in tiles)
            yield f"{color.capitalize()} tiles left: {' '.join(left)}"


def _holding_text(sym: str, holding: Holding) -> str:
    return f"{sym} {_percent_text(holding.percent)}{' president' if holding.president else ''}"


def _percent_text(percent: int) -> str:
    """`40%`; `short 20%` for shares sold short, also by the bank."""
    return f"{percent}%" if percent >= 0 else f"short {-percent}%"


def sheet_view(
    state: State,
    viewer: str | None = None,
    revenues: Mapping[str, int] | None = None,
    *,
    has_footer: bool = True,
) -> SheetView:
    """The sheet of a position as the seat `viewer` may see it; None: as the whole table may see it.

    `revenues`: dollars of each company's last run, where they are known. `has_footer`: with the names
    of privates and the tiles left.
    """
    revenues = revenues or {}
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
        depot=tuple(_depot(game)),
        pool_trains=tuple(state.pool_trains),
        players=tuple(_player_view(game, seat, seat in acting, tuple(companies)) for seat in state.seats),
        companies=tuple(
            _company_view(game, badge, c in acting, hidden_cash, held_back.get(c, 0), revenues.get(c))
            for c, badge in companies.items()
        ),
        for_sale=tuple(lots(state)),
        share_holders=("pool", "treasury") if has_sizes else ("ipo", "pool", *_treasury_column(game)),
        unstarted=tuple(badges[sym] for sym in unstarted),
        loans=loan_status(state),
        tiles=tuple(_tiles(game)) if has_footer else (),
        privates=tuple(_owned_privates(game)) if has_footer else (),
    )


def _depot(game: Game) -> Iterator[TrainView]:
    for train in game.components.trains:
        if game.state.depot.get(train.name, 0) != 0:
            rusts = trains_rusted_by(game.state, train.name)
            yield TrainView(train.name, game.state.depot[train.name], train.price, rusts)


def _owned_privates(game: Game) -> Iterator[str]:
    """The privates that players and companies own, with their income."""
    for private in game.components.privates:
        if game.state.private_owners.get(private.sym, CLOSED) not in (BANK, IPO, CLOSED):
            income = f" {dollars(private.revenue)}" if private.revenue else ""
            yield f"{private.sym} {private.name}{income}"


def _tiles(game: Game) -> Iterator[tuple[str, tuple[tuple[str, int | None], ...]]]:
    """The tiles left, by grade, of the grades that the phase allows."""
    left, faces = tiles_left(game.state), tile_faces()
    for color in game.phase.tile_colors:
        here = tuple((tile, count) for tile, count in left.items() if faces[tile].color == color)
        if here:
            yield color, here


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
    game: Game,
    badge: Badge,
    acting: bool,
    hidden_cash: frozenset[str],
    held_back: int,
    last_revenue: int | None,
) -> CompanyView:
    """A company. One that is closed, or started once more, has no last run."""
    sym = badge.sym
    company, definition = game.company(sym), game.company_definition(sym)
    size = game.components.company_sizes.get(company.size or 0)
    costs = (*definition.tokens, *[game.components.kept_token_cost] * company.kept_destination_tokens)
    order, round = game.operating_order(), game.state.stack[0]
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
        last_revenue=last_revenue if company.has_operated and not company.closed else None,
        zone=zone,
        size=company.size,
        loans=company.loans,
        max_loans=size.max_loans if size else 0,
        unpaid_tokens=company.owed_tokens * size.station_cost if size else 0,
        held_back=held_back,
        awaited=game.title.flotation.awaited(game, sym),
        turn=order.index(sym) + 1 if sym in order else None,
        has_run=isinstance(round, OperatingRound) and sym in round.operated and not acting,
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
