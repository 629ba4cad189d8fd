"""What came of the lines and the questions of a reply, and what the seat can do next: its receipt says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from mail.composing.page import Attachment, InlineImage, TableRows
from mail.reply_address import ReplyToken


class MailQuery(NamedTuple):
    """A question that changes nothing in the game, and its argument: `20` in `log 20`. `try` plays lines on a
    copy of it."""

    kind: str
    argument: str = ""

    @property
    def line(self) -> str:
        """As it can be written."""
        return f"{self.kind} {self.argument}".strip()


class AcceptedLine(NamedTuple):
    """A line as the player wrote it, and the sentence that the table reads."""

    line: str
    sentence: str


@dataclass(frozen=True, slots=True)
class LinesPlayed:
    """All lines were played. waiting_for: a sentence on who is to act. undo_hint: how to undo the lines.

    In each result, decision_id is the pending decision of the seat, None for none: a reply to the receipt
    answers this one. legal_lines: its legal lines, ready to copy. answer: lines of text that answer the line
    where it changes nothing, else what happened beside the lines.
    """

    accepted: tuple[AcceptedLine, ...]
    changes: tuple[str, ...] = ()
    waiting_for: str = ""
    undo_hint: str = ""
    decision_id: str | None = None
    legal_lines: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LineRejected:
    """The line at `index` (from 0) failed, so nothing was changed.

    suggested_lines: the nearest legal lines of an `unreadable` line, the choices of an `ambiguous` one, legal
    lines instead of a `refused` one.
    """

    kind: Literal["refused", "unreadable", "ambiguous"]
    index: int
    reason: str
    decision_id: str | None = None
    suggested_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StaleReply:
    """The mail answered a decision that is no longer pending.

    old_prompt: that decision, in words. current_prompt: the pending one. events_since: what happened between.
    """

    old_prompt: str
    current_prompt: str
    events_since: tuple[str, ...] = ()
    decision_id: str | None = None
    legal_lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NeedsYes:
    """The lines are carried out only when the player confirms them. reason: why, as a sentence. lines: those
    that say so."""

    reason: str
    lines: tuple[str, ...]
    decision_id: str | None = None


PlayResult = LinesPlayed | LineRejected | StaleReply | NeedsYes


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answer to a query: preformatted text, or a position with tables, images, attachments."""

    title: str
    text: str
    images: tuple[InlineImage, ...] = ()
    decision_id: str | None = None
    attachments: tuple[Attachment, ...] = ()
    position: tuple[str | TableRows, ...] = ()


class TableAnswer(NamedTuple):
    """The answer to a command about tables: sentences, what a reply to it stands for, and whether it was
    done.

    sentences: none where nobody is to be answered. offered_code: of held lines that `yes` confirms. images,
    attachments: below the sentences.
    """

    sentences: tuple[str, ...]
    token: ReplyToken
    is_done: bool = True
    offered_code: str | None = None
    images: tuple[InlineImage, ...] = ()
    attachments: tuple[Attachment, ...] = ()
