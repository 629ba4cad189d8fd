"""What waits for a person, a page for each table: the digest, and the answer to `turns` on Discord."""

from __future__ import annotations

from bot.hub.cache import TableCache
from bot.hub.feature import Page
from bot.hub.loading import load_recipient
from bot.hub.log import recent_events
from bot.hub.notifications.waiting import WaitingTable, waiting_tables
from bot.hub.polls import VOTE_CONTROLS
from bot.hub.queries import TableQueries

MAX_EVENTS = 8


class WaitingPages:
    """Makes the pages of the tables that wait for a person, the most urgent first."""

    def __init__(self, cache: TableCache, queries: TableQueries) -> None:
        self._store, self._queries = cache.store, queries

    async def pages(self, person_id: int, *, in_digest: bool = False) -> list[tuple[WaitingTable, Page]]:
        """Each table and its page. in_digest: only those that the digest of the person has, with what has
        happened there."""
        async with self._store.read() as unit:
            settings = (await load_recipient(unit, person_id, None)).settings
            waiting, now = await waiting_tables(unit, person_id), unit.now
        found = []
        for each in waiting:
            if in_digest and not settings.for_table(each.table.code).digest:
                continue
            headline = each.line(now, settings.zone)
            if each.poll is not None:
                question = str(each.poll.poll.details["question"])
                page = Page(headline, [question], controls=VOTE_CONTROLS, decision_id=each.poll_id)
                found.append((each, page))
                continue
            view = await self._queries.view(each.table.id)
            if (pending := next((p for p in view.pending if p.seat == each.seat), None)) is not None:
                events = await self._events(each, person_id) if in_digest else ()
                lists = [(f"Since your last turn at {each.table.code}", events)] if events else []
                sentence = f"You to act: {pending.prompt}."
                found.append((each, Page(headline, [sentence], lists, decision_id=pending.decision_id)))
        return found

    async def _events(self, waiting: WaitingTable, reader: int) -> tuple[str, ...]:
        """What has happened at a table; only the player sees which moves their orders have said."""
        player = waiting.table.player_at(waiting.seat)
        is_owner = player is not None and player.person_id == reader
        entries = await self._queries.log_since_last_move(waiting.table.id, waiting.seat, by_hand=is_owner)
        return recent_events(entries, MAX_EVENTS)
