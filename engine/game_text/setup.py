"""Set-up lines as they are read: what each word says, whatever the order of the lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.core.state import BANK, CLOSED, POOL, CityToken
from engine.finance.ownership import certificate_limit, share_percent, source_holder
from engine.game import Game
from engine.game_text.word_reader import InvalidLine, WordReader


@dataclass
class Setup:
    """What the lines say, by what it is about; `lines`: where each thing was last spoken of."""

    cash: dict[str, int] = field(default_factory=dict)
    shares: dict[str, dict[str, int]] = field(default_factory=dict)
    presidents: dict[str, str] = field(default_factory=dict)
    privates: dict[str, str] = field(default_factory=dict)
    cells: dict[str, tuple[int, int]] = field(default_factory=dict)
    pars: dict[str, int] = field(default_factory=dict)
    market_order: list[str] = field(default_factory=list)
    trains: dict[str, list[str]] = field(default_factory=dict)
    depot: tuple[str | None, int | None] | None = None
    tiles: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    tokens: dict[str, list[tuple[str, int | None]]] = field(default_factory=dict)
    tokens_left: dict[str, int] = field(default_factory=dict)
    not_operated: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    connected: list[str] = field(default_factory=list)
    destinations: dict[str, str] = field(default_factory=dict)
    city_tokens: dict[str, CityToken] = field(default_factory=dict)
    phase: str | None = None
    priority: str | None = None
    rounds_left: int | None = None
    stock_turn: str | None = None
    operating_turn: tuple[str, int] | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    loans: dict[str, int] = field(default_factory=dict)
    interest: int | None = None
    mines: list[str] = field(default_factory=list)
    bridges: list[str] = field(default_factory=list)
    merger_turn: tuple[str, str, int] | None = None
    line_numbers: dict[str, int] = field(default_factory=dict)


def read_setup_line(said: Setup, words: WordReader) -> tuple[str, ...]:
    """Note what a line says; what it is about, its word first."""
    word = words.expect(*SETUP_READERS)
    about = SETUP_READERS[word](said, words)
    words.expect_end()
    return (word, *about)


def _read_cash(said: Setup, words: WordReader) -> tuple[str, ...]:
    who = words.cash_holder()
    said.cash[who] = words.amount()
    return (who,)


def _read_owns(said: Setup, words: WordReader) -> tuple[str, ...]:
    place, company = words.shareholder(), words.company()
    holder = source_holder(company, place)
    if words.g.components.company_sizes and words.g.company(company).size is None:
        raise InvalidLine(f"Say the number of shares of the {company} first: size {company} 5.")
    percent = words.amount("a number of shares") * share_percent(words.g, company)
    if percent < 0 and not words.g.components.company_sizes:
        raise InvalidLine("Nobody sells short in this title.")
    said.shares.setdefault(company, {})[holder] = percent
    return holder, company


def _read_president(said: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    said.presidents[company] = words.player()
    return (company,)


def _read_private(said: Setup, words: WordReader) -> tuple[str, ...]:
    private = words.private()
    said.privates[private] = words.private_owner()
    if said.privates[private] == BANK:
        raise InvalidLine(f"The bank keeps no private once the opening is over; the {private} is {CLOSED}.")
    return (private,)


def _read_price(said: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    if zone := words.accept(*UNPRICED_ZONES):
        said.cells[company] = zone_cell(words, zone)
        said.market_order.append(company)
        return (company,)
    price = words.amount()
    row = words.amount("a row of the market, from 0") if words.has_more else None
    said.cells[company] = market_cell(words.g, price, row)
    if company in said.market_order:  # a par line came first
        said.market_order.remove(company)
    said.market_order.append(company)
    return (company,)


UNPRICED_ZONES = ("acquisition", "liquidation")
"""Zones of the market whose spaces have no price by which they could be named."""


def zone_cell(words: WordReader, zone: str) -> tuple[int, int]:
    """The N-th space of a zone from the left, the first where no number is said."""
    at = words.amount("the number of the space, from the left") if words.has_more else 1
    rows = words.g.components.market.rows
    cells = [(r, c) for r, row in enumerate(rows) for c, x in enumerate(row) if x and zone in x.zones]
    if not 1 <= at <= len(cells):
        raise InvalidLine(f"There are {len(cells)} spaces of {zone} on the market of this title.")
    return cells[at - 1]


def _read_size(said: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    size = words.amount("a number of shares")
    if size not in words.g.components.company_sizes:
        sizes = ", ".join(map(str, words.g.components.company_sizes)) or "none to choose in this title"
        raise InvalidLine(f"A company cannot have {size} shares; there is {sizes}.")
    said.sizes[company] = words.g.company(company).size = size
    return (company,)


def _read_loans(said: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    said.loans[company] = words.amount("a number of loans")
    if words.g.components.loans is None:
        raise InvalidLine("There are no loans in this title.")
    return (company,)


def _read_interest(said: Setup, words: WordReader) -> tuple[str, ...]:
    said.interest = words.amount()
    return ("interest",)


def _read_mine(said: Setup, words: WordReader) -> tuple[str, ...]:
    hex = words.hex()
    said.mines.append(hex)
    return (hex,)


def _read_bridge(said: Setup, words: WordReader) -> tuple[str, ...]:
    hex = words.hex()
    said.bridges.append(hex)
    return (hex,)


def market_cell(g: Game, price: int, row: int | None) -> tuple[int, int]:
    """The space of the market with that price: in that row, else the only one, else the par cell."""
    cells = [
        (r, c)
        for r, line in enumerate(g.components.market.rows)
        for c, cell in enumerate(line)
        if cell is not None and cell.price == price and row in (None, r)
    ]
    if not cells:
        raise InvalidLine(f"No space of the market {'' if row is None else f'in row {row} '}has ${price}.")
    if len(cells) > 1:
        at = g.title.par_cell(price)
        if at is None:
            rows = ", ".join(str(r) for r, _ in cells)
            raise InvalidLine(f"${price} stands in the rows {rows}; say which: price COMPANY {price} ROW.")
        return at
    return cells[0]


def _read_par(said: Setup, words: WordReader) -> tuple[str, ...]:
    company, price = words.company(), words.amount()
    if price not in words.g.components.par_prices:
        raise InvalidLine(
            f"${price} is no par price; there is {', '.join(map(str, words.g.components.par_prices))}."
        )
    said.pars[company] = price
    if company not in said.market_order:
        said.market_order.append(company)
    return (company,)


def _read_trains(said: Setup, words: WordReader) -> tuple[str, ...]:
    if words.accept(BANK):
        types = words.trains()
        if len(set(types)) > 1:
            raise InvalidLine(
                "Of the bank's trains only the type now sold is named; later types are complete."
            )
        return _set_depot(said, types[0] if types else None, len(types))
    owner = words.accept(POOL) or words.company()
    said.trains[owner] = words.trains()
    return (owner,)


def _read_depot(said: Setup, words: WordReader) -> tuple[str, ...]:
    return _set_depot(said, words.train(), words.amount("a number of trains") if words.has_more else None)


def _set_depot(said: Setup, train: str | None, left: int | None) -> tuple[str, ...]:
    if said.depot is not None:
        raise InvalidLine("What the bank sells was said before.")
    said.depot = (train, left)
    return (BANK,)


def _read_tile(said: Setup, words: WordReader) -> tuple[str, ...]:
    hex, tile = words.hex(), words.tile()
    said.tiles[hex] = (tile, words.amount("a rotation from 0 to 5") if words.has_more else None)
    return (hex,)


def _read_token(said: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    said.tokens[company] = [words.city()]
    while words.has_more:
        said.tokens[company].append(words.city())
    return (company,)


def _read_tokens_left(said: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    said.tokens_left[company] = words.amount("a number of tokens")
    return (company,)


def _read_limit(said: Setup, words: WordReader) -> tuple[str, ...]:
    limit = certificate_limit(words.g)
    if words.amount("a number of certificates") != limit:
        raise InvalidLine(f"With {len(words.g.state.players)} players the limit is {limit} certificates.")
    return ()


def _read_phase(said: Setup, words: WordReader) -> tuple[str, ...]:
    said.phase = words.phase()
    return ("phase",)


def _read_priority(said: Setup, words: WordReader) -> tuple[str, ...]:
    said.priority = words.player()
    return ()


def _read_rounds_left(said: Setup, words: WordReader) -> tuple[str, ...]:
    said.rounds_left = words.amount("a number of rounds")
    return ("left",)


def _read_round(said: Setup, words: WordReader) -> tuple[str, ...]:
    merging = ("merger", "sale") if words.g.components.company_sizes else ()
    kind = words.expect("stock", "operating", *merging)
    if kind == "stock":
        said.stock_turn = words.player()
    elif kind != "operating":
        company = words.company()
        said.merger_turn = (kind, company, words.amount("the number of the round") if words.has_more else 1)
    else:
        company = words.company()
        said.operating_turn = (
            company,
            words.amount("the number of the round in its set") if words.has_more else 1,
        )
    return ("round",)


def _read_not_operated(said: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    said.not_operated.append(company)
    return (company,)


def _read_closed(said: Setup, words: WordReader) -> tuple[str, ...]:
    said.closed.append(words.company())
    return (said.closed[-1],)


def _read_connected(said: Setup, words: WordReader) -> tuple[str, ...]:
    said.connected.append(words.company())
    return (said.connected[-1],)


def _read_destination(said: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    said.destinations[company] = words.hex()
    return (company,)


def _read_city_token(said: Setup, words: WordReader) -> tuple[str, ...]:
    words.position -= 1
    private, opened = words.city_token()
    said.city_tokens[private] = CityToken(words.hex(), words.company(), opened)
    return (private,)


SETUP_READERS: dict[str, Callable[[Setup, WordReader], tuple[str, ...]]] = {
    "cash": _read_cash,
    "owns": _read_owns,
    "president": _read_president,
    "private": _read_private,
    "price": _read_price,
    "par": _read_par,
    "trains": _read_trains,
    "depot": _read_depot,
    "tile": _read_tile,
    "token": _read_token,
    "markers": _read_tokens_left,
    "limit": _read_limit,
    "phase": _read_phase,
    "priority": _read_priority,
    "left": _read_rounds_left,
    "round": _read_round,
    "new": _read_not_operated,
    "size": _read_size,
    "loans": _read_loans,
    "interest": _read_interest,
    "mine": _read_mine,
    "bridge": _read_bridge,
    "closed": _read_closed,
    "connected": _read_connected,
    "destination": _read_destination,
    "cattle": _read_city_token,
    "port": _read_city_token,
}
