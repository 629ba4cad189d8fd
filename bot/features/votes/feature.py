"""`accept` and `decline` as votes, where a poll is open; else they are lines of the game. And the page that
asks a seat for its vote, or reminds it."""

from __future__ import annotations

from bot.hub.cache import TableCache
from bot.hub.command import Command, Form, TableCommand
from bot.hub.feature import MakePage, Page
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from bot.hub.polls import VOTE_CONTROLS, PollHandler, poll_id
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


def vote_page(cache: TableCache) -> MakePage:
    """Makes the page of a vote; there is none once the vote is cast or closed."""

    async def make(table: TableInfo, notification: Notification) -> Page | None:
        view = (await cache.get(table.id, with_log=False)).view()
        missing = {(poll_id(poll), seat) for poll, seat in view.missing_votes()}
        if (notification.decision_id, notification.seat) not in missing:
            return None
        return Page(
            "Your vote is needed.", notification.sentences, controls=VOTE_CONTROLS,
            decision_id=notification.decision_id,
        )  # fmt: skip

    return make
