"""Players who are replaced: who has to agree, and when a player is late enough that others decide.

The new player has asked for the seat (`SeatRequests.ask`), so they agree. The player in the seat agrees by a
vote. Once that player is late, the other people at the table vote instead; a move of the player closes that
vote. A player is late some time after the end of their allowance and time bank; at a table without a pace,
some time after a week. The time that counts is that of their clock: not an announced absence, nor a pause,
unless it was for their sake, nor a weekend that the table leaves out. A player whom no message can reach is
not late; the host is told of them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from bot.features.lobby.requests import LATE, add_request, answer_text, tell_request_is_over
from bot.hub.cache import TableCache
from bot.hub.commit import CommitDraft
from bot.hub.info import TableInfo
from bot.hub.loading import load_info, load_recipient
from bot.hub.notifications.preferences import PersonSettings
from bot.hub.pace import add_counted, calendar_of
from bot.hub.polls import Motion, PollHandler
from bot.hub.request import UNKNOWN_SEAT, CommandResult, LineRefused, PollUpdated, Request
from bot.hub.seating import (
    free_name,
    goes_on,
    is_pause_for,
    people_of,
    record_replacement,
    seat_robot,
    standing_pause,
    tell_people,
)
from bot.hub.table import LiveTable
from bot.hub.timers import LATE_KIND
from bot.position.times import duration_text
from storage import SeatClock, StoredTimer, TablePoll, UnitOfWork

LATE_FOR_ONE = timedelta(days=7)
"""After the end of their time the one other person decides on a seat; several after `LATE`."""
MOST_TOLD = 8
"""How often, a week apart, the host is told of a player whom no message reaches."""
WITHOUT_PACE = timedelta(days=7)
LOOK_AGAIN = timedelta(days=1)
TRANSPORT = "service"


def polls_about(table: LiveTable, seat: int) -> list[TablePoll]:
    """The open polls about who plays on in a seat."""
    return [poll for poll in table.polls if poll.poll.details.get("seat") == seat]


def other_people(info: TableInfo, seat: int) -> list[int]:
    """The seats of the other people at a table; a robot has no vote on seats."""
    return [p.seat for p in people_of(info) if p.seat is not None and p.seat != seat]


def wait_until_late(info: TableInfo, seat: int) -> timedelta:
    """How long after the end of their time a player is so late that the others decide on the seat."""
    return LATE if len(other_people(info, seat)) > 1 else LATE_FOR_ONE


def late_at(table: LiveTable, seat: int, clock: SeatClock | None) -> datetime | None:
    """When a player is so late that the others decide on the seat; None while nobody waits for them."""
    info, settings = table.info, table.metadata.settings.get(seat, PersonSettings())
    calendar = calendar_of(info.pace, settings.zone, settings.absences())
    if info.status == "paused":
        pause, player = standing_pause(table), info.player_at(seat)
        end = pause.created_at if pause and player and is_pause_for(pause, player.person_id) else None
    elif clock is None or clock.since is None:
        end = None
    else:
        end = clock.time_up or add_counted(clock.since, WITHOUT_PACE, calendar)
    return None if end is None else add_counted(end, wait_until_late(info, seat), calendar)


class Replacements:
    """Votes on seats that have a player."""

    def __init__(self, cache: TableCache, polls: PollHandler) -> None:
        self._cache, self._store, self._polls = cache, cache.store, polls

    def motions(self) -> dict[str, Motion]:
        """What a poll about a seat decides."""
        return {
            "replace": Motion(_replace, _is_possible, _tell_who_has_asked, _ends_with_move, _others_decide),
            "robot": Motion(
                _seat_robot, _is_possible, ends_with_move=_ends_with_move, asks_all=_others_decide
            ),
        }

    async def ask(
        self, table_id: int, seat: int, person_id: int, name: str, *, by_operator: bool = False
    ) -> str:
        """A person would play on for the player of a seat; what they are told, or the operator who asks for
        them. Raises ValueError."""
        async with self._cache.locked(table_id) as table:
            info, former = table.info, table.info.names[seat]
            if own := info.player_of(person_id):  # since they have asked
                raise ValueError(f"You already sit at table {info.code} as {own.name}.")
            async with self._store.read() as unit:
                voters = await self.voters(unit, table, seat)
            details = {"seat": seat, "person": person_id, "name": name}
            who = f"Another person called {name}" if name == former else name
            question = f"{who} would play on for {former}."
            result = await self._open(table, seat, "replace", voters, question, details)
            if isinstance(result, LineRefused):
                raise ValueError(result.reason)
            if isinstance(result, PollUpdated) and result.outcome is not None:  # an order has declined
                told = " ".join(result.sentences)
                if by_operator:  # whoever they have named has no seat, and is not kept
                    raise ValueError(told)
                return told
            if voters == [seat]:
                async with self._store.begin(table=table_id) as unit:
                    await _look_at(unit, table_id, seat, unit.now + LOOK_AGAIN)
        self._cache.wake_subscribers()
        asks = f"{name} has" if by_operator else "You have"
        told = f"{asks} asked to play on for {former} at table {info.code}."
        if voters != [seat]:
            return f"{told} {former} is late, so the other players are asked."
        late = duration_text(wait_until_late(info, seat))
        return f"{told} {former} is asked; once {former} is late by {late}, the other players are."

    async def _open(
        self, table: LiveTable, seat: int, kind: str, voters: list[int], question: str,
        details: dict[str, Any], instead_of: TablePoll | None = None,
    ) -> CommandResult:  # fmt: skip
        """Ask seats about a seat."""
        player = table.info.player_at(seat)
        details = {**details, "former": player.person_id if player else None}
        if seat not in voters:
            details["late"] = True
            if kind == "replace":
                question += f" {table.info.names[seat]} is late, so the others decide."
        new = details.get("person")  # their name is in the question, and is deleted with them
        request = Request(UNKNOWN_SEAT, (kind,), (0,), None, None, new, TRANSPORT)
        return await self._polls.open_poll(
            table, request, f"{kind}:{seat}", voters, question, details, instead_of=instead_of
        )

    async def voters(self, unit: UnitOfWork, table: LiveTable, seat: int) -> list[int]:
        """Who decides on a seat that has a player: the player, or the other people where they are late."""
        clock = (await unit.clocks.seat_clocks(table.info.id)).get(seat)
        late = late_at(table, seat, clock)
        is_late = late is not None and unit.now >= late and await _is_reachable(unit, table.info, seat)
        return (other_people(table.info, seat) if is_late else []) or [seat]

    # -- a player who is late ----------------------------------------------------------------

    async def look(self, row: StoredTimer) -> bool:
        """Ask the others about the seat of a player who is late."""
        assert row.table_id is not None and row.seat is not None
        seat = row.seat
        async with self._cache.locked(row.table_id) as table:
            async with self._store.read() as unit:
                clock = (await unit.clocks.seat_clocks(row.table_id)).get(seat)
                late, now = late_at(table, seat, clock), unit.now
                is_reachable = await _is_reachable(unit, table.info, seat)
            asked = next((p for p in polls_about(table, seat) if seat in p.votes), None)
            has_deputy_pace = table.info.pace.when_up == "deputy" and late is not None
            next_at: datetime | None = None
            told = int(row.details.get("told", 0))
            if table.info.player_at(seat) is None or not (asked or has_deputy_pace):
                pass
            elif late is None or now < late:
                next_at = late if late is not None and late > now else now + LOOK_AGAIN
            elif not is_reachable:
                if told < MOST_TOLD:
                    await self._tell_unreachable(table, seat)
                next_at, told = now + LATE_FOR_ONE, told + 1
            else:
                await self._ask_others(table, seat, asked)
            async with self._store.begin(table=row.table_id) as unit:
                await unit.clocks.take_due(row, next_at, told=told)
        self._cache.wake_subscribers()
        return True

    async def _ask_others(self, table: LiveTable, seat: int, asked: TablePoll | None) -> None:
        others, name = other_people(table.info, seat), table.info.names[seat]
        if not others:
            return
        details: dict[str, Any] = {"seat": seat}
        if asked is not None:
            details = {**asked.poll.details, **details}
            question = str(asked.poll.details["question"])
            await self._open(table, seat, "replace", others, question, details, instead_of=asked)
        elif not polls_about(table, seat):
            question = (
                f"{name} is late, and nobody decides for them. Let a robot play on for {name}? (A person "
                f"can ask for the seat instead: `ask {name}`.)"
            )
            await self._open(table, seat, "robot", others, question, details)

    async def _tell_unreachable(self, table: LiveTable, seat: int) -> None:
        """Tell the host, else the other people, that nobody can vote on the seat of an unreachable player."""
        info = table.info
        sleeper = info.player_at(seat)
        host = info.host_id if sleeper is None or info.host_id != sleeper.person_id else None
        people = [host] if host is not None else [p.person_id for p in people_of(info) if p.seat != seat]
        sentence = (
            f"Table {info.name} {info.code} waits for {info.names[seat]}, and no message of Railpost reaches "
            "them, so the others cannot decide on the seat. Please tell them some other way."
        )
        async with self._store.begin(table=info.id) as unit:
            await tell_people(unit, info, "seat_answer", people, sentence)


async def _look_at(unit: UnitOfWork, table_id: int, seat: int, at: datetime) -> None:
    await unit.clocks.set_due(f"{table_id}.{seat}.{LATE_KIND}", LATE_KIND, at, table_id=table_id, seat=seat)


async def _is_reachable(unit: UnitOfWork, info: TableInfo, seat: int) -> bool:
    """Whether messages reach the player of a seat, also while somebody else plays for them."""
    if (player := info.player_at(seat)) is None:
        return False
    recipient = await load_recipient(unit, player.person_id, seat)
    return bool(recipient.discord_id or recipient.email)


def _is_possible(table: LiveTable, info: TableInfo, open_poll: TablePoll) -> bool:
    """Whether the seat has the player it had, and the new one sits nowhere."""
    details = open_poll.poll.details
    player = info.player_at(int(details["seat"]))
    is_same = "former" not in details or (player.person_id if player else None) == details["former"]
    return is_same and info.player_of(details.get("person")) is None


def _ends_with_move(open_poll: TablePoll, seat: int) -> bool:
    """Whether a player who was late has moved, so that the others do not decide on the seat any more."""
    details = open_poll.poll.details
    return bool(details["seat"] == seat and details.get("late"))


def _others_decide(open_poll: TablePoll) -> bool:
    """Whether the other people decide on the seat, not its player."""
    return open_poll.poll.details["seat"] not in open_poll.votes


async def _replace(draft: CommitDraft, request: Request, open_poll: TablePoll) -> list[str]:
    details, info = open_poll.poll.details, draft.table.stored_info
    seat, person_id = int(details["seat"]), int(details["person"])
    name = free_name(info, str(details["name"]), seat)  # somebody may have come since who is called so
    unit = await draft.unit()
    sentence = await record_replacement(draft, seat, person_id, name, by=request.person_id, why=", as agreed")
    sentence += await goes_on(draft, seat)
    draft.announce("news", sentence)
    told = f"You have a seat at table {info.name} {info.code}, as {name}."
    await tell_people(unit, info, "seat_answer", [person_id], told, seat=seat)
    return [sentence]


async def _tell_who_has_asked(draft: CommitDraft, open_poll: TablePoll, why: str) -> None:
    """Whoever has asked for a seat that is open now asks for the open seat."""
    unit, details, former = await draft.unit(), open_poll.poll.details, draft.table.stored_info
    seat, person_id, info = int(details["seat"]), int(details["person"]), await load_info(unit, former.id)
    if draft.ends_game or info.player_at(seat) or info.player_of(person_id):
        await tell_request_is_over(draft, person_id, why)
        return
    await add_request(unit, info, seat, person_id, str(details["name"]))
    told = f"The seat of {info.names[seat]} at table {info.name} {info.code} is open now."
    await tell_people(unit, info, "seat_answer", [person_id], f"{told} {answer_text(info)}")


async def _seat_robot(draft: CommitDraft, request: Request, open_poll: TablePoll) -> list[str]:
    return [await seat_robot(draft, int(open_poll.poll.details["seat"]), request.person_id)]
