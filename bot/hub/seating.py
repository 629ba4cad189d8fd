"""Seats before the start: names, room for one more, and the seating order."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence

import engine
from bot.hub.commit import CommitDraft
from bot.hub.info import SeatedPlayer, TableInfo, check_distinct, is_robot_name, open_seats
from bot.hub.loading import load_recipient
from bot.hub.notifications import messages
from bot.hub.table import LiveTable
from bot.position.pending import engine_seat
from engine.core.words import join_words
from engine.game import GameTitle
from engine.kernel import check_names
from storage import AlreadyExists, LogRow, Person, UnitOfWork


def seating_order(
    players: Sequence[SeatedPlayer], order: Sequence[str] | None, seed: int | None
) -> list[SeatedPlayer]:
    """The players in seating order: by names, or shuffled from the seed.

    Raises ValueError if the names are not exactly those of the players.
    """
    if order is None:
        shuffled = sorted(players, key=lambda p: p.seat_id)
        random.Random(seed).shuffle(shuffled)
        return shuffled
    by_name = {p.name.casefold(): p for p in players}
    names = [name.strip().casefold() for name in order]
    if sorted(names) != sorted(by_name):
        raise ValueError(
            f"The seating has to name every player once: {join_words([p.name for p in players])}."
        )
    return [by_name[name] for name in names]


def robot_that_makes_room(info: TableInfo) -> SeatedPlayer | None:
    """The robot that leaves for a person at a full table."""
    seats = engine.title_of(info.title, info.options).components.players["max"]
    robots = robots_of(info)
    return robots[-1] if robots and len(info.seated_players) >= seats else None


def unanswered(info: TableInfo, name: str) -> SeatedPlayer | None:
    """The invited person of that name who has not answered."""
    return next(
        (
            player
            for player in info.seated_players
            if player.name.casefold() == name.strip().casefold() and not (player.joined or player.is_robot)
        ),
        None,
    )


def check_name(info: TableInfo, name: str, reserved: SeatedPlayer | None) -> None:
    """Raises ValueError for a name that cannot be used, or if the table is full."""
    title = engine.title_of(info.title, info.options)
    others = [p.name for p in info.seated_players if p is not reserved]
    if len(others) >= title.components.players["max"]:
        raise ValueError(f"Table {info.code} is full: {info.title} has at most {len(others)} seats.")
    check_names(title, [*others, name])
    check_distinct(name, others)


def check_new_names(title: GameTitle, names: Sequence[str]) -> None:
    """Raises ValueError for names of people that cannot be used at one new table."""
    check_names(title, names)
    for number, name in enumerate(names):
        check_no_robot_name(name)
        check_distinct(name, names[:number])


def check_seat_name(info: TableInfo, name: str, seat: int) -> None:
    """Raises ValueError for a name that cannot be used in a seat of a game in play."""
    others = [other for number, other in enumerate(info.names) if number != seat]
    check_names(engine.title_of(info.title, info.options), [*others, name])
    check_distinct(name, others)


def free_name(info: TableInfo, name: str, seat: int | None = None) -> str:
    """What a person is called who has chosen no name for this table: as elsewhere, with a number if somebody
    there is called so, or the game, and not as a robot is. seat: the one that they take of a game in play."""
    name = f"Player {name}" if is_robot_name(name) else name
    for candidate in (name, *(f"{name[:18].strip()} {number}" for number in range(2, 10))):
        try:
            if seat is None:
                check_name(info, candidate, robot_that_makes_room(info))
            else:
                check_seat_name(info, candidate, seat)
        except ValueError:
            continue
        return candidate
    return name


async def add_seat(
    unit: UnitOfWork, info: TableInfo, person_id: int, name: str, *, invited: bool = False
) -> None:
    """Give a person a seat, or reserve one. Raises ValueError where the name is taken."""
    try:
        await unit.tables.add_seat(info.id, person_id, name, invited=invited)
    except AlreadyExists as error:
        raise ValueError(f"{name} is already at table {info.code}; choose another name.") from error


IMPORT_TRANSPORT = "import"
"""Of the rows that an imported game begins with."""
ROBOT_WORD = "robot"
ROBOT_DEPUTY = "robot_deputy"
"""Where the store has the id of the robot that is a deputy."""
PREFERENCE = "robot"
"""Of a person in the store: `{"robot": {"agreed": [3, 5]}}`, with the people who agree to it."""


def robot_name(taken: Iterable[str]) -> str:
    """The first free name of a robot: `Robot`, `Robot 2`, …"""
    names = {name.casefold() for name in taken}
    candidates = ("Robot", *(f"Robot {n}" for n in range(2, 40)))
    return next(name for name in candidates if name.casefold() not in names)


def check_no_robot_name(name: str) -> None:
    """Raises ValueError for a person who would be called like a robot."""
    if is_robot_name(name):
        raise ValueError(f"{name} is what the computer player is called. Choose another name.")


def waits_for_players(table: LiveTable) -> bool:
    """Whether an imported game has not gone on yet, because seats are empty."""
    if table.stored_info.status != "paused" or not open_seats(table.stored_info):
        return False
    rows = table.log.rows
    is_imported = bool(rows) and rows[0].transport == IMPORT_TRANSPORT
    return is_imported and all(row.kind != "move" or row.transport == IMPORT_TRANSPORT for row in rows)


def robots_of(info: TableInfo) -> list[SeatedPlayer]:
    """The robots at a table."""
    return [player for player in info.seated_players if player.is_robot]


def waiting_robots(info: TableInfo) -> list[SeatedPlayer]:
    """The robots to which not everybody at a table has agreed yet."""
    return [robot for robot in robots_of(info) if not robot.joined]


def people_of(info: TableInfo) -> list[SeatedPlayer]:
    """The people who sit at a table."""
    return [player for player in info.seated_players if not player.is_robot and player.joined]


def host_and_players(info: TableInfo) -> list[int]:
    """The ids of the host and of the players who have joined, each once."""
    people = [info.host_id, *(player.person_id for player in info.seated_players if player.joined)]
    return [person_id for person_id in dict.fromkeys(people) if person_id is not None]


async def add_robot(unit: UnitOfWork, name: str, agreed: Iterable[int] = ()) -> int:
    """A new robot, as a person of the store; its id."""
    person = await unit.people.add(name)
    await unit.people.update(person.id, preferences={PREFERENCE: {"agreed": sorted(agreed)}})
    return person.id


async def robot_deputy(unit: UnitOfWork) -> Person:
    """The robot that is a deputy; it sits at no table."""
    known = await unit.settings.get(ROBOT_DEPUTY)
    if known is None:
        known = str(await add_robot(unit, robot_name(())))
        await unit.settings.set(ROBOT_DEPUTY, known)
    return await unit.people.get(int(known))


async def agree_to_robots(unit: UnitOfWork, info: TableInfo, person_id: int) -> None:
    """A person agrees to the robots that wait for that."""
    for robot in waiting_robots(info):
        agreed = (await unit.people.get(robot.person_id)).preferences[PREFERENCE]["agreed"]
        everybody = sorted({*agreed, person_id})
        await unit.people.update(robot.person_id, preferences={PREFERENCE: {"agreed": everybody}})


async def seat_agreed_robots(unit: UnitOfWork, info: TableInfo, people: Collection[int]) -> None:
    """Give a seat to the robots that wait until all these people agree, and have it."""
    for robot in waiting_robots(info):
        agreed = (await unit.people.get(robot.person_id)).preferences[PREFERENCE]["agreed"]
        if set(people) <= set(agreed):
            await unit.tables.vacate_seat(robot.seat_id)
            await add_seat(unit, info, robot.person_id, robot.name)


async def is_robot(unit: UnitOfWork, person_id: int) -> bool:
    """Whether a person of the store is a robot."""
    return PREFERENCE in (await unit.people.get(person_id)).preferences


async def seat_robot(draft: CommitDraft, seat: int, by: int | None, *, is_agreed: bool = True) -> str:
    """Put into a draft that a robot plays on in a seat; what happened, in a sentence. is_agreed: the players
    were asked."""
    unit, info = await draft.unit(), draft.table.stored_info
    name = robot_name(p.name for p in info.seated_players if p.seat != seat)
    person_id = await add_robot(unit, name, (p.person_id for p in people_of(info)))
    why = ", as all players agree" if is_agreed else ""
    sentence = await record_replacement(draft, seat, person_id, name, by=by, why=why)
    sentence += await goes_on(draft, seat)
    draft.announce("news", sentence)
    return sentence


def standing_pause(table: LiveTable) -> LogRow | None:
    """The note of the pause that holds until a player resumes the game; None where it is played, or waits for
    a seat to be taken only. The pause for somebody who did not answer ends with their time in the seat.

    Raises LogNotLoaded.
    """
    info, last = table.stored_info, None
    if info.status == "paused":
        last = next((row for row in reversed(table.log.rows) if _ends_search(row)), None)
    if last is None or last.line != "pause":
        return None
    return last if last.transport != "clock" or info.player_of(last.person_id) else None


def _ends_search(row: LogRow) -> bool:
    return row.line in ("pause", "resume") or row.kind not in ("note", "replace")


def is_pause_for(row: LogRow, person_id: int) -> bool:
    """Whether the clock has paused the game because this person did not answer."""
    return (row.transport, row.person_id) == ("clock", person_id)


async def goes_on(draft: CommitDraft, seat: int) -> str:
    """Resume a paused game in which the last empty seat was taken; a sentence, empty where seats are empty.

    A pause stays that a player has made, or that was made for the sake of another than who sat there.
    """
    info, player = draft.table.stored_info, draft.table.stored_info.player_at(seat)
    empty = [n for s, n in enumerate(info.names) if s != seat and info.player_at(s) is None]
    if info.status != "paused" or empty:
        return ""
    pause = standing_pause(draft.table)
    if pause and not (player and is_pause_for(pause, player.person_id)):
        return " The game stays paused until a player resumes it."
    await (await draft.unit()).tables.update(info.id, status="running")
    return " The game goes on."


async def record_replacement(
    draft: CommitDraft, seat: int, person_id: int, name: str, *, by: int | None, why: str = ""
) -> str:
    """Put into a draft that a person plays on in a seat under a name; what happened, in a sentence.

    why: what the sentence says at its end. A host who did not agree to it themselves is host no longer, but
    another player is.
    """
    unit, table = await draft.unit(), draft.table
    info, former = table.stored_info, table.state.players[seat]
    if player := info.player_at(seat):
        await unit.tables.vacate_seat(player.seat_id)
        if not player.is_robot and player.person_id != by:
            told = f"{name} plays on for you at table {info.name} {info.code}."
            await tell_people(unit, info, "seat_answer", [player.person_id], told)
    await unit.tables.add_seat(info.id, person_id, name, seat)
    state, events = engine.rename_player(table.state, engine_seat(seat), name)
    sentence = (f"{name} plays on for {former}" if name != former else f"{name} plays on") + f"{why}."
    row = LogRow(
        kind="replace", transport="service", seat=seat, person_id=by, line="replace",
        raw_line=sentence, events=engine.encode_events(events),
    )  # fmt: skip
    draft.add_row(row, state)
    if player and player.person_id != by:
        sentence += await hand_over(unit, info, player.person_id)
    return sentence


async def tell_people(
    unit: UnitOfWork,
    info: TableInfo,
    kind: str,
    people: Iterable[int],
    sentence: str,
    decision_id: str | None = None,
    seat: int | None = None,
) -> None:
    """Tell people something about a table, each of them alone. What waits is replaced by a later one of its
    kind. decision_id: the request that it is about. seat: the one that they have now."""
    name = f"{info.id}.{kind}.{decision_id or messages.unique_suffix()}"
    about = f".{decision_id}" if decision_id else ""
    for person_id in people:
        recipient = await load_recipient(unit, person_id, seat)
        collapse = f"{kind}:{info.id}:{person_id}{about}"
        told = messages.personal_messages(
            info, kind, recipient, sentence, name, unit.now, decision_id, collapse
        )
        await unit.outbox.enqueue(*told)


async def hand_over(unit: UnitOfWork, info: TableInfo, person_id: int) -> str:
    """Make another player the host of a game if this person is; a sentence, empty where nothing changes."""
    if info.host_id != person_id or (host := next_host(info)) is None:
        return ""
    await unit.tables.update(info.id, host_id=host.person_id)
    return f" {host.name} is the host now."


def next_host(info: TableInfo) -> SeatedPlayer | None:
    """Who is the host after the one that a table has: the first of its other people, before the start by when
    they joined; None if it has none."""
    others = [player for player in people_of(info) if player.person_id != info.host_id]
    return min(others, key=lambda player: (player.seat or 0, player.seat_id), default=None)
