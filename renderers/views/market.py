"""The view of the stock market and the bank's loans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine import LoanStatus, State, game_of, loan_status, space_label
from renderers.views.labels import Badge, clip_text, company_badges


@dataclass(frozen=True)
class CellView:
    """A cell of the market with its tokens, the top one first; a cell without a price has a `name`."""

    row: int
    column: int
    price: int
    zones: tuple[str, ...]
    arrow: str | None
    tokens: tuple[Badge, ...]
    name: str | None = None


@dataclass(frozen=True)
class MarketView:
    """The market, and the bank's loans.

    `order`: (company, price) in operating order: by price, in a cell from the top. `highlighted`: symbols of
    companies.
    """

    title: str
    kind: str
    cells: tuple[CellView, ...]
    order: tuple[tuple[Badge, int], ...]
    companies: tuple[Badge, ...]
    highlighted: tuple[str, ...] = ()
    loans: LoanStatus | None = None

    @property
    def alt(self) -> str:
        """A description of the picture."""
        return clip_text(" ".join([f"Stock market of {self.title}.", *self._alt_sentences()]))

    def _alt_sentences(self) -> Iterator[str]:
        prices = ", ".join(f"{i}. {badge.sym} {price}" for i, (badge, price) in enumerate(self.order, 1))
        yield f"Highest first: {prices}." if prices else "No company has a price."
        shared = [(cell.price, _token_symbols(cell)) for cell in self.cells if len(cell.tokens) > 1]
        if shared:
            yield f"In one space, top first: {'; '.join(f'{price} ({syms})' for price, syms in shared)}."
        for cell in self.cells:
            if cell.name and cell.tokens:
                yield f"In {cell.name}: {_token_symbols(cell)}."
        if self.loans:
            yield f"{str(self.loans).capitalize()}."
            yield f"Rates: {' '.join(f'${rate}' for rate in self.loans.rates)}."
        yield f"Prices: {'; '.join(self._rows())}."

    def _rows(self) -> Iterator[str]:
        """The prices of each row."""
        for row in sorted({cell.row for cell in self.cells}):
            yield " ".join(str(cell.price) for cell in self.cells if cell.row == row)


def _token_symbols(cell: CellView) -> str:
    return ", ".join(badge.sym for badge in cell.tokens)


def market_view(state: State, *, highlight: Iterable[str] = ()) -> MarketView:
    """The stock market of a position. `highlight`: companies whose price changed last."""
    game = game_of(state)
    components = game.components
    badges = company_badges(components)
    tokens: dict[tuple[int, int], list[Badge]] = {}
    for sym in state.market_order:
        cell = state.companies[sym].cell
        if cell is not None:
            tokens.setdefault((cell[0], cell[1]), []).append(badges[sym])
    cells = tuple(
        CellView(
            row_index,
            column,
            cell.price,
            cell.zones,
            cell.arrow,
            tuple(tokens.get((row_index, column), ())),
            None if cell.price else space_label(game, (row_index, column)).partition(" ")[2],
        )
        for row_index, row in enumerate(components.market.rows)
        for column, cell in enumerate(row)
        if cell is not None
    )
    return MarketView(
        title=components.title,
        kind=components.market.type,
        cells=cells,
        order=tuple((badges[sym], game.price(sym)) for sym in game.operating_order()),
        companies=tuple(badges.values()),
        highlighted=tuple(highlight),
        loans=loan_status(state),
    )
