"""A state together with its title: what rules are given.

Rules are functions and small frozen objects that take a `Game`. While a move is played the game is a draft:
`emit` applies an event at once, so the next line of the rule sees the change. While a move is only judged
nothing is emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar, TypeVarTuple

import msgspec

from engine.board.network import Network, network_of
from engine.board.tile_geometry import Stop
from engine.core.components import (
    CompanyDefinition,
    Components,
    MarketCell,
    PhaseDefinition,
    PrivateDefinition,
    TrainDefinition,
)
from engine.core.events import AnyEvent, BankBroken, CashMoved, FramePopped, FramePushed, FrameReplaced
from engine.core.reasons import CashReason
from engine.core.state import BANK, AnyFrame, Company, State, copy_state, is_seat
from engine.title import Title

Ts = TypeVarTuple("Ts")
ResultT = TypeVar("ResultT")
_MISSING = object()


class Game:
    """A state with its title.

    `components`: what the title prints. `events`: those emitted since the game was made. `cache`: what has
    been derived from the position since pieces last moved.
    """

    __slots__ = ("_network", "cache", "components", "events", "state", "title")

    def __init__(self, state: State, title: GameTitle) -> None:
        self.state = state
        self.title = title
        self.components: Components = title.components
        self.events: list[AnyEvent] = []
        self.cache: dict[object, object] = {}
        self._network: Network | None = None

    def draft(self) -> Game:
        """A copy, which can be changed without changing this game."""
        draft = Game(copy_state(self.state), self.title)
        draft._network = self._network
        return draft

    # -- components ---------------------------------------------------------------

    def company_definition(self, company: str) -> CompanyDefinition:
        return self.title.companies[company]

    def private_definition(self, private: str) -> PrivateDefinition:
        return self.title.privates[private]

    def train_definition(self, train: str) -> TrainDefinition:
        return self.title.trains[train]

    @property
    def phase(self) -> PhaseDefinition:
        return self.title.phases[self.state.phase]

    # -- the position -------------------------------------------------------------------

    @property
    def top(self) -> AnyFrame:
        return self.state.stack[-1]

    def company(self, sym: str) -> Company:
        return self.state.companies[sym]

    def cash(self, owner: str) -> int:
        return self.state.cash[owner]

    def cell(self, company: str) -> MarketCell:
        """The market cell of a company that has a price."""
        at = self.state.companies[company].cell
        assert at is not None
        return self.title.cell(at)

    def price(self, company: str) -> int:
        """Dollars for 10 %; 0 while the company has no price."""
        at = self.state.companies[company].cell
        return self.title.cell(at).price if at else 0

    def percent_held(self, owner: str, company: str) -> int:
        """Percent of the company that the owner holds."""
        return self.state.companies[company].shares.get(owner, 0)

    def president(self, company: str) -> str:
        """The seat of the president. Raises AssertionError where there is none."""
        seat = self.state.companies[company].president
        assert seat is not None
        return seat

    def controller(self, owner: str) -> str:
        """The seat that decides for an owner: itself, or a company's president."""
        return owner if is_seat(owner) else self.president(owner)

    def privates_of(self, owner: str) -> list[str]:
        return [p for p, o in self.state.private_owners.items() if o == owner]

    def owned_privates(self) -> Iterator[tuple[str, str]]:
        """Privates that a player or a company owns, with their owner."""
        return ((p, o) for p, o in self.state.private_owners.items() if o in self.state.cash and o != BANK)

    @property
    def network(self) -> Network:
        """The track on the board."""
        if self._network is None:
            state = self.state
            unusable = self.title.unusable_hexes[state.phase]
            self._network = network_of(self.components, state.tiles, state.tokens, self.extra_slots, unusable)
        return self._network

    @property
    def extra_slots(self) -> Mapping[Stop, int] | None:
        """Token places of cities beyond the printed ones, in titles that have such."""
        slots = self.title.extra_slots
        return slots(self.components, self.state) if slots else None

    def operating_order(self) -> list[str]:
        """Companies with a price: highest first, then furthest right, then top of the pile (1830 §16).

        Where prices in one column are equal the upper row is first; the book is silent on that.
        """
        companies = self.state.companies

        def rank(company: str) -> tuple[int, int, int]:
            cell = companies[company].cell
            assert cell is not None
            return -self.title.cell(cell).price, -cell[1], cell[0]

        return sorted(self.state.market_order, key=rank)

    def cite(self, *citations: str) -> str:
        """The citations as this title has them, in brackets: ` (1830 §18)`; see `Title.cite`."""
        return self.title.cite(*citations)

    # -- the draft ---------------------------------------------------------------------

    def emit(self, event: AnyEvent) -> None:
        """Apply an event and record it."""
        event.apply(self.state)
        self.events.append(event)
        if event.moves_pieces:
            self.cache = {}
            if event.changes_track:
                self._network = None

    def pay(self, source: str, target: str, amount: int, reason: CashReason, subject: str = "") -> None:
        """Move dollars, if any. A bank that pays more than it has is broken from then on (1830 §25).

        `reason`, `subject`: see `CashMoved`.
        """
        if amount:
            self.emit(CashMoved(source, target, amount, reason, subject))
            limited = self.title.components.bank is not None
            if limited and source == BANK and self.state.cash[BANK] < 0 and not self.state.bank_broken:
                self.emit(BankBroken())

    def push(self, frame: AnyFrame) -> None:
        """Put a frame on top of the stack."""
        self.emit(FramePushed(frame))

    def replace_top(self, frame: AnyFrame) -> None:
        """Put a frame in the place of the one on top."""
        if frame != self.top:
            self.emit(FrameReplaced(frame))

    def change_top(self, frame: AnyFrame, **changes: Any) -> None:
        """Put a frame, with these fields changed, in the place of the one on top."""
        self.replace_top(msgspec.structs.replace(frame, **changes))

    def pop(self) -> None:
        """Take the frame on top off the stack."""
        self.emit(FramePopped())


GameTitle: TypeAlias = Title[Game]
"""A title whose mechanics are given games."""


def cached(function: Callable[[Game, *Ts], ResultT]) -> Callable[[Game, *Ts], ResultT]:
    """Cache what a function derives from the position, until pieces move (`Event.moves_pieces`).

    The function looks neither at money nor at what is asked. Callers must not change its result.
    """

    def lookup(g: Game, *args: *Ts) -> ResultT:
        key = (function, *args)
        value: Any = g.cache.get(key, _MISSING)
        if value is _MISSING:
            value = g.cache[key] = function(g, *args)
        result: ResultT = value
        return result

    lookup.__doc__, lookup.__name__ = function.__doc__, function.__name__
    return lookup
