"""Tables at which a game has begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.hub.info import TableInfo
from bot.service import Service


async def started(
    service: Service,
    people: Mapping[str, int],
    title: str = "1830",
    *,
    seed: int | None = None,
    **details: Any,
) -> TableInfo:
    """A running table of these people, by their names, who sit in this order; the first is its host.

    details: as the lobby takes them for a new table.
    """
    names, (host, *_) = list(people), people.values()
    table = await service.lobby.create(title, host, **details)
    for name, person in people.items():
        await service.lobby.join(table.id, person, name)
    return await service.lobby.start(table.id, by=host, order=names, seed=seed)
