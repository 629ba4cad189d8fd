"""Playing a text: every line in order, until one does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.actions import Pass, Run, Withhold
from engine.events import Changed, Opened
from engine.game import Game
from engine.kernel import Refused, asked, carry_out, game_of, needs, refusal, take
from engine.notation import Ambiguous, Unreadable, explicit, parse, spell
from engine.operating.turn import OperatingTurns
from engine.record.checks import compared
from engine.record.position import place
from engine.record.telling import Telling, Told
from engine.record.text import Check, Malformed, Move, Until, read
from engine.record.words import Words, Wrong
from engine.state import AnyFrame, OperatingTurn, State, copied

MOST_DECLINED = 10_000
"""Lines that `until` plays before it gives up."""

DECLINING = (Pass(), Run(), Withhold())
"""What declines, the first that is legal; where there is no declining the best run is withheld."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A line that does not hold: why, and for a checkpoint both values. `line` counts from 1."""

    line: int
    sentence: str
    expected: str | None = None
    actual: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Report:
    """How a replay went: the last state, what was played (None where it could not begin), what failed."""

    state: State | None
    telling: Telling | None
    checks: int
    failure: Failure | None = None

    @property
    def moves(self) -> int:
        """How many lines were played."""
        return len(self.telling.moves) if self.telling else 0

    @property
    def ok(self) -> bool:
        return self.failure is None


def replay(text: str) -> Report:
    """Play a text game through the rules; stop at the first line that does not hold."""
    start, state, told, checks, failure = None, None, list[Told](), 0, None
    try:
        script = read(text)
        start = state = place(script.start, script.setup)
        for item in script.items:
            match item:
                case Move():
                    state = _said(state, item, told)
                case Check(line, words):
                    _held(state, line, words)
                    checks += 1
                case Until(line, what):
                    state = _declined_until(state, line, what, told)
    except Malformed as wrong:
        failure = Failure(wrong.line, wrong.sentence)
    except _Stopped as stopped:
        failure = stopped.failure
    return Report(state, Telling(start, tuple(told)) if start else None, checks, failure)


class _Stopped(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def _said(state: State, move: Move, told: list[Told]) -> State:
    """The state after a move, which is told unless it must or may be refused."""
    try:
        g = game_of(copied(state))
        action = parse(g, move.seat, move.text)
        line = spell(g, action)
    except Refused as refused:
        if move.how == "must":
            raise _stop(move, f"is refused: {refused}") from None
        return state
    except (Unreadable, Ambiguous) as unclear:
        if move.how == "may":
            return state
        why = f"cannot be read: {unclear}" if isinstance(unclear, Unreadable) else f"is ambiguous: {unclear}"
        raise _stop(move, why) from None
    if move.how == "must not":
        raise _stop(move, "is legal, but must be refused.", "refused", "legal")
    played = take(g, move.seat, action)
    told.append(Told(move.seat, line, played.events))
    return played.state


def _stop(move: Move, why: str, expected: str | None = None, actual: str | None = None) -> _Stopped:
    return _Stopped(Failure(move.line, f"{move.text!r} {why}", expected, actual))


def _held(state: State, line: int, words: str) -> None:
    try:
        expected, actual = compared(state, words)
    except Wrong as wrong:
        raise Malformed(line, str(wrong)) from None
    if expected != actual:
        raise _Stopped(Failure(line, f"= {words}: expected {expected}, found {actual}.", expected, actual))


# -- until -----------------------------------------------------------------------------------


def _declined_until(state: State, line: int, what: str, told: list[Told]) -> State:
    """Let whoever is asked decline until that comes."""
    g = game_of(copied(state))
    try:
        comes = _awaited(g, what)
    except Wrong as wrong:
        raise Malformed(line, str(wrong)) from None
    for _ in range(MOST_DECLINED):
        if comes(g):
            return g.state
        if g.state.over:
            raise _Stopped(Failure(line, f"the game was over before {what} came.", what, "over"))
        told.append(_decline(g, line, what))
    raise _Stopped(Failure(line, f"{what} has not come after {MOST_DECLINED} lines.", what, needs(g)))


def _decline(g: Game, line: int, what: str) -> Told:
    seats = g.title.questions[type(g.top)].asked(g, g.top)
    for seat in seats:
        for action in DECLINING:
            if refusal(g, seat, action) is None:
                g.events = []
                said = spell(g, explicit(g, action))
                carry_out(g, seat, action)
                return Told(seat, said, g.events)
    names = " and ".join(g.state.name(s) for s in seats)
    asks = f"{names} cannot decline: he is asked {needs(g)}"
    raise _Stopped(Failure(line, f"before {what} came, {asks}.", what, needs(g)))


def _awaited(g: Game, what: str) -> Callable[[Game], bool]:
    """The test for what is awaited. Raises Wrong where nothing of that name can come."""
    words = Words(g, what)
    name = what.casefold()
    kinds = {kind.__name__.casefold(): kind for kind in g.title.questions}
    if name == "over":
        return lambda g: g.state.over is not None
    if f"{name}round" in kinds:
        kind, before = kinds[f"{name}round"], _round(g.state.stack[0])
        return lambda g: any(type(frame) is kind and _round(frame) != before for frame in _opened(g))
    if step := _step(g, name):
        return lambda g: getattr(g.top, "step", None) == step
    if name in kinds:
        return lambda g: type(g.top) is kinds[name]
    who = words.actor()
    words.end()
    return lambda g: not g.state.over and who in (*asked(g), getattr(g.top, "company", None))


def _opened(g: Game) -> Iterator[AnyFrame]:
    """The frames that the last line has put on the stack; a round in which nobody is asked passes so."""
    return (event.frame for event in g.events if isinstance(event, Opened | Changed))


def _round(frame: AnyFrame) -> tuple[object, ...]:
    """What tells a round from every other."""
    return type(frame), getattr(frame, "after", None), getattr(frame, "number", None)


def _step(g: Game, name: str) -> str | None:
    """The step of an operating turn with that name, in the singular or the plural."""
    turns = g.title.questions.get(OperatingTurn)
    steps = turns.steps if isinstance(turns, OperatingTurns) else ()
    return next((s.name for s in steps if s.name.removesuffix("s") == name.removesuffix("s")), None)
