"""The timers of the clock, by the kind of their due rows."""

from __future__ import annotations

from functools import partial

from bot.features.clock.reminders import Reminders
from bot.features.clock.time_up import PlayForSeat, TimeUp
from bot.hub.cache import TableCache
from bot.hub.notifications.preferences import settings_of
from bot.hub.timers import NUDGE_KIND, Timer
from storage import DueRow


def clock_timers(cache: TableCache, play_for_seat: PlayForSeat) -> dict[str, Timer]:
    """Reminders, escalations, the end of a player's time, absences."""
    time_up = TimeUp(cache, play_for_seat)
    remind = Reminders(cache, time_up.pause_without_pace).remind
    reminders = dict.fromkeys(("reminder", "escalation", "ping", NUDGE_KIND), remind)
    return {**reminders, "time_up": time_up.end, "absence": partial(_absence, cache)}


async def _absence(cache: TableCache, row: DueRow) -> bool:
    """An absence begins or ends: the tables of the person are followed up."""
    assert row.person_id is not None
    async with cache.store.begin() as unit:
        person = await unit.people.get(row.person_id)
        settings = settings_of(person.preferences, person.time_zone)
        next_at = None
        if settings.absence is not None:
            start, end = settings.absence.interval(settings.zone)
            next_at = next((at for at in (start, end) if at > unit.now), None)
        if await unit.clocks.take_due(row, next_at):
            await unit.people.update(row.person_id, name=person.name)  # tables load their deputies again
            await unit.clocks.look_again_for(row.person_id)
    cache.wake_subscribers()
    return True
