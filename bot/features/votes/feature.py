"""`accept` and `decline` as votes, where a poll is open; else they are lines of the game.

A page asks a seat for its vote. Who has not voted is reminded daily for a week, then eight times weekly,
outside their quiet hours and absences; a person with a daily digest finds the vote there instead. The first
reminder is set where they are asked (`bot.hub.polls.ask_to_vote`).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.hub.cache import TableCache
from bot.hub.command import Command, Form, TableCommand
from bot.hub.feature import MakePage, Page
from bot.hub.info import TableInfo
from bot.hub.notifications import messages
from bot.hub.notifications.messages import Notification, poll_id
from bot.hub.notifications.preferences import not_quiet
from bot.hub.polls import DAY, VOTE_CONTROLS, PollHandler, voter_of
from bot.hub.request import Request
from bot.hub.table import LiveTable
from bot.position.times import duration_text
from storage import StoredTimer, TablePoll

WEEK = timedelta(days=7)
MOST_TOLD = 7 + 8
"""How often whoever plays for a seat is reminded of a vote; in an absence they are not."""


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


async def remind_of_vote(cache: TableCache, row: StoredTimer) -> bool:
    """Remind the player of a seat of an open vote, and set the next; a vote that is over has none."""
    assert row.table_id is not None and row.seat is not None
    async with cache.locked(row.table_id, with_log=False) as table, cache.store.begin() as unit:
        polls = await unit.polls.open_polls(row.table_id)
        poll = next((p for p in polls if p.poll.id == row.details.get("poll")), None)
        is_played = row.seat in table.metadata.recipients
        if poll is None or not is_played or poll.votes.get(row.seat, True) is not None:
            await unit.clocks.take_due(row)
            return True
        recipient = await voter_of(unit, table, poll, row.seat)
        quiet = recipient.settings.quiet_hours if recipient else None
        if quiet is not None and quiet.contain(unit.now):
            await unit.clocks.take_due(row, not_quiet(unit.now, quiet))
            return True
        is_told = recipient is not None and not recipient.settings.is_away(unit.now)
        told = int(row.details.get("told", 0)) + is_told
        wait = DAY if unit.now < poll.poll.opened_at + WEEK else WEEK
        next_at = unit.now + wait if told < MOST_TOLD else None
        if await unit.clocks.take_due(row, next_at, told=told) and recipient and is_told:
            sentence = vote_sentence(poll, unit.now)
            stamp = f"vote.{poll.poll.id}.{row.due_at.timestamp():.0f}"
            await unit.outbox.enqueue(
                *messages.personal_messages(
                    table.info, "vote_reminder", recipient, sentence, stamp, unit.now, poll_id(poll)
                )
            )
    cache.wake_subscribers()
    return True


def vote_sentence(poll: TablePoll, now: datetime) -> str:
    """What a vote is about, and for how long it has waited."""
    waited = duration_text(now - poll.poll.opened_at)
    return f"A vote has waited for you for {waited}: {poll.poll.details['question']}"
