"""Set-up lines as they are read: what each word says, whatever the order of the lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.game import Game
from engine.holdings import certificate_limit, unit
from engine.record.words import Words, Wrong
from engine.state import BANK, CLOSED, POOL, Improvement
from engine.stock.turn import holder_of


@dataclass
class Said:
    """What the lines say, by what it is about; `lines`: where each thing was last spoken of."""

    cash: dict[str, int] = field(default_factory=dict)
    shares: dict[str, dict[str, int]] = field(default_factory=dict)
    presidents: dict[str, str] = field(default_factory=dict)
    privates: dict[str, str] = field(default_factory=dict)
    cells: dict[str, tuple[int, int]] = field(default_factory=dict)
    pars: dict[str, int] = field(default_factory=dict)
    market: list[str] = field(default_factory=list)
    trains: dict[str, list[str]] = field(default_factory=dict)
    depot: tuple[str | None, int | None] | None = None
    tiles: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    tokens: dict[str, list[tuple[str, int | None]]] = field(default_factory=dict)
    markers: dict[str, int] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    connected: list[str] = field(default_factory=list)
    destinations: dict[str, str] = field(default_factory=dict)
    improvements: dict[str, Improvement] = field(default_factory=dict)
    phase: str | None = None
    priority: str | None = None
    left: int | None = None
    stock: str | None = None
    operating: tuple[str, int] | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    loans: dict[str, int] = field(default_factory=dict)
    interest: int | None = None
    mines: list[str] = field(default_factory=list)
    bridges: list[str] = field(default_factory=list)
    merger: tuple[str, str, int] | None = None
    lines: dict[str, int] = field(default_factory=dict)


def note(said: Said, words: Words) -> tuple[str, ...]:
    """Note what a line says; what it is about, its word first."""
    word = words.word(*READERS)
    about = READERS[word](said, words)
    words.end()
    return (word, *about)


def _read_cash(said: Said, words: Words) -> tuple[str, ...]:
    who = words.purse()
    said.cash[who] = words.amount()
    return (who,)


def _read_owns(said: Said, words: Words) -> tuple[str, ...]:
    place, company = words.holder(), words.company()
    holder = holder_of(company, place)
    if words.g.facts.company_sizes and words.g.company(company).size is None:
        raise Wrong(f"Say the number of shares of the {company} first: size {company} 5.")
    percent = words.amount("a number of shares") * unit(words.g, company)
    if percent < 0 and not words.g.facts.company_sizes:
        raise Wrong("Nobody sells short in this title.")
    said.shares.setdefault(company, {})[holder] = percent
    return holder, company


def _read_president(said: Said, words: Words) -> tuple[str, ...]:
    company = words.company()
    said.presidents[company] = words.player()
    return (company,)


def _read_private(said: Said, words: Words) -> tuple[str, ...]:
    private = words.private()
    said.privates[private] = words.owner()
    if said.privates[private] == BANK:
        raise Wrong(f"The bank keeps no private once the opening is over; the {private} is {CLOSED}.")
    return (private,)


def _read_price(said: Said, words: Words) -> tuple[str, ...]:
    company = words.company()
    if zone := words.is_next(*ZONES):
        said.cells[company] = zone_cell(words, zone)
        said.market.append(company)
        return (company,)
    price = words.amount()
    row = words.amount("a row of the market, from 0") if words.more else None
    said.cells[company] = cell_of(words.g, price, row)
    if company in said.market:  # a par line came first
        said.market.remove(company)
    said.market.append(company)
    return (company,)


ZONES = ("acquisition", "liquidation")
"""Zones of the market whose spaces have no price by which they could be named."""


def zone_cell(words: Words, zone: str) -> tuple[int, int]:
    """The N-th space of a zone from the left, the first where no number is said."""
    at = words.amount("the number of the space, from the left") if words.more else 1
    rows = words.g.facts.market.rows
    cells = [(r, c) for r, row in enumerate(rows) for c, x in enumerate(row) if x and zone in x.zones]
    if not 1 <= at <= len(cells):
        raise Wrong(f"There are {len(cells)} spaces of {zone} on the market of this title.")
    return cells[at - 1]


def _read_size(said: Said, words: Words) -> tuple[str, ...]:
    company = words.company()
    size = words.amount("a number of shares")
    if size not in words.g.facts.company_sizes:
        sizes = ", ".join(map(str, words.g.facts.company_sizes)) or "none to choose in this title"
        raise Wrong(f"A company cannot have {size} shares; there is {sizes}.")
    said.sizes[company] = words.g.company(company).size = size
    return (company,)


def _read_loans(said: Said, words: Words) -> tuple[str, ...]:
    company = words.company()
    said.loans[company] = words.amount("a number of loans")
    if words.g.facts.loans is None:
        raise Wrong("There are no loans in this title.")
    return (company,)


def _read_interest(said: Said, words: Words) -> tuple[str, ...]:
    said.interest = words.amount()
    return ("interest",)


def _read_mine(said: Said, words: Words) -> tuple[str, ...]:
    hex = words.hex()
    said.mines.append(hex)
    return (hex,)


def _read_bridge(said: Said, words: Words) -> tuple[str, ...]:
    hex = words.hex()
    said.bridges.append(hex)
    return (hex,)


def cell_of(g: Game, price: int, row: int | None) -> tuple[int, int]:
    """The space of the market with that price: in that row, else the only one, else the par cell."""
    cells = [
        (r, c)
        for r, line in enumerate(g.facts.market.rows)
        for c, cell in enumerate(line)
        if cell is not None and cell.price == price and row in (None, r)
    ]
    if not cells:
        raise Wrong(f"No space of the market {'' if row is None else f'in row {row} '}has ${price}.")
    if len(cells) > 1:
        at = g.title.par_cell(price)
        if at is None:
            rows = ", ".join(str(r) for r, _ in cells)
            raise Wrong(f"${price} stands in the rows {rows}; say which: price COMPANY {price} ROW.")
        return at
    return cells[0]


def _read_par(said: Said, words: Words) -> tuple[str, ...]:
    company, price = words.company(), words.amount()
    if price not in words.g.facts.par_prices:
        raise Wrong(f"${price} is no par price; there is {', '.join(map(str, words.g.facts.par_prices))}.")
    said.pars[company] = price
    if company not in said.market:
        said.market.append(company)
    return (company,)


def _read_trains(said: Said, words: Words) -> tuple[str, ...]:
    if words.is_next(BANK):
        types = words.trains()
        if len(set(types)) > 1:
            raise Wrong("Of the bank's trains only the type now sold is named; later types are complete.")
        return _note_depot(said, types[0] if types else None, len(types))
    owner = words.is_next(POOL) or words.company()
    said.trains[owner] = words.trains()
    return (owner,)


def _read_depot(said: Said, words: Words) -> tuple[str, ...]:
    return _note_depot(said, words.train(), words.amount("a number of trains") if words.more else None)


def _note_depot(said: Said, train: str | None, left: int | None) -> tuple[str, ...]:
    if said.depot is not None:
        raise Wrong("What the bank sells was said before.")
    said.depot = (train, left)
    return (BANK,)


def _read_tile(said: Said, words: Words) -> tuple[str, ...]:
    hex, tile = words.hex(), words.tile()
    said.tiles[hex] = (tile, words.amount("a rotation from 0 to 5") if words.more else None)
    return (hex,)


def _read_token(said: Said, words: Words) -> tuple[str, ...]:
    company = words.company()
    said.tokens[company] = [words.city()]
    while words.more:
        said.tokens[company].append(words.city())
    return (company,)


def _read_markers(said: Said, words: Words) -> tuple[str, ...]:
    company = words.company()
    said.markers[company] = words.amount("a number of tokens")
    return (company,)


def _read_limit(said: Said, words: Words) -> tuple[str, ...]:
    limit = certificate_limit(words.g)
    if words.amount("a number of certificates") != limit:
        raise Wrong(f"With {len(words.g.state.players)} players the limit is {limit} certificates.")
    return ()


def _read_phase(said: Said, words: Words) -> tuple[str, ...]:
    said.phase = words.phase()
    return ("phase",)


def _read_priority(said: Said, words: Words) -> tuple[str, ...]:
    said.priority = words.player()
    return ()


def _read_left(said: Said, words: Words) -> tuple[str, ...]:
    said.left = words.amount("a number of rounds")
    return ("left",)


def _read_round(said: Said, words: Words) -> tuple[str, ...]:
    merging = ("merger", "sale") if words.g.facts.company_sizes else ()
    kind = words.word("stock", "operating", *merging)
    if kind == "stock":
        said.stock = words.player()
    elif kind != "operating":
        company = words.company()
        said.merger = (kind, company, words.amount("the number of the round") if words.more else 1)
    else:
        company = words.company()
        said.operating = (company, words.amount("the number of the round in its set") if words.more else 1)
    return ("round",)


def _read_new(said: Said, words: Words) -> tuple[str, ...]:
    company = words.company()
    said.new.append(company)
    return (company,)


def _read_closed(said: Said, words: Words) -> tuple[str, ...]:
    said.closed.append(words.company())
    return (said.closed[-1],)


def _read_connected(said: Said, words: Words) -> tuple[str, ...]:
    said.connected.append(words.company())
    return (said.connected[-1],)


def _read_destination(said: Said, words: Words) -> tuple[str, ...]:
    company = words.company()
    said.destinations[company] = words.hex()
    return (company,)


def _read_improvement(said: Said, words: Words) -> tuple[str, ...]:
    words.at -= 1
    private, opened = words.improvement()
    said.improvements[private] = Improvement(words.hex(), words.company(), opened)
    return (private,)


READERS: dict[str, Callable[[Said, Words], tuple[str, ...]]] = {
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
    "markers": _read_markers,
    "limit": _read_limit,
    "phase": _read_phase,
    "priority": _read_priority,
    "left": _read_left,
    "round": _read_round,
    "new": _read_new,
    "size": _read_size,
    "loans": _read_loans,
    "interest": _read_interest,
    "mine": _read_mine,
    "bridge": _read_bridge,
    "closed": _read_closed,
    "connected": _read_connected,
    "destination": _read_destination,
    "cattle": _read_improvement,
    "port": _read_improvement,
}
