"""Connection runs and destination tokens (1870 §11).

When a company's train can run from its home to its destination for the first time, the company makes a
connection run: an extra run between two turns. It follows the turn in which the connection was made.
If several companies are connected, the one that had its turn comes first, then the others in the
order of their prices. The company places its destination token, or keeps it as an ordinary one, runs,
and pays the revenue in full or withholds it.

Whether one train can run from one stop to another: all stops on the way count towards the length of the
train, no hexside is used twice, and the train does not pass cities in which others hold all slots. Distances
that ignore what has been used are a lower bound, so that the search looks only where the train can still
arrive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from engine.board.network import Network
from engine.board.route_graph import area_of, chains_from
from engine.board.tile_geometry import Stop, face_at
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
    AddedSlotsChanged,
    ConnectionRunPostponed,
    ConnectionRunStarted,
    DestinationTokenKept,
    DestinationTokenPlaced,
    DividendDeclared,
)
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, AnyFrame, ConnectionRunTurn, OperatingRound, OperatingTurn
from engine.finance import market
from engine.finance.market import Space
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.dividends import RevenueStep, pay_dividend
from engine.operating.run import destination_stop, home_stop
from engine.operating.stations import free_slots, reserved_slots
from engine.operating.turn import OperatingTurnQuestion, Step

CHAIN_BUDGET = 200_000
"""Chains that are tried at most. Boards of played games take a few hundred."""


def can_connect(network: Network, company: str, start: Stop, goal: Stop, distance: int | None) -> bool:
    """Whether a train of the company that visits `distance` stops (None: any number) can connect both."""
    first, last = network.stop_number.get(start), network.stop_number.get(goal)
    if first is None or last is None or first == last:
        return False
    terminals = network.terminal_stops(company)
    max_stops = len(network.stops) if distance is None else distance
    distances = _distances_to(network, last, terminals, first)
    if distances.get(first, max_stops) >= max_stops:
        return False
    tried = 0

    def search(stop: int, used: int, areas: frozenset[str], stops_left: int) -> bool:
        nonlocal tried
        for to, hexsides, _ in sorted(
            chains_from(network, stop), key=lambda chain: distances.get(chain[0], max_stops)
        ):
            if (
                hexsides & used
                or distances.get(to, max_stops) >= stops_left
                or (area := area_of(network, to)) in areas
            ):
                continue
            tried += 1
            if to == last:
                return True
            if tried > CHAIN_BUDGET:
                return False
            if not terminals[to] and search(to, used | hexsides, areas | {area}, stops_left - 1):
                return True
        return False

    return search(first, 0, frozenset({area_of(network, first)}), max_stops - 1)


def _distances_to(network: Network, goal: int, terminals: list[bool], start: int) -> dict[int, int]:
    """By stop, the least number of further stops on a walk to the goal."""
    distances = {goal: 0}
    todo = deque([goal])
    while todo:
        stop = todo.popleft()
        for to, _, _ in chains_from(network, stop):
            if to not in distances:
                distances[to] = distances[stop] + 1
                if not terminals[to] and to != start:
                    todo.append(to)
    return distances


def can_do_connection_run(g: Game, company: str) -> bool:
    """Whether the company can make its connection run now (1870 §11.1)."""
    co, destination = g.company(company), destination_stop(g, company)
    if destination is None or co.connected or not co.has_operated or not co.trains:
        return False
    lengths = [g.train_definition(train).distance for train in co.trains]
    longest = None if None in lengths else max(length for length in lengths if length)
    return can_connect(g.network, company, home_stop(g, company), destination, longest)


def connection_runs_between_turns(
    first_step: str, *, after_closing: bool = True, in_turn_order: bool = False, keeps_list: bool = False
) -> Callable[[Game, OperatingRound], AnyFrame | None]:
    """The rule that opens a connection run between two turns (1870 §11.2).

    `first_step`: the name of the run's first step. `after_closing`: a run is also due after a turn in which
    the company has closed; otherwise it waits for the end of the next turn, or the start of the next round.
    By the book runs are made between turns by all who are able to then, and the turn that opened the way is
    over, whatever became of its company (1870 §11.1, item 4, and §11.2).
    `in_turn_order`: companies run in the order of their turns in the round, not in that of their prices now.
    `keeps_list`: companies that are found connected together all run, even if an earlier one of them makes a
    later connection impossible.
    """

    def next_connection_run(g: Game, frame: OperatingRound) -> AnyFrame | None:
        last = frame.last_operated
        due = tuple(c for c in frame.due_connections if not g.company(c).closed)
        if not due and (after_closing or last is None or not g.company(last).closed):
            due = tuple(due_connections(g, last, frame.operated if in_turn_order else ()))
        if keeps_list and due[1:] != frame.due_connections:
            g.change_top(frame, due_connections=due[1:])
        return ConnectionRunTurn(due[0], first_step) if due else None

    return next_connection_run


def due_connections(g: Game, last_operated: str | None, operated: tuple[str, ...] = ()) -> Iterator[str]:
    """The companies whose connection runs are due, in their order.

    The company that operated last comes first, then those in `operated`, then the others by price.
    """
    order = g.operating_order()
    order = [*(c for c in operated if c in order), *(c for c in order if c not in operated)]
    if last_operated in order:
        order = [last_operated, *(c for c in order if c != last_operated)]
    return (c for c in order if c not in g.state.postponed_connections and can_do_connection_run(g, c))


@dataclass(frozen=True)
class ConnectionChoiceStep(Step[Action]):
    """Make the connection run now, or later: the rules do not require it (1870 §11.4)."""

    name: str = "connect"
    handles: tuple[type[Action], ...] = (StartConnectionRun, PostponeConnectionRun)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return not g.company(turn.company).connected and turn.company not in g.state.postponed_connections

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        choice = "connect run, or connect wait"
        return f"Decide about the connection run of the {turn.company}: {choice}{g.cite('1870 §11.4')}."

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"make the connection run of the {turn.company}, or wait"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        yield Option(StartConnectionRun(turn.company), f"The {turn.company} makes its connection run")
        yield Option(PostponeConnectionRun(), f"The {turn.company} postpones its connection run")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        if isinstance(action, StartConnectionRun) and action.company != turn.company:
            return f"The {turn.company} can make its connection run now, not the {action.company}."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        if isinstance(action, StartConnectionRun):
            g.emit(ConnectionRunStarted(turn.company))
        else:
            g.emit(ConnectionRunPostponed(turn.company, False))
            g.pop()


def is_in_city(g: Game, stop: Stop) -> bool:
    """Whether a stop is a city on the map, not an off-board area."""
    hex, node = stop
    return face_at(g.components, g.state.tiles, hex).nodes[node].kind == "city"


def destination_tokens_add_slots(g: Game) -> bool:
    """Whether a destination token takes a slot of its city, or adds one; see `DestinationTokenStep`."""
    question = g.title.questions.get(ConnectionRunTurn)
    return isinstance(question, OperatingTurnQuestion) and any(
        isinstance(step, DestinationTokenStep) and step.takes_city_slot for step in question.steps
    )


@dataclass(frozen=True)
class DestinationTokenStep(Step[Action]):
    """Place the destination token, or keep it as an ordinary token (1870 §11.4.1).

    `begins_run`: this step starts the connection run, because no step before it asks about the run.
    `allows_swap`: a token that the company already has at its destination may become the destination token.
    `takes_city_slot`: in a city the token takes a vacant slot that is not reserved for a home; if there is
    none, the city gets one more, which stays until a tile is laid there.
    """

    begins_run: bool = False
    allows_swap: bool = True
    takes_city_slot: bool = False
    name: str = "destination"
    handles: tuple[type[Action], ...] = (PlaceDestinationToken, KeepDestinationToken)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return not turn.acted

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return f"Place the destination token of the {turn.company}, or keep it{g.cite('1870 §11.4.1')}."

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"place the destination token of the {turn.company}, or keep it"

    def _has_token_there(self, g: Game, company: str) -> bool:
        hex = g.company_definition(company).destination or ""
        return any(owner == company for _, owner in g.state.tokens.get(hex, ()))

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        company = turn.company
        hex = g.company_definition(company).destination or ""
        where = f"{hex} {g.components.map.hexes[hex].name or ''}".strip()
        if self.refusal(g, turn, PlaceDestinationToken()) is None:
            yield Option(PlaceDestinationToken(), f"Destination token of the {company} to {where}")
        yield Option(KeepDestinationToken(), f"Keep it: one more token for ${g.components.kept_token_cost:,}")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        if turn.acted:
            return f"The {turn.company} has already decided about its destination token."
        if (
            isinstance(action, PlaceDestinationToken)
            and not self.allows_swap
            and self._has_token_there(g, turn.company)
        ):
            return f"The {turn.company} already has a token at its destination."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company = turn.company
        if self.begins_run:
            g.emit(ConnectionRunStarted(company))
        has_token, destination = self._has_token_there(g, company), destination_stop(g, company)
        assert destination is not None
        if isinstance(action, PlaceDestinationToken):
            if self.takes_city_slot and not has_token and is_in_city(g, destination):
                hex, node = destination
                if free_slots(g, hex, node) <= reserved_slots(g, hex, node):
                    g.emit(AddedSlotsChanged(hex, g.state.added_slots.get(hex, 0) + 1))
            g.emit(DestinationTokenPlaced(company, *destination))
        if has_token or isinstance(action, KeepDestinationToken):
            g.emit(DestinationTokenKept(company))
        g.change_top(turn, acted=True)


@dataclass(frozen=True)
class ConnectionDividendStep(RevenueStep):
    """Pay the revenue of a connection run in full, or withhold it (1870 §11.4.2).

    `price_move`: from the space of the company's token to the space it moves to if the revenue is paid.
    """

    price_move: Callable[[Game, Space], Space]
    name: str = "dividend"
    handles: tuple[type[Action], ...] = (PayDividend, WithholdDividend)

    @property
    def choices(self) -> str:
        return "pay or withhold"

    def cite(self, g: Game) -> str:
        return g.cite("1870 §11.4.2")

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"{self.choices} the ${turn.revenue:,} of the connection run of the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        per_share = turn.revenue * share_percent(g, turn.company) // 100
        yield Option(PayDividend(), f"Pay ${turn.revenue:,}: ${per_share:,} a share")
        yield Option(WithholdDividend(), f"Withhold ${turn.revenue:,}")

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, revenue = turn.company, turn.revenue
        g.change_top(turn, acted=True, revenue=0)
        if isinstance(action, PayDividend):
            g.emit(DividendDeclared(company, "pay", revenue))
            pay_dividend(g, company, revenue, pool=False, ipo=True)
            market.move_token(
                g, company, self.price_move(g, market.token_space(g, company)), PriceReason.CONNECTION_RUN
            )
        else:
            g.emit(DividendDeclared(company, "withhold", revenue))
            g.pay(BANK, company, revenue, CashReason.REVENUE)


@dataclass(frozen=True)
class PostponedConnectionRuns(OutOfTurn[Game, StartConnectionRun]):
    """A president asks for a connection run that they have postponed; it follows the current turn.

    One may ask at any time: if the company cannot run then, it waits no longer, and its run comes as soon as
    it can (1870 §11.1, items 3 and 4).
    """

    handles: ClassVar[tuple[type[Action], ...]] = (StartConnectionRun,)

    def applies(self, g: Game, action: Action) -> bool:
        return not isinstance(g.top, ConnectionRunTurn)

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        for company in g.state.postponed_connections:
            if self.refusal(g, seat, StartConnectionRun(company)) is None:
                yield Option(StartConnectionRun(company), f"Connection run of the {company} after this turn")

    def refusal(self, g: Game, seat: str, action: StartConnectionRun) -> str | None:
        if not isinstance(g.state.stack[0], OperatingRound) or isinstance(g.top, ConnectionRunTurn):
            return f"Connection runs are made in operating rounds{g.cite('1870 §11.2')}."
        postponed = g.state.postponed_connections
        if action.company in postponed:
            if g.president(action.company) == seat:
                return None
            asks = f"Only the president of the {action.company} asks for its connection run"
            return f"{asks}{g.cite('1870 §11.1')}."
        # A line without a company tries all of them: the sentence names none that the player does not have.
        if not any(g.president(company) == seat for company in postponed):
            name = g.state.name(seat)
            return f"{name} has no company with a postponed connection run{g.cite('1870 §11.1')}."
        return f"The {action.company} has no postponed connection run{g.cite('1870 §11.1')}."

    def apply(self, g: Game, seat: str, action: StartConnectionRun) -> None:
        g.emit(ConnectionRunPostponed(action.company, True))
