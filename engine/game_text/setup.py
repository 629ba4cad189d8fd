"""Set-up lines: each line is read into a `Setup`, whatever the order of the lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from engine.core.state import BANK, CLOSED, POOL, CityToken
from engine.finance.ownership import certificate_limit, share_percent, source_holder
from engine.game import Game
from engine.game_text.word_reader import InvalidLineError, WordReader

Value = TypeVar("Value")


@dataclass
class Setup:
    """The contents of all set-up lines.

    Dictionaries are by company, seat, private, hex or owner, whichever the line is about; money is in
    dollars, shares in percent. `cells`: market spaces as (row, column). `depot`: the train for sale and
    how many are left. `tiles`: tile and rotation, None where it is left out. `tokens`: hex and node,
    None where it is left out. `not_operated`: companies that have floated but not operated.
    `rounds_left`: operating rounds until the end once the bank is broken. `stock_turn`: the seat whose
    turn it is in a stock round. `operating_turn`, `merger_turn`: the company, the number of the round.
    `line_numbers`: by keyword and subject, and by subject alone, the last line with it. `applied`: the
    keyword of the lines that are being applied.
    """

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
    awaiting: list[str] = field(default_factory=list)
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
    line_numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    applied: str = ""

    def line_about(self, subject: str, keyword: str = "") -> int:
        """The last line with that keyword, or with `applied`, about a subject; else the last line about it; 0
        where there is none."""
        last = self.line_numbers.get(("", subject), 0)
        return self.line_numbers.get((keyword or self.applied, subject), last)


def read_setup_line(setup: Setup, words: WordReader) -> tuple[str, ...]:
    """Read a line into the set-up. Returns its keyword and its subjects."""
    word = words.expect(*SETUP_READERS)
    subject = SETUP_READERS[word](setup, words)
    words.expect_end()
    return (word, *subject)


def _read_cash(setup: Setup, words: WordReader) -> tuple[str, ...]:
    who = words.cash_holder()
    setup.cash[who] = words.amount()
    return (who,)


def _read_owns(setup: Setup, words: WordReader) -> tuple[str, ...]:
    source, company = words.shareholder(), words.company()
    holder = source_holder(company, source)
    if words.g.components.company_sizes and words.g.company(company).size is None:
        raise InvalidLineError(f"Name the number of shares of the {company} first: size {company} 5.")
    percent = words.amount("a number of shares, such as 6") * share_percent(words.g, company)
    if percent < 0 and not words.g.components.company_sizes:
        raise InvalidLineError("Nobody sells short in this title.")
    setup.shares.setdefault(company, {})[holder] = percent
    return holder, company


def _read_private(setup: Setup, words: WordReader) -> tuple[str, ...]:
    private = words.private()
    setup.privates[private] = words.private_owner()
    if setup.privates[private] == BANK:
        raise InvalidLineError(
            f"The bank has no private after the opening. Write {CLOSED} instead: private {private} {CLOSED}."
        )
    return (private,)


def _read_price(setup: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    if zone := words.accept(*UNPRICED_ZONES):
        setup.cells[company] = zone_cell(words, zone)
        setup.market_order.append(company)
        return (company,)
    price = words.amount()
    row = words.amount("a row of the market, from 0") if words.has_more else None
    setup.cells[company] = market_cell(words.g, price, row)
    if company in setup.market_order:  # a par line came first
        setup.market_order.remove(company)
    setup.market_order.append(company)
    return (company,)


UNPRICED_ZONES = ("acquisition", "liquidation")
"""Market zones whose spaces have no price, and are named by the zone and a number."""


def zone_cell(words: WordReader, zone: str) -> tuple[int, int]:
    """The space of a zone with the number that follows, counted from the left; else the first."""
    number = words.amount("the number of the space, from the left") if words.has_more else 1
    rows = words.g.components.market.rows
    cells = [(r, c) for r, row in enumerate(rows) for c, x in enumerate(row) if x and zone in x.zones]
    if not 1 <= number <= len(cells):
        raise InvalidLineError(f"There are {len(cells)} spaces of {zone} on the market of this title.")
    return cells[number - 1]


def _read_size(setup: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    size = words.amount("a number of shares")
    if size not in words.g.components.company_sizes:
        sizes = ", ".join(map(str, words.g.components.company_sizes)) or "no sizes to choose in this title"
        raise InvalidLineError(f"A company cannot have {size} shares; there are {sizes}.")
    setup.sizes[company] = words.g.company(company).size = size
    return (company,)


def _read_loans(setup: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    setup.loans[company] = words.amount("a number of loans")
    if words.g.components.loans is None:
        raise InvalidLineError("There are no loans in this title.")
    return (company,)


def _read_interest(setup: Setup, words: WordReader) -> tuple[str, ...]:
    setup.interest = words.amount()
    return ("interest",)


def market_cell(g: Game, price: int, row: int | None) -> tuple[int, int]:
    """The market space with that price: in that row, else the only one, else the space for that par."""
    cells = [
        (r, c)
        for r, cells_of_row in enumerate(g.components.market.rows)
        for c, cell in enumerate(cells_of_row)
        if cell is not None and cell.price == price and row in (None, r)
    ]
    if not cells:
        raise InvalidLineError(
            f"No space of the market {'' if row is None else f'in row {row} '}has ${price:,}."
        )
    if len(cells) > 1:
        par_cell = g.title.par_cell(price)
        if par_cell is None:
            rows = ", ".join(str(r) for r, _ in cells)
            raise InvalidLineError(f"${price:,} is in rows {rows}; name the row: price COMPANY {price} ROW.")
        return par_cell
    return cells[0]


def _read_par(setup: Setup, words: WordReader) -> tuple[str, ...]:
    company, price = words.company(), words.amount()
    if price not in words.g.components.par_prices:
        raise InvalidLineError(
            f"${price:,} is no par price; there are {', '.join(map(str, words.g.components.par_prices))}."
        )
    setup.pars[company] = price
    if company not in setup.market_order:
        setup.market_order.append(company)
    return (company,)


def _read_trains(setup: Setup, words: WordReader) -> tuple[str, ...]:
    if words.accept(BANK):
        types = words.trains()
        if len(set(types)) > 1:
            raise InvalidLineError(
                "Name only the type of train that the bank sells now; later types are complete."
            )
        return _set_depot(setup, types[0] if types else None, len(types))
    owner = words.accept(POOL) or words.company()
    setup.trains[owner] = words.trains()
    return (owner,)


def _read_depot(setup: Setup, words: WordReader) -> tuple[str, ...]:
    return _set_depot(setup, words.train(), words.amount("a number of trains") if words.has_more else None)


def _set_depot(setup: Setup, train: str | None, left: int | None) -> tuple[str, ...]:
    if setup.depot is not None:
        raise InvalidLineError("The bank's trains are named twice.")
    setup.depot = (train, left)
    return (BANK,)


def _read_tile(setup: Setup, words: WordReader) -> tuple[str, ...]:
    hex, tile = words.hex(), words.tile()
    setup.tiles[hex] = (tile, words.amount("a rotation from 0 to 5") if words.has_more else None)
    return (hex,)


def _read_token(setup: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    setup.tokens[company] = [words.city()]
    while words.has_more:
        setup.tokens[company].append(words.city())
    return (company,)


def _read_limit(setup: Setup, words: WordReader) -> tuple[str, ...]:
    limit = certificate_limit(words.g)
    if words.amount("a number of certificates") != limit:
        raise InvalidLineError(f"With {len(words.g.state.players)} players the certificate limit is {limit}.")
    return ()


def _read_phase(setup: Setup, words: WordReader) -> tuple[str, ...]:
    setup.phase = words.phase()
    return ("phase",)


def _read_priority(setup: Setup, words: WordReader) -> tuple[str, ...]:
    setup.priority = words.player()
    return ()


def _read_rounds_left(setup: Setup, words: WordReader) -> tuple[str, ...]:
    setup.rounds_left = words.amount("a number of rounds")
    return ("left",)


def _read_round(setup: Setup, words: WordReader) -> tuple[str, ...]:
    merger_rounds = ("merger", "sale") if words.g.components.company_sizes else ()
    kind = words.expect("stock", "operating", *merger_rounds)
    if kind == "stock":
        setup.stock_turn = words.player()
    elif kind != "operating":
        company = words.company()
        setup.merger_turn = (kind, company, words.amount("the number of the round") if words.has_more else 1)
    else:
        company = words.company()
        setup.operating_turn = (
            company,
            words.amount("the number of the round in its set") if words.has_more else 1,
        )
    return ("round",)


def _read_not_operated(setup: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    if company in setup.awaiting:
        raise InvalidLineError(f"`awaits {company}` says that the {company} has no capital yet.")
    setup.not_operated.append(company)
    return (company,)


def _read_awaiting(setup: Setup, words: WordReader) -> tuple[str, ...]:
    company = words.company()
    if not words.g.title.flotation.in_next_operating_round:
        raise InvalidLineError(f"Here the {company} has its capital as soon as it floats: write `new`.")
    if company in setup.not_operated:
        raise InvalidLineError(f"`new {company}` says that the {company} has its capital.")
    setup.not_operated.append(company)
    setup.awaiting.append(company)
    return (company,)


def _read_city_token(setup: Setup, words: WordReader) -> tuple[str, ...]:
    words.position -= 1
    private, is_open = words.city_token()
    setup.city_tokens[private] = CityToken(words.hex(), words.company(), is_open)
    return (private,)


def _of_company(
    values: Callable[[Setup], dict[str, Value]], read: Callable[[WordReader], Value]
) -> Callable[[Setup, WordReader], tuple[str, ...]]:
    """The reader of a line that says one thing of a company."""

    def read_line(setup: Setup, words: WordReader) -> tuple[str, ...]:
        company = words.company()
        values(setup)[company] = read(words)
        return (company,)

    return read_line


def _listed(
    names: Callable[[Setup], list[str]], read: Callable[[WordReader], str]
) -> Callable[[Setup, WordReader], tuple[str, ...]]:
    """The reader of a line that names a company or a hex of which something holds."""

    def read_line(setup: Setup, words: WordReader) -> tuple[str, ...]:
        names(setup).append(read(words))
        return (names(setup)[-1],)

    return read_line


SETUP_READERS: dict[str, Callable[[Setup, WordReader], tuple[str, ...]]] = {
    "cash": _read_cash,
    "owns": _read_owns,
    "president": _of_company(lambda setup: setup.presidents, WordReader.player),
    "private": _read_private,
    "price": _read_price,
    "par": _read_par,
    "trains": _read_trains,
    "depot": _read_depot,
    "tile": _read_tile,
    "token": _read_token,
    "markers": _of_company(lambda setup: setup.tokens_left, lambda words: words.amount("a number of tokens")),
    "limit": _read_limit,
    "phase": _read_phase,
    "priority": _read_priority,
    "left": _read_rounds_left,
    "round": _read_round,
    "new": _read_not_operated,
    "awaits": _read_awaiting,
    "size": _read_size,
    "loans": _read_loans,
    "interest": _read_interest,
    "mine": _listed(lambda setup: setup.mines, WordReader.hex),
    "bridge": _listed(lambda setup: setup.bridges, WordReader.hex),
    "closed": _listed(lambda setup: setup.closed, WordReader.company),
    "connected": _listed(lambda setup: setup.connected, WordReader.company),
    "destination": _of_company(lambda setup: setup.destinations, WordReader.hex),
    "cattle": _read_city_token,
    "port": _read_city_token,
}
