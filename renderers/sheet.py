"""The sheet: who owns what, and the companies' charters, in tables below one another.

A `Table` is rows of cells; its columns get the width that their words need, what is over is
shared out. Cells are words with a weight and a colour, or a token. Many players are parted into
several tables, so that letters keep their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from renderers import sprites, theme
from renderers.canvas import Page, fitting, halved, indexed, shortened, text_width
from renderers.views import Badge, CompanyView, PlayerView, SheetView, bank_words, dollars

WIDTH = 1600
SIDE = 20
ROW = 62
TEXT = 36
SMALL = 27
ABREAST = 8
"""Players of one table at most."""


def _mark_width(marker: str) -> int:
    return sprites.plate_size(marker, 28)[0] + 12 if marker else 0


@dataclass(frozen=True)
class Cell:
    """Words of a table, after a token where there is one; a marker stands after them.

    `long`: where they do not fit they are written small, in two lines.
    """

    words: str = ""
    badge: Badge | None = None
    weight: str = "Semibold"
    ink: theme.Colour = theme.INK
    align: str = "m"
    marker: str = ""
    long: bool = False

    def width(self, dense: bool = False) -> int:
        """The pixels that it takes; `dense`: where it may be in two lines, those that it needs then."""
        words = text_width(self.words, TEXT, self.weight)
        if dense and self.long:
            words = min(
                words, max((text_width(x, SMALL, self.weight) for x in halved(self.words)), default=0)
            )
        return words + (62 if self.badge else 0) + _mark_width(self.marker) + 20


NOTHING = Cell("–", ink=theme.FAINT)


@dataclass(frozen=True)
class Table:
    """A heading row and rows below it."""

    head: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def height(self) -> int:
        return ROW * (1 + len(self.rows))

    def widths(self) -> list[int]:
        """The pixels of each column; where there is too little room denser, then narrowed evenly."""
        room = WIDTH - 2 * SIDE
        wide = self._needed(dense=False)
        if sum(wide) > room:
            wide = self._needed(dense=True)
        spare = room - sum(wide)
        if spare < 0:
            return [round(w * room / sum(wide)) for w in wide]
        return [w + spare // len(wide) for w in wide]

    def _needed(self, dense: bool) -> list[int]:
        return [max(row[i].width(dense) for row in (self.head, *self.rows)) for i in range(len(self.head))]

    def paint(self, page: Page, top: int) -> None:
        widths = self.widths()
        for j, row in enumerate((self.head, *self.rows)):
            y = top + ROW * j
            if j == 0:
                page.box(SIDE, y, WIDTH - SIDE, y + ROW, theme.INK)
            else:
                page.box(SIDE, y, WIDTH - SIDE, y + ROW, theme.BAND if j % 2 else theme.PAGE)
            x = SIDE
            for cell, wide in zip(row, widths, strict=True):
                _paint_cell(page, cell, x, y, wide, head=j == 0)
                x += wide


def _paint_cell(page: Page, cell: Cell, x: int, y: int, wide: int, head: bool) -> None:
    middle = y + ROW / 2
    left = x + 10
    if cell.badge:
        page.paste(sprites.token(cell.badge, 52), (left + 26, middle))
        left += 62
    room = x + wide - 8 - left - _mark_width(cell.marker)
    ink = theme.PAPER if head else cell.ink
    if cell.long and text_width(cell.words, TEXT, cell.weight) > room:
        for line, dy in zip(halved(cell.words), (-14, 14), strict=False):
            size = fitting(line, SMALL, room, cell.weight, least=20)
            short = shortened(line, size, room, cell.weight)
            page.write((left + room / 2, middle + dy), short, size, ink, weight=cell.weight)
        return
    size = fitting(cell.words, TEXT, room, cell.weight, least=26)
    words = shortened(cell.words, size, room, cell.weight)
    if cell.align == "l":
        page.write((left, middle), words, size, ink, align="l", weight=cell.weight)
    else:
        page.write((left + room / 2, middle), words, size, ink, weight=cell.weight)
    if cell.marker:
        end = (
            left
            + text_width(words, size, cell.weight)
            + (0 if cell.align == "l" else (room - text_width(words, size, cell.weight)) / 2)
        )
        paper, ground = (theme.INK, theme.PAPER) if head else (theme.PAPER, theme.INK)
        mark = sprites.plate(cell.marker, 28, paper, ground, ground)
        page.paste(mark, (end + 8 + mark.width / 2, middle))


PLACES = {"ipo": "IPO", "pool": "Pool", "treasury": "Treasury"}


def tables(view: SheetView) -> tuple[Table, ...]:
    """The tables of a sheet: players with their shares, companies."""
    count = -(-len(view.players) // ABREAST)
    each = -(-len(view.players) // count)
    parts = [view.players[i : i + each] for i in range(0, len(view.players), each)]
    owners = [_ownership(view, part, last=part is parts[-1]) for part in parts]
    return (*owners, *([_charters(view)] if view.companies else []))


def _ownership(view: SheetView, players: Sequence[PlayerView], last: bool) -> Table:
    """A column a player, in the last table then the offering, pool and treasuries; a row a company."""
    places = view.places if last else ()
    limit = f"/{view.limit}" if view.limit else ""
    head = (
        Cell(),
        *(Cell(p.name, weight="Bold", marker=_now(p.acting, p.out)) for p in players),
        *(Cell(PLACES[place], weight="Bold") for place in places),
    )

    def line(
        label: str, words: Sequence[str], weight: str = "Semibold", long: bool = False
    ) -> tuple[Cell, ...]:
        cells = (Cell(w, weight=weight, long=long) for w in words)
        return (Cell(label, align="l", ink=theme.SOFT), *cells, *(Cell() for _ in places))

    rows = [
        line("Cash", [dollars(p.cash) for p in players], weight="Bold"),
        line("Worth", [dollars(p.worth) for p in players], weight="Regular"),
        line("Certificates", [f"{p.certificates}{limit}" for p in players]),
        line("Privates", [" ".join(p.privates) or "–" for p in players], long=True),
        line("Priority", ["first" if p.priority else "" for p in players]),
    ]
    for i, c in enumerate(view.companies):
        held = {"ipo": c.ipo, "pool": c.pool, "treasury": c.treasury}
        rows.append(
            (
                Cell(c.badge.sym, badge=c.badge, align="l"),
                *(_share(p, i) for p in players),
                *(_percent(held[place]) for place in places),
            )
        )
    return Table(head, tuple(rows))


def _now(acting: bool, out: bool = False) -> str:
    return "out" if out else "now" if acting else ""


def _share(player: PlayerView, company: int) -> Cell:
    held = player.holdings[company]
    if held.percent < 0:
        return Cell(f"−{-held.percent}%", weight="Bold", ink=theme.BLOCKED)
    return _percent(held.percent, "Bold" if held.president else "Semibold", "P" if held.president else "")


def _percent(percent: int, weight: str = "Semibold", marker: str = "") -> Cell:
    return Cell(f"{percent}%", weight=weight, marker=marker) if percent else NOTHING


def _charters(view: SheetView) -> Table:
    """A row a company: price, money, trains, tokens left, president; par, or size and loans."""
    columns = [("", _name), ("Price", _price)]
    columns += [("Shares", _size)] if view.sized else [("Par", _par)]
    columns += [("Cash", _cash)]
    columns += [("Loans", _loans)] if view.sized else []
    columns += [("Trains", _trains)]
    columns += [("Privates", _privates)] if any(c.privates for c in view.companies) else []
    columns += [("Tokens", _tokens), ("President", _president)]
    head = tuple(Cell(title, weight="Bold") for title, _ in columns)
    return Table(head, tuple(tuple(cell(c) for _, cell in columns) for c in view.companies))


def _name(c: CompanyView) -> Cell:
    return Cell(c.badge.sym, badge=c.badge, align="l", marker=_now(c.acting))


def _price(c: CompanyView) -> Cell:
    if c.zone:
        return Cell(c.zone, ink=theme.BLOCKED)
    return NOTHING if c.price is None else Cell(f"${c.price}", weight="Bold")


def _par(c: CompanyView) -> Cell:
    return NOTHING if c.par is None else Cell(f"${c.par}")


def _size(c: CompanyView) -> Cell:
    return Cell(str(c.size)) if c.size else NOTHING


def _cash(c: CompanyView) -> Cell:
    if not c.started:
        return NOTHING
    if not c.floated:
        return Cell("not floated", ink=theme.SOFT)
    return Cell("private", ink=theme.SOFT) if c.cash is None else Cell(dollars(c.cash), weight="Bold")


def _loans(c: CompanyView) -> Cell:
    return Cell(f"{c.loans}/{c.most}", weight="Bold" if c.loans else "Regular") if c.most else NOTHING


def _trains(c: CompanyView) -> Cell:
    return Cell(" ".join(c.trains), weight="Bold") if c.trains else NOTHING


def _privates(c: CompanyView) -> Cell:
    return Cell(" ".join(c.privates), long=True) if c.privates else NOTHING


def _tokens(c: CompanyView) -> Cell:
    """What each costs, or how many there are where they cost nothing more, with what is owed for them."""
    if not c.started or not c.tokens:
        return NOTHING
    costs = str(len(c.tokens)) if c.size else " ".join(f"${cost}" for cost in c.tokens)
    return Cell(f"{costs} owes ${c.unpaid}" if c.unpaid else costs)


def _president(c: CompanyView) -> Cell:
    if not c.started:
        return Cell("closed" if c.closed else "not started", ink=theme.SOFT)
    return Cell(c.president) if c.president else NOTHING


def sheet_picture(view: SheetView) -> Image.Image:
    """The sheet as a palette picture, 1600 pixels wide and as tall as it needs."""
    laid = tables(view)
    heading = _heading(view)
    height = SIDE + 62 * len(heading) + sum(t.height + 24 for t in laid) + SIDE
    page = Page((WIDTH, height), theme.PAGE)
    y = SIDE
    for i, words in enumerate(heading):
        size = fitting(words, 42 if i == 0 else TEXT, WIDTH - 2 * SIDE, "Bold" if i == 0 else "Semibold")
        page.write((SIDE, y + 30), words, size, theme.INK, align="l", weight="Bold" if i == 0 else "Semibold")
        y += 62
    for table in laid:
        table.paint(page, y)
        y += table.height + 24
    return indexed(page.image, theme.palette(tuple(c.badge.color for c in view.companies)))


def _heading(view: SheetView) -> list[str]:
    left = " · ".join(
        f"{name}: {count if count is not None else '∞'} at ${price}" for name, count, price in view.depot
    )
    bank = [] if view.bank is None else [bank_words(view.bank)]
    lines = [
        " · ".join([view.title, view.round, f"phase {view.phase}", *bank]),
        f"Trains left  {left or 'none'}",
        f"Train limit {view.train_limit}"
        + (f" · in the pool: {' '.join(view.pool_trains)}" if view.pool_trains else ""),
    ]
    if view.loans:
        lines.append(str(view.loans).capitalize())
    if view.unsold:
        lines.append("Privates for sale  " + " · ".join(f"{sym} ${price}" for sym, price in view.unsold))
    if view.idle:
        lines.append("Not started  " + " ".join(badge.sym for badge in view.idle))
    return lines
