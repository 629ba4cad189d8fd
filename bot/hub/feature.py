"""What one thing that Railpost can do adds to the hub: its commands, and where it is called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import engine
from bot.hub.command import Command
from bot.hub.commit import CommitDraft
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from bot.hub.polls import LeftOrders, Motion
from bot.hub.table import LiveTable, TableView
from bot.hub.timers import TimerHandler
from bot.position.controls import ExportedFile, ReviewChart, Say, Show
from bot.position.pending import PendingDecision

NOTHING: Mapping[str, Any] = MappingProxyType({})

Reaction = Callable[[CommitDraft], Awaitable[None]]
"""Adds to a draft before it is written; what it adds belongs to the same commit."""


class TurnPage(NamedTuple):
    """The page of a turn: a card, or an email.

    pending: what the player has to decide, None where several players are asked together. choices: what they
    may do. reader: who alone reads it, None for everybody at the table.
    """

    view: TableView
    pending: PendingDecision | None
    choices: Sequence[engine.Choice]
    reader: int | None


class Addition(NamedTuple):
    """What a feature adds to the page of a turn.

    Its controls act for the person who uses them. An email has only the sentences.
    """

    sentences: Sequence[str] = ()
    controls: Sequence[Say | Show] = ()


AddToTurn = Callable[[TurnPage], Awaitable[Addition]]


class Answer(NamedTuple):
    """What one word in reply to an email says. purpose: what it is for, such as `To start the game`."""

    purpose: str
    line: str


PagePicture = str | ReviewChart
"""The name of a picture, as in `QueryAnswer.picture`, or what the picture of a review shows."""


class Page(NamedTuple):
    """What one person reads of a notification, or everybody at a table.

    lists: title and entries of each; without a title the entries stand as lines. controls: what the reader
    may do; Discord shows buttons. yes, no: what these words say by email; without them the reader copies the
    lines of the controls. decision_id: to which a reply belongs, such as the vote that is asked for. invites:
    the reader may be a stranger to Railpost, at an address that is not verified.
    """

    headline: str
    sentences: Sequence[str] = ()
    lists: Sequence[tuple[str, Sequence[str]]] = ()
    controls: Sequence[Say] = ()
    yes: Answer | None = None
    no: Answer | None = None
    decision_id: str | None = None
    invites: bool = False
    pictures: Sequence[PagePicture] = ()
    files: Sequence[ExportedFile] = ()


class EndingPart(NamedTuple):
    """What a feature adds to the page of the end of a game, as a `Page` has it."""

    lists: Sequence[tuple[str, Sequence[str]]] = ()
    controls: Sequence[Say] = ()
    pictures: Sequence[PagePicture] = ()
    files: Sequence[ExportedFile] = ()


AddToEnding = Callable[[LiveTable], Awaitable[EndingPart]]
"""Gets a table with its log, whose game is over or was ended."""

MakePage = Callable[[TableInfo, Notification], Awaitable[Page | None]]
"""Makes the page of a notification when it is sent; None where it is out of date."""


class Feature(NamedTuple):
    """A feature as the hub knows it. `Hub.add` puts it in; what is not put in does not exist for players.

    commands: words that begin a line. motions: by the kind of poll that decides on them. timers: by the kind
    of what is due. leads: by name, work that one process of a store does. pages: by the kind of a
    notification. turn_pages: add to the page of a turn. endings: add to the page of the end of a game.
    orders: what players have left beforehand. is_required: the service cannot do without it.
    """

    name: str
    commands: Sequence[Command] = ()
    motions: Mapping[str, Motion] = NOTHING
    timers: Mapping[str, TimerHandler] = NOTHING
    leads: Mapping[str, Callable[[], Awaitable[None]]] = NOTHING
    reactions: Sequence[Reaction] = ()
    pages: Mapping[str, MakePage] = NOTHING
    turn_pages: Sequence[AddToTurn] = ()
    endings: Sequence[AddToEnding] = ()
    orders: LeftOrders | None = None
    is_required: bool = False
