"""The stock market: spaces with their zones, price tokens in order, and the turns of the edge.

A two-dimensional market is drawn as it is printed; one that is a single row is folded into
several. In a space tokens stand in rows, the top one first. Below are the bank's loans, where there
are any, by what they cost, and the list of companies by price, in the order in which they operate.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from PIL import Image

from engine import Lending
from renderers import sprites, theme
from renderers.canvas import CAP, Fine, Page, fitting, indexed, text_width
from renderers.views import Badge, CellView, MarketView

WIDTH = 1600
FOLD = 12
"""Spaces of a row at most, where a single row is folded."""
HEAD = 12
TAGS = {
    "yellow": "Y", "orange": "O", "green": "G", "brown": "B", "par": "P", "closing": "C",
    "liquidation": "L", "acquisition": "A",
}  # fmt: skip
MEANING = {"par": "par price"}
LEDGE = "upper_ledge"
BAR = 7
"""How thick a ledge is drawn, in pixels."""
LOANS = 190
"""The height of the table of loans, in pixels."""


def place(view: MarketView, cell: CellView) -> tuple[int, int]:
    """The row and column at which a space is drawn."""
    if view.kind != "1d":
        return cell.row, cell.column
    rows = -(-len(view.cells) // FOLD)
    return divmod(cell.column, -(-len(view.cells) // rows))


class Plan:
    """Where everything on a market's picture stands, in pixels."""

    def __init__(self, view: MarketView) -> None:
        at = [place(view, cell) for cell in view.cells]
        self.view = view
        self.ledge = frozenset(place(view, cell) for cell in view.cells if LEDGE in cell.zones)
        self.spaces = frozenset(at)
        self.rows = 1 + max(r for r, _ in at)
        self.columns = 1 + max(c for _, c in at)
        self.cell = (WIDTH - 2 * HEAD) // self.columns
        self.tall = round(self.cell * 1.38)
        self.price = min(44 if self.cell > 120 else 32, round(self.cell * 0.38))
        self.list_rows = -(-len(view.order) // 4)
        self.top = HEAD + self.rows * self.tall
        self.loans = self.top + 76
        self.list = self.loans + (LOANS if view.loans else 0)
        self.height = self.list + 72 * max(1, self.list_rows) + HEAD

    def corner(self, cell: CellView) -> tuple[int, int]:
        """The upper left corner of a space."""
        row, column = place(self.view, cell)
        return HEAD + column * self.cell, HEAD + row * self.tall

    def tokens(self, cell: CellView) -> list[tuple[Badge, tuple[int, int], int]]:
        """Each token of a space with its middle and diameter, the top one first, in rows."""
        x, y = self.corner(cell)
        count = len(cell.tokens)
        columns = 1 if count <= 1 else 2 if count <= 4 else 3
        rows = max(1, -(-count // columns))
        free = self.tall - self.price - 14
        step = min((self.cell - 6) // columns, free // rows, round(self.cell * 0.68))
        left = x + (self.cell - step * columns) // 2 + step // 2
        top = y + self.tall - 5 - step * rows + step // 2
        return [
            (badge, (left + i % columns * step, top + i // columns * step), step - 1)
            for i, badge in enumerate(cell.tokens)
        ]


def market_picture(view: MarketView) -> Image.Image:
    """The market as a palette picture, 1600 pixels wide."""
    plan = Plan(view)
    page = Page.over(_empty(_bare(view)))
    for cell in view.cells:
        _tokens(page, plan, cell)
    _order(page, plan)
    return indexed(page.image, theme.palette(tuple(c.color for c in view.companies)))


def _bare(view: MarketView) -> MarketView:
    """The same market without its tokens, but as tall."""
    cells = tuple(replace(cell, tokens=()) for cell in view.cells)
    return replace(view, cells=cells, marked=())


@lru_cache(16)
def _empty(view: MarketView) -> Image.Image:
    plan = Plan(view)
    page = Page((WIDTH, plan.height), theme.PAGE)
    for cell in view.cells:
        _space(page, plan, cell)
    _legend(page, plan)
    if view.loans:
        _loans(page, plan, view.loans)
    return page.image


def zone_of(cell: CellView) -> str:
    """The zone that colours a space."""
    return next(
        (z for z in cell.zones if z in theme.ZONES and z != "par"), "par" if "par" in cell.zones else "white"
    )


def _space(page: Page, plan: Plan, cell: CellView) -> None:
    x, y = plan.corner(cell)
    page.box(x, y, x + plan.cell, y + plan.tall, theme.SOFT)
    page.box(x + 1, y + 1, x + plan.cell - 1, y + plan.tall - 1, theme.ZONES[zone_of(cell)])
    if "par" in cell.zones:
        for grow, fill in ((1, theme.INK), (5, theme.ZONES[zone_of(cell)])):
            page.box(x + grow, y + grow, x + plan.cell - grow, y + plan.tall - grow, fill)
    _ledge(page, plan, cell)
    size = plan.price
    page.write((x + 8, y + 8 + size * 0.35), str(cell.price), size, theme.INK, align="l")
    if cell.arrow:
        high = round(size * 0.85)
        page.paste(_arrow(cell.arrow, high), (x + plan.cell - 6 - high // 3, y + 8 + size * 0.35))


def _ledge(page: Page, plan: Plan, cell: CellView) -> None:
    """The bar under a space of the ledge, and at its end where the row goes on below it."""
    row, column = place(plan.view, cell)
    x, y = plan.corner(cell)
    if (row, column) in plan.ledge:
        page.box(x, y + plan.tall - BAR, x + plan.cell, y + plan.tall, theme.INK)
    if plan.ledge and cell.arrow == "up" and (row, column + 1) in plan.spaces:
        page.box(x + plan.cell - BAR, y, x + plan.cell, y + plan.tall, theme.INK)


@lru_cache(16)
def _arrow(way: str, high: int) -> Image.Image:
    fine = Fine((round(high * 0.66), high))
    ends = ((high * 0.33, 1.0), (high * 0.33, high - 1.0))
    fine.arrow(ends[way == "up"], ends[way != "up"], high * 0.2, theme.BLOCKED)
    return fine.done()


def _tokens(page: Page, plan: Plan, cell: CellView) -> None:
    """The tokens of a space; where there are none, the letters of its zones."""
    if not cell.tokens:
        x, y = plan.corner(cell)
        tags = " ".join(TAGS[z] for z in cell.zones if z in TAGS)
        size = max(16, round(plan.cell * 0.27))
        page.write((x + 9, y + plan.tall - 10 - size * CAP / 2), tags, size, theme.SOFT, align="l")
    for badge, middle, diameter in plan.tokens(cell):
        if badge.sym in plan.view.marked:
            page.paste(_halo(diameter), middle)
            diameter -= 10
        page.paste(sprites.token(badge, diameter), middle)


@lru_cache(8)
def _halo(diameter: int) -> Image.Image:
    fine = Fine((diameter, diameter))
    fine.disc((diameter / 2, diameter / 2), diameter / 2, theme.LAST)
    fine.disc((diameter / 2, diameter / 2), diameter / 2 - 3, theme.PAPER)
    return fine.done()


def _legend(page: Page, plan: Plan) -> None:
    """What the zones are called, and the arrows of the edge."""
    x, y = HEAD, plan.top + 38
    zones = dict.fromkeys(z for cell in plan.view.cells for z in cell.zones if z in TAGS)
    for zone in zones:
        page.box(x, y - 18, x + 36, y + 18, theme.INK)
        edge = 4 if zone == "par" else 1
        page.box(x + edge, y - 18 + edge, x + 36 - edge, y + 18 - edge, theme.ZONES[zone])
        page.write((x + 18, y), TAGS[zone], 24, theme.INK)
        words = MEANING.get(zone, f"{zone} zone")
        page.write((x + 46, y), words, 30, theme.INK, align="l", weight="Semibold")
        x += 76 + text_width(words, 30, "Semibold")
    if plan.ledge:
        page.box(x, y - BAR // 2, x + 36, y + BAR - BAR // 2, theme.INK)
        page.write((x + 46, y), "ledge", 30, theme.INK, align="l", weight="Semibold")
        x += 76 + text_width("ledge", 30, "Semibold")
    if any(cell.arrow for cell in plan.view.cells):
        page.paste(_arrow("up", 34), (x + 12, y))
        page.paste(_arrow("down", 34), (x + 42, y))
        page.write((x + 66, y), "instead of sideways", 30, theme.INK, align="l", weight="Semibold")


def _loans(page: Page, plan: Plan, loans: Lending) -> None:
    """What a loan costs by how many are taken: a box for each rate, a mark for each loan, filled once taken.

    The box of the rate that holds with as many as are taken is framed.
    """
    page.write((HEAD, plan.loans + 22), str(loans).capitalize(), 36, theme.INK, align="l", weight="Semibold")
    top, high = plan.loans + 52, 112
    wide = (WIDTH - 2 * HEAD) // len(loans.rates)
    for i, rate in enumerate(loans.rates):
        x, now = HEAD + i * wide, rate == loans.rate
        page.box(x, top, x + wide, top + high, theme.INK if now else theme.FAINT)
        edge = 6 if now else 1
        paper = theme.ZONES["yellow"] if now else theme.PAPER
        page.box(x + edge, top + edge, x + wide - edge, top + high - edge, paper)
        page.write((x + wide / 2, top + 38), f"${rate}", 40 if now else 36, theme.INK)
        for j in range(min(loans.step, loans.most - i * loans.step)):
            _loan(
                page, x + (wide - loans.step * 19) // 2 + 19 * j, top + 74, i * loans.step + j < loans.taken
            )


def _loan(page: Page, x: int, y: int, taken: bool) -> None:
    page.box(x + 1, y, x + 18, y + 22, theme.INK)
    if not taken:
        page.box(x + 3, y + 2, x + 16, y + 20, theme.PAPER)


def _order(page: Page, plan: Plan) -> None:
    """The companies by price: number, token, price."""
    y = plan.list + 34
    if not plan.view.order:
        page.write((HEAD, y), "No company has a price yet.", 34, theme.SOFT, align="l", weight="Semibold")
    wide = (WIDTH - 2 * HEAD) // 4
    named = {badge: cell.name for cell in plan.view.cells if cell.name for badge in cell.tokens}
    for i, (badge, price) in enumerate(plan.view.order):
        x, level = HEAD + i % 4 * wide, y + i // 4 * 72
        page.write((x + 28, level), f"{i + 1}.", 36, theme.SOFT)
        page.paste(sprites.token(badge, 62), (x + 90, level))
        page.write((x + 134, level), badge.sym, 38, theme.INK, align="l")
        words = named.get(badge, f"${price}")
        size = fitting(words, 38, wide - 270, "Semibold")
        page.write((x + 262, level), words, size, theme.INK, align="l", weight="Semibold")
