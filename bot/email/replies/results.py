"""What came of the lines and the questions of a reply, and what the seat can do next: its receipt says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bot.hub.request import (
    CommandResult,
    Completed,
    LineFailure,
    PollUpdated,
    QueryAnswer,
)
from mail.composing.page import Attachment, InlineImage, TableRows
from mail.reply_address import ReplyToken


class AcceptedLine(NamedTuple):
    """A line as the player wrote it, and the sentence that the table reads."""

    line: str
    sentence: str


@dataclass(frozen=True, slots=True)
class PlayResult:
    """What came of the lines of a reply, and what its receipt says besides.

    decision_id: the pending decision of the seat, None for none; a reply to the receipt answers this one.
    waiting_for: a sentence on who is to act. legal_lines: lines ready to copy. changes: what the lines did to
    everybody's cash, in sentences.
    """

    result: CommandResult
    decision_id: str | None = None
    waiting_for: str = ""
    legal_lines: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether all lines were carried out; otherwise nothing was changed."""
        return isinstance(self.result, Completed | PollUpdated | QueryAnswer)

    @property
    def instead(self) -> tuple[str, ...]:
        """Lines that can be written in the place of the one that failed."""
        if not isinstance(self.result, LineFailure):
            return ()
        return self.result.suggestions or self.legal_lines


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
