"""Polls of a table (undo, pause, end …), and the votes in them."""

from collections.abc import Iterable
from typing import Any

from sqlmodel import select, update

from storage.errors import NotFound
from storage.models import PollRecord, VoteRecord
from storage.table_records import TablePoll, read_open_polls, with_votes
from storage.transaction import Repository, unique_or


class PollRepository(Repository):
    """Polls, open and closed."""

    async def open(
        self,
        table_id: int,
        kind: str,
        voters: Iterable[int],
        details: dict[str, Any],
        proposer_seat: int | None = None,
    ) -> TablePoll:
        """Open a poll among seats. Raises AlreadyExists where one of this kind is open at the table."""
        await self._db.renew_revisions(table_id)
        poll = PollRecord(
            table_id=table_id, kind=kind, proposer_seat=proposer_seat, details=details, opened_at=self._db.now
        )
        with unique_or(f"A vote of this kind ({kind}) is already open at the table."):
            await self._db.add(poll)
        votes: dict[int, bool | None] = dict.fromkeys(voters)
        for seat in votes:
            await self._db.add(VoteRecord(poll_id=poll.id, seat=seat))
        return TablePoll(poll, votes)

    async def open_polls(self, *table_ids: int) -> list[TablePoll]:
        """The open polls of these tables, oldest first."""
        return await self._db.read(lambda connection: read_open_polls(connection, table_ids))

    async def get(self, poll_id: int) -> TablePoll:
        """A poll, open or closed. Raises NotFound."""
        poll = await self._db.get(PollRecord, "There is no such vote.", id=poll_id)
        return (await self._db.read(lambda connection: with_votes(connection, [poll])))[0]

    async def cast_vote(self, poll_id: int, seat: int, agrees: bool) -> TablePoll:
        """A seat votes, or changes its vote. Raises NotFound where it may not vote, or the poll is closed."""
        poll, votes = await self.get(poll_id)
        if poll.closed_at is not None or seat not in votes:
            raise NotFound("You are not asked for a vote, or the vote is over.")
        await self._db.renew_revisions(poll.table_id)
        own_vote = update(VoteRecord).filter_by(poll_id=poll_id, seat=seat)
        await self._db.execute(own_vote.values(agrees=agrees, voted_at=self._db.now))
        return TablePoll(poll, votes | {seat: agrees})

    async def ask_anew(self, poll_id: int, seat: int) -> TablePoll:
        """Whoever plays a seat now has a vote in an open poll, and has not cast it. Raises NotFound."""
        poll, votes = await self.get(poll_id)
        await self._db.renew_revisions(poll.table_id)
        await self._db.upsert(VoteRecord(poll_id=poll_id, seat=seat))
        return TablePoll(poll, votes | {seat: None})

    async def close(self, poll_id: int, outcome: str) -> bool:
        """Close a poll; returns whether it was open."""
        await self._db.renew_revisions(*await self._db.all(select(PollRecord.table_id).filter_by(id=poll_id)))
        is_open = update(PollRecord).filter_by(id=poll_id, closed_at=None)
        return await self._db.execute(is_open.values(closed_at=self._db.now, outcome=outcome)) > 0
