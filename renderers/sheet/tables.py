"""Pictures of tables for one question: an auction, and the companies of a merger side by side.

They are narrower than the sheet, so that their font is larger where a phone shows them in its width.
"""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image

from engine import dollars
from renderers import theme
from renderers.canvas import Page, filled_lines, to_palette
from renderers.files import png_palette
from renderers.sheet.sheet import MARGIN, SMALL_FONT_SIZE, SheetCell, SheetTable
from renderers.theme import Palette
from renderers.views import AuctionView, CompanyView, SheetView

WIDTH = 880
HEADING_SIZE = 34
LINE_HEIGHT = 29
PARAGRAPH_GAP = 8
MAX_SIDE_BY_SIDE = 6


def draw_auction(view: AuctionView, palette: Palette = theme.LIGHT) -> Image.Image:
    """The lots with their bids, what each can do, and the players' free money."""
    lots = SheetTable(
        tuple(SheetCell(text, weight="Bold") for text in ("", "Price", "Income", "Bids", "Leads")),
        tuple(
            (
                SheetCell(lot.sym, align="l", weight="Bold", tag="next" if lot.is_next else ""),
                SheetCell("–" if lot.price is None else f"${lot.price}", weight="Bold"),
                SheetCell(f"${lot.revenue}" if lot.revenue else "–"),
                SheetCell(", ".join(f"{name} ${bid:,}" for name, bid in lot.bids) or "–", wraps=True),
                SheetCell(f"{lot.bids[-1][0]} ${lot.bids[-1][1]:,}" if lot.bids else "–", weight="Bold"),
            )
            for lot in view.lots
        ),
        WIDTH,
    )
    money = SheetTable(
        tuple(SheetCell(text, weight="Bold") for text in ("", "Cash", "In bids", "Free")),
        tuple(
            (
                SheetCell(name, align="l", weight="Bold", tag="now" if acts else ""),
                SheetCell(dollars(cash)),
                SheetCell(dollars(cash - free)),
                SheetCell(dollars(free), weight="Bold"),
            )
            for name, cash, free, acts in view.players
        ),
        WIDTH,
    )
    powers = [
        filled_lines(
            f"{lot.sym} {lot.name}. {lot.power}".split(), " ", SMALL_FONT_SIZE, WIDTH - 2 * MARGIN, "Semibold"
        )
        for lot in view.lots
    ]
    return _draw_page(f"{view.title} · {view.round} · auction", [money, lots], powers, palette)


def draw_companies(view: SheetView, companies: Sequence[str], palette: Palette) -> Image.Image:
    """Companies side by side, at most `MAX_SIDE_BY_SIDE`, and then below each other; with what two have
    together."""
    shown = [c for sym in companies for c in view.companies if c.badge.sym == sym]
    together = len(shown) == 2
    parts = [shown[i : i + MAX_SIDE_BY_SIDE] for i in range(0, max(len(shown), 1), MAX_SIDE_BY_SIDE)]
    tables = [_companies_table(part, together) for part in parts]
    return _draw_page(f"{view.title} · {view.round}", tables, [], palette)


def _companies_table(shown: Sequence[CompanyView], together: bool) -> SheetTable:
    header = (
        SheetCell(),
        *(SheetCell(c.badge.sym, badge=c.badge, tag="now" if c.acting else "") for c in shown),
        *((SheetCell("Together", weight="Bold"),) if together else ()),
    )

    def row(label: str, texts: Sequence[str], sum_text: str = "") -> tuple[SheetCell, ...]:
        cells = [SheetCell(text or "–", weight="Bold", wraps=True) for text in texts]
        return (
            SheetCell(label, align="l", color="muted"),
            *cells,
            *((SheetCell(sum_text, wraps=True),) if together else ()),
        )

    rows = [
        row("President", [c.president or "" for c in shown]),
        row("Price", [_price(c) for c in shown]),
        row("Shares", [str(c.size or "") for c in shown], str(sum(c.size or 0 for c in shown))),
        row("Cash", ["private" if c.cash is None else dollars(c.cash) for c in shown],
            dollars(sum(c.cash or 0 for c in shown))),
        row("Loans", [f"{c.loans}/{c.max_loans}" for c in shown], str(sum(c.loans for c in shown))),
        row("Trains", [" ".join(c.trains) for c in shown], " ".join(t for c in shown for t in c.trains)),
        row("Tokens left", [str(len(c.tokens)) for c in shown], str(sum(len(c.tokens) for c in shown))),
        row("Privates", [" ".join(c.privates) for c in shown],
            " ".join(p for c in shown for p in c.privates)),
        row("Last run", ["" if c.last_revenue is None else dollars(c.last_revenue) for c in shown]),
    ]  # fmt: skip
    return SheetTable(header, tuple(rows), max(WIDTH, 208 * len(header)))


def companies_alt(view: SheetView, companies: Sequence[str]) -> str:
    """A description of the companies side by side."""
    shown = [c for sym in companies for c in view.companies if c.badge.sym == sym]
    parts = [text for c in shown for text in (c.summary, c.details_line) if text]
    if len(shown) == 2:
        shares, cash = sum(c.size or 0 for c in shown), dollars(sum(c.cash or 0 for c in shown))
        loans, tokens = sum(c.loans for c in shown), sum(len(c.tokens) for c in shown)
        parts.append(f"Together: {shares} shares, {cash}, {loans} loans, {tokens} tokens left")
    return f"{view.title}, {view.round}. {'. '.join(parts)}."


def _price(c: CompanyView) -> str:
    return c.zone or ("" if c.price is None else f"${c.price}")


def _draw_page(
    heading: str, tables: Sequence[SheetTable], paragraphs: Sequence[Sequence[str]], palette: Palette
) -> Image.Image:
    width = max(table.page_width for table in tables)
    text_height = sum(LINE_HEIGHT * len(lines) + PARAGRAPH_GAP for lines in paragraphs)
    height = MARGIN + 54 + sum(t.height + 20 for t in tables) + text_height + MARGIN
    page = Page((width, height), palette)
    page.write((MARGIN, MARGIN + 24), heading, HEADING_SIZE, palette.ink, align="l")
    y = MARGIN + 54
    for table in tables:
        table.draw(page, y)
        y += table.height + 20
    for lines in paragraphs:
        for line in lines:
            page.label((MARGIN, y + 12), line, SMALL_FONT_SIZE)
            y += LINE_HEIGHT
        y += PARAGRAPH_GAP
    badges = {cell.badge.color for t in tables for row in (t.header, *t.rows) for cell in row if cell.badge}
    return to_palette(page.image, png_palette(palette, tuple(sorted(badges))))
