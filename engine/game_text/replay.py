"""Replay of a game text through the rules, line by line, up to the first line that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.core import state as frames
from engine.core.actions import Pass, RunTrains, WithholdDividend
from engine.core.events import FramePushed, FrameReplaced, OfferEnded
from engine.core.state import AnyFrame, Frame, OperatingTurn, State, copy_state
from engine.core.words import join_words
from engine.game import Game
from engine.game_text.checkpoints import compare_checkpoint, deciding_company, seats_to_act
from engine.game_text.history import GameHistory, HistoryLine
from engine.game_text.position import set_up_position
from engine.game_text.script import Checkpoint, ScriptError, ScriptMove, UntilCommand, read_script
from engine.game_text.word_reader import InvalidLineError, WordReader
from engine.kernel import RefusedError, apply, game_of, play_in_place, prompt, refusal
from engine.language.forms import format_action
from engine.language.notation import AmbiguousError, UnreadableError, made_explicit, parse
from engine.operating.turn import OperatingTurnQuestion

MAX_PASSES = 10_000
"""How many lines `> until` plays before it gives up."""

PASSING_ACTIONS = (Pass(), RunTrains(), WithholdDividend())
"""Ways to decline, in order of preference. Where nothing can be declined, the best run is withheld."""

ROUNDS: dict[str, type[Frame]] = {
    "stock": frames.StockRound,
    "operating": frames.OperatingRound,
    "merger": frames.MergerRound,
}
"""The rounds that `> until` waits for, by name."""

QUESTIONS: dict[str, type[Frame]] = {
    "allotment": frames.PrivateAllotment,
    "auction": frames.Auction,
    "bidding": frames.WaterfallBidding,
    "borrowing": frames.PostMergerLoans,
    "claim": frames.RevenueClaim,
    "crisis": frames.CashCrisis,
    "discard": frames.Discard,
    "formation": frames.CompanyStart,
    "freetoken": frames.FreeToken,
    "hometoken": frames.HomeToken,
    "poll": frames.MergerPoll,
    "pricing": frames.ParPriceChoice,
    "protection": frames.PriceProtection,
    "purchase": frames.BuyerChoice,
    "settlement": frames.ShareholderSettlement,
    "sharetrade": frames.PostMergerTrade,
    "subsidy": frames.SeedMoneySale,
    "surplus": frames.ExcessTokens,
    "takeover": frames.TakeoverLoans,
    "waterfall": frames.Waterfall,
}
"""The questions that `> until` waits for, by name. The names are part of the notation."""


@dataclass(frozen=True, slots=True)
class ReplayFailure:
    """A line that failed: the reason, and for a checkpoint both values. `line` counts from 1."""

    line: int
    message: str
    expected: str | None = None
    actual: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The outcome of a replay: the last state, the lines played, the checkpoints passed, the failure.

    `state` and `history` are None when the game could not begin.
    """

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
    """Play a game text through the rules. Stops at the first line that fails."""
    start, g, lines, passed, failure = None, None, list[HistoryLine](), 0, None
    try:
        script = read_script(text)
        start = set_up_position(script.start, script.setup)
        g = game_of(copy_state(start))
        for item in script.items:
            match item:
                case ScriptMove():
                    _play_move(g, item, lines)
                case Checkpoint(line, words):
                    _verify_checkpoint(g.state, line, words)
                    passed += 1
                case UntilCommand(line, condition):
                    _pass_until(g, line, condition, lines)
    except ScriptError as error:
        failure = ReplayFailure(error.line, error.message)
    except _Stopped as stopped:
        failure = stopped.failure
    history = GameHistory(start, tuple(lines)) if start else None
    return ReplayReport(g.state if g else start, history, passed, failure)


class _Stopped(Exception):
    def __init__(self, failure: ReplayFailure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def _play_move(g: Game, move: ScriptMove, lines: list[HistoryLine]) -> None:
    """Play a move on the game and append it to the lines.

    A move that must be refused, or that may be and is, changes nothing.
    """
    try:
        action = parse(g, move.seat, move.text)
        line = format_action(g, action)
    except RefusedError as refused:
        if move.expectation == "must":
            if _has_turn_ended(g, move, lines):
                return
            raise _move_failure(move, f"is refused: {refused}") from None
        if move.citation and not g.title.cites(str(refused), move.citation):
            raise _move_failure(
                move, f"is refused for another reason: {refused}", move.citation, str(refused)
            ) from None
        return
    except (UnreadableError, AmbiguousError) as error:
        if move.expectation == "may":
            return
        problem = "cannot be read" if isinstance(error, UnreadableError) else "is ambiguous"
        raise _move_failure(move, f"{problem}: {error}") from None
    if move.expectation == "must not":
        raise _move_failure(move, "is legal, but must be refused.", "refused", "legal")
    g.events = []
    apply(g, move.seat, action)
    lines.append(HistoryLine(move.seat, line, g.events))


def _has_turn_ended(g: Game, move: ScriptMove, lines: Sequence[HistoryLine]) -> bool:
    """Whether a pass or a decline would only end a stock turn that the last line has ended.

    In texts of version 1.0.0 such a turn goes on while an offer is open that cannot be accepted any more.
    """
    round, word = g.state.stack[0], move.text.casefold().split()[0]
    if not lines or lines[-1].line == "pass" or not isinstance(round, frames.StockRound):
        return False
    has_lapsed = any(isinstance(e, OfferEnded) and e.outcome == "lapsed" for e in lines[-1].events)
    return has_lapsed and (word == "decline" or (word == "pass" and move.seat == round.last_to_act))


def _move_failure(
    move: ScriptMove, reason: str, expected: str | None = None, actual: str | None = None
) -> _Stopped:
    return _Stopped(ReplayFailure(move.line, f"{move.text!r} {reason}", expected, actual))


def _verify_checkpoint(state: State, line: int, words: str) -> None:
    try:
        expected, actual = compare_checkpoint(state, words)
    except InvalidLineError as error:
        raise ScriptError(line, str(error)) from None
    if expected != actual:
        raise _Stopped(
            ReplayFailure(line, f"= {words}: expected {expected}, found {actual}.", expected, actual)
        )


# -- until -----------------------------------------------------------------------------------


def _pass_until(g: Game, line: int, condition: str, lines: list[HistoryLine]) -> None:
    """Let every player who is asked decline until the condition holds."""
    g.events = []
    try:
        holds = _until_condition(g, condition)
    except InvalidLineError as error:
        raise ScriptError(line, str(error)) from None
    for _ in range(MAX_PASSES):
        if holds(g):
            return
        if g.state.game_over:
            raise _Stopped(
                ReplayFailure(line, f"the game was over before {condition} came.", condition, "over")
            )
        lines.append(_pass_once(g, line, condition))
    raise _Stopped(
        ReplayFailure(line, f"{condition} has not come after {MAX_PASSES} lines.", condition, prompt(g))
    )


def _pass_once(g: Game, line: int, condition: str) -> HistoryLine:
    seats = g.title.questions[type(g.top)].asked(g, g.top)
    for seat in seats:
        for action in PASSING_ACTIONS:
            if refusal(g, seat, action) is None:
                text = format_action(g, made_explicit(g, action))
                g.events = []
                play_in_place(g, seat, action)
                return HistoryLine(seat, text, g.events)
    names = join_words([g.state.name(seat) for seat in seats])
    message = f"before {condition} came, {names} cannot decline. {names} to act: {prompt(g)}."
    raise _Stopped(ReplayFailure(line, message, condition, prompt(g)))


def _until_condition(g: Game, condition: str) -> Callable[[Game], bool]:
    """The test for a condition. Raises InvalidLineError where nothing of that name exists in the title."""
    name = condition.casefold()
    if name == "over":
        return lambda g: g.state.game_over is not None
    if (kind := ROUNDS.get(name)) in g.title.questions:
        before = _round_key(g.state.stack[0])
        return lambda g: any(
            type(frame) is kind and _round_key(frame) != before for frame in _opened_frames(g)
        )
    if step := _step_named(g, name):
        return lambda g: getattr(g.top, "step", None) == step
    if (question := QUESTIONS.get(name)) in g.title.questions:
        return lambda g: type(g.top) is question
    words = WordReader(g, condition)
    who = words.actor()
    words.expect_end()
    return lambda g: not g.state.game_over and who in (*seats_to_act(g), deciding_company(g))


def _opened_frames(g: Game) -> Iterator[AnyFrame]:
    """The frames that the last line pushed. They include rounds that have ended since."""
    return (event.frame for event in g.events if isinstance(event, FramePushed | FrameReplaced))


def _round_key(frame: AnyFrame) -> tuple[object, ...]:
    """What distinguishes a round from every other."""
    return type(frame), getattr(frame, "stock_round", None), getattr(frame, "number", None)


def _step_named(g: Game, name: str) -> str | None:
    """The step of an operating turn with that name, in the singular or the plural."""
    turns = g.title.questions.get(OperatingTurn)
    steps = turns.steps if isinstance(turns, OperatingTurnQuestion) else ()
    return next((s.name for s in steps if s.name.removesuffix("s") == name.removesuffix("s")), None)
