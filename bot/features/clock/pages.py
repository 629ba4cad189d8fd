"""The pages of what the clock tells one person: who is next, who is a deputy, that a time is up."""

from __future__ import annotations

from collections.abc import Mapping

from bot.hub.cache import TableCache
from bot.hub.feature import MakePage, Page
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from bot.position import text_views

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
        if view.state is not None and not is_next:
            sentences.append(text_views.waiting_sentence(view.state, view.pending))
        decision_id = notification.decision_id or view.decision_id_of(seat) or view.current_decision_id
        return Page(HEADLINES[notification.kind], sentences, decision_id=decision_id)

    return {**dict.fromkeys(HEADLINES, of_seat), "dismissed": _dismissed}


async def _dismissed(table: TableInfo, notification: Notification) -> Page:
    return Page("You are no longer a deputy.", notification.sentences)
