"""What the terminal answers: a text, its tone, and the pictures that go with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.hub.info import TableInfo, status_text
from bot.hub.request import (
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineAmbiguous,
    LineRefused,
    LineUnreadable,
    NotYourSeat,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
    TableNotRunning,
)
from bot.hub.table import TableView
from bot.position import text_views

Tone = Literal["plain", "good", "bad"]


@dataclass(frozen=True, slots=True)
class Reply:
    """The text for a line, whether it succeeded, and whether to quit.

    pictures: PNG files that go with it. caption: the text where the terminal shows them, if it is another.
    """

    text: str
    tone: Tone = "plain"
    quit: bool = False
    pictures: tuple[bytes, ...] = ()
    caption: str | None = None


def waiting_text(view: TableView) -> str:
    """Who is to act; nothing before the start."""
    return text_views.question_text(view.state, view.pending) if view.state else ""


def reply_for(result: CommandResult, view: TableView) -> Reply:
    """A result of the service in words."""
    waiting = waiting_text(view)
    match result:
        case Completed():
            played = [f"{p.line}: {' '.join(p.sentences)}" if p.sentences else p.line for p in result.played]
            next_turn = [] if result.game_over or not result.pending else [waiting]
            return Reply("\n".join([*played, *result.sentences, *next_turn]), "good")
        case LineUnreadable():
            return Reply(_failure_text(result.index, result.line, result.reason, result.nearest), "bad")
        case LineRefused():
            return Reply(_failure_text(result.index, result.line, result.reason, result.suggestions), "bad")
        case LineAmbiguous():
            return Reply(_failure_text(result.index, result.line, result.reason, ()), "bad")
        case StaleDecision():
            return Reply("\n".join([result.reason, *result.since]), "bad")
        case NotYourSeat() | TableNotRunning():
            return Reply(result.reason, "bad")
        case ConfirmationRequired():
            return Reply(f"{result.reason} Enter `{result.line}` to confirm.")
        case PollUpdated():
            names = view.state.players if view.state else []
            votes = [f"{names[s]}: accept, or {names[s]}: decline" for s in result.waiting_seats]
            next_turn = [waiting] if result.outcome else []
            return Reply("\n".join([*result.sentences, *votes, *next_turn]), "good")
        case QueryAnswer():
            return Reply(result.text)


def _failure_text(index: int, line: str, reason: str, suggestions: Sequence[str]) -> str:
    prefix = f"Line {index + 1}, `{line}`: " if index else ""
    if not suggestions or any(suggestion in reason for suggestion in suggestions):
        return f"{prefix}{reason}"
    return f"{prefix}{reason} Possible: {'; '.join(suggestions)}."


def table_summary(info: TableInfo, status: str = "") -> str:
    """The table in a sentence: code, title, status, round and players."""
    options = f" ({', '.join(info.options)})" if info.options else ""
    names = text_views.join_words(info.names or [s.name for s in info.seated_players])
    where = f", {info.round}" if info.round else ""
    return (
        f"Table {info.code} of {info.title}{options} is {status or status_text(info.status)}{where}: {names}."
    )
