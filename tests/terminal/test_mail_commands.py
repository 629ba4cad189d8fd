"""Mail from the terminal: invitations and addresses."""

from __future__ import annotations

from datetime import timedelta

from bot.terminal.console import Console
from tests.terminal.conftest import enter


async def test_invite(console: Console) -> None:
    await enter(console, "table new 1830 Ann")
    assert "Invitations go to Bob (bob@player.test)." in await enter(
        console, "table invite Bob bob@player.test"
    )
    assert "Bob has not joined yet" in await enter(console, "table start")
    async with console.service.store.begin() as unit:
        (row,) = await unit.outbox.lease_due("mail", 5, timedelta(seconds=1))
    assert row.address["email"] == "bob@player.test"
    for line in ("table invite", "table invite Cid", "table invite Cid cid@player"):
        assert "address" in await enter(console, line)


async def test_address_on_and_off(console: Console) -> None:
    await enter(console, "table new 1830 Ann, Bob")
    for argument in ("", " on", " off"):
        assert "Ann has no email address." in await enter(console, f"player Ann mail{argument}")
    assert "An email goes to ann@player.test" in await enter(console, "player Ann mail Ann@player.test")
    (table,) = await console.service.queries.list_tables()
    person_id = table.seated_players[0].person_id
    async with console.service.store.begin() as unit:
        await unit.people.add_identity(person_id, "email", "ann@player.test")
    assert await enter(console, "player ann mail") == "Ann: ann@player.test."
    assert await enter(console, "player Ann mail off") == "Ann gets no more emails."
    assert "emails are off" in await enter(console, "player Ann mail")
    await enter(console, "table start")
    assert "waits for Ann: an email follows" in await enter(console, "player Ann mail on")
    await enter(console, "table pause")
    assert await enter(console, "player Ann mail on") == "Emails go to Ann again.", "no email follows"
    await enter(console, "table resume")
    async with console.service.store.begin() as unit:
        await unit.people.add_identity(person_id, "email", "ann@work.test")
    assert await enter(console, "player Ann mail") == "Ann: ann@player.test, ann@work.test."
    assert "is no longer linked" in await enter(console, "player Ann mail ann@player.test off")
    assert "is not linked" in await enter(console, "player Ann mail ann@player.test off")
    assert await enter(console, "player Ann mail") == "Ann: ann@work.test."
    assert "There is no player Cid" in await enter(console, "player Cid mail on")


async def test_way_back_in_the_terminal(console: Console) -> None:
    """A player whose address refused emails is asked again."""
    await enter(console, "table new 1830 Ann, Bob")
    await enter(console, "table start")
    (table,) = await console.service.queries.list_tables()
    person_id = table.seated_players[0].person_id
    async with console.service.store.begin() as unit:
        await unit.people.add_identity(person_id, "email", "ann@player.test")
        await unit.people.record_bounces(person_id, "ann@player.test", {}, "550 5.1.1 unknown")
    assert "do not arrive: 550 5.1.1 unknown" in await enter(console, "player Ann mail")
    assert "waits for Ann" in await enter(console, "player Ann mail on")
    assert await enter(console, "player Ann mail") == "Ann: ann@player.test."
    assert "Emails reach Ann again." in await enter(console, "log 5")
