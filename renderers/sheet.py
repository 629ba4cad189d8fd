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
from renderers.canvas import (
    Canvas,
    fit_font_size,
    shorten,
    split_in_two,
    text_width,
    to_palette,
)
from renderers.views import (
    Badge,
    CompanyView,
    PlayerView,
    SheetView,
    bank_text,
    dollars,
)

WIDTH = 1600
MARGIN = 20
ROW_HEIGHT = 62
FONT_SIZE = 36
SMALL_FONT_SIZE = 27
PLAYERS_PER_TABLE = 8
"""Players of one table at most."""


def _tag_width(marker: str) -> int:
    return sprites.plate_size(marker, 28)[0] + 12 if marker else 0


@dataclass(frozen=True)
class SheetCell:
    """Words of a table, after a token where there is one; a marker stands after them.

    `long`: where they do not fit they are written small, in two lines.
    """

    text: str = ""
    badge: Badge | None = None
    weight: str = "Semibold"
    color: theme.Color = theme.INK
    align: str = "m"
    tag: str = ""
    wraps: bool = False

    def needed_width(self, dense: bool = False) -> int:
        """The pixels that it takes; `dense`: where it may be in two lines, those that it needs then."""
        words = text_width(self.text, FONT_SIZE, self.weight)
        if dense and self.wraps:
            words = min(
                words,
                max(
                    (text_width(x, SMALL_FONT_SIZE, self.weight) for x in split_in_two(self.text)), default=0
                ),
            )
        return words + (62 if self.badge else 0) + _tag_width(self.tag) + 20


EMPTY_CELL = SheetCell("–", color=theme.FAINT)


@dataclass(frozen=True)
class SheetTable:
    """A heading row and rows below it."""

    header: tuple[SheetCell, ...]
    rows: tuple[tuple[SheetCell, ...], ...]

    @property
    def height(self) -> int:
        return ROW_HEIGHT * (1 + len(self.rows))

    def column_widths(self) -> list[int]:
        """The pixels of each column; where there is too little room denser, then narrowed evenly."""
        room = WIDTH - 2 * MARGIN
        wide = self._needed_widths(dense=False)
        if sum(wide) > room:
            wide = self._needed_widths(dense=True)
        spare = room - sum(wide)
        if spare < 0:
            return [round(w * room / sum(wide)) for w in wide]
        return [w + spare // len(wide) for w in wide]

    def _needed_widths(self, dense: bool) -> list[int]:
        return [
            max(row[i].needed_width(dense) for row in (self.header, *self.rows))
            for i in range(len(self.header))
        ]

    def draw(self, page: Canvas, top: int) -> None:
        widths = self.column_widths()
        for j, row in enumerate((self.header, *self.rows)):
            y = top + ROW_HEIGHT * j
            if j == 0:
                page.rectangle(MARGIN, y, WIDTH - MARGIN, y + ROW_HEIGHT, theme.INK)
            else:
                page.rectangle(
                    MARGIN, y, WIDTH - MARGIN, y + ROW_HEIGHT, theme.ROW_BAND if j % 2 else theme.PAGE
                )
            x = MARGIN
            for cell, wide in zip(row, widths, strict=True):
                _draw_cell(page, cell, x, y, wide, head=j == 0)
                x += wide


def _draw_cell(page: Canvas, cell: SheetCell, x: int, y: int, wide: int, head: bool) -> None:
    middle = y + ROW_HEIGHT / 2
    left = x + 10
    if cell.badge:
        page.paste(sprites.token(cell.badge, 52), (left + 26, middle))
        left += 62
    room = x + wide - 8 - left - _tag_width(cell.tag)
    ink = theme.PAPER if head else cell.color
    if cell.wraps and text_width(cell.text, FONT_SIZE, cell.weight) > room:
        for line, dy in zip(split_in_two(cell.text), (-14, 14), strict=False):
            size = fit_font_size(line, SMALL_FONT_SIZE, room, cell.weight, least=20)
            short = shorten(line, size, room, cell.weight)
            page.write((left + room / 2, middle + dy), short, size, ink, weight=cell.weight)
        return
    size = fit_font_size(cell.text, FONT_SIZE, room, cell.weight, least=26)
    words = shorten(cell.text, size, room, cell.weight)
    if cell.align == "l":
        page.write((left, middle), words, size, ink, align="l", weight=cell.weight)
    else:
        page.write((left + room / 2, middle), words, size, ink, weight=cell.weight)
    if cell.tag:
        end = (
            left
            + text_width(words, size, cell.weight)
            + (0 if cell.align == "l" else (room - text_width(words, size, cell.weight)) / 2)
        )
        paper, ground = (theme.INK, theme.PAPER) if head else (theme.PAPER, theme.INK)
        mark = sprites.plate(cell.tag, 28, paper, ground, ground)
        page.paste(mark, (end + 8 + mark.width / 2, middle))


HOLDER_NAMES = {"ipo": "IPO", "pool": "Pool", "treasury": "Treasury"}


def sheet_tables(view: SheetView) -> tuple[SheetTable, ...]:
    """The tables of a sheet: players with their shares, companies."""
    count = -(-len(view.players) // PLAYERS_PER_TABLE)
    each = -(-len(view.players) // count)
    parts = [view.players[i : i + each] for i in range(0, len(view.players), each)]
    owners = [_ownership_table(view, part, last=part is parts[-1]) for part in parts]
    return (*owners, *([_company_table(view)] if view.companies else []))


def _ownership_table(view: SheetView, players: Sequence[PlayerView], last: bool) -> SheetTable:
    """A column a player, in the last table then the offering, pool and treasuries; a row a company."""
    places = view.share_holders if last else ()
    limit = f"/{view.certificate_limit}" if view.certificate_limit else ""
    head = (
        SheetCell(),
        *(SheetCell(p.name, weight="Bold", tag=_status_tag(p.acting, p.bankrupt)) for p in players),
        *(SheetCell(HOLDER_NAMES[place], weight="Bold") for place in places),
    )

    def line(
        label: str, words: Sequence[str], weight: str = "Semibold", long: bool = False
    ) -> tuple[SheetCell, ...]:
        cells = (SheetCell(w, weight=weight, wraps=long) for w in words)
        return (SheetCell(label, align="l", color=theme.MUTED), *cells, *(SheetCell() for _ in places))

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
                SheetCell(c.badge.sym, badge=c.badge, align="l"),
                *(_share_cell(p, i) for p in players),
                *(_percent_cell(held[place]) for place in places),
            )
        )
    return SheetTable(head, tuple(rows))


def _status_tag(acting: bool, out: bool = False) -> str:
    return "out" if out else "now" if acting else ""


def _share_cell(player: PlayerView, company: int) -> SheetCell:
    held = player.holdings[company]
    if held.percent < 0:
        return SheetCell(f"−{-held.percent}%", weight="Bold", color=theme.BLOCKED)
    return _percent_cell(
        held.percent, "Bold" if held.president else "Semibold", "P" if held.president else ""
    )


def _percent_cell(percent: int, weight: str = "Semibold", marker: str = "") -> SheetCell:
    return SheetCell(f"{percent}%", weight=weight, tag=marker) if percent else EMPTY_CELL


def _company_table(view: SheetView) -> SheetTable:
    """A row a company: price, money, trains, tokens left, president; par, or size and loans."""
    columns = [("", _name_cell), ("Price", _price_cell)]
    columns += [("Shares", _size_cell)] if view.has_sizes else [("Par", _par_cell)]
    columns += [("Cash", _cash_cell)]
    columns += [("Loans", _loans_cell)] if view.has_sizes else []
    columns += [("Trains", _trains_cell)]
    columns += [("Privates", _privates_cell)] if any(c.privates for c in view.companies) else []
    columns += [("Tokens", _tokens_cell), ("President", _president_cell)]
    head = tuple(SheetCell(title, weight="Bold") for title, _ in columns)
    return SheetTable(head, tuple(tuple(cell(c) for _, cell in columns) for c in view.companies))


def _name_cell(c: CompanyView) -> SheetCell:
    return SheetCell(c.badge.sym, badge=c.badge, align="l", tag=_status_tag(c.acting))


def _price_cell(c: CompanyView) -> SheetCell:
    if c.zone:
        return SheetCell(c.zone, color=theme.BLOCKED)
    return EMPTY_CELL if c.price is None else SheetCell(f"${c.price}", weight="Bold")


def _par_cell(c: CompanyView) -> SheetCell:
    return EMPTY_CELL if c.par is None else SheetCell(f"${c.par}")


def _size_cell(c: CompanyView) -> SheetCell:
    return SheetCell(str(c.size)) if c.size else EMPTY_CELL


def _cash_cell(c: CompanyView) -> SheetCell:
    if not c.started:
        return EMPTY_CELL
    if not c.floated:
        return SheetCell("not floated", color=theme.MUTED)
    return (
        SheetCell("private", color=theme.MUTED)
        if c.cash is None
        else SheetCell(dollars(c.cash), weight="Bold")
    )


def _loans_cell(c: CompanyView) -> SheetCell:
    return (
        SheetCell(f"{c.loans}/{c.max_loans}", weight="Bold" if c.loans else "Regular")
        if c.max_loans
        else EMPTY_CELL
    )


def _trains_cell(c: CompanyView) -> SheetCell:
    return SheetCell(" ".join(c.trains), weight="Bold") if c.trains else EMPTY_CELL


def _privates_cell(c: CompanyView) -> SheetCell:
    return SheetCell(" ".join(c.privates), wraps=True) if c.privates else EMPTY_CELL


def _tokens_cell(c: CompanyView) -> SheetCell:
    """What each costs, or how many there are where they cost nothing more, with what is owed for them."""
    if not c.started or not c.tokens:
        return EMPTY_CELL
    costs = str(len(c.tokens)) if c.size else " ".join(f"${cost}" for cost in c.tokens)
    return SheetCell(f"{costs} owes ${c.unpaid_tokens}" if c.unpaid_tokens else costs)


def _president_cell(c: CompanyView) -> SheetCell:
    if not c.started:
        return SheetCell("closed" if c.closed else "not started", color=theme.MUTED)
    return SheetCell(c.president) if c.president else EMPTY_CELL


def draw_sheet(view: SheetView) -> Image.Image:
    """The sheet as a palette picture, 1600 pixels wide and as tall as it needs."""
    laid = sheet_tables(view)
    heading = _heading_lines(view)
    height = MARGIN + 62 * len(heading) + sum(t.height + 24 for t in laid) + MARGIN
    page = Canvas((WIDTH, height), theme.PAGE)
    y = MARGIN
    for i, words in enumerate(heading):
        size = fit_font_size(
            words, 42 if i == 0 else FONT_SIZE, WIDTH - 2 * MARGIN, "Bold" if i == 0 else "Semibold"
        )
        page.write(
            (MARGIN, y + 30), words, size, theme.INK, align="l", weight="Bold" if i == 0 else "Semibold"
        )
        y += 62
    for table in laid:
        table.draw(page, y)
        y += table.height + 24
    return to_palette(page.image, theme.palette(tuple(c.badge.color for c in view.companies)))


def _heading_lines(view: SheetView) -> list[str]:
    left = " · ".join(
        f"{name}: {count if count is not None else '∞'} at ${price}" for name, count, price in view.depot
    )
    bank = [] if view.bank is None else [bank_text(view.bank)]
    lines = [
        " · ".join([view.title, view.round, f"phase {view.phase}", *bank]),
        f"Trains left  {left or 'none'}",
        f"Train limit {view.train_limit}"
        + (f" · in the pool: {' '.join(view.pool_trains)}" if view.pool_trains else ""),
    ]
    if view.loans:
        lines.append(str(view.loans).capitalize())
    if view.unsold_privates:
        lines.append(
            "Privates for sale  " + " · ".join(f"{sym} ${price}" for sym, price in view.unsold_privates)
        )
    if view.unstarted:
        lines.append("Not started  " + " ".join(badge.sym for badge in view.unstarted))
    return lines
