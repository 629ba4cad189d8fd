"""What changes a table has in common: who may do it, its transaction, and a second try after a conflict."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import wraps
from typing import Any, TypeVar, cast

from bot.hub.cache import MAX_ATTEMPTS, TableCache
from bot.hub.info import TableInfo, status_text
from bot.hub.limits import Limits
from bot.hub.loading import load_metadata, load_table_info
from bot.hub.notifications import messages
from bot.hub.table import LiveTable
from storage import Deadlock, UnitOfWork, WriteConflict


def check_allowed(
    info: TableInfo, by: int | None, *, seated_players: bool = False, own: int | None = None
) -> None:
    """Raises ValueError unless `by` is the operator, the host or the person `own`, or, if `seated_players`
    is true, anyone seated at the table."""
    if by is None or by == info.host_id or (own is not None and by == own):
        return
    if seated_players and info.player_of(by):
        return
    host = info.player_of(info.host_id)
    named = f"{host.name}, its host," if host else "its host"
    who = f"{named} or a player" if seated_players else named
    own_right = "the person concerned or " if own is not None else ""
    raise ValueError(f"Only {own_right}{who} may do that at table {info.code}.")


def check_in_lobby(info: TableInfo) -> None:
    """Raises ValueError if the game has started, or the table is closed."""
    if info.status != "lobby":
        what = f"is {status_text(info.status)}" if info.is_over else "has already started"
        raise ValueError(f"Table {info.code} {what}.")


def actor_name(info: TableInfo, by: int | None) -> str:
    """The person's name at the table; `The host` for a host without a seat, and for the operator."""
    player = info.player_of(by)
    return player.name if player else "The host"


async def load_info(unit: UnitOfWork, table_id: int) -> TableInfo:
    """What the lists of tables say of this one. Raises NotFound."""
    return await load_table_info(unit, await unit.tables.get(table_id))


Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])


def again_on_conflict(method: Method) -> Method:
    """Carry a method out again where another process changed the table at the same moment."""

    @wraps(method)
    async def attempts(*arguments: Any, **options: Any) -> Any:
        for _ in range(MAX_ATTEMPTS - 1):
            with suppress(WriteConflict, Deadlock):
                return await method(*arguments, **options)
        return await method(*arguments, **options)

    return cast(Method, attempts)


class TableChanges:
    """Changes of tables that are not moves."""

    def __init__(self, cache: TableCache, limits: Limits) -> None:
        """limits: what one person may do on one day."""
        self._cache, self._limits = cache, limits

    @asynccontextmanager
    async def changing(self, table: LiveTable, *, refresh_card: bool = True) -> AsyncIterator[UnitOfWork]:
        """A transaction without a log row. The lobby's card on Discord is refreshed unless told otherwise."""
        async with (
            self._cache.stale_if_unknown(table),
            self._cache.store.begin(table=table.stored_info.id) as unit,
        ):
            await unit.tables.check_version(table.stored_info.id, table.seq, table.metadata.revision)
            yield unit
            metadata = await load_metadata(unit, table.stored_info.id)
            await renew_expiry(unit, metadata.info)
            if refresh_card:
                await unit.outbox.enqueue(*messages.lobby_refreshes(metadata.info))
        table.metadata = metadata
        self._cache.wake_subscribers()


LOBBY_LIFETIME = timedelta(days=14)  # after the last person has come or gone


WARNING = timedelta(days=3)  # before the end


async def renew_expiry(unit: UnitOfWork, info: TableInfo) -> None:
    """Somebody has come, gone or changed something: the lobby stays open for its whole lifetime again."""
    if info.status == "lobby":
        at = unit.now + LOBBY_LIFETIME - WARNING
        await unit.clocks.set_due(f"lobby.{info.id}", "lobby", at, table_id=info.id)
