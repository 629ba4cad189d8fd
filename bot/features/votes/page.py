"""The page that asks a seat for its vote, and its reminder."""

from __future__ import annotations

from bot.hub.cache import TableCache
from bot.hub.feature import MakePage, Page
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from bot.hub.polls import VOTE_CONTROLS, poll_id


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
