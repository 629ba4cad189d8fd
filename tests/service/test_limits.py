"""What one person may do on one day, and what names may be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from bot.features.plans.feature import MAX_LINES
from bot.hub.info import check_distinct, table_name
from bot.hub.people import LIMITS, Kind, LimitReached, Limits
from bot.hub.request import CommandResult, Completed, LineRefused, QueryAnswer
from bot.service import Service
from engine.game_text.history import GameHistory
from storage import open_store
from tests.service.conftest import ServiceHarness
from tests.storage.conftest import ManualClock
from tests.stores import url_text
from tests.t1870.scenarios import run_scenario
from tests.t1870.test_03_setup import FLOATED

Act = Callable[[Service, ServiceHarness, int], Awaitable[object]]


async def invite(service: Service, world: ServiceHarness, number: int) -> object:
    table = await service.lobby.create("1830", None, name="More")
    await service.lobby.join(table.id, world.people["Ann"], "Ann")
    person = await world.person(f"Eve{number}")
    return await service.lobby.invite(table.id, person, f"Eve{number}", by=world.people["Ann"])


async def ask_for_a_seat(service: Service, world: ServiceHarness, number: int) -> object:
    table = await service.lobby.create("1830", None, name="More")
    await service.lobby.join(table.id, world.people["Bob"], "Bob")
    return await service.seats.ask(table.id, world.people["Ann"])


ACTS: dict[Kind, Act] = {
    "tables": lambda service, world, _: service.lobby.create("1830", world.people["Bob"]),
    "invitations": invite,
    "claims": lambda service, world, n: service.submit_personal(
        world.people["Ann"], [f"link a{n}@example.org"]
    ),
    "plans": lambda service, world, _: service.submit(
        world.table, None, ["plan buy SV"], None, None, person_id=world.people["Ann"]
    ),
    "pictures": lambda service, world, _: service.ask(world.table, "map", person_id=world.people["Ann"]),
    "exports": lambda service, world, _: service.ask(
        world.table, "export text", person_id=world.people["Ann"]
    ),
    "requests": ask_for_a_seat,
    "snapshots": lambda service, world, _: service.watcher.look(
        b"title 1830\nplayers Nora, Otto\n---\n", "here", person_id=world.people["Ann"]
    ),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def outcome(act: Awaitable[object]) -> str:
    try:
        result = await act
    except LimitReached as error:
        return str(error)
    return result.reason if isinstance(result, LineRefused) else "done"


@pytest.mark.parametrize("kind", LIMITS)
async def test_14_6_a_limit_is_one_sentence_and_outlives_a_restart(
    world: ServiceHarness, kind: Kind, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.store, "now", clock)  # 03:04 UTC
    limits = Limits({kind: 2})
    service = Service(world.store, limits=limits)
    said = [await outcome(ACTS[kind](service, world, number)) for number in range(3)]
    async with await open_store(url_text(world.store.url), clock) as other:
        said.append(await outcome(ACTS[kind](Service(other, limits=limits), world, 9)))
    sentence = (
        f"{LIMITS[kind][1].format(limit=2)}, the most on one day. More is possible again in 21 hours, at "
        "00:00 UTC; or ask the operator."
    )
    assert said == ["done", "done", sentence, sentence]


async def test_14_6_a_limit_is_of_one_person_and_of_one_day(world: ServiceHarness) -> None:
    limits = Limits({"tables": 1})
    service = Service(world.store, limits=limits)
    await service.lobby.create("1830", world.people["Bob"])
    await service.lobby.create("1830", world.people["Cid"])
    for _ in range(3):
        await service.lobby.create("1830", None)
    async with world.store.begin() as unit:
        assert await unit.usage.add(world.people["Ann"], "tables", "2001-01-01") == 1


async def test_14_6_what_is_refused_for_its_number_changes_nothing(world: ServiceHarness) -> None:
    service = Service(world.store, limits=Limits({"claims": 0}))
    refused = await service.submit_personal(world.people["Ann"], ["link ann@example.org"])
    assert isinstance(refused, LineRefused)
    assert await world.sent("claim") == []


async def test_14_6_plan_more_has_the_same_cap(world: ServiceHarness) -> None:
    async def plan(line: str) -> CommandResult:
        return await world.say("Ann", line)

    await plan("plan buy SV; Bob: buy CS; Cid: buy DH")
    more = "; ".join(["pass"] * MAX_LINES)
    answer = await plan(f"plan more {more}")
    assert isinstance(answer, LineRefused) and answer.reason == f"A plan has at most {MAX_LINES} lines."


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Аnn", "Ann"),
        ("Αnn", "Ann"),
        ("ann0", "annO"),
        ("Bi11", "Bill"),
        ("Cіd", "Cid"),
        ("Ａnn", "Ann"),
        ("Tirn", "Tim"),
        ("ﬁn", "fin"),
        ("Ⅱan", "IIan"),
    ],
)
def test_14_6_names_that_look_alike_cannot_sit_beside_each_other(name: str, other: str) -> None:
    with pytest.raises(ValueError, match=r"looks like .*, who is at this table; choose another name\.$"):
        check_distinct(name, [other])


@pytest.mark.parametrize("name", ["Anna", "Иван", "Zoë", "李明", "Ann2", "Bob"])
def test_14_6_other_names_can(name: str) -> None:
    check_distinct(name, ["Ann", "Iwan", "Zoe", "Cid"])


async def test_14_6_look_alikes_are_refused_wherever_a_name_is_taken(world: ServiceHarness) -> None:
    service, dora = world.service, await world.person("Dora")
    table = await service.lobby.create("1830", None)
    await service.lobby.join(table.id, world.people["Ann"], "Ann")
    for attempt in (
        service.lobby.join(table.id, dora, "Аnn"),
        service.lobby.invite(table.id, dora, "Аnn", by=None),
        service.running.replace_player(world.table, 1, dora, "Аnn", by=None),
    ):
        with pytest.raises(ValueError, match="looks like Ann"):
            await attempt


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("[prize](http://a.example)", "["),
        ("**bold**", "*"),
        ("a\u202eb", "U+202E"),
        ("<@123>", "<"),
        ("a`b", "`"),
    ],
)
async def test_14_6_a_tables_name_is_no_markup(world: ServiceHarness, name: str, shown: str) -> None:
    with pytest.raises(ValueError) as error:
        await world.service.lobby.create("1830", None, name=name)
    assert str(error.value) == (
        f"A table's name has letters, digits and simple punctuation; {shown} cannot be part of it."
    )


def test_14_6_a_tables_name_is_short() -> None:
    assert table_name("  Friday,  8 o'clock (new!) ") == "Friday, 8 o'clock (new!)"
    with pytest.raises(ValueError, match="at most 60 characters; this one has 61"):
        table_name("x" * 61)


async def test_14_5_a_question_is_answered_as_who_asks(empty: ServiceHarness) -> None:
    """1870 with private treasuries: only the president sees a company's cash (1870 §3.4)."""
    state = run_scenario(FLOATED + "= cash MP 500", options=("private_treasuries",))
    info = await empty.service.lobby.import_game(GameHistory(state), name="Friday")
    people = [player.person_id for player in info.seated_players]
    stranger = await empty.person("Eve")
    told = {}
    for person in (people[0], people[1], stranger, None):
        for query in ("status", "company MP", "at start sheet"):
            answer = await empty.service.ask(info.id, query, person_id=person)
            assert isinstance(answer, QueryAnswer)
            told[person, query] = any(
                "$500" in line and ("treasury" in line or line.startswith("MP"))
                for line in answer.text.splitlines()
            )
    assert {person for (person, _), sees in told.items() if sees} == {people[0]}
    assert told[people[0], "status"] and told[people[0], "company MP"]


async def test_14_5_a_table_is_found_only_from_its_server_and_by_its_members(world: ServiceHarness) -> None:
    service, dora = world.service, await world.person("Dora")
    info = await service.lobby.set_location(world.table, {"guild": 5, "channel": 6})
    find = service.queries.find_table
    assert (await find(info.code, person_id=dora, guild=5)).id == info.id
    assert (await find(info.code, person_id=world.people["Bob"])).id == info.id
    assert (await find(info.code)).id == info.id
    for guild in (None, 6):
        with pytest.raises(ValueError, match=f"^There is no table {info.code}\\.$"):
            await find(info.code, person_id=dora, guild=guild)
    async with world.store.begin() as unit:
        seat = (await unit.tables.seats(world.table))[1]
        await unit.tables.vacate_seat(seat.id)
        await unit.tables.add_seat(world.table, dora, seat.name, seat.number, invited=True)
    assert (await find(info.code, person_id=dora)).id == info.id


async def test_14_5_nobody_is_told_of_no_turn_of_theirs(world: ServiceHarness) -> None:
    stranger = await world.person("Eve")
    for person in (stranger, None):
        answer = await world.service.ask(world.table, "status", person_id=person)
        assert isinstance(answer, QueryAnswer) and "Your options" not in answer.text
    refused = await world.service.ask(world.table, "buy SV", person_id=world.people["Ann"])
    assert not isinstance(refused, QueryAnswer | Completed)
    assert await world.lines() == []
