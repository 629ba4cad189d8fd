"""Asks a person once more for every decision that is open for them: where they are told again, or at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from bot.hub.loading import load_recipient
from bot.hub.notifications.messages import turn_reminders
from bot.hub.queries import TableQueries
from bot.hub.table import TableView
from bot.position.pending import PendingDecision
from storage import UnitOfWork

OpenQuestion = tuple[TableView, PendingDecision]


async def open_questions(queries: TableQueries, person_id: int) -> list[OpenQuestion]:
    """The decisions that are open for a person at tables where they play themselves."""
    found = []
    for table in await queries.list_tables(person_id=person_id, statuses=("running", "paused")):
        if table.player_of(person_id):
            view = await queries.view(table.id)
            seats = view.table.seats_of(person_id)
            found += [(view, each) for each in view.pending if each.seat in seats][:1]
    return found


async def ask_again(
    unit: UnitOfWork,
    person_id: int,
    questions: Sequence[OpenQuestion],
    due: datetime,
    channels: Collection[str] = ("mail",),
) -> None:
    """Ask a person these questions, on those of the channels that they want."""
    for view, pending in questions:
        recipient = await load_recipient(unit, person_id, pending.seat)
        await unit.outbox.enqueue(*turn_reminders(view.table, view.seq, pending, recipient, due, channels))
