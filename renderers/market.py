"""The stock market: spaces with their zones, price tokens in order, and the turns of the edge.

A two-dimensional market is drawn as it is printed; one that is a single row is folded into
several. In a space tokens stand in rows, the top one first. Below are the bank's loans, where there
are any, by what they cost, and the list of companies by price, in the order in which they operate.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from PIL import Image

from engine import LoanStatus
from renderers import sprites, theme
from renderers.canvas import (
    CAP_HEIGHT,
    Canvas,
    SupersampledCanvas,
    fit_font_size,
    text_width,
    to_palette,
)
from renderers.views import Badge, CellView, MarketView

WIDTH = 1600
MAX_COLUMNS = 12
"""Spaces of a row at most, where a single row is folded."""
MARGIN = 12
ZONE_TAGS = {
    "yellow": "Y", "orange": "O", "green": "G", "brown": "B", "par": "P", "closing": "C",
    "liquidation": "L", "acquisition": "A",
}  # fmt: skip
ZONE_NAMES = {"par": "par price"}
LEDGE_ZONE = "upper_ledge"
LEDGE_WIDTH = 7
"""How thick a ledge is drawn, in pixels."""
LOAN_TABLE_HEIGHT = 190
"""The height of the table of loans, in pixels."""


def cell_position(view: MarketView, cell: CellView) -> tuple[int, int]:
    """The row and column at which a space is drawn."""
    if view.kind != "1d":
        return cell.row, cell.column
    rows = -(-len(view.cells) // MAX_COLUMNS)
    return divmod(cell.column, -(-len(view.cells) // rows))


class MarketLayout:
    """Where everything on a market's picture stands, in pixels."""

    def __init__(self, view: MarketView) -> None:
        at = [cell_position(view, cell) for cell in view.cells]
        self.view = view
        self.ledge_cells = frozenset(
            cell_position(view, cell) for cell in view.cells if LEDGE_ZONE in cell.zones
        )
        self.occupied = frozenset(at)
        self.rows = 1 + max(r for r, _ in at)
        self.columns = 1 + max(c for _, c in at)
        self.cell_width = (WIDTH - 2 * MARGIN) // self.columns
        self.cell_height = round(self.cell_width * 1.38)
        self.price_size = min(44 if self.cell_width > 120 else 32, round(self.cell_width * 0.38))
        self.list_rows = -(-len(view.order) // 4)
        self.legend_top = MARGIN + self.rows * self.cell_height
        self.loans_top = self.legend_top + 76
        self.list_top = self.loans_top + (LOAN_TABLE_HEIGHT if view.loans else 0)
        self.height = self.list_top + 72 * max(1, self.list_rows) + MARGIN

    def corner(self, cell: CellView) -> tuple[int, int]:
        """The upper left corner of a space."""
        row, column = cell_position(self.view, cell)
        return MARGIN + column * self.cell_width, MARGIN + row * self.cell_height

    def token_positions(self, cell: CellView) -> list[tuple[Badge, tuple[int, int], int]]:
        """Each token of a space with its middle and diameter, the top one first, in rows."""
        x, y = self.corner(cell)
        count = len(cell.tokens)
        columns = 1 if count <= 1 else 2 if count <= 4 else 3
        rows = max(1, -(-count // columns))
        free = self.cell_height - self.price_size - 14
        step = min((self.cell_width - 6) // columns, free // rows, round(self.cell_width * 0.68))
        left = x + (self.cell_width - step * columns) // 2 + step // 2
        top = y + self.cell_height - 5 - step * rows + step // 2
        return [
            (badge, (left + i % columns * step, top + i // columns * step), step - 1)
            for i, badge in enumerate(cell.tokens)
        ]


def draw_market(view: MarketView) -> Image.Image:
    """The market as a palette picture, 1600 pixels wide."""
    plan = MarketLayout(view)
    page = Canvas.copy_of(_draw_empty(_without_tokens(view)))
    for cell in view.cells:
        _draw_tokens(page, plan, cell)
    _draw_price_list(page, plan)
    return to_palette(page.image, theme.palette(tuple(c.color for c in view.companies)))


def _without_tokens(view: MarketView) -> MarketView:
    """The same market without its tokens, but as tall."""
    cells = tuple(replace(cell, tokens=()) for cell in view.cells)
    return replace(view, cells=cells, highlighted=())


@lru_cache(16)
def _draw_empty(view: MarketView) -> Image.Image:
    plan = MarketLayout(view)
    page = Canvas((WIDTH, plan.height), theme.PAGE)
    for cell in view.cells:
        _draw_cell(page, plan, cell)
    _draw_legend(page, plan)
    if view.loans:
        _draw_loans(page, plan, view.loans)
    return page.image


def fill_zone(cell: CellView) -> str:
    """The zone that colours a space."""
    return next(
        (z for z in cell.zones if z in theme.ZONE_COLORS and z != "par"),
        "par" if "par" in cell.zones else "white",
    )


def _draw_cell(page: Canvas, plan: MarketLayout, cell: CellView) -> None:
    x, y = plan.corner(cell)
    page.rectangle(x, y, x + plan.cell_width, y + plan.cell_height, theme.MUTED)
    page.rectangle(
        x + 1, y + 1, x + plan.cell_width - 1, y + plan.cell_height - 1, theme.ZONE_COLORS[fill_zone(cell)]
    )
    if "par" in cell.zones:
        for grow, fill in ((1, theme.INK), (5, theme.ZONE_COLORS[fill_zone(cell)])):
            page.rectangle(x + grow, y + grow, x + plan.cell_width - grow, y + plan.cell_height - grow, fill)
    _draw_ledge(page, plan, cell)
    size = plan.price_size
    page.write((x + 8, y + 8 + size * 0.35), str(cell.price), size, theme.INK, align="l")
    if cell.arrow:
        high = round(size * 0.85)
        page.paste(
            _arrow_sprite(cell.arrow, high), (x + plan.cell_width - 6 - high // 3, y + 8 + size * 0.35)
        )


def _draw_ledge(page: Canvas, plan: MarketLayout, cell: CellView) -> None:
    """The bar under a space of the ledge, and at its end where the row goes on below it."""
    row, column = cell_position(plan.view, cell)
    x, y = plan.corner(cell)
    if (row, column) in plan.ledge_cells:
        page.rectangle(
            x, y + plan.cell_height - LEDGE_WIDTH, x + plan.cell_width, y + plan.cell_height, theme.INK
        )
    if plan.ledge_cells and cell.arrow == "up" and (row, column + 1) in plan.occupied:
        page.rectangle(
            x + plan.cell_width - LEDGE_WIDTH, y, x + plan.cell_width, y + plan.cell_height, theme.INK
        )


@lru_cache(16)
def _arrow_sprite(way: str, high: int) -> Image.Image:
    fine = SupersampledCanvas((round(high * 0.66), high))
    ends = ((high * 0.33, 1.0), (high * 0.33, high - 1.0))
    fine.arrow(ends[way == "up"], ends[way != "up"], high * 0.2, theme.BLOCKED)
    return fine.downsampled()


def _draw_tokens(page: Canvas, plan: MarketLayout, cell: CellView) -> None:
    """The tokens of a space; where there are none, the letters of its zones."""
    if not cell.tokens:
        x, y = plan.corner(cell)
        tags = " ".join(ZONE_TAGS[z] for z in cell.zones if z in ZONE_TAGS)
        size = max(16, round(plan.cell_width * 0.27))
        page.write(
            (x + 9, y + plan.cell_height - 10 - size * CAP_HEIGHT / 2), tags, size, theme.MUTED, align="l"
        )
    for badge, middle, diameter in plan.token_positions(cell):
        if badge.sym in plan.view.highlighted:
            page.paste(_halo_sprite(diameter), middle)
            diameter -= 10
        page.paste(sprites.token(badge, diameter), middle)


@lru_cache(8)
def _halo_sprite(diameter: int) -> Image.Image:
    fine = SupersampledCanvas((diameter, diameter))
    fine.disc((diameter / 2, diameter / 2), diameter / 2, theme.LAST_CHANGE)
    fine.disc((diameter / 2, diameter / 2), diameter / 2 - 3, theme.PAPER)
    return fine.downsampled()


def _draw_legend(page: Canvas, plan: MarketLayout) -> None:
    """What the zones are called, and the arrows of the edge."""
    x, y = MARGIN, plan.legend_top + 38
    zones = dict.fromkeys(z for cell in plan.view.cells for z in cell.zones if z in ZONE_TAGS)
    for zone in zones:
        page.rectangle(x, y - 18, x + 36, y + 18, theme.INK)
        edge = 4 if zone == "par" else 1
        page.rectangle(x + edge, y - 18 + edge, x + 36 - edge, y + 18 - edge, theme.ZONE_COLORS[zone])
        page.write((x + 18, y), ZONE_TAGS[zone], 24, theme.INK)
        words = ZONE_NAMES.get(zone, f"{zone} zone")
        page.write((x + 46, y), words, 30, theme.INK, align="l", weight="Semibold")
        x += 76 + text_width(words, 30, "Semibold")
    if plan.ledge_cells:
        page.rectangle(x, y - LEDGE_WIDTH // 2, x + 36, y + LEDGE_WIDTH - LEDGE_WIDTH // 2, theme.INK)
        page.write((x + 46, y), "ledge", 30, theme.INK, align="l", weight="Semibold")
        x += 76 + text_width("ledge", 30, "Semibold")
    if any(cell.arrow for cell in plan.view.cells):
        page.paste(_arrow_sprite("up", 34), (x + 12, y))
        page.paste(_arrow_sprite("down", 34), (x + 42, y))
        page.write((x + 66, y), "instead of sideways", 30, theme.INK, align="l", weight="Semibold")


def _draw_loans(page: Canvas, plan: MarketLayout, loans: LoanStatus) -> None:
    """What a loan costs by how many are taken: a box for each rate, a mark for each loan, filled once taken.

    The box of the rate that holds with as many as are taken is framed.
    """
    page.write(
        (MARGIN, plan.loans_top + 22), str(loans).capitalize(), 36, theme.INK, align="l", weight="Semibold"
    )
    top, high = plan.loans_top + 52, 112
    wide = (WIDTH - 2 * MARGIN) // len(loans.rates)
    for i, rate in enumerate(loans.rates):
        x, now = MARGIN + i * wide, rate == loans.rate
        page.rectangle(x, top, x + wide, top + high, theme.INK if now else theme.FAINT)
        edge = 6 if now else 1
        paper = theme.ZONE_COLORS["yellow"] if now else theme.PAPER
        page.rectangle(x + edge, top + edge, x + wide - edge, top + high - edge, paper)
        page.write((x + wide / 2, top + 38), f"${rate}", 40 if now else 36, theme.INK)
        for j in range(min(loans.loans_per_step, loans.limit - i * loans.loans_per_step)):
            _draw_loan(
                page,
                x + (wide - loans.loans_per_step * 19) // 2 + 19 * j,
                top + 74,
                i * loans.loans_per_step + j < loans.taken,
            )


def _draw_loan(page: Canvas, x: int, y: int, taken: bool) -> None:
    page.rectangle(x + 1, y, x + 18, y + 22, theme.INK)
    if not taken:
        page.rectangle(x + 3, y + 2, x + 16, y + 20, theme.PAPER)


def _draw_price_list(page: Canvas, plan: MarketLayout) -> None:
    """The companies by price: number, token, price."""
    y = plan.list_top + 34
    if not plan.view.order:
        page.write((MARGIN, y), "No company has a price yet.", 34, theme.MUTED, align="l", weight="Semibold")
    wide = (WIDTH - 2 * MARGIN) // 4
    named = {badge: cell.name for cell in plan.view.cells if cell.name for badge in cell.tokens}
    for i, (badge, price) in enumerate(plan.view.order):
        x, level = MARGIN + i % 4 * wide, y + i // 4 * 72
        page.write((x + 28, level), f"{i + 1}.", 36, theme.MUTED)
        page.paste(sprites.token(badge, 62), (x + 90, level))
        page.write((x + 134, level), badge.sym, 38, theme.INK, align="l")
        words = named.get(badge, f"${price}")
        size = fit_font_size(words, 38, wide - 270, "Semibold")
        page.write((x + 262, level), words, size, theme.INK, align="l", weight="Semibold")
