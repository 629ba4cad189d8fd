"""Until when a player has time, on the page of their turn."""

from __future__ import annotations

from bot.hub.feature import Addition, TurnPage
from bot.hub.notifications import clock_messages
from bot.hub.notifications.preferences import settings_of
from bot.position.times import moment_text
from storage import Store


async def add_to_turn(store: Store, page: TurnPage) -> Addition:
    """A sentence for the reader, in their time zone; none without a pace, or on a page for everybody."""
    if page.pending is None or page.reader is None:
        return Addition()
    async with store.read() as unit:
        clock = (await unit.clocks.seat_clocks(page.view.table.id)).get(page.pending.seat)
        if clock is None or clock.time_up is None or clock.allowance_end is None:
            return Addition()
        person, now = await unit.people.get(page.reader), unit.now
    zone = settings_of(person.preferences, person.time_zone).zone
    if now < clock.allowance_end:
        by, more = clock.allowance_end, clock_messages.bank_text(clock)
    else:
        by, more = clock.time_up, "; your time bank is running" * (now < clock.time_up)
    return Addition([f"Please reply by {moment_text(by, zone)}{more}."])
