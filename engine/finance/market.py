"""Moves of company tokens on a stock market of rows and columns (1830 §8.2, 1870 §5.8), and par prices.

A token that moves goes under the tokens that are already on its new space. A token that does not move keeps
its place in the pile.
"""

from __future__ import annotations

from engine.core.components import MarketZone
from engine.core.events import ParSet, PriceMoved
from engine.core.reasons import PriceReason
from engine.core.state import PendingSale
from engine.game import Game

Space = tuple[int, int]


def has_space(g: Game, at: Space) -> bool:
    """Whether the market has a space at that (row, column)."""
    rows = g.components.market.rows
    row, column = at
    return 0 <= row < len(rows) and 0 <= column < len(rows[row]) and rows[row][column] is not None


def down(g: Game, at: Space, rows: int = 1) -> Space:
    """The space that many rows straight down, or the last one on the way.

    A token that would stop right below a ledge stops on the ledge (1870 §5.8.1).
    """
    row, column = at
    if (
        has_space(g, (row + rows - 1, column))
        and MarketZone.UPPER_LEDGE in g.title.cell((row + rows - 1, column)).zones
    ):
        rows -= 1
    for _ in range(rows):
        if not has_space(g, (at[0] + 1, at[1])):
            break
        at = (at[0] + 1, at[1])
    return at


def up(g: Game, at: Space) -> Space:
    """The space one row up; from the top row the same one, or the one right and down (1870 §5.8.1)."""
    diagonal = g.components.market.top == "diagonal" and at[0] == 0
    above = (1, at[1] + 1) if diagonal else (at[0] - 1, at[1])
    return above if has_space(g, above) else at


def right(g: Game, at: Space) -> Space:
    """The space to the right; at the end of the row, or at an arrow up, the one above (1830 §8.2.3)."""
    beside = (at[0], at[1] + 1)
    turns_up = g.title.cell(at).arrow == "up"
    return beside if has_space(g, beside) and not turns_up else up(g, at)


def left(g: Game, at: Space) -> Space:
    """The space to the left; at the end of the row the one below (1830 §8.2.4).

    No move to the left leads into liquidation (1817 §6.6).
    """
    beside = (at[0], at[1] - 1)
    if has_space(g, beside):
        return at if MarketZone.LIQUIDATION in g.title.cell(beside).zones else beside
    return down(g, at)


def move_token(g: Game, company: str, to: Space, reason: PriceReason) -> None:
    """Move a company's token to a space, with what follows, unless it is there already."""
    if g.company(company).cell != to:
        g.emit(PriceMoved(company, to, reason))
        for follow in g.title.after_price_move:
            follow(g, company)


def drop_price(g: Game, sale: PendingSale) -> None:
    """Move the price down by one row for each share sold (1830 §8.2.1)."""
    move_token(g, sale.company, down(g, token_space(g, sale.company), sale.count), PriceReason.SOLD)


def token_space(g: Game, company: str) -> Space:
    """The space of a company's token. Raises AssertionError if the company has no price."""
    at = g.company(company).cell
    assert at is not None
    return at


def space_label(g: Game, at: Space) -> str:
    """Where a token on a space is: `at $110`, or in a zone without prices `in acquisition 2`."""
    name = space_name(g, at)
    return f"{'at' if name.startswith('$') else 'in'} {name}"


def space_name(g: Game, at: Space) -> str:
    """A space in words: `$110`, or in a zone without prices `acquisition 2`, counted from the left."""
    cell = g.title.cell(at)
    if cell.price or not cell.zones:
        return f"${cell.price:,}"
    row = g.components.market.rows[at[0]]
    columns = [column for column, other in enumerate(row) if other and other.zones == cell.zones]
    number = f" {columns.index(at[1]) + 1}" if len(columns) > 1 else ""
    return f"{cell.zones[0]}{number}"


def refuse_par_price(g: Game, price: int) -> str | None:
    """Why no company can start at that price (1830 §8.1), or None."""
    if price in g.components.par_prices:
        return None
    return (
        f"A par price is one of {', '.join(f'${p:,}' for p in g.components.par_prices)}{g.cite('1830 §8.1')}."
    )


def set_par_price(g: Game, company: str, price: int) -> None:
    """Set a company's par price: its token goes to that par space, under the tokens that are there."""
    cell = g.title.par_cell(price)
    assert cell is not None
    g.emit(ParSet(company, price, cell))
