"""`accept` and `decline` as votes, where a poll is open; else they are lines of the game."""

from __future__ import annotations

from bot.hub.command import Command, Form, TableCommand
from bot.hub.polls import PollHandler
from bot.hub.request import Request
from bot.hub.table import LiveTable


def commands(polls: PollHandler) -> list[Command]:
    """`accept [vote]`, `decline [vote]`."""
    return [
        TableCommand(word, (Form(f"{word} [vote]"),), polls.vote, applies=_is_vote)
        for word in ("accept", "decline")
    ]


def _is_vote(table: LiveTable, request: Request) -> bool:
    named = request.lines[0].casefold().split()[1:] == ["vote"]
    return named or request.answers_poll or bool(table.polls)
