"""What the clock tells one person: they are next, they are a deputy, their time is up. And on the page of a
turn, until when they have time."""

from __future__ import annotations

from collections.abc import Mapping

from bot.hub.cache import TableCache
from bot.hub.feature import Addition, MakePage, Page, TurnPage
from bot.hub.info import TableInfo
from bot.hub.notifications import clock_messages
from bot.hub.notifications.messages import Notification
from bot.hub.notifications.preferences import settings_of
from bot.position.times import moment_text
from storage import Store

HEADLINES = {"next": "You are next.", "deputy": "You are a deputy.", "time_up": "Your time is up."}


def notice_pages(cache: TableCache) -> Mapping[str, MakePage]:
    """By the kind of the notification."""

    async def of_seat(table: TableInfo, notification: Notification) -> Page | None:
        view, seat = (await cache.get(table.id, with_log=False)).view(), notification.seat
        is_next, sentences = notification.kind == "next", list(notification.sentences)
        if seat is None or (is_next and view.current_decision_id != notification.decision_id):
            return None
        if is_next and table.person_at(seat) != notification.person_id:
            return None  # a deputy plays now, or does no more
        if view.waiting_sentence and not is_next:
            sentences.append(view.waiting_sentence)
        decision_id = notification.decision_id or view.decision_id_of(seat) or view.current_decision_id
        return Page(HEADLINES[notification.kind], sentences, decision_id=decision_id)

    return {**dict.fromkeys(HEADLINES, of_seat), "dismissed": _dismissed}


async def _dismissed(table: TableInfo, notification: Notification) -> Page:
    return Page("You are no longer a deputy.", notification.sentences)


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
