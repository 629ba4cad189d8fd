"""Questions put to several seats, and what each of them said."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select, update

from storage.errors import AlreadyExists, NotFound
from storage.models import PollRecord, VoteRecord
from storage.transaction import Repository, is_unique_violation


class TablePoll(NamedTuple):
    """A vote with what every asked seat has said; None for silence."""

    poll: PollRecord
    votes: dict[int, bool | None]


class PollRepository(Repository):
    """Votes that are open, and how they ended."""

    async def open(
        self, table_id: int, kind: str, asked: Iterable[int], subject: dict[str, Any], seat: int | None = None
    ) -> TablePoll:
        """Ask seats a question, for the seat that wants it. Raises Taken while one of the kind is open."""
        try:
            vote = await self._transaction.add(
                PollRecord(
                    table_id=table_id,
                    kind=kind,
                    proposer_seat=seat,
                    details=subject,
                    opened_at=self._transaction.now,
                )
            )
        except IntegrityError as error:
            if is_unique_violation(error):
                raise AlreadyExists(f"A vote of this kind ({kind}) is already open at the table.") from error
            raise
        voices: dict[int, bool | None] = dict.fromkeys(asked)
        for asked_seat in voices:
            await self._transaction.add(VoteRecord(poll_id=vote.id, seat=asked_seat))
        return TablePoll(vote, voices)

    async def open_polls(self, table_id: int) -> list[TablePoll]:
        """The open votes of a table, oldest first."""
        here = (col(PollRecord.table_id) == table_id, col(PollRecord.closed_at).is_(None))
        return [
            await self._with_votes(vote)
            for vote in await self._transaction.all(
                select(PollRecord).where(*here).order_by(col(PollRecord.id))
            )
        ]

    async def get(self, vote_id: int) -> TablePoll:
        """A vote, open or closed. Raises Missing for one that is not there."""
        vote = await self._transaction.first(select(PollRecord).where(col(PollRecord.id) == vote_id))
        if vote is None:
            raise NotFound("There is no such vote.")
        return await self._with_votes(vote)

    async def _with_votes(self, vote: PollRecord) -> TablePoll:
        said = await self._transaction.all(
            select(VoteRecord).where(col(VoteRecord.poll_id) == vote.id).order_by(col(VoteRecord.seat))
        )
        return TablePoll(vote, {voice.seat: voice.agrees for voice in said})

    async def cast_vote(self, vote_id: int, seat: int, agrees: bool) -> TablePoll:
        """A seat answers, or changes its answer. Raises Missing where it is not asked, or no longer."""
        ballot = await self.get(vote_id)
        if ballot.poll.closed_at is not None or seat not in ballot.votes:
            raise NotFound("Your vote is not asked for, or no longer.")
        here = (col(VoteRecord.poll_id) == vote_id, col(VoteRecord.seat) == seat)
        await self._transaction.execute(
            update(VoteRecord).where(*here).values(agrees=agrees, voted_at=self._transaction.now)
        )
        return TablePoll(ballot.poll, ballot.votes | {seat: agrees})

    async def close(self, vote_id: int, outcome: str) -> bool:
        """The vote is over; whether it was still open."""
        here = (col(PollRecord.id) == vote_id, col(PollRecord.closed_at).is_(None))
        return (
            await self._transaction.execute(
                update(PollRecord).where(*here).values(closed_at=self._transaction.now, outcome=outcome)
            )
            > 0
        )
