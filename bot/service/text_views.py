"""A position in plain text, for every title: made from the engine's public face alone.

For terminals, letters and whoever reads with a screen reader. Figures are dollars, shares percent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import engine
from bot.service.live_table import LiveTable, LogEntry
from bot.service.results import PendingDecision

LINE_WIDTH = 78
CELL_WIDTH = 6  # of the market


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Columns in fixed width: the first to the left, the others to the right where they are figures."""
    cells = [list(head), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return ["  ".join(_align(c, w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]


def _align(text: str, width: int) -> str:
    figure = text[:1].isdigit() or (text[:1] in "$-" and text != "-")
    return text.rjust(width) if figure else text.ljust(width)


def join_words(words: Sequence[str], last: str = "and") -> str:
    """`Ann, Bob and Cid`."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


# -- whose turn ------------------------------------------------------------------------------


def waiting_sentence(state: engine.State, asked: Sequence[PendingDecision]) -> str:
    """Whom the table waits for, as a sentence."""
    if state.game_over:
        return f"The game is over: {state.game_over.reason.rstrip('.')}. {standings_sentence(state)}"
    main = [a for a in asked if a.is_main]
    beside = [f"{a.name} is asked {a.prompt}." for a in asked if not a.is_main]
    first = [f"It is for {join_words([a.name for a in main])} {main[0].prompt}."] if main else []
    return " ".join([*first, *beside])


def standings_sentence(state: engine.State) -> str:
    """The standings as a sentence, the winner first."""
    found = engine.standings(state)
    return join_words([f"{state.name(seat)} {dollars(worth)}" for seat, worth in found.items()]) + "."


def dollars(amount: int) -> str:
    """`$1,200`, `-$17`."""
    return f"{'-' * (amount < 0)}${abs(amount):,}"


def cash_changes(before: engine.State, after: engine.State) -> Iterator[str]:
    """Whose cash is another now, players and companies, the bank left out."""
    for owner, now in after.cash.items():
        had = before.cash.get(owner, 0)
        if owner != engine.BANK and now != had:
            yield f"{after.name(owner)} {dollars(had)} → {dollars(now)}"


def headline(state: engine.State) -> str:
    """Where the game is: round, phase, bank, priority."""
    parts = [engine.round_name(state), f"phase {state.phase}", *_bank_text(state), *_lending_text(state)]
    return ", ".join([*parts, f"priority {state.name(state.priority)}"])


def _bank_text(state: engine.State) -> Iterator[str]:
    """What the bank has, where it can run out."""
    left = state.cash[engine.BANK]
    if engine.game_of(state).components.bank is not None:
        yield f"bank ${left:,}" if left >= 0 else f"the bank is broken and owes ${-left:,}"


def _lending_text(state: engine.State) -> Iterator[str]:
    """What a loan costs, and how many are taken."""
    if lending := engine.loan_status(state):
        yield str(lending)


# -- people and companies --------------------------------------------------------------------


def status_view(state: engine.State, asked: Sequence[PendingDecision], viewer: int | None = None) -> str:
    """Everybody's possessions, all companies, the trains that are left, and whose turn it is.

    viewer: the seat that reads it, where treasuries are private; None for the whole table.
    """
    companies_now = companies_table(state, viewer)
    parts = [headline(state), "", *players_table(state), "", *companies_now, "", *trains_text(state)]
    if unsold := [p for p, owner in state.private_owners.items() if owner == engine.BANK]:
        parts.append(f"Privates for sale: {', '.join(unsold)}")
    return "\n".join([*parts, "", waiting_sentence(state, asked)])


def players_table(state: engine.State) -> list[str]:
    """Cash, certificates, worth and possessions of each player."""
    g = engine.game_of(state)
    limit = engine.certificate_limit(g)
    rows = [
        (
            state.name(seat) + (" (bankrupt)" if seat in state.bankrupt_seats else ""),
            dollars(state.cash[seat]),
            f"{engine.counted_certificates(g, seat)}/{limit}",
            dollars(engine.net_worth(g, seat)),
            ", ".join([*_share_texts(state, seat), *_privates_of(state, seat)]) or "-",
        )
        for seat in state.seats
    ]
    return text_table(("player", "cash", "certs", "worth", "owns"), rows)


def _share_texts(state: engine.State, owner: str) -> list[str]:
    return [
        f"{sym} {holding_text(company.shares[owner])}" + ("*" if company.president == owner else "")
        for sym, company in state.companies.items()
        if company.shares.get(owner)
    ]


def holding_text(percent: int) -> str:
    """A holding: `20%`, or `short 20%` of what was sold without being had."""
    return f"{percent}%" if percent >= 0 else f"short {-percent}%"


def _privates_of(state: engine.State, owner: str) -> list[str]:
    return [private for private, at in state.private_owners.items() if at == owner]


def treasury_text(state: engine.State, sym: str, viewer: int | None) -> str:
    """A company's cash, as far as that seat may see it."""
    seat = None if viewer is None else state.seats[viewer]
    return "private" if sym in engine.hidden_treasuries(state, seat) else f"${state.cash[sym]:,}"


def companies_table(state: engine.State, viewer: int | None = None) -> list[str]:
    """Price, president, treasury, shares and trains of each company that has begun."""
    g = engine.game_of(state)
    begun = {sym: co for sym, co in state.companies.items() if co.president or co.cell or co.par is not None}
    if not begun:
        return ["No company has begun."]
    sized, loans = bool(g.components.company_sizes), g.components.loans is not None
    own = sized or g.title.flotation.rest_to_treasury
    percents = [*([] if sized else [(engine.IPO, "ipo%")]), (engine.POOL, "pool%")]
    rows = [
        (
            sym,
            *([str(company.size or "-")] if sized else []),
            price_text(state, sym),
            state.name(company.president) if company.president else "-",
            treasury_text(state, sym, viewer) if company.floated else "not floated",
            *([str(company.loans)] if loans else []),
            *(str(company.shares.get(place, 0)) for place, _ in percents),
            *([str(company.shares.get(sym, 0))] if own else []),
            " ".join(company.trains) or "-",
            str(company.unplaced_tokens),
            ", ".join(_privates_of(state, sym)) or "-",
        )
        for sym, company in begun.items()
    ]
    head = (
        "company",
        *(["size"] if sized else []),
        "price",
        "president",
        "treasury",
        *(["loans"] if loans else []),
        *(name for _, name in percents),
        *(["own%"] if own else []),
        "trains",
        "tokens",
        "privates",
    )
    return text_table(head, rows)


def price_text(state: engine.State, company: str) -> str:
    """What a share costs, or the zone where it has no price, or `-`."""
    cell = state.companies[company].cell
    if cell is None:
        return "-"
    return engine.space_label(engine.game_of(state), cell).partition(" ")[2]


def trains_text(state: engine.State) -> list[str]:
    """The trains that can still be bought from the bank, and those in the pool."""
    facts = {train.name: train for train in engine.game_of(state).components.trains}
    left = [
        f"{'any number of' if count is None else count} x {name} (${facts[name].price})"
        for name, count in state.depot.items()
        if count is None or count
    ]
    pool = f"; in the pool: {' '.join(state.pool_trains)}" if state.pool_trains else ""
    return [f"Trains: {', '.join(left) or 'none'}{pool}"]


def player_view(state: engine.State, name: str) -> str | None:
    """One player's possessions; None where nobody is called so."""
    seat = next((s for s in state.seats if state.name(s).casefold() == name.casefold()), None)
    if seat is None:
        return None
    head, *rows = players_table(state)
    return "\n".join([head, rows[state.seats.index(seat)]])


def company_view(state: engine.State, symbol: str, viewer: int | None = None) -> str | None:
    """One company: its figures, who holds its shares, where its tokens are; None where there is none."""
    key = symbol.casefold().replace("&", "")
    sym = next((s for s in state.companies if s.casefold().replace("&", "") == key), None)
    if sym is None:
        return None
    found, facts = state.companies[sym], engine.game_of(state).components
    name = next(c.name for c in facts.companies if c.sym == sym)
    tokens = [hex for hex, placed in state.tokens.items() if any(owner == sym for _, owner in placed)]
    held = [
        f"{'treasury' if owner == sym else state.name(owner)} {holding_text(percent)}"
        for owner, percent in found.shares.items()
        if percent
    ]
    lines = [
        f"{sym}: {name}",
        f"price {price_text(state, sym)}, par {f'${found.par}' if found.par is not None else '-'}, "
        f"treasury {treasury_text(state, sym, viewer)}, {'floated' if found.floated else 'not floated'}",
        f"president {state.name(found.president) if found.president else '-'}; shares: {', '.join(held)}",
        f"trains: {' '.join(found.trains) or 'none'}; tokens on {', '.join(tokens) or 'no hex'}, "
        f"{found.unplaced_tokens} on the charter",
    ]
    if facts.loans and found.size:
        most = facts.company_sizes[found.size].max_loans
        owing = f"; markers not paid: {found.owed_tokens}" if found.owed_tokens else ""
        lines.append(f"{found.size} shares; loans: {found.loans} of {most}{owing}")
    if own := _privates_of(state, sym):
        lines.append(f"privates: {', '.join(own)}")
    return "\n".join(lines)


# -- board and market ------------------------------------------------------------------------


def map_view(state: engine.State) -> str:
    """The tiles that lie on the map, the tokens in its cities, mines and bridges, by hex."""
    hexes = engine.game_of(state).components.map.hexes
    rows = []
    for hex in sorted({*state.tiles, *state.tokens, *state.bridge_hexes}, key=_coordinate_key):
        tile = state.tiles.get(hex)
        tokens = ", ".join(owner for _, owner in sorted(state.tokens.get(hex, [])))
        works = [
            name for name, at in (("mine", state.mine_hexes), ("bridge", state.bridge_hexes)) if hex in at
        ]
        name = ", ".join([*filter(None, [hexes[hex].name]), *works])
        rows.append((hex, f"#{tile[0]} turn {tile[1]}" if tile else "printed", tokens, name))
    return (
        "\n".join(text_table(("hex", "tile", "tokens", "name"), rows)) if rows else "The map is as printed."
    )


def _coordinate_key(hex: str) -> tuple[str, int]:
    letters = hex.rstrip("0123456789")
    return letters, int(hex[len(letters) :] or 0)


def market_view(state: engine.State) -> str:
    """The stock market as a grid, the companies by price, and what loans cost."""
    rows = engine.game_of(state).components.market.rows
    at: dict[tuple[int, int], list[str]] = {}
    for sym in state.market_order:
        cell = state.companies[sym].cell
        if cell:
            at.setdefault(cell, []).append(sym)
    most = LINE_WIDTH // CELL_WIDTH if len(rows) == 1 else max(len(row) for row in rows)
    grid = [
        "".join(_cell_text(cell, (y, x) in at).rjust(CELL_WIDTH) for x, cell in part).rstrip()
        for y, row in enumerate(rows)
        for part in (list(enumerate(row))[start : start + most] for start in range(0, len(row), most))
    ]
    stand = [
        f"${found.price}: {', '.join(here)}" + (f" ({', '.join(found.zones)})" if found.zones else "")
        if found.price
        else f"{engine.space_label(engine.game_of(state), (y, x)).capitalize()}: {', '.join(here)}"
        for (y, x), here in sorted(at.items(), key=lambda item: -_cell_price(rows, item[0]))
        if (found := rows[y][x])
    ]
    owed = [f"{said.capitalize()}." for said in _lending_text(state)]
    return "\n".join([*grid, "", *(stand or ["No company has a price."]), *owed])


def _cell_text(cell: engine.MarketCell | None, taken: bool) -> str:
    """A space: its price, or the beginning of its zone where it has none; with `*` where tokens lie."""
    if cell is None:
        return ""
    named = str(cell.price) if cell.price or not cell.zones else cell.zones[0][:3]
    return f"{named}{'*' if taken else ''}"


def _cell_price(rows: Sequence[Sequence[engine.MarketCell | None]], at: tuple[int, int]) -> int:
    cell = rows[at[0]][at[1]]
    return cell.price if cell else 0


# -- the log and help ------------------------------------------------------------------------


def log_entry_line(one: LogEntry, names: Sequence[str]) -> str:
    """A row of the log in one line; undone moves are marked."""
    who = f"{names[one.seat]}: " if one.seat is not None and one.line else ""
    undone = "" if one.is_live else "(undone) "
    told = f" — {' '.join(one.sentences)}" if one.line and one.sentences not in ((), (one.line,)) else ""
    return f"{one.seq:>4}  {undone}{who}{one.text}{told}"


def log_view(play: LiveTable, last: int = 12) -> str:
    """The last rows of the log."""
    rows = play.log(max(play.seq - last, 0))
    return "\n".join(log_entry_line(row, play.state.players) for row in rows if row.has_text)


COMMAND_HELP = (
    ("status", "everybody's possessions and whose turn it is"),
    ("map, market", "the board and the stock market"),
    ("company X, player X", "one of them"),
    ("log 20", "the last rows of the log"),
    ("at or 2.1, at 120", "how it stood at a round, or at a row of the log"),
    ("plan LINE; LINE", "try lines on a copy; `plan more LINE`, `show`, `play`, `clear`"),
    ("export 18xx.games", "the game as a file; also text, csv"),
    ("undo, redo", "take the last own move back; by a vote where others have moved since"),
    ("resign", "give up the seat"),
)


def help_view(state: engine.State, seat: int, asked: Sequence[PendingDecision]) -> str:
    """What that seat may say now, and what everybody may always say."""
    choices = engine.choices(state, f"p{seat}") if any(a.seat == seat for a in asked) else []
    always = [f"  {word.ljust(21)}{says}" for word, says in COMMAND_HELP]
    width = max((len(c.line) for c in choices), default=0)
    lines = [f"  {c.line.ljust(width)}  {c.label}" for c in choices[:40]]
    more = [f"  and {len(choices) - 40} more of the same kinds"] if len(choices) > 40 else []
    head = ["You may say:"] if choices else ["Nothing is asked of you now."]
    return "\n".join([waiting_sentence(state, asked), *head, *lines, *more, "Always:", *always])
