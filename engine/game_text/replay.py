"""Playing a text: every line in order, until one does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.core.actions import Pass, RunTrains, WithholdDividend
from engine.core.events import FramePushed, FrameReplaced
from engine.core.state import AnyFrame, OperatingTurn, State, copy_state
from engine.game import Game
from engine.game_text.checkpoints import compare_checkpoint
from engine.game_text.history import GameHistory, HistoryLine
from engine.game_text.position import set_up_position
from engine.game_text.script import (
    Checkpoint,
    ScriptError,
    ScriptMove,
    UntilCommand,
    read_script,
)
from engine.game_text.word_reader import InvalidLine, WordReader
from engine.kernel import (
    RefusedError,
    apply,
    awaited_seats,
    game_of,
    play_in_place,
    prompt,
    refusal,
)
from engine.language.notation import (
    AmbiguousError,
    UnreadableError,
    format_action,
    made_explicit,
    parse,
)
from engine.operating.turn import OperatingTurnQuestion

MAX_PASSES = 10_000
"""Lines that `until` plays before it gives up."""

PASSING_ACTIONS = (Pass(), RunTrains(), WithholdDividend())
"""What declines, the first that is legal; where there is no declining the best run is withheld."""


@dataclass(frozen=True, slots=True)
class ReplayFailure:
    """A line that does not hold: why, and for a checkpoint both values. `line` counts from 1."""

    line: int
    message: str
    expected: str | None = None
    actual: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """How a replay went: the last state, what was played (None where it could not begin), what failed."""

    state: State | None
    history: GameHistory | None
    checkpoint_count: int
    failure: ReplayFailure | None = None

    @property
    def move_count(self) -> int:
        """How many lines were played."""
        return len(self.history.lines) if self.history else 0

    @property
    def ok(self) -> bool:
        return self.failure is None


def replay(text: str) -> ReplayReport:
    """Play a text game through the rules; stop at the first line that does not hold."""
    start, state, told, checks, failure = None, None, list[HistoryLine](), 0, None
    try:
        script = read_script(text)
        start = state = set_up_position(script.start, script.setup)
        for item in script.items:
            match item:
                case ScriptMove():
                    state = _play_move(state, item, told)
                case Checkpoint(line, words):
                    _verify_checkpoint(state, line, words)
                    checks += 1
                case UntilCommand(line, what):
                    state = _pass_until(state, line, what, told)
    except ScriptError as wrong:
        failure = ReplayFailure(wrong.line, wrong.message)
    except _Stopped as stopped:
        failure = stopped.failure
    return ReplayReport(state, GameHistory(start, tuple(told)) if start else None, checks, failure)


class _Stopped(Exception):
    def __init__(self, failure: ReplayFailure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def _play_move(state: State, move: ScriptMove, told: list[HistoryLine]) -> State:
    """The state after a move, which is told unless it must or may be refused."""
    try:
        g = game_of(copy_state(state))
        action = parse(g, move.seat, move.text)
        line = format_action(g, action)
    except RefusedError as refused:
        if move.expectation == "must":
            raise _move_failure(move, f"is refused: {refused}") from None
        return state
    except (UnreadableError, AmbiguousError) as unclear:
        if move.expectation == "may":
            return state
        why = (
            f"cannot be read: {unclear}"
            if isinstance(unclear, UnreadableError)
            else f"is ambiguous: {unclear}"
        )
        raise _move_failure(move, why) from None
    if move.expectation == "must not":
        raise _move_failure(move, "is legal, but must be refused.", "refused", "legal")
    played = apply(g, move.seat, action)
    told.append(HistoryLine(move.seat, line, played.events))
    return played.state


def _move_failure(
    move: ScriptMove, why: str, expected: str | None = None, actual: str | None = None
) -> _Stopped:
    return _Stopped(ReplayFailure(move.line, f"{move.text!r} {why}", expected, actual))


def _verify_checkpoint(state: State, line: int, words: str) -> None:
    try:
        expected, actual = compare_checkpoint(state, words)
    except InvalidLine as wrong:
        raise ScriptError(line, str(wrong)) from None
    if expected != actual:
        raise _Stopped(
            ReplayFailure(line, f"= {words}: expected {expected}, found {actual}.", expected, actual)
        )


# -- until -----------------------------------------------------------------------------------


def _pass_until(state: State, line: int, what: str, told: list[HistoryLine]) -> State:
    """Let whoever is asked decline until that comes."""
    g = game_of(copy_state(state))
    try:
        comes = _until_condition(g, what)
    except InvalidLine as wrong:
        raise ScriptError(line, str(wrong)) from None
    for _ in range(MAX_PASSES):
        if comes(g):
            return g.state
        if g.state.game_over:
            raise _Stopped(ReplayFailure(line, f"the game was over before {what} came.", what, "over"))
        told.append(_pass_once(g, line, what))
    raise _Stopped(ReplayFailure(line, f"{what} has not come after {MAX_PASSES} lines.", what, prompt(g)))


def _pass_once(g: Game, line: int, what: str) -> HistoryLine:
    seats = g.title.questions[type(g.top)].asked(g, g.top)
    for seat in seats:
        for action in PASSING_ACTIONS:
            if refusal(g, seat, action) is None:
                g.events = []
                said = format_action(g, made_explicit(g, action))
                play_in_place(g, seat, action)
                return HistoryLine(seat, said, g.events)
    names = " and ".join(g.state.name(s) for s in seats)
    asks = f"{names} cannot decline: he is asked {prompt(g)}"
    raise _Stopped(ReplayFailure(line, f"before {what} came, {asks}.", what, prompt(g)))


def _until_condition(g: Game, what: str) -> Callable[[Game], bool]:
    """The test for what is awaited. Raises Wrong where nothing of that name can come."""
    words = WordReader(g, what)
    name = what.casefold()
    kinds = {kind.__name__.casefold(): kind for kind in g.title.questions}
    if name == "over":
        return lambda g: g.state.game_over is not None
    if f"{name}round" in kinds:
        kind, before = kinds[f"{name}round"], _round_key(g.state.stack[0])
        return lambda g: any(
            type(frame) is kind and _round_key(frame) != before for frame in _opened_frames(g)
        )
    if step := _step_named(g, name):
        return lambda g: getattr(g.top, "step", None) == step
    if name in kinds:
        return lambda g: type(g.top) is kinds[name]
    who = words.actor()
    words.expect_end()
    return lambda g: not g.state.game_over and who in (*awaited_seats(g), getattr(g.top, "company", None))


def _opened_frames(g: Game) -> Iterator[AnyFrame]:
    """The frames that the last line has put on the stack; a round in which nobody is asked passes so."""
    return (event.frame for event in g.events if isinstance(event, FramePushed | FrameReplaced))


def _round_key(frame: AnyFrame) -> tuple[object, ...]:
    """What tells a round from every other."""
    return type(frame), getattr(frame, "stock_round", None), getattr(frame, "number", None)


def _step_named(g: Game, name: str) -> str | None:
    """The step of an operating turn with that name, in the singular or the plural."""
    turns = g.title.questions.get(OperatingTurn)
    steps = turns.steps if isinstance(turns, OperatingTurnQuestion) else ()
    return next((s.name for s in steps if s.name.removesuffix("s") == name.removesuffix("s")), None)
