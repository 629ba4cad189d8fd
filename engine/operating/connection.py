"""Connection runs and destination tokens (1870 §11).

A company whose train can run from its home to its destination for the first time does an extra run,
between two turns: after the turn in which that has become so, the company that had the turn first, then
the others in the order of their prices. It places its destination token, or adds it to its others, and
runs; what it earns it pays as a full dividend or keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from engine import market
from engine.actions import Action, ConnectRun, ConnectWait, KeepDestination, Pay, PlaceDestination, Withhold
from engine.board.joins import joined
from engine.events import ConnectionBegan, ConnectionLeft, Declared, DestinationPlaced, MarkerKept
from engine.game import Game
from engine.holdings import unit
from engine.market import Place
from engine.operating.dividends import pay_out
from engine.operating.run import destination, home
from engine.state import BANK, AnyFrame, ConnectionTurn, OperatingRound, OperatingTurn
from engine.title import Aside, Option


def connects(g: Game, company: str) -> bool:
    """Whether the company can do its connection run now (§11.1)."""
    co, goal = g.company(company), destination(g, company)
    if goal is None or co.connected or not co.running or not co.trains:
        return False
    lengths = [g.train_facts(train).distance for train in co.trains]
    longest = None if None in lengths else max(length for length in lengths if length)
    return joined(g.network, company, home(g, company), goal, longest)


def next_connection(
    first_step: str, *, after_closing: bool = True, in_turns: bool = False
) -> Callable[[Game, OperatingRound], AnyFrame | None]:
    """What is due between two turns: a connection run (§11.2).

    `after_closing`: also where the company whose turn it was has closed in it; otherwise the runs come
    after the next turn of that round, or before the first of the next. `in_turns`: the companies come in
    the order in which the round has them, not in that of their prices now.
    """

    def between(g: Game, frame: OperatingRound) -> AnyFrame | None:
        if not after_closing and frame.ran is not None and g.company(frame.ran).closed:
            return None
        company = next(connecting(g, frame.ran, frame.turned if in_turns else ()), None)
        return ConnectionTurn(company, first_step) if company else None

    return between


def connecting(g: Game, ran: str | None, turned: tuple[str, ...] = ()) -> Iterator[str]:
    """The companies whose connection runs are due, in their order; `ran`: who had its turn last; `turned`:
    who comes first because it has had its turn."""
    order = g.operating_order()
    order = [*(c for c in turned if c in order), *(c for c in order if c not in turned)]
    if ran in order:
        order = [ran, *(c for c in order if c != ran)]
    return (c for c in order if c not in g.state.waiting and connects(g, c))


@dataclass(frozen=True)
class ConnectStep:
    """Asks whether the run is done now; the rules do not require it."""

    name: str = "connect"
    hears: tuple[type[Action], ...] = (ConnectRun, ConnectWait)

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        return not g.company(turn.company).connected and turn.company not in g.state.waiting

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        return (
            f"Say whether the {turn.company} does its connection run: connect run, or connect wait (§11.4)."
        )

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        return f"to do the connection run of the {turn.company}, or wait"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        yield Option(ConnectRun(turn.company), f"The {turn.company} does its connection run")
        yield Option(ConnectWait(), f"The {turn.company} waits with its connection run")

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        if isinstance(action, ConnectRun) and action.company != turn.company:
            return f"It is the {turn.company} that can do its connection run now."
        return None

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        if isinstance(action, ConnectRun):
            g.emit(ConnectionBegan(turn.company))
        else:
            g.emit(ConnectionLeft(turn.company, False))
            g.close()

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """It is said."""


@dataclass(frozen=True)
class DestinationStep:
    """Asks what becomes of the destination token (§11.4.1).

    `begins`: the run has not been asked for, and begins with this. `swaps`: a token that stands at the
    destination may become the destination token.
    """

    begins: bool = False
    swaps: bool = True
    name: str = "destination"
    hears: tuple[type[Action], ...] = (PlaceDestination, KeepDestination)

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        return not turn.acted

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        return f"Say what becomes of the destination token of the {turn.company} (§11.4.1)."

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        return f"to place the destination token of the {turn.company}, or to keep it"

    def _there(self, g: Game, company: str) -> bool:
        hex = g.company_facts(company).destination or ""
        return any(owner == company for _, owner in g.state.tokens.get(hex, ()))

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        company = turn.company
        hex = g.company_facts(company).destination or ""
        where = f"{hex} {g.facts.map.hexes[hex].name or ''}".strip()
        if self.refuse(g, turn, PlaceDestination()) is None:
            yield Option(PlaceDestination(), f"Destination token of the {company} to {where}")
        yield Option(KeepDestination(), f"Keep it: one more token for ${g.facts.kept_token_cost}")

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        if turn.acted:
            return f"That is decided for the {turn.company}."
        if isinstance(action, PlaceDestination) and not self.swaps and self._there(g, turn.company):
            return f"The {turn.company} has a token at its destination."
        return None

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company = turn.company
        if self.begins:
            g.emit(ConnectionBegan(company))
        there, goal = self._there(g, company), destination(g, company)
        assert goal is not None
        if isinstance(action, PlaceDestination):
            g.emit(DestinationPlaced(company, *goal))
        if there or isinstance(action, KeepDestination):
            g.emit(MarkerKept(company))
        g.change(msgspec.structs.replace(turn, acted=True))

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """It is decided."""


@dataclass(frozen=True)
class ConnectionDividend:
    """Pay all or keep all (§11.4.2). `move`: where the price goes if it is paid."""

    move: Callable[[Game, Place], Place]
    name: str = "dividend"
    hears: tuple[type[Action], ...] = (Pay, Withhold)

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        return turn.revenue > 0

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        return "Say what becomes of the revenue: pay or withhold (§11.4.2)."

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        return f"to pay or withhold the ${turn.revenue} of the connection run of the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        per_share = turn.revenue * unit(g, turn.company) // 100
        yield Option(Pay(), f"Pay ${turn.revenue}: ${per_share} a share")
        yield Option(Withhold(), f"Withhold ${turn.revenue}")

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        return (
            None if turn.revenue else f"The {turn.company} has earned nothing to pay or withhold (§11.4.2)."
        )

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, revenue = turn.company, turn.revenue
        g.change(msgspec.structs.replace(turn, acted=True, revenue=0))
        if isinstance(action, Pay):
            g.emit(Declared(company, "pay", revenue))
            pay_out(g, company, revenue, of_pool=False, of_offering=True)
            market.move(g, company, self.move(g, market.place(g, company)), "connected")
        else:
            g.emit(Declared(company, "withhold", revenue))
            g.pay(BANK, company, revenue, "revenue")

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """Nothing was earned."""


@dataclass(frozen=True)
class LateConnections(Aside):
    """A president may ask for a connection run that he has left; it follows the turn that goes on."""

    hears: ClassVar[tuple[type[Action], ...]] = (ConnectRun,)

    def applies(self, g: Game, action: Action) -> bool:
        return not isinstance(g.top, ConnectionTurn)

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        for company in g.state.waiting:
            if self.refuse(g, seat, ConnectRun(company)) is None:
                yield Option(ConnectRun(company), f"Connection run of the {company} after this turn")

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, ConnectRun)
        if action.company not in g.state.waiting:
            return f"No connection run of the {action.company} was left for later (§11.1)."
        if g.president(action.company) != seat:
            return f"The president of the {action.company} asks for its connection run (§11.1)."
        if not isinstance(g.state.stack[0], OperatingRound) or isinstance(g.top, ConnectionTurn):
            return "Connection runs are done in operating rounds (§11.2)."
        return None

    def take(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, ConnectRun)
        g.emit(ConnectionLeft(action.company, True))
