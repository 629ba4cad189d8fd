"""How many waits of recorded games orders would have saved: the model of `railpost bench --pace` (pure).

A wait is a move by another player than the one who moved before. The model of behaviour:

* A player leaves orders only when they move themselves, never in between, and takes back at each own move
  what does not fit any more.
* They leave `auto pass` where they passed next, `auto buy` where they bought shares of one company next,
  `auto bid` at the highest that they bid later, `auto run` for companies whose next turn was run, pay or
  withhold, and passes, and `auto decline` and `auto protect` where they answered so.
* They leave an order only if it says exactly what was played, until their next own move.
* Whether people plan the turns of their companies (`auto turn`) cannot be seen in a record. So waits are
  counted twice: without planned turns, and with each turn planned that could be: its lines were possible when
  they were left, and led to the same.

So no move changes. That is proved: the game is played again with the orders by the same function as at a
table (`run_orders`), and the lines and the final position are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import engine
from engine.core.state import (
    Auction,
    ConnectionRunTurn,
    MergerPoll,
    OperatingTurn,
    PriceProtection,
    WaterfallBidding,
)
from engine.standing_orders import ArmedOrder, Ended, Order, PlayedMove, Says, judge, parse_order, run_orders

ANY_PRICE = 9999
"""The limit in dollars of a player who protects a price at any cost."""


class RecordedMove(NamedTuple):
    """A move of a recorded game. acted_by: who made it on the site, with what followed by itself."""

    seat: str
    line: str
    events: Sequence[engine.AnyEvent]
    acted_by: object = None


@dataclass
class RecordedGame:
    """A recorded game with the position before each move and after the last."""

    name: str
    start: engine.State
    moves: list[RecordedMove]
    positions: list[engine.State] = field(default_factory=list)

    def __post_init__(self) -> None:
        state = engine.copy_state(self.start)
        self.positions.append(engine.copy_state(state))
        for move in self.moves:
            engine.fold(move.events, state)
            self.positions.append(engine.copy_state(state))


class Arming(NamedTuple):
    """The orders that a seat leaves after a move, instead of those it had before."""

    move: int
    seat: str
    lines: tuple[str, ...]


@dataclass
class PaceResult:
    """What orders would have saved in one game.

    before, after, with_turns: waits by kind, without orders, with orders, and with planned turns too.
    as_played: waits on the site, with its programs. same: the lines and the final position of the game with
    orders are those of the record, without planned turns and with them.
    """

    name: str
    moves: int
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    with_turns: Counter[str] = field(default_factory=Counter)
    as_played: int = 0
    same: bool = True


def measure_pace(game: RecordedGame) -> PaceResult:
    """Count the waits of a game before and after, and prove that its moves are the same."""
    said, armings = plan_orders(game)
    said_with_turns, armings_with_turns = plan_orders(game, planned_turns=True)
    result = PaceResult(game.name, len(game.moves))
    result.before = _waits(game, set())
    result.after = _waits(game, said)
    result.with_turns = _waits(game, said_with_turns)
    actors = [move.acted_by for move in game.moves]
    result.as_played = sum(former != actor for former, actor in pairwise(actors))
    result.same = plays_the_same(game, armings) and plays_the_same(game, armings_with_turns)
    return result


def _waits(game: RecordedGame, said: set[int]) -> Counter[str]:
    """The waits by kind, if orders say these moves."""
    waits = Counter[str]()
    by_hand: RecordedMove | None = None
    for at, move in enumerate(game.moves):
        if at in said:
            continue
        if by_hand is None or by_hand.seat != move.seat:
            waits[wait_kind(game, at)] += 1
        by_hand = move
    return waits


def wait_kind(game: RecordedGame, at: int) -> str:
    """What ended a wait, in the words of the measurement."""
    move, top = game.moves[at], game.positions[at].top
    word = move.line.split()[0]
    in_turn = isinstance(top, OperatingTurn)
    if word == "pass":
        return "company's pass" if in_turn else "player's pass"
    if word == "buy" and not in_turn and " from " in move.line:
        again = _last_purchase(game, at) == _company_bought(move.line)
        return "same company again" if again else "purchase of shares"
    names = {
        "lay": "tile", "token": "token", "run": "run", "bid": "bid", "sell": "sale", "par": "par",
        "start": "par", "buy": "train or private" if in_turn else "private", "pay": "dividend",
        "withhold": "dividend", "half": "dividend", "protect": "answer", "accept": "answer",
        "decline": "answer",
    }  # fmt: skip
    return names.get(word, "other")


def _company_bought(line: str) -> str:
    return line.partition(" from ")[0].split()[-1]


def _last_purchase(game: RecordedGame, at: int) -> str | None:
    """The company of which the seat bought shares last."""
    for move in reversed(game.moves[:at]):
        if move.seat == game.moves[at].seat and move.line.startswith("buy ") and " from " in move.line:
            return _company_bought(move.line)
    return None


# -- what players leave ----------------------------------------------------------------------


def plan_orders(game: RecordedGame, *, planned_turns: bool = False) -> tuple[set[int], list[Arming]]:
    """The moves that orders say, and when which orders are left, under the model."""
    said: set[int] = set()
    armings: list[Arming] = []
    own_moves: dict[str, list[int]] = {}
    for at, move in enumerate(game.moves):
        own_moves.setdefault(move.seat, []).append(at)
    for at, move in enumerate(game.moves):
        if at not in said:
            later = [n for n in own_moves[move.seat] if n > at]
            candidates = _candidates(game, at, move.seat, later, planned_turns)
            lines, saved = _best_orders(game, at, move.seat, later, candidates)
            said |= saved
            armings.append(Arming(at, move.seat, lines))
    return said, armings


def _best_orders(
    game: RecordedGame, at: int, seat: str, later: Sequence[int], candidates: Iterable[str]
) -> tuple[tuple[str, ...], set[int]]:
    """The orders of the candidates that the seat leaves after its move `at`, and the moves that they say."""
    start = game.positions[at + 1]
    lines = list(dict.fromkeys(candidates))
    while True:
        orders = [(line, order) for line in lines if (order := _parsed(start, seat, line))]
        saved, wrong = _trial(game, at, seat, later, [order for _, order in orders])
        if wrong is None:
            speakers = {index for index, _ in saved}
            kept = [line for index, (line, _) in enumerate(orders) if index in speakers]
            if len(kept) == len(orders):
                return tuple(kept), {move for _, move in saved}
            lines = kept
        else:
            lines.remove(orders[wrong][0])


def _parsed(start: engine.State, seat: str, line: str) -> Order | None:
    try:
        return parse_order(engine.game_of(start), seat, line)
    except (engine.UnreadableError, engine.RefusedError):
        return None


def _trial(
    game: RecordedGame, at: int, seat: str, later: Sequence[int], orders: Sequence[Order]
) -> tuple[list[tuple[int, int]], int | None]:
    """The moves that orders say until the seat has to move itself, as (order, move), and the first order that
    would say something else than was played, if there is one."""
    start, saved, over = game.positions[at + 1], list[tuple[int, int]](), set[int]()
    spoken: dict[int, int] = {}
    for move in later:
        moves = tuple(
            PlayedMove(m.seat, m.line, m.events, spoken.get(n))
            for n, m in enumerate(game.moves[at + 1 : move], at + 1)
        )
        speaker = None
        for index, order in enumerate(orders):
            if index in over:
                continue
            judgement = judge(ArmedOrder(index + 1, seat, order, start, moves), game.positions[move])
            if isinstance(judgement, Says):
                if not _is_line(game, move, judgement.line):
                    return saved, index
                speaker = index
                break
            if isinstance(judgement, Ended):
                over.add(index)
                if not judgement.done:
                    over |= {n for n in range(index, len(orders)) if orders[n].field == order.field}
        if speaker is None:
            return saved, None
        saved.append((speaker, move))
        spoken[move] = speaker + 1
    return saved, None


def _is_line(game: RecordedGame, at: int, line: str) -> bool:
    """Whether a line is the recorded one, in full."""
    recorded = game.moves[at]
    if line == recorded.line:
        return True
    try:
        return engine.play_line(game.positions[at], recorded.seat, line).line == recorded.line
    except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError):
        return False


def _candidates(
    game: RecordedGame, at: int, seat: str, later: Sequence[int], planned_turns: bool
) -> Iterator[str]:
    """Orders that the next moves of the seat suggest, in the order in which they are left."""
    if not later:
        return
    following = [game.moves[n].line for n in later[:60]]
    yield from _bids(game, seat, later)
    if planned_turns:
        yield from _turns(game, at, later)
    yield from _runs(game, at, seat, later)
    yield from _answers(game, later)
    yield from _purchases(following)
    yield "auto pass"
    yield "auto pass once"


def _bids(game: RecordedGame, seat: str, later: Sequence[int]) -> Iterator[str]:
    highest: dict[str, int] = {}
    for n in later[:30]:
        words, top = game.moves[n].line.split(), game.positions[n].top
        if words[0] == "bid" and words[-1].isdecimal():
            item = words[1] if len(words) > 2 else getattr(top, "item", "")
            highest[item] = max(highest.get(item, 0), int(words[-1]))
        elif words[0] == "pass" and isinstance(top, Auction | WaterfallBidding):
            item = top.item if isinstance(top, Auction) else top.private
            if item in highest:
                yield f"auto bid {item} up to {highest[item]} then pass"
    for item, amount in highest.items():
        yield f"auto bid {item} up to {amount}"


def _runs(game: RecordedGame, at: int, seat: str, later: Sequence[int]) -> Iterator[str]:
    dividends: dict[str, str] = {}
    for n in later[:40]:
        top, line = game.positions[n].top, game.moves[n].line
        if isinstance(top, OperatingTurn) and line in ("pay", "withhold", "half"):
            dividends.setdefault(top.company, line)
    for company, state in game.positions[at + 1].companies.items():
        if state.president == seat:
            yield f"auto run {company} {dividends.get(company, 'pay')}"


def _turns(game: RecordedGame, at: int, later: Sequence[int]) -> Iterator[str]:
    """The next turn of each company that had none when the order was left, line by line as it was played."""
    lines: dict[str, list[str]] = {}
    over = set(_turns_in_progress(game.positions[at + 1]))
    for n in later[:40]:
        companies = _turns_in_progress(game.positions[n])
        over |= lines.keys() - set(companies)
        company = getattr(game.positions[n].top, "company", None)
        if company in companies and company not in over:
            line = game.moves[n].line
            runs_best = line.startswith("run ") and _is_line(game, n, "run best")
            lines.setdefault(company, []).append("run best" if runs_best else line)
    for company, said in lines.items():
        yield f"auto turn {company}: {'; '.join(said)}"


def _turns_in_progress(state: engine.State) -> list[str]:
    """The companies that have their turn, perhaps interrupted."""
    turns = (frame for frame in state.stack if isinstance(frame, OperatingTurn))
    return [turn.company for turn in turns if not isinstance(turn, ConnectionRunTurn)]


def _answers(game: RecordedGame, later: Sequence[int]) -> Iterator[str]:
    """Questions beside the turn: what is declined, and the most that a price is protected for."""
    limits: dict[str, int] = {}
    for n in later[:20]:
        line, top = game.moves[n].line, game.positions[n].top
        if isinstance(top, PriceProtection) and top.pending_sales:
            company = top.pending_sales[0].company
            limits[company] = max(limits.get(company, 0), ANY_PRICE if line.startswith("protect") else 0)
        elif line.startswith("decline"):
            yield "auto decline deals"
        elif line == "pass" and isinstance(top, MergerPoll):
            yield "auto decline polls"
    for company, limit in limits.items():
        yield f"auto protect {company} up to {limit}"


def _purchases(following: Sequence[str]) -> Iterator[str]:
    """`auto buy 3 NYC then pass` for purchases of one company, one in each turn."""
    if not following or not following[0].startswith("buy ") or " from " not in following[0]:
        return
    company, sources = _company_bought(following[0]), list[str]()
    for line in following:
        if line.startswith("buy ") and " from " in line and _company_bought(line) == company:
            sources.append(line.rpartition(" ")[2])
        elif line != "pass":
            break
    places = ["", f" from {sources[0]}"]
    for place in places:
        yield f"auto buy {company}{place} until floated then pass"
        for count in range(len(sources), 0, -1):
            yield f"auto buy {count} {company}{place} then pass"
            yield f"auto buy {count} {company}{place}"


# -- the proof -------------------------------------------------------------------------------


def plays_the_same(game: RecordedGame, armings: Sequence[Arming]) -> bool:
    """Whether the game, played with these orders as at a table, has the same lines and the same end."""
    state, armed, at, number = engine.copy_state(game.start), list[ArmedOrder](), 0, 0
    by_move = {arming.move: arming for arming in armings}
    while at < len(game.moves):
        move = game.moves[at]
        if at not in by_move:
            return False
        state = engine.fold(move.events, engine.copy_state(state))
        played = PlayedMove(move.seat, move.line, move.events)
        arming = by_move[at]
        armed = [each.with_move(played) for each in armed if each.seat != arming.seat]
        for line in arming.lines:
            number += 1
            order = _parsed(state, arming.seat, line)
            if order is None:
                return False
            armed.append(ArmedOrder(number, arming.seat, order, engine.copy_state(state)))
        run = run_orders(state, armed)
        for spoken in run.spoken:
            at += 1
            if at >= len(game.moves) or (spoken.seat, spoken.line) != game.moves[at][:2]:
                return False
        state, armed, at = run.state, run.armed, at + 1
    return engine.encode_state(state) == engine.encode_state(game.positions[-1])
