"""The picture of the sheet: a table of players and their shares, and a table of the companies that have
started.

The columns of a `SheetTable` get the width that their texts need; the rest is shared equally. The picture is
as narrow as its tables allow, because a phone shows it in its own width. So longer texts are in two lines,
and more than six players are in several tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from PIL import Image

from engine import dollars
from renderers import sprites, theme
from renderers.canvas import Page, filled_lines, fit_font_size, shorten, split_in_two, text_width, to_palette
from renderers.files import png_palette
from renderers.theme import Palette
from renderers.views import Badge, CompanyView, PlayerView, SheetView, bank_text, tile_name

LEAST_WIDTH, WIDTH = 880, 1200
"""The least and the largest width in pixels."""
MARGIN = 15
ROW_HEIGHT = 47
TALL_ROW_HEIGHT = 62
"""The height of a row with a text in two lines."""
FONT_SIZE = 27
SMALL_FONT_SIZE = 25
TILE_FONT_SIZE = 25
TAG_FONT_SIZE = 21
TOKEN_DIAMETER = 39
LINE_HEIGHT = 47
PLAYERS_PER_TABLE = 6
"""The largest number of players in one table."""


Role = Literal["ink", "muted", "faint", "blocked"]
"""The colour of a text: a role of the palette."""


def _tag_width(tag: str) -> int:
    return sprites.plate_size(tag, TAG_FONT_SIZE)[0] + 10 if tag else 0


LEAST_FONT_SIZE, LEAST_SMALL_FONT_SIZE = 21, 20
"""The sizes of a text, and of one in two lines, where there is little room."""
Density = Literal["roomy", "dense", "least"]
"""`dense`: a text that may wrap is in two lines. `least`: all texts are as small as they may be."""
DENSITIES: tuple[tuple[Density, Density], ...] = (("dense", "roomy"), ("least", "dense"))


@dataclass(frozen=True)
class SheetCell:
    """A cell of a table: an optional company token, a text, and an optional tag on a plate behind it.

    `align`: "l" or "m". `wraps`: a text that does not fit is written small, in two lines.
    """

    text: str = ""
    badge: Badge | None = None
    weight: str = "Semibold"
    color: Role = "ink"
    align: str = "m"
    tag: str = ""
    wraps: bool = False

    def needed_width(self, density: Density = "roomy") -> int:
        """The width that the cell needs, in pixels."""
        size, lines = (LEAST_FONT_SIZE if density == "least" else FONT_SIZE), [self.text]
        if density != "roomy" and self._has_two_lines:
            size = LEAST_SMALL_FONT_SIZE if density == "least" else SMALL_FONT_SIZE
            lines = split_in_two(self.text)
        width = max((text_width(line, size, self.weight) for line in lines), default=0)
        width = min(width, text_width(self.text, FONT_SIZE, self.weight))
        return width + (TOKEN_DIAMETER + 8 if self.badge else 0) + _tag_width(self.tag) + 16

    def text_room(self, width: int) -> int:
        """The pixels for the text in a column of that width."""
        return width - 14 - (TOKEN_DIAMETER + 8 if self.badge else 0) - _tag_width(self.tag)

    def is_in_two_lines(self, width: int) -> bool:
        """Whether the text is in two lines in a column of that width."""
        return self._has_two_lines and text_width(self.text, FONT_SIZE, self.weight) > self.text_room(width)

    @property
    def _has_two_lines(self) -> bool:
        return self.wraps and len(split_in_two(self.text)) == 2


EMPTY_CELL = SheetCell("–", color="faint")


@dataclass(frozen=True)
class SheetTable:
    """A header row and the rows below it, on a page of that width in pixels."""

    header: tuple[SheetCell, ...]
    rows: tuple[tuple[SheetCell, ...], ...]
    page_width: int = WIDTH

    @property
    def height(self) -> int:
        return sum(self.row_heights())

    def row_heights(self) -> list[int]:
        """The height of each row in pixels, the header first."""
        widths = self.column_widths()
        return [
            TALL_ROW_HEIGHT
            if any(cell.is_in_two_lines(width) for cell, width in zip(row, widths, strict=True))
            else ROW_HEIGHT
            for row in (self.header, *self.rows)
        ]

    def column_widths(self) -> list[int]:
        """The width of each column in pixels: roomy, else between dense and roomy or between least and dense.

        Where even the least widths are too wide, the widest are narrowed: long names are cut, and no number.
        """
        available = self.page_width - 2 * MARGIN
        for narrow, wide in DENSITIES:
            widths, full = self._needed_widths(narrow), self._needed_widths(wide)
            if sum(widths) <= available:
                missing = sum(full) - sum(widths)
                share = min(1.0, (available - sum(widths)) / missing) if missing else 0.0
                widths = [a + int((b - a) * share) for a, b in zip(widths, full, strict=True)]
                return [width + (available - sum(widths)) // len(widths) for width in widths]
        widest = available
        for fitting, width in enumerate(ordered := sorted(widths)):
            widest = (available - sum(ordered[:fitting])) // (len(widths) - fitting)
            if width > widest:
                break
        return [min(width, widest) for width in widths]

    def needed_width(self, density: Density) -> int:
        """The width of all columns, in pixels."""
        return sum(self._needed_widths(density))

    def _needed_widths(self, density: Density) -> list[int]:
        return [
            max(row[i].needed_width(density) for row in (self.header, *self.rows))
            for i in range(len(self.header))
        ]

    def draw(self, canvas: Page, top: int) -> None:
        widths, y, palette = self.column_widths(), top, canvas.palette
        for j, (row, height) in enumerate(zip((self.header, *self.rows), self.row_heights(), strict=True)):
            band = palette.ink if j == 0 else palette.row_band if j % 2 else palette.page
            canvas.rectangle(MARGIN, y, self.page_width - MARGIN, y + height, band)
            x = MARGIN
            for cell, width in zip(row, widths, strict=True):
                _draw_cell(canvas, cell, x, y + height / 2, width, is_header=j == 0)
                x += width
            y += height


def _draw_cell(canvas: Page, cell: SheetCell, x: int, middle: float, width: int, is_header: bool) -> None:
    left = x + 8
    if cell.badge and cell.align == "m":
        left += max(0, cell.text_room(width) - text_width(cell.text, FONT_SIZE, cell.weight)) // 2
    if cell.badge:
        canvas.paste(sprites.token(cell.badge, TOKEN_DIAMETER), (left + TOKEN_DIAMETER / 2, middle))
        left += TOKEN_DIAMETER + 8
    available = cell.text_room(width)
    color = canvas.palette.page if is_header else getattr(canvas.palette, cell.color)
    lines, heights, largest, least = [cell.text], [0], FONT_SIZE, LEAST_FONT_SIZE
    if cell.is_in_two_lines(width):
        lines, heights = split_in_two(cell.text), [-13, 13]
        largest, least = SMALL_FONT_SIZE, LEAST_SMALL_FONT_SIZE
    is_left, end = len(lines) == 1 and (cell.align == "l" or cell.badge is not None), 0.0
    for line, dy in zip(lines, heights, strict=True):
        size = fit_font_size(line, largest, available, cell.weight, minimum=least)
        text = shorten(line, size, available, cell.weight)
        at, align = (left, "l") if is_left else (left + available / 2, "m")
        canvas.write((at, middle + dy), text, size, color, align=align, weight=cell.weight)
        length = text_width(text, size, cell.weight)
        end = max(end, left + (length if is_left else (available + length) / 2))
    if cell.tag:
        ink, page = canvas.palette.ink, canvas.palette.page
        tag_color, tag_background = (ink, page) if is_header else (page, ink)
        plate = sprites.plate(cell.tag, TAG_FONT_SIZE, tag_color, tag_background, tag_background)
        canvas.paste(plate, (end + 6 + plate.width / 2, middle))


HOLDER_NAMES = {"ipo": "IPO", "pool": "Pool", "treasury": "Treasury"}


def sheet_tables(view: SheetView) -> tuple[SheetTable, ...]:
    """The tables of a sheet: players with their shares, then the companies that have started; each as wide as
    the one that needs most room where its long texts are in two lines."""
    count = -(-len(view.players) // PLAYERS_PER_TABLE)
    per_table = -(-len(view.players) // count)
    groups = [view.players[i : i + per_table] for i in range(0, len(view.players), per_table)]
    ownership = [_ownership_table(view, group, last=group is groups[-1]) for group in groups]
    companies = [company for company in view.companies if company.started or company.closed]
    tables = [*ownership, *([_company_table(view, companies)] if companies else [])]
    needed = max(table.needed_width("dense") for table in tables) + 2 * MARGIN
    return tuple(replace(table, page_width=min(max(needed, LEAST_WIDTH), WIDTH)) for table in tables)


def _ownership_table(view: SheetView, players: Sequence[PlayerView], last: bool) -> SheetTable:
    """One column per player, one row per company.

    The last table also has columns for the initial offering, the pool and the treasuries.
    """
    holders = view.share_holders if last else ()
    header = (
        SheetCell(),
        *(
            SheetCell(p.name, weight="Bold", tag=_status_tag(p.acting, p.bankrupt), wraps=True)
            for p in players
        ),
        *(SheetCell(HOLDER_NAMES[holder], weight="Bold") for holder in holders),
    )

    def line(
        label: str, texts: Sequence[str], weight: str = "Semibold", long: bool = False
    ) -> tuple[SheetCell, ...]:
        cells = (SheetCell(text, weight=weight, wraps=long) for text in texts)
        return (SheetCell(label, align="l", color="muted"), *cells, *(SheetCell() for _ in holders))

    rows = [
        line("Cash", [dollars(p.cash) for p in players], weight="Bold"),
        line("Worth", [dollars(p.worth) for p in players], weight="Regular"),
        _certificates_row(view, players, len(holders)),
        line("Privates", [" ".join(p.privates) or "–" for p in players], long=True),
        line("Priority", ["first" if p.priority else "" for p in players]),
    ]
    for i, company in enumerate(view.companies):
        held = {"ipo": company.ipo, "pool": company.pool, "treasury": company.treasury}
        rows.append(
            (
                SheetCell(company.badge.sym, badge=company.badge, align="l"),
                *(_share_cell(p, i) for p in players),
                *(_percent_cell(held[holder]) for holder in holders),
            )
        )
    return SheetTable(header, tuple(rows))


def _certificates_row(view: SheetView, players: Sequence[PlayerView], holders: int) -> tuple[SheetCell, ...]:
    """Counted certificates and their limit; how many are too many."""
    limit = view.certificate_limit
    cells = []
    for player in players:
        over = player.certificates - limit if limit else 0
        text = f"{player.certificates}/{limit}" if limit else str(player.certificates)
        cells.append(
            SheetCell(text, color="blocked" if over > 0 else "ink", tag=f"{over} over" if over > 0 else "")
        )
    return (SheetCell("Certificates", align="l", color="muted"), *cells, *[SheetCell()] * holders)


def _status_tag(acting: bool, out: bool = False) -> str:
    return "out" if out else "now" if acting else ""


def _share_cell(player: PlayerView, company: int) -> SheetCell:
    held = player.holdings[company]
    return _percent_cell(
        held.percent, "Bold" if held.president else "Semibold", "P" if held.president else ""
    )


def _percent_cell(percent: int, weight: str = "Semibold", marker: str = "") -> SheetCell:
    """The share of a holder, or of the pool, which may be short of shares too."""
    if percent < 0:
        return SheetCell(f"−{-percent}%", weight="Bold", color="blocked")
    return SheetCell(f"{percent}%", weight=weight, tag=marker) if percent else EMPTY_CELL


def _company_table(view: SheetView, companies: Sequence[CompanyView]) -> SheetTable:
    """One row per company: price, cash, trains, tokens left, president; par price, or size and loans."""
    columns: list[tuple[str, Callable[[CompanyView], SheetCell]]] = [
        ("", lambda c: SheetCell(c.badge.sym, badge=c.badge, align="l", tag=_status_tag(c.acting))),
        ("Turn", _turn_cell),
        ("Price", _price_cell),
    ]
    if view.has_sizes:
        columns.append(("Shares", lambda c: _cell_if(str(c.size or ""))))
    else:
        columns.append(("Par", lambda c: _cell_if("" if c.par is None else f"${c.par}")))
    columns += [
        ("Cash", _cash_cell),
        ("Last run", lambda c: _cell_if("" if c.last_revenue is None else dollars(c.last_revenue))),
    ]
    if view.has_sizes:
        columns.append(("Loans", _loans_cell))
    columns.append(("Trains", lambda c: _cell_if(" ".join(c.trains), "Bold", wraps=len(c.trains) > 3)))
    if any(c.privates for c in companies):
        columns.append(("Privates", lambda c: _cell_if(" ".join(c.privates), wraps=True)))
    columns += [("Tokens", _tokens_cell), ("President", _president_cell)]
    header = tuple(SheetCell(title, weight="Bold", wraps=True) for title, _ in columns)
    return SheetTable(header, tuple(tuple(cell(c) for _, cell in columns) for c in companies))


def _cell_if(text: str, weight: str = "Semibold", wraps: bool = False) -> SheetCell:
    """A cell with a text, if there is one."""
    return SheetCell(text, weight=weight, wraps=wraps) if text else EMPTY_CELL


def _turn_cell(c: CompanyView) -> SheetCell:
    """The place in the operating order; `ran`: the company has had its turn in this round."""
    if c.turn is None:
        return EMPTY_CELL
    return SheetCell(str(c.turn), color="muted" if c.has_run else "ink", tag="ran" if c.has_run else "")


def _price_cell(c: CompanyView) -> SheetCell:
    if c.zone:
        return SheetCell(c.zone, color="blocked", wraps=True)
    return _cell_if("" if c.price is None else f"${c.price:,}", "Bold")


def _cash_cell(c: CompanyView) -> SheetCell:
    if not c.started:
        return EMPTY_CELL
    if not c.floated:
        return SheetCell("not floated", color="muted", wraps=True)
    if c.cash is None:
        return SheetCell("private", color="muted")
    return SheetCell(c.cash_text, weight="Bold")


def _loans_cell(c: CompanyView) -> SheetCell:
    return _cell_if(f"{c.loans}/{c.max_loans}" if c.max_loans else "", "Bold" if c.loans else "Regular")


def _tokens_cell(c: CompanyView) -> SheetCell:
    """The cost of each token; in titles with company sizes their number, and the company's debt for them."""
    if not c.started or not c.tokens:
        return EMPTY_CELL
    costs = str(len(c.tokens)) if c.size else " ".join(f"${cost}" for cost in c.tokens)
    return SheetCell(f"{costs} owes ${c.unpaid_tokens}" if c.unpaid_tokens else costs, wraps=True)


def _president_cell(c: CompanyView) -> SheetCell:
    return _cell_if(c.president or "", wraps=True) if c.started else SheetCell("closed", color="muted")


def draw_sheet(view: SheetView, palette: Palette = theme.LIGHT) -> Image.Image:
    """The sheet as a picture in its palette, as narrow as its tables allow and as high as needed."""
    all_tables = sheet_tables(view)
    width = all_tables[0].page_width
    heading = _heading_lines(view, width)
    footer = _footer_lines(view, width)
    height = (
        MARGIN
        + LINE_HEIGHT * len(heading)
        + sum(t.height + 20 for t in all_tables)
        + 35 * len(footer)
        + MARGIN
    )
    canvas = Page((width, height), palette)
    y = MARGIN
    for i, line in enumerate(heading):
        largest, weight = (FONT_SIZE, "Semibold") if i else (32, "Bold")
        size = fit_font_size(line, largest, width - 2 * MARGIN, weight)
        canvas.write((MARGIN, y + LINE_HEIGHT / 2), line, size, palette.ink, align="l", weight=weight)
        y += LINE_HEIGHT
    for table in all_tables:
        table.draw(canvas, y)
        y += table.height + 20
    for line in footer:
        canvas.label((MARGIN, y + 16), line, TILE_FONT_SIZE)
        y += 35
    return to_palette(canvas.image, png_palette(palette, tuple(c.badge.color for c in view.companies)))


def _heading_lines(view: SheetView, width: int) -> list[str]:
    bank = [] if view.bank is None else [bank_text(view.bank)]
    lines = [
        " · ".join([view.title, view.round, f"phase {view.phase}", *bank]),
        *_wrapped("Trains left  ", [train.text for train in view.depot] or ["none"], " · ", width),
        f"Train limit {view.train_limit}"
        + (f" · in the pool: {' '.join(view.pool_trains)}" if view.pool_trains else ""),
    ]
    if view.loans:
        lines.append(str(view.loans).capitalize())
    if view.for_sale:
        lines += _wrapped("For sale  ", [each.text for each in view.for_sale], " · ", width)
    if view.unstarted:
        lines += _wrapped("Not started  ", [badge.sym for badge in view.unstarted], " ", width)
    return lines


def _footer_lines(view: SheetView, width: int) -> list[str]:
    """The privates that somebody owns, and the tiles left, a grade after the other: `57×3`."""
    privates = view.privates
    lines = _wrapped("Privates  ", privates, " · ", width, TILE_FONT_SIZE) if privates else []
    for color, tiles in view.tiles:
        texts = [f"{tile_name(tile)}×{'∞' if count is None else count}" for tile, count in tiles]
        lines += _wrapped(f"{color.capitalize()} tiles left  ", texts, "  ", width, TILE_FONT_SIZE)
    return lines


def _wrapped(
    label: str, texts: Sequence[str], separator: str, width: int, size: int = FONT_SIZE
) -> list[str]:
    """Texts in as many lines as they need; the first begins with the label."""
    first, *rest = texts
    return filled_lines([f"{label}{first}", *rest], separator, size, width - 2 * MARGIN, "Semibold")
