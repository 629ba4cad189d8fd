"""The picture of the stock market: cells with their zones and price tokens, loans, companies by price.

A two-dimensional market is drawn as printed; a market of one row is folded into several rows. The tokens of a
cell are in rows, the top one first. Below the market are the bank's loans by interest rate, in titles with
loans, and the companies by price, which is their operating order.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from PIL import Image

from engine import LoanStatus
from renderers import color_math, sprites, theme
from renderers.canvas import CAP_HEIGHT, Page, SupersampledCanvas, fit_font_size, text_width, to_palette
from renderers.files import png_palette
from renderers.theme import Palette
from renderers.views import Badge, CellView, MarketView

WIDTH = 1200
LEGEND_SIZE, LIST_SIZE = 22, 29
MAX_COLUMNS = 12
"""The columns at which a market of one row is folded."""
MARGIN = 10
ZONE_TAGS = {
    "yellow": "Y", "orange": "O", "green": "G", "brown": "B", "par": "P", "closing": "C",
    "liquidation": "L", "acquisition": "A",
}  # fmt: skip
ZONE_NAMES = {"par": "par price"}
LEDGE_ZONE = "upper_ledge"
LEDGE_WIDTH = 6
"""The width of a ledge, in pixels."""
ARROW_SHARE = 0.54
"""The width of an arrow, of its height."""
STAGGERED_PITCH = 0.88
"""From one row of tokens to the next, in diameters, where each is between two of the other row."""
LOAN_TABLE_HEIGHT = 152
"""In pixels."""


def cell_position(view: MarketView, cell: CellView) -> tuple[int, int]:
    """The row and column at which a cell is drawn."""
    if view.kind != "1d":
        return cell.row, cell.column
    rows = -(-len(view.cells) // MAX_COLUMNS)
    return divmod(cell.column, -(-len(view.cells) // rows))


class MarketLayout:
    """The positions of everything in the picture of a market, in pixels."""

    def __init__(self, view: MarketView) -> None:
        positions = [cell_position(view, cell) for cell in view.cells]
        self.view = view
        self.ledge_cells = frozenset(
            cell_position(view, cell) for cell in view.cells if LEDGE_ZONE in cell.zones
        )
        self.occupied = frozenset(positions)
        self.rows = 1 + max(r for r, _ in positions)
        self.columns = 1 + max(c for _, c in positions)
        self.cell_width = (WIDTH - 2 * MARGIN) // self.columns
        self.cell_height = round(self.cell_width * 1.38)
        self.price_size = min(36 if self.cell_width > 96 else 26, round(self.cell_width * 0.45))
        self.list_rows = -(-len(view.order) // 4)
        self.legend_top = MARGIN + self.rows * self.cell_height
        self.loans_top = self.legend_top + 62
        self.list_top = self.loans_top + (LOAN_TABLE_HEIGHT if view.loans else 0)
        self.height = self.list_top + 58 * max(1, self.list_rows) + MARGIN

    @property
    def arrow_height(self) -> int:
        """The height of an arrow, in pixels."""
        return round(self.price_size * 0.85)

    def has_ledge_at_right(self, cell: CellView) -> bool:
        """Whether the ledge ends at a cell, so that a bar is at its right."""
        row, column = cell_position(self.view, cell)
        return bool(self.ledge_cells) and cell.arrow == "up" and (row, column + 1) in self.occupied

    def arrow_left(self, cell: CellView) -> int:
        """Where the arrow of a cell begins, in pixels from its left."""
        bar = LEDGE_WIDTH if self.has_ledge_at_right(cell) else 0
        return self.cell_width - 3 - bar - round(self.arrow_height * ARROW_SHARE)

    def price_place(self, cell: CellView) -> tuple[int, int]:
        """Where the price of a cell begins, in pixels from its left, and its font size: no wider than the
        arrow leaves it."""
        if not cell.arrow:
            return 6, self.price_size
        return 4, fit_font_size(str(cell.price), self.price_size, self.arrow_left(cell) - 2 - 4)

    def corner(self, cell: CellView) -> tuple[int, int]:
        """The upper left corner of a cell."""
        row, column = cell_position(self.view, cell)
        return MARGIN + column * self.cell_width, MARGIN + row * self.cell_height

    def token_positions(self, cell: CellView) -> list[tuple[Badge, tuple[int, int], int]]:
        """Each token of a cell with its center and diameter, the top one first, in rows."""
        if not cell.tokens:
            return []
        x, y = self.corner(cell)
        rows = _rows_of(len(cell.tokens))
        is_staggered = all(abs(above - below) == 1 for above, below in pairwise(rows))
        pitch = STAGGERED_PITCH if is_staggered else 1.0
        height = 1 + pitch * (len(rows) - 1)
        free = self.cell_height - self.price_size - 7
        step = min((self.cell_width - 5) // max(rows), int(free / height), round(self.cell_width * 0.68))
        middle, top = x + self.cell_width / 2, y + self.cell_height - 4 - step * (height - 0.5)
        places = [
            (int(middle + (i - (count - 1) / 2) * step), int(top + row * pitch * step))
            for row, count in enumerate(rows)
            for i in range(count)
        ]
        return [(badge, place, step - 1) for badge, place in zip(cell.tokens, places, strict=True)]


def _rows_of(count: int) -> list[int]:
    """How many of so many tokens are in each row of a cell; rows that differ by one are staggered."""
    if count in (7, 8):
        return [count - 5, 10 - count, count - 5]
    columns = 1 if count <= 1 else 2 if count <= 4 else 3
    return [min(columns, count - first) for first in range(0, count, columns)]


def draw_market(view: MarketView, palette: Palette = theme.LIGHT) -> Image.Image:
    """The market as a picture in its palette, 1200 pixels wide."""
    layout = MarketLayout(view)
    canvas = Page((WIDTH, layout.height), palette, _draw_empty(palette, _without_tokens(view)))
    for cell in view.cells:
        _draw_tokens(canvas, layout, cell)
    _draw_price_list(canvas, layout)
    return to_palette(canvas.image, png_palette(palette, tuple(c.color for c in view.companies)))


def _without_tokens(view: MarketView) -> MarketView:
    """The same market without tokens and highlights, by which its background is cached."""
    cells = tuple(replace(cell, tokens=()) for cell in view.cells)
    return replace(view, cells=cells, highlighted=())


@lru_cache(16)
def _draw_empty(palette: Palette, view: MarketView) -> Image.Image:
    layout = MarketLayout(view)
    canvas = Page((WIDTH, layout.height), palette)
    for cell in view.cells:
        _draw_cell(canvas, layout, cell)
    _draw_legend(canvas, layout)
    if view.loans:
        _draw_loans(canvas, layout, view.loans)
    return canvas.image


def fill_zone(cell: CellView) -> str:
    """The zone that gives a cell its colour."""
    return next(
        (zone for zone in cell.zones if zone in theme.LIGHT.zone_colors and zone != "par"),
        "par" if "par" in cell.zones else "white",
    )


def _draw_cell(canvas: Page, layout: MarketLayout, cell: CellView) -> None:
    x, y = layout.corner(cell)
    right, bottom = x + layout.cell_width, y + layout.cell_height
    fill = canvas.palette.zone_colors[fill_zone(cell)]
    canvas.box(x, y, right, bottom, 1, canvas.palette.muted, fill)
    if "par" in cell.zones:
        canvas.box(x + 1, y + 1, right - 1, bottom - 1, 3, canvas.palette.ink, fill)
    _draw_ledge(canvas, layout, cell)
    middle = y + 6 + layout.price_size * 0.35
    left, size = layout.price_place(cell)
    canvas.write((x + left, middle), str(cell.price), size, canvas.palette.text_on(fill), align="l")
    if cell.arrow:
        arrow = _arrow_sprite(canvas.palette, cell.arrow, layout.arrow_height)
        canvas.paste(arrow, (x + layout.arrow_left(cell) + arrow.width / 2, middle))


def _draw_ledge(canvas: Page, layout: MarketLayout, cell: CellView) -> None:
    """Draw the bar under a cell of the ledge, and at the ledge's end where the row continues below it."""
    row, column = cell_position(layout.view, cell)
    x, y = layout.corner(cell)
    right, bottom = x + layout.cell_width, y + layout.cell_height
    if (row, column) in layout.ledge_cells:
        canvas.rectangle(x, bottom - LEDGE_WIDTH, right, bottom, canvas.palette.ink)
    if layout.has_ledge_at_right(cell):
        canvas.rectangle(right - LEDGE_WIDTH, y, right, bottom, canvas.palette.ink)


@lru_cache(16)
def _arrow_sprite(palette: Palette, direction: str, height: int) -> Image.Image:
    width = round(height * ARROW_SHARE)
    shape = SupersampledCanvas((width, height))
    ends = ((width / 2, 1.0), (width / 2, height - 1.0))
    shape.arrow(ends[direction == "up"], ends[direction != "up"], height * 0.2, palette.blocked)
    return shape.downsampled()


def _draw_tokens(canvas: Page, layout: MarketLayout, cell: CellView) -> None:
    """Draw the tokens of a cell, or the letters of its zones where it has none."""
    if not cell.tokens:
        x, y = layout.corner(cell)
        tags = " ".join(ZONE_TAGS[z] for z in cell.zones if z in ZONE_TAGS)
        size = max(14, round(layout.cell_width * 0.27))
        color = canvas.palette.text_on(canvas.palette.zone_colors[fill_zone(cell)], 0.35)
        canvas.write(
            (x + 7, y + layout.cell_height - 8 - size * CAP_HEIGHT / 2), tags, size, color, align="l"
        )
    for badge, center, diameter in layout.token_positions(cell):
        if badge.sym in layout.view.highlighted:
            canvas.paste(_halo_sprite(canvas.palette, diameter), center)
            diameter -= 8
        canvas.paste(sprites.token(badge, diameter), center)


@lru_cache(8)
def _halo_sprite(palette: Palette, diameter: int) -> Image.Image:
    shape = SupersampledCanvas((diameter, diameter))
    shape.disc((diameter / 2, diameter / 2), diameter / 2, palette.last_change)
    shape.disc((diameter / 2, diameter / 2), diameter / 2 - 3, color_math.WHITE)
    return shape.downsampled()


def _draw_legend(canvas: Page, layout: MarketLayout) -> None:
    """Draw the names of the zones, the ledge and the arrows."""
    x, y = MARGIN, layout.legend_top + 31
    zones = dict.fromkeys(z for cell in layout.view.cells for z in cell.zones if z in ZONE_TAGS)
    for zone in zones:
        fill = canvas.palette.zone_colors[zone]
        canvas.box(x, y - 15, x + 30, y + 15, 3 if zone == "par" else 1, canvas.palette.ink, fill)
        canvas.write((x + 15, y), ZONE_TAGS[zone], 20, canvas.palette.text_on(fill))
        text = ZONE_NAMES.get(zone, f"{zone} zone")
        canvas.label((x + 38, y), text, LEGEND_SIZE)
        x += 58 + text_width(text, LEGEND_SIZE, "Semibold")
    if layout.ledge_cells:
        top = y - LEDGE_WIDTH // 2
        canvas.rectangle(x, top, x + 30, top + LEDGE_WIDTH, canvas.palette.ink)
        canvas.label((x + 38, y), "ledge", LEGEND_SIZE)
        x += 58 + text_width("ledge", LEGEND_SIZE, "Semibold")
    if any(cell.arrow for cell in layout.view.cells):
        canvas.paste(_arrow_sprite(canvas.palette, "up", 27), (x + 10, y))
        canvas.paste(_arrow_sprite(canvas.palette, "down", 27), (x + 34, y))
        canvas.label((x + 54, y), "instead of sideways", LEGEND_SIZE)


def _draw_loans(canvas: Page, layout: MarketLayout, loans: LoanStatus) -> None:
    """Draw a box for each interest rate with a mark for each loan, filled if it is taken.

    The box of the current rate has a frame.
    """
    palette = canvas.palette
    canvas.label((MARGIN, layout.loans_top + 18), str(loans).capitalize(), LIST_SIZE)
    top, height = layout.loans_top + 42, 90
    width = (WIDTH - 2 * MARGIN) // len(loans.rates)
    for i, rate in enumerate(loans.rates):
        x, is_current = MARGIN + i * width, rate == loans.rate
        frame, fill = (
            (palette.ink, palette.zone_colors["yellow"]) if is_current else (palette.faint, palette.paper)
        )
        canvas.box(x, top, x + width, top + height, 5 if is_current else 1, frame, fill)
        canvas.write((x + width / 2, top + 30), f"${rate}", 32 if is_current else 29, palette.text_on(fill))
        first = i * loans.loans_per_step
        for j in range(min(loans.loans_per_step, loans.limit - first)):
            left = x + (width - loans.loans_per_step * 15) // 2 + 15 * j
            inside = palette.ink if first + j < loans.taken else palette.paper
            canvas.box(left + 1, top + 59, left + 14, top + 77, 2, palette.ink, inside)


def _draw_price_list(canvas: Page, layout: MarketLayout) -> None:
    """Draw the companies by price: number, token, price."""
    y = layout.list_top + 28
    if not layout.view.order:
        canvas.label((MARGIN, y), "No company has a price yet.", LIST_SIZE, canvas.palette.muted)
    width = (WIDTH - 2 * MARGIN) // 4
    cell_names = {badge: cell.name for cell in layout.view.cells if cell.name for badge in cell.tokens}
    for i, (badge, price) in enumerate(layout.view.order):
        x, row_y = MARGIN + i % 4 * width, y + i // 4 * 58
        canvas.write((x + 22, row_y), f"{i + 1}.", LIST_SIZE, canvas.palette.muted)
        canvas.paste(sprites.token(badge, 50), (x + 72, row_y))
        canvas.write((x + 107, row_y), badge.sym, LIST_SIZE, canvas.palette.ink, align="l")
        text, left = f"${price}", 210
        if badge in cell_names:
            text, left = cell_names[badge], 107 + text_width(badge.sym, LIST_SIZE) + 12
        size = fit_font_size(text, LIST_SIZE, width - left - 6, "Semibold")
        canvas.label((x + left, row_y), text, size)
