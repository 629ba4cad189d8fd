"""The shards of Discord, as conditions on tables and messages."""

from typing import NamedTuple

from sqlalchemy import ColumnElement, or_
from sqlmodel import col, func, select

from storage.models import GameTable, OutboxMessage

PER_MILLISECOND = 2**22
"""Ids of guilds in a millisecond; by the milliseconds, Discord gives guilds to shards."""


class GuildShards(NamedTuple):
    """The shards from `first` to `last`, `of` so many. A table without a guild belongs to shard 0."""

    first: int
    last: int
    of: int

    def own(self) -> ColumnElement[bool]:
        """Whether a game table belongs to one of the shards."""
        shard = func.coalesce(col(GameTable.guild), 0) // PER_MILLISECOND % self.of
        return shard.between(self.first, self.last)

    def own_message(self) -> ColumnElement[bool]:
        """Whether a message of the outbox is about such a table; one about none belongs to shard 0."""
        of_table = (col(GameTable.id) == col(OutboxMessage.table_id), self.own())
        is_own = select(col(GameTable.id)).where(*of_table).exists()
        return or_(is_own, col(OutboxMessage.table_id).is_(None)) if self.first == 0 else is_own
