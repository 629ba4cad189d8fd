"""Requests for open seats: who is asked, and what the person hears who has asked.

The host answers. At a table without a host, and in a game whose host has not answered in time, any of its
players does.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from bot.hub.commit import CommitDraft
from bot.hub.info import TableInfo
from bot.hub.seating import people_of, tell_people
from storage import SeatRequest, UnitOfWork

ANY_SEAT = -1
"""The seat of a request before the game has started."""
REQUEST_KIND = "request"
"""Of the timer that asks the players of a game whose host has not answered."""
REQUEST_PREFIX = "s"
"""The decision id of request 5 is `s5`."""
LATE = timedelta(hours=48)
"""After this time others answer for a host, and decide on the seat of a player whose time is up."""


def request_key(request: SeatRequest) -> str:
    """A request as the decision id of a notification."""
    return f"{REQUEST_PREFIX}{request.id}"


async def open_request(unit: UnitOfWork, table_id: int, key: str | None) -> SeatRequest | None:
    """The request of a notification, if nobody has answered it."""
    return next((r for r in await unit.clocks.open_requests(table_id) if request_key(r) == key), None)


async def add_request(unit: UnitOfWork, info: TableInfo, seat: int, person_id: int, name: str) -> None:
    """A person asks for an open seat: those are asked who may give it."""
    request = await unit.clocks.add_request(info.id, seat, person_id, name)
    await put_request(unit, info, request, people_ids(info) if info.host_id is None else [info.host_id])
    if seat != ANY_SEAT and info.host_id is not None:
        await unit.clocks.set_due(
            f"{info.id}.{request_key(request)}", REQUEST_KIND, unit.now + LATE, table_id=info.id,
            details={"request": request.id},
        )  # fmt: skip


async def put_request(
    unit: UnitOfWork, info: TableInfo, request: SeatRequest, people: Sequence[int], why: str = ""
) -> None:
    """Ask people to answer a request. why: what they read behind it."""
    sentence = (
        f"{request.name} asks for {seat_text(info, request.seat)} at table {info.name} {info.code}.{why}"
    )
    await tell_people(unit, info, "seat_request", people, sentence, request_key(request))


async def tell_request_is_over(
    draft: CommitDraft, person_id: int, why: str, decision_id: str | None = None
) -> None:
    """Tell a person who has asked for a seat that nothing comes of it."""
    info = draft.table.stored_info
    told = f"Your request for a seat at table {info.name} {info.code} is over, because {why}."
    await tell_people(await draft.unit(), info, "seat_answer", [person_id], told, decision_id)


def answer_text(info: TableInfo) -> str:
    """Who answers requests, for a person who has asked."""
    return f"You are told when its {'host has' if info.host_id is not None else 'players have'} answered."


def seat_text(info: TableInfo, seat: int) -> str:
    """`the seat of Ann`."""
    return "a seat" if seat == ANY_SEAT else f"the seat of {info.names[seat]}"


def people_ids(info: TableInfo) -> list[int]:
    """The people who play at a table."""
    return [player.person_id for player in people_of(info)]
