"""A position in the hands of the rules: the state, its title, and what both imply.

Rules are functions and small frozen objects that are given a `Game`. While a move is being
played the game is a draft: `emit` applies an event at once, so the next line of the rule sees
the change. While a move is only being judged nothing is emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from engine.board.network import Network, Stop, network_of
from engine.core.components import (
    CompanyDefinition,
    Components,
    MarketCell,
    PhaseDefinition,
    PrivateDefinition,
    TrainDefinition,
)
from engine.core.events import (
    AnyEvent,
    BankBroken,
    CashMoved,
    FramePopped,
    FramePushed,
    FrameReplaced,
)
from engine.core.reasons import CashReason
from engine.core.state import BANK, AnyFrame, Company, State, copy_state, is_seat

if TYPE_CHECKING:
    from engine.title import Title

Ts = TypeVarTuple("Ts")
ResultT = TypeVar("ResultT")
_MISSING = object()


class Game:
    """A state with its title, whose printed `facts` are at hand. `events` are those emitted since it
    was made; `known` is what was derived from the position as it is now."""

    __slots__ = ("_network", "cache", "components", "events", "state", "title")

    def __init__(self, state: State, title: Title) -> None:
        self.state = state
        self.title = title
        self.components: Components = title.components
        self.events: list[AnyEvent] = []
        self.cache: dict[object, object] = {}
        self._network: Network | None = None

    def draft(self) -> Game:
        """The same position, to be changed without this one."""
        draft = Game(copy_state(self.state), self.title)
        draft._network = self._network
        return draft

    # -- what is printed ---------------------------------------------------------------

    def company_definition(self, company: str) -> CompanyDefinition:
        return self.title.companies[company]

    def private_definition(self, private: str) -> PrivateDefinition:
        return self.title.privates[private]

    def train_definition(self, train: str) -> TrainDefinition:
        return self.title.trains[train]

    @property
    def phase(self) -> PhaseDefinition:
        return self.title.phases[self.state.phase]

    # -- what stands -------------------------------------------------------------------

    @property
    def top(self) -> AnyFrame:
        return self.state.stack[-1]

    def company(self, sym: str) -> Company:
        return self.state.companies[sym]

    def cash(self, owner: str) -> int:
        return self.state.cash[owner]

    def cell(self, company: str) -> MarketCell:
        """The market space of a company that has a price."""
        at = self.state.companies[company].cell
        assert at is not None
        return self.title.cell(at)

    def price(self, company: str) -> int:
        """Dollars for 10 %; 0 while the company has no price."""
        at = self.state.companies[company].cell
        return self.title.cell(at).price if at else 0

    def percent_held(self, owner: str, company: str) -> int:
        """Percent that the owner holds."""
        return self.state.companies[company].shares.get(owner, 0)

    def president(self, company: str) -> str:
        """The seat of the president. Raises AssertionError where there is none."""
        seat = self.state.companies[company].president
        assert seat is not None
        return seat

    def controller(self, owner: str) -> str:
        """The seat that speaks for an owner: itself, or a company's president."""
        return owner if is_seat(owner) else self.president(owner)

    def privates_of(self, owner: str) -> list[str]:
        return [p for p, o in self.state.private_owners.items() if o == owner]

    def owned_privates(self) -> Iterator[tuple[str, str]]:
        """Privates that a player or a company owns, with the owner."""
        return ((p, o) for p, o in self.state.private_owners.items() if o in self.state.cash and o != BANK)

    @property
    def network(self) -> Network:
        """The track of the board as it lies."""
        if self._network is None:
            state = self.state
            shut = self.title.unusable_hexes[state.phase]
            self._network = network_of(self.components, state.tiles, state.tokens, self.extra_slots, shut)
        return self._network

    @property
    def extra_slots(self) -> Mapping[Stop, int] | None:
        """Token places of cities beyond those of their faces, where the title has such."""
        places = self.title.extra_slots
        return places(self.components, self.state) if places else None

    def operating_order(self) -> list[str]:
        """Companies with a price: highest first, then furthest right, then top of the pile (§16).

        Of equal prices in one column, on which the book is silent, the upper row goes first.
        """
        companies = self.state.companies

        def place(company: str) -> tuple[int, int, int]:
            cell = companies[company].cell
            assert cell is not None
            return -self.title.cell(cell).price, -cell[1], cell[0]

        return sorted(self.state.market_order, key=place)

    def cite(self, *citations: str) -> str:
        """The citations as this title has them, in brackets: ` (1830 §18)`; see `Title.cite`."""
        return self.title.cite(*citations)

    # -- the draft ---------------------------------------------------------------------

    def emit(self, event: AnyEvent) -> None:
        """Apply an event and remember it."""
        event.apply(self.state)
        self.events.append(event)
        if event.moves_pieces:
            self.cache = {}
            if event.changes_track:
                self._network = None

    def pay(self, source: str, target: str, amount: int, reason: CashReason, subject: str = "") -> None:
        """Move dollars, if any. A bank that pays more than it has is broken from then on (§25)."""
        if amount:
            self.emit(CashMoved(source, target, amount, reason, subject))
            limited = self.title.components.bank is not None
            if limited and source == BANK and self.state.cash[BANK] < 0 and not self.state.bank_broken:
                self.emit(BankBroken())

    def push(self, frame: AnyFrame) -> None:
        self.emit(FramePushed(frame))

    def replace_top(self, frame: AnyFrame) -> None:
        if frame != self.top:
            self.emit(FrameReplaced(frame))

    def pop(self) -> None:
        self.emit(FramePopped())


def cached(work: Callable[[Game, *Ts], ResultT]) -> Callable[[Game, *Ts], ResultT]:
    """Work that follows from what lies where (`Event.moves_things`): it is done once, until that changes.

    It looks at nobody's money, nor at what is asked. What it gives must not be changed by who gets it.
    """

    def remembered(g: Game, *args: *Ts) -> ResultT:
        key = (work, *args)
        known: Any = g.cache.get(key, _MISSING)
        if known is _MISSING:
            known = g.cache[key] = work(g, *args)
        found: ResultT = known
        return found

    remembered.__doc__, remembered.__name__ = work.__doc__, work.__name__
    return remembered
