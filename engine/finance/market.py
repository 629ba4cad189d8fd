"""How tokens move on a market of rows and columns (1830 §8.2, 1870 §5.8).

Every move puts the token under those that lie where it comes to; a token that stays keeps its
place in the pile.
"""

from __future__ import annotations

from engine.core.components import MarketZone
from engine.core.events import ParSet, PriceMoved
from engine.core.state import PendingSale
from engine.game import Game

Space = tuple[int, int]


def has_space(g: Game, at: Space) -> bool:
    """Whether the market has a space at (row, column)."""
    rows = g.components.market.rows
    row, column = at
    return 0 <= row < len(rows) and 0 <= column < len(rows[row]) and rows[row][column] is not None


def down(g: Game, at: Space, rows: int = 1) -> Space:
    """Straight down by so many rows, as far as there are spaces.

    A token that would come to lie just under a ledge stops on it (1870 §5.8.1).
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
    """One row up; in the top row nowhere, or one to the right and down (1870 §5.8.1)."""
    aside = g.components.market.top == "diagonal" and at[0] == 0
    above = (1, at[1] + 1) if aside else (at[0] - 1, at[1])
    return above if has_space(g, above) else at


def right(g: Game, at: Space) -> Space:
    """One space to the right; at the end of the row, or where an arrow says so, one up (§8.2.3)."""
    beside = (at[0], at[1] + 1)
    turns_up = g.title.cell(at).arrow == "up"
    return beside if has_space(g, beside) and not turns_up else up(g, at)


def left(g: Game, at: Space) -> Space:
    """One space to the left; at the end of the row one down instead (§8.2.4).

    A space of liquidation is never come to by a move (1817 §6.6).
    """
    beside = (at[0], at[1] - 1)
    if has_space(g, beside):
        return at if MarketZone.LIQUIDATION in g.title.cell(beside).zones else beside
    return down(g, at)


def move_token(g: Game, company: str, to: Space, why: str) -> None:
    """Put a company's token there, if that is elsewhere, with what that leads to."""
    if g.company(company).cell != to:
        g.emit(PriceMoved(company, to, why))
        for follow in g.title.after_price_move:
            follow(g, company)


def drop_price(g: Game, sale: PendingSale) -> None:
    """Move the price down by one row for each share sold (1830 §8.2.1)."""
    move_token(g, sale.company, down(g, token_space(g, sale.company), sale.count), "sold")


def token_space(g: Game, company: str) -> Space:
    """Where the token of a company that has a price stands."""
    at = g.company(company).cell
    assert at is not None
    return at


def space_label(g: Game, at: Space) -> str:
    """Where a token stands: `at $110`, or in a zone without prices `in acquisition 2`, from the left."""
    cell = g.title.cell(at)
    if cell.price or not cell.zones:
        return f"at ${cell.price}"
    row = g.components.market.rows[at[0]]
    alike = [column for column, other in enumerate(row) if other and other.zones == cell.zones]
    number = f" {alike.index(at[1]) + 1}" if len(alike) > 1 else ""
    return f"in {cell.zones[0]}{number}"


def refuse_par_price(g: Game, price: int) -> str | None:
    """Why a company cannot start at that price (1830 §8.1), or None."""
    if price in g.components.par_prices:
        return None
    return f"A par price is one of {', '.join(f'${p}' for p in g.components.par_prices)} (§8.1)."


def set_par_price(g: Game, company: str, price: int) -> None:
    """Put the company's token on its par cell, under any that lie there."""
    cell = g.title.par_cell(price)
    assert cell is not None
    g.emit(ParSet(company, price, cell))
