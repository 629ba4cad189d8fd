"""Random games in which every seat leaves random orders, and a referee of what these say.

The referee checks each line of an order as a line that its owner writes: it must be legal for them at that
moment and lead to the same events and position; asking orders must change nothing and give the same answer
twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import engine
from bot.tools.simulation.invariants import move_violations, position_violations
from bot.tools.simulation.random_player import RandomPlayer, SimulationError
from bot.tools.simulation.simulate import PLAYER_NAMES
from engine.kernel import Transition
from engine.standing_orders import ArmedOrder, OrderRun, PlayedMove, parse_order, run_orders

ARMING_PROBABILITY = 0.35
MAX_ARMED = 4  # of a seat
CONDITIONS = ("price {c} < {n}", "price {c} > {n}", "{c} floats", "{c} starts", "{c} sold", "{c} bought")
FORMS = (
    "auto pass", "auto pass", "auto pass once", "auto pass unless {condition}", "auto buy {c}",
    "auto buy 2 {c} then pass", "auto buy {c} until floated", "auto buy {c} from pool up to {n}",
    "auto bid {p} up to {n}", "auto bid {p} up to {n} then pass", "auto bid up to {n}", "auto bid nothing",
    "auto run {own}", "auto run {own} withhold", "auto run {own} half", "auto run {own} unless lay",
    "auto turn {own}: run best; pay", "auto turn {own}: {line}; run best", "auto decline deals",
    "auto decline polls", "auto protect {own} up to {n}",
)  # fmt: skip


@dataclass
class OrderGame:
    """A random game with orders as far as it went.

    said: how many lines orders of each kind have said. ended: reasons. by_hand: moves of players themselves.
    """

    state: engine.State
    armed: list[ArmedOrder] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    by_hand: int = 0
    orders: int = 0


def simulate_with_orders(
    title: str,
    players: int,
    seed: int,
    max_moves: int,
    check_every: int = 1,
    chosen: Sequence[str] = (),
) -> OrderGame:
    """Play a random game with orders for so many moves at most. Raises SimulationError for a violation.

    chosen: the options of the game.
    """
    state, _ = engine.new_game(title, PLAYER_NAMES[:players], chosen, seed)
    game, player, rng = OrderGame(state), RandomPlayer(seed, players), Random(f"orders {seed}")
    moves = 0
    while game.state.game_over is None and moves < max_moves:
        check = moves % check_every == 0
        if rng.random() < ARMING_PROBABILITY:
            _arm(game, rng, rng.choice(game.state.seats))
        moves += _wake(game, check)
        if game.state.game_over is None:
            _play_by_hand(game, player, check)
            moves += 1 + _wake(game, check)
    _raise_first(position_violations(game.state))
    return game


def _arm(game: OrderGame, rng: Random, seat: str) -> None:
    """Leave a random order, if it can be left."""
    if sum(each.seat == seat for each in game.armed) >= MAX_ARMED:
        return
    try:
        order = parse_order(engine.game_of(game.state), seat, random_order_line(game.state, rng, seat))
    except (engine.UnreadableError, engine.RefusedError):
        return
    game.orders += 1
    game.armed.append(ArmedOrder(game.orders, seat, order, engine.copy_state(game.state)))


def random_order_line(state: engine.State, rng: Random, seat: str) -> str:
    """A line that leaves an order, or that is refused."""
    own = [sym for sym, company in state.companies.items() if company.president == seat]
    words = {
        "c": rng.choice(list(state.companies)),
        "p": rng.choice(list(state.private_owners)),
        "n": str(rng.randrange(20, 320, 5)),
        "own": rng.choice(own or list(state.companies)),
        "line": rng.choice([*engine.legal_lines(state, seat), "pass"]),
    }
    words["condition"] = rng.choice(CONDITIONS).format(**words)
    return rng.choice(FORMS).format(**words)


def _play_by_hand(game: OrderGame, player: RandomPlayer, check: bool) -> None:
    before = game.state
    raw = engine.encode_state(before)
    seat, action, _ = player.choose_action(before)
    line = engine.format_action(before, action)
    played = engine.play(before, seat, action)
    if check:
        _raise_first(move_violations(before, seat, action, raw, played))
    game.state, game.by_hand = played.state, game.by_hand + 1
    move = PlayedMove(seat, line, tuple(played.events))
    game.armed = [each.with_move(move) for each in game.armed]


def _wake(game: OrderGame, check: bool) -> int:
    """Let the orders speak; how many lines they said."""
    before, raw = game.state, engine.encode_state(game.state)
    run = run_orders(before, game.armed)
    if engine.encode_state(before) != raw:
        raise SimulationError("asking orders has changed the position")
    if check:
        _raise_first(_run_violations(before, game.armed, run))
        _raise_first(position_violations(run.state))
    kinds = {each.id: type(each.order).__name__ for each in game.armed}
    game.said.update(kinds[spoken.order_id] for spoken in run.spoken)
    game.ended.update(ended.reason for ended in run.ended)
    game.state, game.armed = run.state, run.armed
    return len(run.spoken)


def _run_violations(before: engine.State, armed: list[ArmedOrder], run: OrderRun) -> Iterator[str]:
    """What orders may not do."""
    owners, state = {each.id: each.seat for each in armed}, before
    for spoken in run.spoken:
        if owners[spoken.order_id] != spoken.seat:
            yield f"an order of {owners[spoken.order_id]} has spoken for {spoken.seat}"
        if spoken.seat not in engine.decision(state).awaited:
            yield f"{state.name(spoken.seat)} is not asked, and an order says {spoken.line!r}"
        try:
            action = engine.parse(state, spoken.seat, spoken.line)
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError) as error:
            yield f"{state.name(spoken.seat)} could not say {spoken.line!r}: {error}"
            return
        raw, played = engine.encode_state(state), engine.play(state, spoken.seat, action)
        if played != Transition(spoken.state, spoken.events):
            yield f"{spoken.line!r} leads somewhere else when its owner says it"
        yield from move_violations(state, spoken.seat, action, raw, played)
        state = spoken.state
    again = run_orders(before, armed)
    if [s[:4] for s in again.spoken] != [s[:4] for s in run.spoken] or again.ended != run.ended:
        yield "the same orders say something else the second time"


def _raise_first(faults: Iterator[str]) -> None:
    fault = next(faults, None)
    if fault is not None:
        raise SimulationError(fault)
