"""What the picture of the stock market shows, and the loans of companies below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine import LoanStatus, State, game_of, loan_status, space_label
from renderers.views.labels import Badge, clip_text, company_badges


@dataclass(frozen=True)
class CellView:
    """A space of the market, at its row and column; `tokens` top first; the `name` of one without a price."""

    row: int
    column: int
    price: int
    zones: tuple[str, ...]
    arrow: str | None
    tokens: tuple[Badge, ...]
    name: str | None = None


@dataclass(frozen=True)
class MarketView:
    """The market: `order` lists the companies on it by price, top first in a cell; the bank's loans."""

    title: str
    kind: str
    cells: tuple[CellView, ...]
    order: tuple[tuple[Badge, int], ...]
    companies: tuple[Badge, ...]
    highlighted: tuple[str, ...] = ()
    loans: LoanStatus | None = None

    @property
    def alt(self) -> str:
        """The picture in words."""
        return clip_text(" ".join([f"Stock market of {self.title}.", *self._alt_sentences()]))

    def _alt_sentences(self) -> Iterator[str]:
        listed = ", ".join(f"{badge.sym} {price}" for badge, price in self.order)
        yield f"Highest first: {listed}." if listed else "No company has a price."
        piles = [(cell.price, _token_symbols(cell)) for cell in self.cells if len(cell.tokens) > 1]
        if piles:
            yield f"In one space, top first: {'; '.join(f'{price} ({syms})' for price, syms in piles)}."
        for cell in self.cells:
            if cell.name and cell.tokens:
                yield f"In {cell.name}: {_token_symbols(cell)}."
        if self.loans:
            yield f"{str(self.loans).capitalize()}."


def _token_symbols(cell: CellView) -> str:
    return ", ".join(badge.sym for badge in cell.tokens)


def market_view(state: State, *, highlight: Iterable[str] = ()) -> MarketView:
    """The stock market of a position; `highlight`: companies whose price changed last."""
    g = game_of(state)
    facts = g.components
    badges = company_badges(facts)
    stacks: dict[tuple[int, int], list[Badge]] = {}
    for sym in state.market_order:
        cell = state.companies[sym].cell
        if cell is not None:
            stacks.setdefault((cell[0], cell[1]), []).append(badges[sym])
    cells = tuple(
        CellView(
            r,
            c,
            cell.price,
            cell.zones,
            cell.arrow,
            tuple(stacks.get((r, c), ())),
            None if cell.price else space_label(g, (r, c)).partition(" ")[2],
        )
        for r, row in enumerate(facts.market.rows)
        for c, cell in enumerate(row)
        if cell is not None
    )
    return MarketView(
        title=facts.title,
        kind=facts.market.type,
        cells=cells,
        order=tuple((badges[sym], g.price(sym)) for sym in g.operating_order()),
        companies=tuple(badges.values()),
        highlighted=tuple(highlight),
        loans=loan_status(state),
    )
