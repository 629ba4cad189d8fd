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

from engine.board.connection_check import can_connect
from engine.core.actions import (
    Action,
    KeepDestinationToken,
    PayDividend,
    PlaceDestinationToken,
    PostponeConnectionRun,
    StartConnectionRun,
    WithholdDividend,
)
from engine.core.events import (
    ConnectionRunPostponed,
    ConnectionRunStarted,
    DestinationTokenKept,
    DestinationTokenPlaced,
    DividendDeclared,
)
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import (
    BANK,
    AnyFrame,
    ConnectionRunTurn,
    OperatingRound,
    OperatingTurn,
)
from engine.finance import market
from engine.finance.market import Space
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.dividends import pay_dividend
from engine.operating.run import destination_stop, home_stop


def can_do_connection_run(g: Game, company: str) -> bool:
    """Whether the company can do its connection run now (§11.1)."""
    co, goal = g.company(company), destination_stop(g, company)
    if goal is None or co.connected or not co.has_operated or not co.trains:
        return False
    lengths = [g.train_definition(train).distance for train in co.trains]
    longest = None if None in lengths else max(length for length in lengths if length)
    return can_connect(g.network, company, home_stop(g, company), goal, longest)


def connection_runs_between_turns(
    first_step: str, *, after_closing: bool = True, in_turns: bool = False
) -> Callable[[Game, OperatingRound], AnyFrame | None]:
    """What is due between two turns: a connection run (§11.2).

    `after_closing`: also where the company whose turn it was has closed in it; otherwise the runs come
    after the next turn of that round, or before the first of the next. `in_turns`: the companies come in
    the order in which the round has them, not in that of their prices now.
    """

    def between(g: Game, frame: OperatingRound) -> AnyFrame | None:
        if not after_closing and frame.last_operated is not None and g.company(frame.last_operated).closed:
            return None
        company = next(due_connections(g, frame.last_operated, frame.operated if in_turns else ()), None)
        return ConnectionRunTurn(company, first_step) if company else None

    return between


def due_connections(g: Game, ran: str | None, turned: tuple[str, ...] = ()) -> Iterator[str]:
    """The companies whose connection runs are due, in their order; `ran`: who had its turn last; `turned`:
    who comes first because it has had its turn."""
    order = g.operating_order()
    order = [*(c for c in turned if c in order), *(c for c in order if c not in turned)]
    if ran in order:
        order = [ran, *(c for c in order if c != ran)]
    return (c for c in order if c not in g.state.postponed_connections and can_do_connection_run(g, c))


@dataclass(frozen=True)
class ConnectionChoiceStep:
    """Asks whether the run is done now; the rules do not require it."""

    name: str = "connect"
    handles: tuple[type[Action], ...] = (StartConnectionRun, PostponeConnectionRun)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return not g.company(turn.company).connected and turn.company not in g.state.postponed_connections

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return (
            f"Say whether the {turn.company} does its connection run: connect run, or connect wait (§11.4)."
        )

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"to do the connection run of the {turn.company}, or wait"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        yield Option(StartConnectionRun(turn.company), f"The {turn.company} does its connection run")
        yield Option(PostponeConnectionRun(), f"The {turn.company} waits with its connection run")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        if isinstance(action, StartConnectionRun) and action.company != turn.company:
            return f"It is the {turn.company} that can do its connection run now."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        if isinstance(action, StartConnectionRun):
            g.emit(ConnectionRunStarted(turn.company))
        else:
            g.emit(ConnectionRunPostponed(turn.company, False))
            g.pop()

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """It is said."""


@dataclass(frozen=True)
class DestinationTokenStep:
    """Asks what becomes of the destination token (§11.4.1).

    `begins`: the run has not been asked for, and begins with this. `swaps`: a token that stands at the
    destination may become the destination token.
    """

    begins_run: bool = False
    allows_swap: bool = True
    name: str = "destination"
    handles: tuple[type[Action], ...] = (PlaceDestinationToken, KeepDestinationToken)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return not turn.acted

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return f"Say what becomes of the destination token of the {turn.company} (§11.4.1)."

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"to place the destination token of the {turn.company}, or to keep it"

    def _has_token_there(self, g: Game, company: str) -> bool:
        hex = g.company_definition(company).destination or ""
        return any(owner == company for _, owner in g.state.tokens.get(hex, ()))

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        company = turn.company
        hex = g.company_definition(company).destination or ""
        where = f"{hex} {g.components.map.hexes[hex].name or ''}".strip()
        if self.refusal(g, turn, PlaceDestinationToken()) is None:
            yield Option(PlaceDestinationToken(), f"Destination token of the {company} to {where}")
        yield Option(KeepDestinationToken(), f"Keep it: one more token for ${g.components.kept_token_cost}")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        if turn.acted:
            return f"That is decided for the {turn.company}."
        if (
            isinstance(action, PlaceDestinationToken)
            and not self.allows_swap
            and self._has_token_there(g, turn.company)
        ):
            return f"The {turn.company} has a token at its destination."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company = turn.company
        if self.begins_run:
            g.emit(ConnectionRunStarted(company))
        there, goal = self._has_token_there(g, company), destination_stop(g, company)
        assert goal is not None
        if isinstance(action, PlaceDestinationToken):
            g.emit(DestinationTokenPlaced(company, *goal))
        if there or isinstance(action, KeepDestinationToken):
            g.emit(DestinationTokenKept(company))
        g.replace_top(msgspec.structs.replace(turn, acted=True))

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """It is decided."""


@dataclass(frozen=True)
class ConnectionDividendStep:
    """Pay all or keep all (§11.4.2). `move`: where the price goes if it is paid."""

    price_move: Callable[[Game, Space], Space]
    name: str = "dividend"
    handles: tuple[type[Action], ...] = (PayDividend, WithholdDividend)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return turn.revenue > 0

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return "Say what becomes of the revenue: pay or withhold (§11.4.2)."

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"to pay or withhold the ${turn.revenue} of the connection run of the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        per_share = turn.revenue * share_percent(g, turn.company) // 100
        yield Option(PayDividend(), f"Pay ${turn.revenue}: ${per_share} a share")
        yield Option(WithholdDividend(), f"Withhold ${turn.revenue}")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        return (
            None if turn.revenue else f"The {turn.company} has earned nothing to pay or withhold (§11.4.2)."
        )

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, revenue = turn.company, turn.revenue
        g.replace_top(msgspec.structs.replace(turn, acted=True, revenue=0))
        if isinstance(action, PayDividend):
            g.emit(DividendDeclared(company, "pay", revenue))
            pay_dividend(g, company, revenue, of_pool=False, of_offering=True)
            market.move_token(
                g, company, self.price_move(g, market.token_space(g, company)), PriceReason.CONNECTION_RUN
            )
        else:
            g.emit(DividendDeclared(company, "withhold", revenue))
            g.pay(BANK, company, revenue, CashReason.REVENUE)

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """Nothing was earned."""


@dataclass(frozen=True)
class DeferredConnectionRuns(OutOfTurn):
    """A president may ask for a connection run that he has left; it follows the turn that goes on."""

    handles: ClassVar[tuple[type[Action], ...]] = (StartConnectionRun,)

    def applies(self, g: Game, action: Action) -> bool:
        return not isinstance(g.top, ConnectionRunTurn)

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        for company in g.state.postponed_connections:
            if self.refusal(g, seat, StartConnectionRun(company)) is None:
                yield Option(StartConnectionRun(company), f"Connection run of the {company} after this turn")

    def refusal(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, StartConnectionRun)
        if action.company not in g.state.postponed_connections:
            return f"No connection run of the {action.company} was left for later (§11.1)."
        if g.president(action.company) != seat:
            return f"The president of the {action.company} asks for its connection run (§11.1)."
        if not isinstance(g.state.stack[0], OperatingRound) or isinstance(g.top, ConnectionRunTurn):
            return "Connection runs are done in operating rounds (§11.2)."
        return None

    def apply(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, StartConnectionRun)
        g.emit(ConnectionRunPostponed(action.company, True))
