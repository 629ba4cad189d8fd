"""Due rows of what was there before they were kept: lobbies and votes of an older store.

Their time begins when the clock first looks at them, so nothing old is closed without a warning.
"""

from __future__ import annotations

from bot.service.loading import load_table_info
from bot.service.lobby_notices import renew_expiry
from bot.service.vote_reminders import VOTE_KIND, set_vote_reminders
from storage import UnitOfWork


async def set_missing_rows(unit: UnitOfWork) -> None:
    """Every lobby has an end, and every vote that is missing a reminder."""
    lobbies = {row.table_id for row in await unit.clocks.rows_of_kind("lobby")}
    for table in await unit.tables.all("lobby"):
        if table.id not in lobbies:
            await renew_expiry(unit, await load_table_info(unit, table))
    polls = {row.details.get("poll") for row in await unit.clocks.rows_of_kind(VOTE_KIND)}
    for poll in await unit.polls.every_open_poll():
        if poll.poll.id not in polls:
            await set_vote_reminders(unit, poll)
