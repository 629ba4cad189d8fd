"""Limits: how much each person may ask of the service on one day.

A count is kept in the store, in the transaction of what is counted, so neither a restart nor a second process
forgets it. A day is one of UTC. The operator has no limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Literal

from bot.position.times import duration_text
from storage import Store, UnitOfWork

Kind = Literal["tables", "invitations", "claims", "plans", "pictures", "exports", "requests", "snapshots"]

DEFAULT_LIMITS: Mapping[Kind, int] = {
    "tables": 10,
    "invitations": 30,
    "claims": 5,
    "plans": 1000,
    "pictures": 300,
    "exports": 30,
    "requests": 10,
    "snapshots": 20,
}

SENTENCES: Mapping[Kind, str] = {
    "tables": "You have opened {limit} tables today",
    "invitations": "You have invited {limit} players today",
    "claims": "You have named {limit} email addresses today",
    "plans": "You have made {limit} plans today",
    "pictures": "You have asked for {limit} pictures today",
    "requests": "You have asked for {limit} seats today",
    "exports": "You have exported {limit} games today",
    "snapshots": "You have shown {limit} games today",
}


class LimitReached(ValueError):
    """A person has done something as often as they may on one day; the message is for them."""


class Limits:
    """Counts what each person does on a day. Kinds that are not given have their default."""

    def __init__(self, limits: Mapping[Kind, int] | None = None) -> None:
        self._limits = {**DEFAULT_LIMITS, **(limits or {})}

    async def count(self, unit: UnitOfWork, person_id: int | None, kind: Kind) -> None:
        """Count one in the transaction of what is done. Raises LimitReached."""
        if person_id is None:
            return
        limit = self._limits[kind]
        if await unit.usage.add(person_id, kind, f"{unit.now:%Y-%m-%d}") > limit:
            left = datetime.combine(unit.now.date() + timedelta(days=1), time(), UTC) - unit.now
            raise LimitReached(
                f"{SENTENCES[kind].format(limit=limit)}, the most on one day. More is possible again in "
                f"{duration_text(left)}, at 00:00 UTC; or ask the operator."
            )

    async def count_query(self, store: Store, person_id: int | None, kind: Kind) -> None:
        """Count one of what writes nothing else. Raises LimitReached."""
        if person_id is not None:
            async with store.begin(excludes_others=False) as unit:
                await self.count(unit, person_id, kind)
