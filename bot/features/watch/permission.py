"""`watching on`: the host of a table allows that it is shown in other channels (`/watch table:`)."""

from __future__ import annotations

from bot.hub.cache import TableCache
from bot.hub.changes import check_allowed
from bot.hub.command import Command, Form, TableCommand
from bot.hub.info import TableInfo
from bot.hub.request import CommandResult, QueryAnswer, Request, refused
from bot.hub.table import LiveTable
from storage import UnitOfWork

FEATURE = "watching"


async def may_be_shown_elsewhere(unit: UnitOfWork, info: TableInfo) -> bool:
    """Whether the host has allowed it. A table without a host is the operator's, who need not ask."""
    if info.host_id is None:
        return True
    return bool(await unit.facts.get(FEATURE, info.id, info.host_id))


class WatchingPermission:
    """Keeps what the host of each table allows."""

    def __init__(self, cache: TableCache) -> None:
        self._cache = cache

    def commands(self) -> list[Command]:
        """`watching on`, `watching off`."""
        form = Form(
            "watching on|off", "whether other channels may show this table; only the host", "watching on"
        )
        return [TableCommand("watching", (form,), self._set)]

    async def _set(self, table: LiveTable, request: Request) -> CommandResult:
        """Allow or forbid it."""
        info, words = table.stored_info, request.lines[0].casefold().split()[1:]
        if words not in (["on"], ["off"]):
            return refused(table, request, "Write `watching on` or `watching off`.")
        is_allowed = words == ["on"]
        check_allowed(info, request.person_id)
        async with self._cache.commit(table, request.request_id) as draft:
            if info.host_id is not None:
                facts = (await draft.unit()).facts
                await facts.set(FEATURE, info.id, info.host_id, is_allowed or None)
            draft.result = _answer(table, request, is_allowed)
        return draft.result


def _answer(table: LiveTable, request: Request, is_allowed: bool) -> QueryAnswer:
    text = (
        "Other channels of the server may show this table now, with what everybody at it may know."
        if is_allowed
        else "Only the channel of this table may show it."
    )
    return QueryAnswer("watching", text, next_decision_id=table.decision_id_of(request.seat))
