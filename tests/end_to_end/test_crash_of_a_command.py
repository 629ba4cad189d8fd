"""A command by email that a crash ends at any point takes effect once, and all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from bot.email.replies.seat_replies import SeatReplies
from bot.email.replies.table_replies import TableReplies
from bot.features.lobby.tables import Lobby
from bot.service import Service
from mail.composing.compose import plain_words
from mail.reading.parser import ParsedMail
from mail.reply_address import ReplyToken
from storage import Store, open_store
from tests.fake_discord.running_bot import OnePixelPictures
from tests.tables import started

ANN = "ann@player.test"
NEW = ("new 1830 Bob <bob@player.test>, robot, Cid <cid@player.test>",)


class Crash(BaseException):
    """The process dies here."""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await open_store(tmp_path / "railpost.db") as store:
        async with store.begin() as unit:
            await unit.people.get_or_create("email", ANN, "Ann")
        yield store


Crashing = Callable[[pytest.MonkeyPatch], None]


async def command(
    store: Store,
    lines: tuple[str, ...],
    request: str,
    crash: Crashing | None = None,
    table: int | None = None,
    is_repeated: bool = False,
) -> str:
    """What a new process answers to a command, or `crash` for one that dies. table: which it replies to."""
    mail = ParsedMail("<m@player.test>", sender_name="Ann", is_repeated=is_repeated)
    token = ReplyToken("reply", ANN, frozenset({ANN}), person_id=1, table_id=table)
    with OnePixelPictures() as pictures, pytest.MonkeyPatch.context() as patch:
        tables = TableReplies(Service(store), pictures)
        if crash:
            crash(patch)
        try:
            answer = await tables.table_command(token, lines, mail, request, is_reply=bool(table))
        except Crash:
            return "crash"
    assert answer is not None
    return plain_words(answer.page)


def dies(owner: type, name: str, before: bool, count: int = 1) -> Crashing:
    """A crash at the n-th call of a method."""
    calls = 0

    def wrap(patch: pytest.MonkeyPatch) -> None:
        method = getattr(owner, name)

        async def dying(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            if before and calls == count:
                raise Crash
            result = await method(*args, **kwargs)
            if calls == count:
                raise Crash
            return result

        patch.setattr(owner, name, dying)

    return wrap


@pytest.mark.parametrize(
    "crash",
    [
        dies(Lobby, "create", before=True),
        dies(Lobby, "create", before=False),
        dies(Lobby, "join", before=False),
        dies(Lobby, "invite", before=False),
        dies(Lobby, "invite", before=True, count=2),
        dies(Lobby, "invite", before=False, count=2),
        dies(Lobby, "invite_robot", before=False),
    ],
    ids=[
        "before-create",
        "after-create",
        "after-join",
        "after-invite-1",
        "before-invite-2",
        "after-invite-2",
        "after-robot",
    ],
)
async def test_new_opens_one_table_with_everybody(store: Store, crash: Crashing) -> None:
    assert await command(store, NEW, "r1", crash) == "crash"
    first = await command(store, NEW, "r1", is_repeated=True)
    assert "is open, and you sit there as Ann" in first
    assert await command(store, NEW, "r1") == first
    (table,) = await Service(store).queries.list_tables()
    assert [player.name for player in table.seated_players] == ["Ann", "Bob", "Cid", "Robot"]
    async with store.read() as unit:
        for address in ("bob@player.test", "cid@player.test"):
            assert await unit.outbox.count("mail", unit.now.replace(year=2000), email=address) == 1
    assert "is open" in await command(store, NEW, "r2"), "another email opens another table"
    assert len(await Service(store).queries.list_tables()) == 2


@pytest.mark.parametrize(
    ("lines", "owner", "method", "said"),
    [
        (("invite Dora <dora@player.test>",), Lobby, "invite", "Invitations go to Dora"),
        (("leave",), Lobby, "leave", "is closed"),
    ],
)
async def test_the_answer_after_a_crash_is_that_of_the_effect(
    store: Store, lines: tuple[str, ...], owner: type, method: str, said: str
) -> None:
    await command(store, ("new 1830",), "r1")
    (table,) = await Service(store).queries.list_tables()
    assert await command(store, lines, "r2", dies(owner, method, before=False), table.id) == "crash"
    assert said in await command(store, lines, "r2", table=table.id, is_repeated=True)


async def test_talk_is_said_once(store: Store) -> None:
    service = Service(store)
    async with store.begin() as unit:
        people = [await unit.people.get_or_create("email", f"{n}@player.test", n) for n in ("Bob", "Cid")]
    table = await started(service, {person.name: person.id for person in people})
    token = ReplyToken(
        "reply", "Bob@player.test", frozenset({"bob@player.test"}), person_id=people[0].id,
        table_id=table.id, seat_number=0,
    )  # fmt: skip
    for _ in range(2):  # the second process knows nothing of the first
        with OnePixelPictures() as pictures:
            await SeatReplies(Service(store), pictures).say(token, "hello", "r1")
    said = [entry for entry in await Service(store).queries.log(table.id) if "hello" in str(entry)]
    assert len(said) == 1
