"""A position in plain text, for every title, made from the engine's public interface alone.

For terminals, mail and screen readers. Amounts are in dollars, shares in percent.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import engine
from bot.position.pending import PendingDecision, engine_seat, prompt_of
from bot.position.sentences import connection_lines, for_sale, private_text, sale_line, track_phrases
from engine.core.state import Company
from engine.core.words import dollars, join_words

LINE_WIDTH = 72  # of tables: as wide as an email may be
PHONE_WIDTH = 40
MIN_LAST_COLUMN = 24  # of a table whose last column is wrapped
CELL_WIDTH = 6  # of the market
MAX_HELP_LINES = 40


class Table(NamedTuple):
    """A table of texts: the names of its columns, and its rows."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self, width: int = 0) -> list[str]:
        """In fixed width. width: at most so many columns, 0 for any number. A table that is wider wraps its
        last column, or has a paragraph for each row."""
        plain = text_table(self.head, self.rows)
        if not width or max(map(len, plain)) <= width:
            return plain
        first = text_table(self.head[:-1], [row[:-1] for row in self.rows])
        indent = max(map(len, first)) + 2
        if indent + MIN_LAST_COLUMN <= width:
            cells = [self.head[-1], *(row[-1] for row in self.rows)]
            texts = (f"{line.ljust(indent)}{cell}" for line, cell in zip(first, cells, strict=True))
            return [part for text in texts for part in _wrapped(text, width, indent)]
        return [part for row in self.rows for part in _wrapped(self._row_text(row), width, 2)]

    def _row_text(self, row: Sequence[str]) -> str:
        """`PRR: price $76; president Ann; treasury $500`."""
        told = (f"{name} {cell}" for name, cell in zip(self.head[1:], row[1:], strict=True) if cell != "-")
        return f"{row[0]}: {'; '.join(told)}"

    def numeric(self) -> list[bool]:
        """Which columns hold numbers, by the first row."""
        return [is_number(cell) for cell in self.rows[0]]


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table with columns of fixed width; numbers are aligned to the right, and so is what stands above."""
    cells = [list(head), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = ["  ".join(_align(c, w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells[1:]]
    above = zip(head, cells[1] if cells[1:] else head, widths, strict=True)
    names = (name.rjust(width) if is_number(cell) else name.ljust(width) for name, cell, width in above)
    return ["  ".join(names).rstrip(), *lines]


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    """A text in lines, those below the first with an indent, broken only between what commas part."""
    bound = re.sub(r"(?<![,;]) ", "\u00a0", text)
    lines = textwrap.wrap(
        bound, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\u00a0", " ") for line in lines]


def is_number(text: str) -> bool:
    """Whether a cell holds a number, such as `12`, `$40` or `-5`."""
    return text[:1].isdigit() or (text[:1] in "$-" and text != "-")


def _align(text: str, width: int) -> str:
    return text.rjust(width) if is_number(text) else text.ljust(width)


# -- whose turn ------------------------------------------------------------------------------


def waiting_sentence(state: engine.State, pending: Sequence[PendingDecision]) -> str:
    """Who is to act and what they decide: `Ann to act: lay track for the PRR.` After the end: the result."""
    if state.game_over:
        return f"{over_sentence(state)} {standings_sentence(state)}"
    main = [p for p in pending if p.is_main and p.acts_now]
    sentences = [f"{join_words([p.name for p in main])} to act: {engine.prompt(state)}."] if main else []
    sentences += [f"{p.name} to act: {prompt_of(state, p)}." for p in pending if not p.is_main]
    return " ".join(sentences)


def over_sentence(state: engine.State) -> str:
    """Why the game is over; nothing if it is not."""
    if state.game_over is None:
        return ""
    reason = state.game_over.reason.rstrip(".")
    if not reason.startswith(tuple(f"{name} " for name in state.players)):
        reason = reason[:1].lower() + reason[1:]
    return f"The game is over: {reason}."


def question_text(state: engine.State, pending: Sequence[PendingDecision]) -> str:
    """Who is to act; before a connection run also what it brings, in a line for each way to it."""
    return "\n".join([waiting_sentence(state, pending), *connection_lines(state)])


def standings_sentence(state: engine.State) -> str:
    """Names and net worth, the richest first."""
    standings = engine.standings(state)
    return join_words([f"{state.name(seat)} {dollars(worth)}" for seat, worth in standings.items()]) + "."


def cash_changes(before: engine.State, after: engine.State) -> Iterator[str]:
    """Players and companies whose cash has changed, with both amounts."""
    for owner, cash in after.cash.items():
        former = before.cash.get(owner, 0)
        if owner != engine.BANK and cash != former:
            yield f"{after.name(owner)} {dollars(former)} → {dollars(cash)}"


def headline(state: engine.State) -> str:
    """Round, phase, bank, loans and priority."""
    parts = [engine.round_name(state), f"phase {state.phase}", *_bank_text(state), *_lending_text(state)]
    return ", ".join([*parts, f"priority {state.name(state.priority)}"])


def _bank_text(state: engine.State) -> Iterator[str]:
    """The bank's cash, in titles where it can run out."""
    left = state.cash[engine.BANK]
    if engine.game_of(state).components.bank is not None:
        yield f"bank ${left:,}" if left >= 0 else f"the bank is broken and owes ${-left:,}"


def _lending_text(state: engine.State) -> Iterator[str]:
    """The cost of a loan and how many are taken, in titles with loans."""
    if lending := engine.loan_status(state):
        yield str(lending)


# -- players and companies --------------------------------------------------------------------


def status_view(state: engine.State, pending: Sequence[PendingDecision], viewer: int | None = None) -> str:
    """Players, companies, the trains that are left, and who is to act.

    viewer: the seat that reads it, for titles with private treasuries; None for the whole table.
    """
    parts = status_parts(state, pending, viewer)
    return "\n".join("\n".join(part.lines()) if isinstance(part, Table) else part for part in parts)


def status_parts(
    state: engine.State, pending: Sequence[PendingDecision], viewer: int | None = None
) -> list[str | Table]:
    """The same in parts: lines of text, empty ones between paragraphs, and tables."""
    for_sale_now = [f"  {sale_line(state, item, bids)}" for item, bids in for_sale(state).items()]
    return [
        *(headline(state), "", players_table(state), ""),
        companies_table(state, viewer) or "No company has started.",
        "",
        *trains_text(state),
        *(["For sale:", *for_sale_now] if for_sale_now else []),
        *private_lines(state),
        *("", waiting_sentence(state, pending)),
    ]


def private_lines(state: engine.State) -> list[str]:
    """The privates that somebody owns: `  CA Camden & Amboy (pays $25): Ann`."""
    holders = (engine.BANK, engine.IPO, engine.CLOSED)
    owned = {sym: owner for sym, owner in state.private_owners.items() if owner not in holders}
    lines = [f"  {private_text(state, sym)}: {state.name(owner)}" for sym, owner in owned.items()]
    return ["Privates:", *lines] if lines else []


def players_table(state: engine.State) -> Table:
    """Cash, certificates, worth and possessions of each player."""
    g = engine.game_of(state)
    limit = engine.certificate_limit(g)
    rows = [
        (
            state.name(seat) + (" (bankrupt)" if seat in state.bankrupt_seats else ""),
            dollars(state.cash[seat]),
            f"{engine.counted_certificates(g, seat)}/{limit}",
            dollars(engine.net_worth(g, seat)),
            ", ".join([*share_texts(state, seat), *g.privates_of(seat)]) or "-",
        )
        for seat in state.seats
    ]
    return Table(("player", "cash", "certs", "worth", "owns"), rows)


def share_texts(state: engine.State, owner: str) -> list[str]:
    """What an owner holds of each company; `*` marks a presidency: `PRR 30%*`."""
    return [
        f"{sym} {holding_text(company.shares[owner])}" + ("*" if company.president == owner else "")
        for sym, company in state.companies.items()
        if company.shares.get(owner)
    ]


def holding_text(percent: int) -> str:
    """A holding: `20%`, or `short 20%` for shares sold short."""
    return f"{percent}%" if percent >= 0 else f"short {-percent}%"


def treasury_text(state: engine.State, sym: str, viewer: int | None) -> str:
    """A company's cash, with what is held back or still to come; `private` if that seat may not see it."""
    seat = None if viewer is None else state.seats[viewer]
    if sym in engine.hidden_treasuries(state, seat):
        return "private"
    held_back = engine.held_back_cash(state).get(sym)
    if awaited := engine.awaited_capital(state, sym):
        return f"{dollars(state.cash[sym])} ({dollars(awaited)} to come)"
    return dollars(state.cash[sym]) + (f" ({dollars(held_back)} held back)" if held_back else "")


def companies_table(state: engine.State, viewer: int | None = None) -> Table | None:
    """Price, president, treasury, shares and trains of each company that has started; None without one."""
    g = engine.game_of(state)
    started = {
        sym: co for sym, co in state.companies.items() if co.president or co.cell or co.par is not None
    }
    if not started:
        return None
    has_sizes = bool(g.components.company_sizes)
    cells: dict[str, Callable[[str, Company], object]] = {
        "company": lambda sym, _: sym,
        "size": lambda _, co: co.size or "-",
        "price": lambda sym, _: price_text(state, sym),
        "president": lambda _, co: state.name(co.president) if co.president else "-",
        "treasury": lambda sym, co: treasury_text(state, sym, viewer) if co.floated else "not floated",
        "loans": lambda _, co: co.loans,
        "ipo%": lambda _, co: co.shares.get(engine.IPO, 0),
        "pool%": lambda _, co: co.shares.get(engine.POOL, 0),
        "own%": lambda sym, co: co.shares.get(sym, 0),
        "trains": lambda _, co: " ".join(co.trains) or "-",
        "tokens": lambda _, co: co.unplaced_tokens,
        "privates": lambda sym, _: ", ".join(g.privates_of(sym)) or "-",
    }
    in_some = {
        "size": has_sizes,
        "loans": g.components.loans is not None,
        "ipo%": not has_sizes,
        "own%": has_sizes or g.title.flotation.rest_to_treasury,
    }
    head = [name for name in cells if in_some.get(name, True)]
    return Table(head, [[str(cells[name](sym, co)) for name in head] for sym, co in started.items()])


def price_text(state: engine.State, company: str) -> str:
    """The price of a share, else the zone of its space on the market, else `-`."""
    cell = state.companies[company].cell
    if cell is None:
        return "-"
    return engine.space_name(engine.game_of(state), cell)


def trains_text(state: engine.State) -> list[str]:
    """The trains that can still be bought from the bank, with what the first of a type rusts, and those in
    the pool."""
    prices = {train.name: train.price for train in engine.game_of(state).components.trains}
    left = []
    for name, count in state.depot.items():
        if count == 0:
            continue
        rusted = engine.trains_rusted_by(state, name)
        rusts = f", rusts {' '.join(rusted)}" if rusted else ""
        number = "any number of" if count is None else f"{count} x"
        left.append(f"{number} {name} (${prices[name]:,}{rusts})")
    pool = f"; in the pool: {' '.join(state.pool_trains)}" if state.pool_trains else ""
    return [f"Trains: {', '.join(left) or 'none'}{pool}"]


def player_view(state: engine.State, name: str) -> str | None:
    """One player's possessions; None if there is no player of that name. `player 1` may mean `Player 1`."""
    names = [each.casefold() for each in (name, f"player {name}")]
    seat = next((s for each in names for s in state.seats if state.name(s).casefold() == each), None)
    if seat is None:
        return None
    head, *rows = players_table(state).lines()
    return "\n".join([head, rows[state.seats.index(seat)]])


def company_view(state: engine.State, sym: str, viewer: int | None = None) -> str:
    """One company: price, president, shareholders, trains, tokens, loans."""
    g, company = engine.game_of(state), state.companies[sym]
    components = g.components
    name = next(c.name for c in components.companies if c.sym == sym)
    hexes = [hex for hex, tokens in state.tokens.items() if any(owner == sym for _, owner in tokens)]
    holdings = [
        f"{'treasury' if owner == sym else state.name(owner)} {holding_text(percent)}"
        for owner, percent in company.shares.items()
        if percent
    ]
    president = state.name(company.president) if company.president else "-"
    lines = [
        f"{sym}: {name}",
        f"price {price_text(state, sym)}, par {f'${company.par:,}' if company.par is not None else '-'}, "
        f"treasury {treasury_text(state, sym, viewer)}, {'floated' if company.floated else 'not floated'}",
        f"president {president}; shares: {', '.join(holdings)}",
        f"trains: {' '.join(company.trains) or 'none'}; tokens on {', '.join(hexes) or 'no hex'}, "
        f"{company.unplaced_tokens} on the charter",
    ]
    if components.loans and company.size:
        max_loans = components.company_sizes[company.size].max_loans
        unpaid = f"; unpaid tokens: {company.owed_tokens}" if company.owed_tokens else ""
        lines.append(f"{company.size} shares; loans: {company.loans} of {max_loans}{unpaid}")
    if privates := g.privates_of(sym):
        lines.append(f"privates: {', '.join(private_text(state, sym) for sym in privates)}")
    return "\n".join(lines)


# -- map and market ------------------------------------------------------------------------


def map_view(state: engine.State) -> str:
    """By hex what its track joins, with stops, values and tokens: of laid tiles, tokens, structures, and of
    printed track."""
    hexes = engine.game_of(state).components.map.hexes
    changed = {*state.tiles, *state.tokens, *state.bridge_hexes, *state.mine_hexes}
    printed = {hex for hex, face in hexes.items() if face.paths and hex not in changed}
    lines = [_hex_line(state, hex) for hex in sorted(changed, key=_coordinate_key)]
    lines = lines or ["Nothing is laid yet."]
    return "\n".join(
        [*lines, "Printed:", *(_hex_line(state, hex) for hex in sorted(printed, key=_coordinate_key))]
    )


def _hex_line(state: engine.State, hex: str) -> str:
    """`H10 Pittsburgh, #57: city $20 (PRR) - H8, H12`."""
    printed = engine.game_of(state).components.map.hexes[hex]
    tile = [f"#{state.tiles[hex][0]}"] if hex in state.tiles else []
    built = [name for name, at in (("mine", state.mine_hexes), ("bridge", state.bridge_hexes)) if hex in at]
    name = ", ".join([f"{hex} {printed.name}" if printed.name else hex, *tile, *built])
    return f"{name}: {'; '.join(track_phrases(state, hex)) or 'no track'}"


def _coordinate_key(hex: str) -> tuple[str, int]:
    letters = hex.rstrip("0123456789")
    return letters, int(hex[len(letters) :] or 0)


def market_view(state: engine.State) -> str:
    """The stock market in lines that fit a phone: one row of spaces as a grid; of a market with several rows
    only the spaces with companies, each with those beside it, and the par prices before there is one. Then
    what loans cost."""
    rows = engine.game_of(state).components.market.rows
    companies_at: dict[tuple[int, int], list[str]] = {}
    for sym in state.market_order:
        if place := state.companies[sym].cell:
            companies_at.setdefault(place, []).append(sym)
    prices = []
    for at, syms in sorted(companies_at.items(), key=lambda item: -_cell_price(rows, item[0])):
        prices.append(_occupied_space(state, at, syms))
        if len(rows) > 1:
            prices.append(f"  {_spaces_beside(rows, at)}")
    loans = [f"{text.capitalize()}." for text in _lending_text(state)]
    pars = sorted({cell.price for row in rows for cell in row if cell and "par" in cell.zones})
    grid = [f"Par: {', '.join(map(dollars, pars))}"] if pars and not prices else []
    if len(rows) == 1:
        grid = [*_grid_of_row(rows[0], companies_at), ""]
    return "\n".join([*grid, *(prices or ["No company has a price."]), *loans])


def _occupied_space(state: engine.State, at: tuple[int, int], syms: Sequence[str]) -> str:
    """`$100: PRR, NYC (yellow)`; the name of a space without a price."""
    cell = engine.game_of(state).components.market.rows[at[0]][at[1]]
    if cell is None or not cell.price:
        return f"{engine.space_label(engine.game_of(state), at).capitalize()}: {', '.join(syms)}"
    zones = f" ({', '.join(cell.zones)})" if cell.zones else ""
    return f"${cell.price:,}: {', '.join(syms)}{zones}"


def _spaces_beside(rows: Sequence[Sequence[engine.MarketCell | None]], at: tuple[int, int]) -> str:
    """`left $90, right $112, up $110, down $90`; a side without a space is left out."""
    beside = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
    found = []
    for name, (down, right) in beside.items():
        y, x = at[0] + down, at[1] + right
        cell = rows[y][x] if 0 <= y < len(rows) and 0 <= x < len(rows[y]) else None
        if cell is not None:
            found.append(f"{name} {dollars(cell.price) if cell.price else _cell_text(cell, False)}")
    return ", ".join(found)


def _grid_of_row(
    row: Sequence[engine.MarketCell | None], companies_at: Collection[tuple[int, int]]
) -> Iterator[str]:
    width = PHONE_WIDTH // CELL_WIDTH
    for start in range(0, len(row), width):
        part = list(enumerate(row))[start : start + width]
        cells = (_cell_text(cell, (0, x) in companies_at).rjust(CELL_WIDTH) for x, cell in part)
        yield "".join(cells).rstrip()


def _cell_text(cell: engine.MarketCell | None, occupied: bool) -> str:
    """A space: its price, else the first letters of its zone, and `*` if a company is there."""
    if cell is None:
        return ""
    text = str(cell.price) if cell.price or not cell.zones else cell.zones[0][:3]
    return f"{text}{'*' if occupied else ''}"


def _cell_price(rows: Sequence[Sequence[engine.MarketCell | None]], at: tuple[int, int]) -> int:
    cell = rows[at[0]][at[1]]
    return cell.price if cell else 0


# -- help ------------------------------------------------------------------------


def help_view(
    state: engine.State, seat: int, pending: Sequence[PendingDecision], commands: Sequence[str]
) -> str:
    """The legal lines of a seat now, and the commands that are always possible."""
    is_pending = any(p.seat == seat for p in pending)
    choices = engine.choices(state, engine_seat(seat)) if is_pending else []
    width = max((len(c.line) for c in choices), default=0)
    lines = [f"  {c.line.ljust(width)}  {c.label}" for c in choices[:MAX_HELP_LINES]]
    rest = len(choices) - MAX_HELP_LINES
    more = [f"  and {rest} more like these"] if rest > 0 else []
    heading = ["Your options:"] if choices else ["You have nothing to decide now."]
    return "\n".join([question_text(state, pending), *heading, *lines, *more, "Always:", *commands])
