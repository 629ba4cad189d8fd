"""What one thing that Railpost can do adds to the hub: its commands, and where it is called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from bot.hub.command import Command
from bot.hub.commit import CommitDraft
from bot.hub.play import Moved
from bot.hub.polls import Motion
from bot.hub.timers import Timer

NOTHING: Mapping[str, Any] = MappingProxyType({})

Reaction = Callable[[CommitDraft], Awaitable[None]]
"""Adds to a draft before it is written; what it adds belongs to the same commit."""


class Feature(NamedTuple):
    """A feature as the hub knows it. `Hub.add` puts it in; what is not put in does not exist for players.

    commands: words that begin a line. motions: by the kind of poll that decides on them. timers: by the kind
    of what is due. leads: by name, work that one process of a store does. moved: learn in the commit that a
    seat has moved.
    is_required: the service cannot do without it.
    """

    name: str
    commands: Sequence[Command] = ()
    motions: Mapping[str, Motion] = NOTHING
    timers: Mapping[str, Timer] = NOTHING
    leads: Mapping[str, Callable[[], Awaitable[None]]] = NOTHING
    reactions: Sequence[Reaction] = ()
    moved: Sequence[Moved] = ()
    is_required: bool = False
