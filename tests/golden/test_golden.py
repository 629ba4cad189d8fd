"""What released versions have stored can still be read, and played on."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import engine
from bot.hub.notifications.messages import decode_notification
from bot.hub.request import CommandResult, Completed, PollUpdated, QueryAnswer, decode_result
from bot.service import Service
from bot.tools.simulation.random_player import RandomPlayer
from storage import Channel, OutboxMessage, Store, move_store, open_store
from tests.golden.make import GAMES, GoldenGame, describe, make
from tests.golden.stored_types import incompatibilities, stored_types
from tests.stores import KINDS, temporary_database, url_text

FOLDER = Path(__file__).parent
VERSIONS = sorted(path.name for path in FOLDER.iterdir() if (path / "types.json").exists())
MOVES = 12
"""So many moves are played on at each table."""

ADVICE = """
What version {version} has stored can no longer be read:
  {problems}
Stores and event logs in use hold these names. Keep the tags and the field names: a renamed class may keep its
tag with `tag="OldName"`, a renamed field its name with `msgspec.field(name="old_name")`. Give new fields a
default. If the format must change, decode the old one as well, and write the folder of the new version with
`python -m tests.golden.make VERSION`.
"""

READ_NO_MORE = {f"<{result}>.pending" for result in ("Completed", "PollUpdated", "StaleDecision")} | {
    f"<{result.__name__}>.next_decision_id" for result in get_args(CommandResult)
}
"""Fields that nobody reads: a stored result that has them, as in the stores below, is read without them."""


def content(version: str, name: str) -> bytes:
    raw = (FOLDER / version / name).read_bytes()
    return gzip.decompress(raw) if name.endswith(".gz") else raw


def test_there_is_a_golden_folder() -> None:
    assert VERSIONS
    for version in VERSIONS:
        names = {path.name for path in (FOLDER / version).iterdir()}
        games = {name for name in names if name.endswith(".events.gz")}
        assert names - games == {"store.db.gz", "tables.json", "types.json"} and games


def test_every_title_has_a_game_in_the_newest_folder() -> None:
    assert set(GAMES) == set(engine.title_names())
    for title in engine.title_names():
        assert (FOLDER / VERSIONS[-1] / f"{title}.events.gz").exists()


def test_a_folder_is_never_overwritten() -> None:
    with pytest.raises(SystemExit, match="never changed"):
        make(VERSIONS[-1])


@pytest.mark.parametrize("version", VERSIONS)
def test_stored_types_are_still_readable(version: str) -> None:
    """Tags, fields and their types are those of the stored bytes; new fields have defaults."""
    found = incompatibilities(json.loads(content(version, "types.json")), stored_types())
    problems = [problem for problem in found if problem.split()[0] not in READ_NO_MORE]
    assert not problems, ADVICE.format(version=version, problems="\n  ".join(problems))


WITHOUT_FIELD: dict[str, Any] = {"x": {"struct": {}}}
WITH_FIELD = {"x": {"struct": {"a": {"type": "int", "required": True}}}}
WITH_DEFAULT = {"x": {"struct": {"a": {"type": "int", "required": False}}}}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ({"<A>": {"struct": {}}}, {}, "<A> is gone"),
        ({"x": "int"}, {"x": "str"}, "was int and is str"),
        (WITH_FIELD, WITHOUT_FIELD, "x.a is gone"),
        (WITHOUT_FIELD, WITH_FIELD, "has no default"),
        (WITHOUT_FIELD, WITH_DEFAULT, ""),
        ({"x": {"union": ["None", "int"]}}, {"x": "int"}, "can no longer be None"),
        ({"x": "int"}, {"x": {"union": ["None", "int"]}}, ""),
        ({"x": {"enum": ["a", "b"]}}, {"x": {"enum": ["a"]}}, "can no longer be 'b'"),
        ({"x": {"tuple": ["int"]}}, {"x": {"tuple": ["int", "int"]}}, "had 1 items and has 2"),
        ({"x": {"list": {"dict": ["str", "int"]}}}, {"x": {"list": {"dict": ["str", "str"]}}}, "was int"),
    ],
)  # fmt: skip
def test_the_comparison_of_types(old: dict[str, Any], new: dict[str, Any], problem: str) -> None:
    problems = list(incompatibilities(old, new))
    assert len(problems) == bool(problem) and all(problem in one for one in problems)


EVENT_LOGS = [
    (version, path.name.removesuffix(".events.gz"))
    for version in VERSIONS
    for path in sorted((FOLDER / version).glob("*.events.gz"))
]


@pytest.mark.parametrize(("version", "title"), EVENT_LOGS)
def test_an_event_log_leads_to_its_last_state(version: str, title: str) -> None:
    """No rule is asked; and from the middle of the game it can be played on."""
    game = msgspec.msgpack.decode(content(version, f"{title}.events.gz"), type=GoldenGame)
    state = engine.decode_state(game.start)
    middle = state
    for number, (_, _, events) in enumerate(game.moves):
        if number == len(game.moves) // 2:
            middle = engine.copy_state(state)
        engine.fold(engine.decode_events(events), state)
    assert state == engine.decode_state(game.end)
    assert state.game_over is not None
    player = RandomPlayer(1, len(middle.players))
    for _ in range(MOVES):
        seat, action, _ = player.choose_action(middle)
        middle = engine.play(middle, seat, action).state


@pytest.fixture(params=[(version, kind) for version in VERSIONS for kind in KINDS], ids="-".join)
async def golden(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[str, Store]]:
    """A store of a version, migrated to the newest schema: the file, and its rows in PostgreSQL."""
    version, kind = request.param
    path = tmp_path / "railpost.db"
    path.write_bytes(content(version, "store.db.gz"))
    with ExitStack() as end:
        address = str(path)
        if kind == "postgresql":
            address = url_text(end.enter_context(temporary_database()))
            await (await open_store(path)).close()  # which migrates it
            await move_store(path, address)
        async with await open_store(address) as store:
            yield version, store


async def test_every_table_of_a_store_is_as_it_was(golden: tuple[str, Store]) -> None:
    version, store = golden
    expected = json.loads(content(version, "tables.json"))
    for table, wanted in zip(json.loads(json.dumps(await describe(Service(store)))), expected, strict=True):
        assert table | wanted == table
    for status in ("lobby", "running", "paused", "finished", "ended"):
        assert any(table["status"] == status for table in expected)
    assert any(table["polls"] for table in expected) and any(table["orders"] for table in expected)


async def test_the_snapshot_of_every_table_is_what_its_log_leads_to(golden: tuple[str, Store]) -> None:
    _, store = golden
    service = Service(store)
    async with store.read() as unit:
        for table in await unit.tables.find("running", "paused", "finished"):
            snapshot = await unit.move_log.snapshot(table.id)
            assert engine.decode_state(snapshot.state) == await service.queries.state_at(table.id)


async def test_open_polls_are_voted_on_and_running_tables_played_on(golden: tuple[str, Store]) -> None:
    _, store = golden
    service = Service(store)
    for info in await service.queries.list_tables(statuses=["running"]):
        for one in (await service.queries.view(info.id)).polls:
            for seat in one.votes:
                request = f"vote-{info.id}-{seat}"
                result = await service.submit(info.id, seat, ["accept"], f"v{one.poll.id}", request)
                assert isinstance(result, PollUpdated), result
            assert not (await service.queries.view(info.id)).polls
        player = RandomPlayer(1, len(info.names))
        for number in range(MOVES):
            state = await service.queries.state_at(info.id)
            seat_name, action, _ = player.choose_action(state)
            line = engine.format_action(state, action)
            result = await service.submit(info.id, int(seat_name[1:]), [line], None, f"on-{info.id}-{number}")
            assert isinstance(result, Completed | QueryAnswer), result  # an order that is left beforehand


async def test_messages_results_tokens_and_mail_are_there(golden: tuple[str, Store]) -> None:
    _, store = golden
    async with store.begin() as unit:
        messages: list[OutboxMessage] = []
        channels: tuple[Channel, ...] = ("discord", "mail")
        for channel in channels:
            status = await unit.outbox.queue_status(channel)
            messages += await unit.outbox.lease_due(channel, status.pending, timedelta(seconds=1))
        assert (await unit.outbox.queue_status("discord")).dead == 1
        notifications = [decode_notification(m.payload) for m in messages if m.idempotency_key != "golden"]
        assert {one.kind for one in notifications} >= {"turn", "vote"}
        raw = await unit.move_log.request_result("golden-1")
        assert raw is not None and isinstance(decode_result(raw), Completed)
        token = await unit.mail_tokens.by_message_id("<golden@example.org>")
        assert token is not None and (token.purpose, token.seat) == ("reply", 0)
        assert (await unit.inbound_mail.get("unfinished")).outcome is None
        assert (await unit.inbound_mail.get("done")).reply == b"receipt"
        table = (await unit.tables.find("running"))[0]
        assert [card.message_ref for card in await unit.tables.cards(table.id)] == [
            {"channel": 7, "message": 70}
        ]
        ann = await unit.people.find_by_identity("email", "Ann@example.org")
        assert ann is not None and ann.time_zone == "Europe/Rome"
