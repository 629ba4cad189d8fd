"""Votes that wait: who has not voted is reminded daily, outside their quiet hours.

A person with a daily digest finds the vote there instead.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.hub.cache import TableCache
from bot.hub.notifications import clock_messages
from bot.hub.notifications.messages import may_vote
from bot.hub.notifications.quiet_hours import not_quiet
from bot.hub.request import POLL_PREFIX
from bot.position.times import duration_text
from storage import DueRow, TablePoll, UnitOfWork

VOTE_KIND = "vote"
DAY = timedelta(days=1)


async def set_vote_reminders(unit: UnitOfWork, poll: TablePoll) -> None:
    """Everybody who has not voted is reminded after a day."""
    for seat, vote in poll.votes.items():
        if vote is None:
            await unit.clocks.set_due(
                f"{poll.poll.table_id}.{seat}.{VOTE_KIND}.{poll.poll.id}", VOTE_KIND, unit.now + DAY,
                table_id=poll.poll.table_id, seat=seat, details={"poll": poll.poll.id},
            )  # fmt: skip


async def remind_of_vote(cache: TableCache, row: DueRow) -> bool:
    """Remind the player of a seat of an open vote, and set the next; a vote that is over has none."""
    assert row.table_id is not None and row.seat is not None
    async with cache.locked(row.table_id, with_log=False) as table, cache.store.begin() as unit:
        polls = await unit.polls.open_polls(row.table_id)
        poll = next((p for p in polls if p.poll.id == row.details.get("poll")), None)
        recipient = table.metadata.recipients.get(row.seat)
        if poll is None or recipient is None or poll.votes.get(row.seat, True) is not None:
            await unit.clocks.take_due(row)
            return True
        quiet = recipient.settings.quiet_hours
        if quiet is not None and quiet.contain(unit.now):
            await unit.clocks.take_due(row, not_quiet(unit.now, quiet))
            return True
        is_asked = may_vote(table.info, poll, row.seat, recipient.person_id)
        if await unit.clocks.take_due(row, unit.now + DAY) and is_asked:
            sentence = vote_sentence(poll, unit.now)
            stamp = f"{poll.poll.id}.{row.due_at.timestamp():.0f}"
            await unit.outbox.enqueue(
                *clock_messages.vote_messages(
                    table.info, recipient, f"{POLL_PREFIX}{poll.poll.id}", sentence, stamp, unit.now
                )
            )
    cache.wake_subscribers()
    return True


def vote_sentence(poll: TablePoll, now: datetime) -> str:
    """What a vote is about, and for how long it has waited."""
    waited = duration_text(now - poll.poll.opened_at)
    return f"A vote has waited for you for {waited}: {poll.poll.details['question']}"
