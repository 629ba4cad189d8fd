"""A position in the hands of the rules: the state, its title, and what both imply.

Rules are functions and small frozen objects that are given a `Game`. While a move is being
played the game is a draft: `emit` applies an event at once, so the next line of the rule sees
the change. While a move is only being judged nothing is emitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from engine.board.network import Network, Stop, network_of
from engine.events import (
    AnyEvent,
    BankBroke,
    CashMoved,
    Changed,
    Closed,
    CompanyClosed,
    DestinationPlaced,
    Opened,
    TileLaid,
    TokenPlaced,
    TokenShifted,
    TokenTaken,
)
from engine.facts import Cell, CompanyFacts, Facts, PhaseFacts, PrivateFacts, TrainFacts
from engine.state import BANK, AnyFrame, Company, State, is_seat

if TYPE_CHECKING:
    from engine.title import Title

BOARD_CHANGES = (TileLaid, TokenPlaced, TokenShifted, TokenTaken, DestinationPlaced, CompanyClosed)
"""Events after which the track is another."""


class Game:
    """A state with its title. `events` are those emitted since it was made."""

    __slots__ = ("_network", "events", "state", "title")

    def __init__(self, state: State, title: Title) -> None:
        self.state = state
        self.title = title
        self.events: list[AnyEvent] = []
        self._network: Network | None = None

    # -- what is printed ---------------------------------------------------------------

    @property
    def facts(self) -> Facts:
        return self.title.facts

    def company_facts(self, company: str) -> CompanyFacts:
        return self.title.companies[company]

    def private_facts(self, private: str) -> PrivateFacts:
        return self.title.privates[private]

    def train_facts(self, train: str) -> TrainFacts:
        return self.title.trains[train]

    @property
    def phase(self) -> PhaseFacts:
        return self.title.phases[self.state.phase]

    # -- what stands -------------------------------------------------------------------

    @property
    def top(self) -> AnyFrame:
        return self.state.stack[-1]

    def company(self, sym: str) -> Company:
        return self.state.companies[sym]

    def cash(self, owner: str) -> int:
        return self.state.cash[owner]

    def cell(self, company: str) -> Cell:
        """The market space of a company that has a price."""
        at = self.state.companies[company].cell
        assert at is not None
        return self.title.cell(at)

    def price(self, company: str) -> int:
        """Dollars for 10 %; 0 while the company has no price."""
        at = self.state.companies[company].cell
        return self.title.cell(at).price if at else 0

    def held(self, owner: str, company: str) -> int:
        """Percent that the owner holds."""
        return self.state.companies[company].shares.get(owner, 0)

    def president(self, company: str) -> str:
        """The seat of the president. Raises AssertionError where there is none."""
        seat = self.state.companies[company].president
        assert seat is not None
        return seat

    def voice(self, owner: str) -> str:
        """The seat that speaks for an owner: itself, or a company's president."""
        return owner if is_seat(owner) else self.president(owner)

    def privates_of(self, owner: str) -> list[str]:
        return [p for p, o in self.state.privates.items() if o == owner]

    def open_privates(self) -> Iterator[tuple[str, str]]:
        """Privates that a player or a company owns, with the owner."""
        return ((p, o) for p, o in self.state.privates.items() if o in self.state.cash and o != BANK)

    @property
    def network(self) -> Network:
        """The track of the board as it lies."""
        if self._network is None:
            state = self.state
            shut = self.title.shut[state.phase]
            self._network = network_of(self.facts, state.tiles, state.tokens, self.places, shut)
        return self._network

    @property
    def places(self) -> Mapping[Stop, int] | None:
        """Token places of cities beyond those of their faces, where the title has such."""
        places = self.title.places
        return places(self.facts, self.state) if places else None

    def operating_order(self) -> list[str]:
        """Companies with a price: highest first, then furthest right, then top of the pile (§16).

        Of equal prices in one column, on which the book is silent, the upper row goes first.
        """
        companies = self.state.companies

        def place(company: str) -> tuple[int, int, int]:
            cell = companies[company].cell
            assert cell is not None
            return -self.title.cell(cell).price, -cell[1], cell[0]

        return sorted(self.state.market, key=place)

    # -- the draft ---------------------------------------------------------------------

    def emit(self, event: AnyEvent) -> None:
        """Apply an event and remember it."""
        event.apply(self.state)
        self.events.append(event)
        if isinstance(event, BOARD_CHANGES):
            self._network = None

    def pay(self, source: str, target: str, amount: int, why: str) -> None:
        """Move dollars, if any. A bank that pays more than it has is broken from then on (§25)."""
        if amount:
            self.emit(CashMoved(source, target, amount, why))
            limited = self.title.facts.bank is not None
            if limited and source == BANK and self.state.cash[BANK] < 0 and not self.state.broken:
                self.emit(BankBroke())

    def open(self, frame: AnyFrame) -> None:
        self.emit(Opened(frame))

    def change(self, frame: AnyFrame) -> None:
        if frame != self.top:
            self.emit(Changed(frame))

    def close(self) -> None:
        self.emit(Closed())
