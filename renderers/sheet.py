"""The sheet: who owns what, and the companies' charters, in two tables below one another.

A `Table` is rows of cells; its columns get the width that their words need, what is over is
shared out. Cells are words with a weight and a colour, or a token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from renderers import sprites, theme
from renderers.canvas import Page, fitting, indexed, shortened, text_width
from renderers.views import Badge, CompanyView, PlayerView, SheetView

WIDTH = 1600
SIDE = 20
ROW = 62
TEXT = 36


def _mark_width(marker: str) -> int:
    return sprites.plate_size(marker, 28)[0] + 12 if marker else 0


@dataclass(frozen=True)
class Cell:
    """Words of a table, after a token where there is one; a marker stands after them."""

    words: str = ""
    badge: Badge | None = None
    weight: str = "Semibold"
    ink: theme.Colour = theme.INK
    align: str = "m"
    marker: str = ""

    def width(self) -> int:
        """The pixels that it takes."""
        words = text_width(self.words, TEXT, self.weight) + (62 if self.badge else 0)
        return words + _mark_width(self.marker) + 20


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
        """The pixels of each column; narrowed evenly where there is too little room."""
        wide = [max(row[i].width() for row in (self.head, *self.rows)) for i in range(len(self.head))]
        spare = WIDTH - 2 * SIDE - sum(wide)
        if spare < 0:
            return [round(w * (WIDTH - 2 * SIDE) / sum(wide)) for w in wide]
        return [w + spare // len(wide) for w in wide]

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
    size = fitting(cell.words, TEXT, room, cell.weight, least=26)
    words = shortened(cell.words, size, room, cell.weight)
    ink = theme.PAPER if head else cell.ink
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


def tables(view: SheetView) -> tuple[Table, ...]:
    """The tables of a sheet: players with their shares, companies."""
    return _ownership(view), _charters(view)


def _ownership(view: SheetView) -> Table:
    """A column a player, then the offering, the pool and the treasuries; a row a company."""
    players = view.players
    places = ("IPO", "Pool", "Treasury") if view.treasuries else ("IPO", "Pool")
    limit = f"/{view.limit}" if view.limit else ""
    head = (
        Cell(),
        *(Cell(p.name, weight="Bold", marker=_now(p.acting)) for p in players),
        *(Cell(place, weight="Bold") for place in places),
    )

    def line(label: str, words: Sequence[str], **style: str) -> tuple[Cell, ...]:
        cells = (Cell(w, **style) for w in words)  # type: ignore[arg-type]
        return (Cell(label, align="l", ink=theme.SOFT), *cells, *(Cell() for _ in places))

    rows = [
        line("Cash", [f"${p.cash}" for p in players], weight="Bold"),
        line("Worth", [f"${p.worth}" for p in players], weight="Regular"),
        line("Certificates", [f"{p.certificates}{limit}" for p in players]),
        line("Privates", [" ".join(p.privates) or "–" for p in players]),
        line("Priority", ["first" if p.priority else "" for p in players]),
    ]
    for i, c in enumerate(view.companies):
        rows.append(
            (
                Cell(c.badge.sym, badge=c.badge, align="l"),
                *(_share(p, i) for p in players),
                _percent(c.ipo),
                _percent(c.pool),
                *([_percent(c.treasury)] if view.treasuries else []),
            )
        )
    return Table(head, tuple(rows))


def _now(acting: bool) -> str:
    return "now" if acting else ""


def _share(player: PlayerView, company: int) -> Cell:
    held = player.holdings[company]
    return _percent(held.percent, "Bold" if held.president else "Semibold", "P" if held.president else "")


def _percent(percent: int, weight: str = "Semibold", marker: str = "") -> Cell:
    return Cell(f"{percent}%", weight=weight, marker=marker) if percent else NOTHING


def _charters(view: SheetView) -> Table:
    """A row a company: price, par, cash, trains, what its tokens left cost, president."""
    head = tuple(
        Cell(w, weight="Bold") for w in ("", "Price", "Par", "Cash", "Trains", "Tokens", "President")
    )
    return Table(head, tuple(_charter(c) for c in view.companies))


def _cash(c: CompanyView) -> Cell:
    if not c.floated:
        return Cell("not floated", ink=theme.SOFT)
    return Cell("private", ink=theme.SOFT) if c.cash is None else Cell(f"${c.cash}", weight="Bold")


def _charter(c: CompanyView) -> tuple[Cell, ...]:
    name = Cell(c.badge.sym, badge=c.badge, align="l", marker=_now(c.acting))
    if not c.started:
        return (name, *(NOTHING for _ in range(5)), Cell("not started", ink=theme.SOFT))
    holding = Cell(" ".join((*c.trains, *c.privates)), weight="Bold") if c.trains or c.privates else NOTHING
    return (
        name,
        Cell(f"${c.price}", weight="Bold"),
        Cell(f"${c.par}"),
        _cash(c),
        holding,
        Cell(" ".join(f"${t}" for t in c.tokens)) if c.tokens else NOTHING,
        Cell(c.president) if c.president else NOTHING,
    )


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
    lines = [
        f"{view.title} · {view.round} · phase {view.phase} · bank ${view.bank}",
        f"Trains left  {left or 'none'}",
        f"Train limit {view.train_limit}"
        + (f" · in the pool: {' '.join(view.pool_trains)}" if view.pool_trains else ""),
    ]
    if view.unsold:
        lines.append("Privates for sale  " + " · ".join(f"{sym} ${price}" for sym, price in view.unsold))
    return lines
