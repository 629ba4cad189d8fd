"""A position in the hands of the rules: the state, its title, and what both imply.

Rules are functions and small frozen objects that are given a `Game`. While a move is being
played the game is a draft: `emit` applies an event at once, so the next line of the rule sees
the change. While a move is only being judged nothing is emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from engine.board.network import Network, Stop, network_of
from engine.events import (
    AnyEvent,
    BankBroke,
    CashMoved,
    Changed,
    Closed,
    Opened,
)
from engine.facts import Cell, CompanyFacts, Facts, PhaseFacts, PrivateFacts, TrainFacts
from engine.state import BANK, AnyFrame, Company, State, copied, is_seat

if TYPE_CHECKING:
    from engine.title import Title

Ts = TypeVarTuple("Ts")
Found = TypeVar("Found")
_UNKNOWN = object()


class Game:
    """A state with its title, whose printed `facts` are at hand. `events` are those emitted since it
    was made; `known` is what was derived from the position as it is now."""

    __slots__ = ("_network", "events", "facts", "known", "state", "title")

    def __init__(self, state: State, title: Title) -> None:
        self.state = state
        self.title = title
        self.facts: Facts = title.facts
        self.events: list[AnyEvent] = []
        self.known: dict[object, object] = {}
        self._network: Network | None = None

    def draft(self) -> Game:
        """The same position, to be changed without this one."""
        draft = Game(copied(self.state), self.title)
        draft._network = self._network
        return draft

    # -- what is printed ---------------------------------------------------------------

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
        if event.moves_things:
            self.known = {}
            if event.moves_track:
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


def derived(work: Callable[[Game, *Ts], Found]) -> Callable[[Game, *Ts], Found]:
    """Work that follows from what lies where (`Event.moves_things`): it is done once, until that changes.

    It looks at nobody's money, nor at what is asked. What it gives must not be changed by who gets it.
    """

    def remembered(g: Game, *args: *Ts) -> Found:
        key = (work, *args)
        known: Any = g.known.get(key, _UNKNOWN)
        if known is _UNKNOWN:
            known = g.known[key] = work(g, *args)
        found: Found = known
        return found

    remembered.__doc__, remembered.__name__ = work.__doc__, work.__name__
    return remembered
