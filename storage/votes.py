"""Questions put to several seats, and what each of them said."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select, update

from storage.errors import Missing, Taken
from storage.tables import Voice, Vote
from storage.work import Subject, not_unique


class Ballot(NamedTuple):
    """A vote with what every asked seat has said; None for silence."""

    vote: Vote
    voices: dict[int, bool | None]


class Votes(Subject):
    """Votes that are open, and how they ended."""

    async def open(
        self, table_id: int, kind: str, asked: Iterable[int], subject: dict[str, Any], seat: int | None = None
    ) -> Ballot:
        """Ask seats a question, for the seat that wants it. Raises Taken while one of the kind is open."""
        try:
            vote = await self._work.add(
                Vote(table_id=table_id, kind=kind, seat=seat, subject=subject, opened=self._work.now)
            )
        except IntegrityError as error:
            if not_unique(error):
                raise Taken(f"A vote of this kind ({kind}) is already open at the table.") from error
            raise
        voices: dict[int, bool | None] = dict.fromkeys(asked)
        for asked_seat in voices:
            await self._work.add(Voice(vote_id=vote.id, seat=asked_seat))
        return Ballot(vote, voices)

    async def at(self, table_id: int) -> list[Ballot]:
        """The open votes of a table, oldest first."""
        here = (col(Vote.table_id) == table_id, col(Vote.closed).is_(None))
        return [
            await self._ballot(vote)
            for vote in await self._work.all(select(Vote).where(*here).order_by(col(Vote.id)))
        ]

    async def get(self, vote_id: int) -> Ballot:
        """A vote, open or closed. Raises Missing for one that is not there."""
        vote = await self._work.first(select(Vote).where(col(Vote.id) == vote_id))
        if vote is None:
            raise Missing("There is no such vote.")
        return await self._ballot(vote)

    async def _ballot(self, vote: Vote) -> Ballot:
        said = await self._work.all(
            select(Voice).where(col(Voice.vote_id) == vote.id).order_by(col(Voice.seat))
        )
        return Ballot(vote, {voice.seat: voice.agrees for voice in said})

    async def answer(self, vote_id: int, seat: int, agrees: bool) -> Ballot:
        """A seat answers, or changes its answer. Raises Missing where it is not asked, or no longer."""
        ballot = await self.get(vote_id)
        if ballot.vote.closed is not None or seat not in ballot.voices:
            raise Missing("Your vote is not asked for, or no longer.")
        here = (col(Voice.vote_id) == vote_id, col(Voice.seat) == seat)
        await self._work.do(update(Voice).where(*here).values(agrees=agrees, at=self._work.now))
        return Ballot(ballot.vote, ballot.voices | {seat: agrees})

    async def close(self, vote_id: int, outcome: str) -> bool:
        """The vote is over; whether it was still open."""
        here = (col(Vote.id) == vote_id, col(Vote.closed).is_(None))
        return (
            await self._work.do(update(Vote).where(*here).values(closed=self._work.now, outcome=outcome)) > 0
        )
