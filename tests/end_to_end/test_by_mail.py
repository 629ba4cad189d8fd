"""A table played by email only, over real IMAP and SMTP sockets."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from bot.hub import people
from tests.drawn_here import DrawnHere
from tests.end_to_end.mail_players import MailHarness, Server, copied, headline, served
from tests.mail.servers import Delivery, dovecot_server, pymap_server

SERVERS = [
    pytest.param(pymap_server, id="pymap"),
    pytest.param(partial(dovecot_server, user="play"), id="dovecot", marks=pytest.mark.dovecot),
]
NAMES = ("Ann", "Bob", "Cid")


@pytest.fixture(params=SERVERS)
async def office(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MailHarness]:
    server: Server = request.param
    async with served(tmp_path, server) as found:
        yield found


@pytest.fixture
async def pymap(tmp_path: Path) -> AsyncIterator[MailHarness]:
    async with served(tmp_path) as found:
        yield found


@pytest.fixture
async def drawing(tmp_path: Path) -> AsyncIterator[MailHarness]:
    async with served(tmp_path, pictures=DrawnHere()) as found:
        yield found


def images(email: Delivery) -> dict[str, bytes]:
    """The pictures of an email, by file name."""
    return {
        str(part.get_filename()): part.get_content()
        for part in email.message.walk()
        if part.get_content_type() == "image/png"
    }


async def test_a_turn_email_has_pictures(drawing: MailHarness) -> None:
    await drawing.table("1830", NAMES)
    ann = drawing.player("Ann")
    turn = await ann.email()
    pictures = images(turn)
    assert set(pictures) == {"auction.png"}
    assert all(png.startswith(b"\x89PNG") and len(png) > 5_000 for png in pictures.values())
    body = turn.message.get_body(("html",))
    assert body is not None
    html = body.get_content()
    cids = {str(part["Content-ID"]).strip("<>") for part in turn.message.walk() if part["Content-ID"]}
    assert cids == set(re.findall(r'src="cid:([^"]+)"', html)) and 'alt="Auction of' in html
    assert "[Picture: Auction of" in turn.text


async def test_turn_reply_and_receipt(office: MailHarness) -> None:
    table = await office.table("1830", NAMES)
    ann, bob = office.player("Ann"), office.player("Bob")
    turn = await ann.email()
    assert headline(turn) == "It is your turn, Ann."
    assert "You to act: buy the SV for $20" in turn.text
    assert copied(turn, "For example")[0] == "buy SV # costs $20, leaves Ann $780"
    receipt = await ann.said("buy SV")
    assert headline(receipt) == "OK: all lines were carried out."
    assert "buy SV → " in receipt.text and "Ann $800 → $780" in receipt.text
    assert receipt.message["In-Reply-To"] == "<0.ann@player.test>"
    assert receipt.message["Auto-Submitted"] == "auto-replied"
    await bob.email()
    told = await bob.email()
    assert "Ann buys the SV for $20." in told.text
    assert await office.lines(table) == ["buy SV"]
    await office.settled(1)
    assert await office.mailbox.count("INBOX") == 0


async def test_queries(drawing: MailHarness) -> None:
    await drawing.table("1830", NAMES)
    ann = drawing.player("Ann")
    await ann.email()
    told = (await ann.said("help")).text
    assert "buy SV" in told and "stop, start" in told
    status = await ann.said("status")
    assert "Ann     $800" in status.text and set(images(status)) == {"sheet.png"}
    assert set(images(await ann.said("map"))) == {"map.png"}
    market = await ann.said("market")
    assert set(images(market)) == {"market.png"} and "No company has a price." in market.text
    both = await ann.said("buy SV", "log 5")
    assert headline(both) == "OK: all lines were carried out." and "Ann: buy SV" in both.text
    assert set(images(await ann.said("review"))) == {"review.png"}, "as every question of the registry"


async def test_plans_past_positions_and_exports(drawing: MailHarness) -> None:
    table = await drawing.table("1830", NAMES)
    ann = drawing.player("Ann")
    await ann.email()
    plan = await ann.said("try buy SV", "try Bob: buy CS")
    assert "1. Ann: buy SV" in plan.text and "2. Bob: buy CS" in plan.text and "Standings" in plan.text
    assert set(images(plan)) == {"auction.png"} and not await drawing.lines(table)
    assert "NOT DONE" not in headline(plan)
    refused = await ann.said("try buy CA")
    assert "buy CA" in refused.text and "2. Bob: buy CS" in (await ann.said("try")).text
    assert headline(await ann.said("try play")) == "OK: all lines were carried out."
    assert await drawing.lines(table) == ["buy SV"]
    file = await ann.said("export 18xx.games")
    (enclosed,) = [part for part in file.message.walk() if part.get_content_type() == "application/json"]
    assert f"[Attached: {enclosed.get_filename()}]" in file.text
    raw = enclosed.get_payload(decode=True)
    assert isinstance(raw, bytes)
    assert json.loads(raw)["actions"][0]["company"] == "SV"
    assert "At the start" in (await ann.said("at start")).text


async def test_undo_without_and_with_a_vote(pymap: MailHarness) -> None:
    table = await pymap.table("1830", NAMES)
    ann, bob, cid = (pymap.player(name) for name in NAMES)
    for player in (ann, bob, cid):
        await player.email()
    await ann.said("buy SV")
    await bob.email()
    back = await ann.said("undo")
    assert headline(back) == "OK: all lines were carried out." or "undoes" in back.text
    assert await pymap.lines(table) == []
    for player in (bob, cid):
        assert "Ann undoes" in (await player.email()).text
    await ann.said("buy SV", to=back)
    await bob.email()
    await bob.said("buy CS")
    await cid.email()
    asked = await ann.said("undo")
    assert "Bob is asked" in asked.text
    vote = await bob.email()
    assert headline(vote) == "Your vote is needed." and copied(vote, "Reply with one of") == [
        "accept vote",
        "decline vote",
    ]
    await bob.said("accept")
    assert await pymap.lines(table) == []


async def test_resigning_needs_a_confirmation(pymap: MailHarness) -> None:
    table = await pymap.table("1830", NAMES)
    ann = pymap.player("Ann")
    turn = await ann.email()
    sure = await ann.said("resign")
    assert headline(sure) == "NOT DONE yet: are you sure?"
    assert (await pymap.service.queries.table_info(table.id)).status == "running"
    (yes,) = copied(sure, "To confirm, reply with")
    assert "Ann resigns" in (await ann.said(yes)).text
    assert (await pymap.service.queries.table_info(table.id)).status == "paused"
    await pymap.mail(ann.written(turn, "buy SV"))  # the seat is not hers any more: the token is dead
    assert "does not show for which table it is" in (await ann.email()).text
    assert "Bob resigns" in (await pymap.player("Bob").answered_in_time("resign")).text


async def test_only_its_owner_can_link_an_address(pymap: MailHarness) -> None:
    async with pymap.store.begin() as unit:
        person = await people.person_by_discord(unit, 77, "Mallory")
        await people.claim_address(unit, person.id, "ann@player.test")
    pymap.service.wake_subscribers()
    ann = pymap.player("Ann")
    asked = await ann.email()
    assert headline(asked) == "Is this your address?" and copied(asked, "Reply") == ["yes"]
    assert "Please reply with one word" in (await ann.said("maybe")).text
    await pymap.mail(ann.written(asked, "yes", sender="mallory@evil.test"))
    await ann.email()
    async with pymap.store.read() as unit:
        assert await unit.people.verified_addresses(person.id) == []
    assert "not linked" in (await ann.said("no", to=asked)).text
    refused = await ann.said("yes", to=asked)
    assert headline(refused) == "NOT DONE." and "has expired" in refused.text
    async with pymap.store.read() as unit:
        assert await unit.people.verified_addresses(person.id) == []


async def test_an_address_that_somebody_else_has_is_not_linked(pymap: MailHarness) -> None:
    ann = await pymap.person("Ann")
    async with pymap.store.begin() as unit:
        await unit.people.add_identity(ann.id, "discord", "76")
        person = await people.person_by_discord(unit, 77, "Mallory")
        await people.claim_address(unit, person.id, "ann@player.test")
    pymap.service.wake_subscribers()
    player = pymap.player("Ann")
    refused = await player.said("yes", to=await player.email())
    assert headline(refused) == "NOT DONE." and "belongs to Ann, who must give it up" in refused.text
    assert refused.text.count("Nothing was changed.") == 1


async def test_what_the_operator_has_to_mend_is_held(
    pymap: MailHarness, caplog: pytest.LogCaptureFixture
) -> None:
    """`Relay access denied` counts against nobody: the emails wait, and the operator is told."""
    table = await pymap.table("1830", NAMES)
    ann = pymap.player("Ann")
    await ann.email()
    refusal = "554 5.7.1 Relay access denied"
    pymap.player_server.refuse = lambda to: refusal if to.startswith("bob@") else None
    await ann.said("buy SV")
    async with asyncio.timeout(60):
        while "The mail server refuses" not in caplog.text:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    person_id = table.seated_players[1].person_id
    async with pymap.store.read() as unit:
        (known,) = await unit.people.identities(person_id)
        status = await unit.outbox.queue_status("mail")
    assert not known.bounces and not known.fault
    assert (status.dead, status.pending > 0) == (0, True)


async def test_the_end_is_announced_with_the_standings(pymap: MailHarness) -> None:
    table = await pymap.table("1830", NAMES[:2])
    ann = pymap.player("Ann")
    await ann.email()
    await pymap.service.submit(table.id, None, ["end yes"], None, None)
    end = await ann.email()
    assert headline(end) == "Ann and Bob lead with $1,200."
    assert "ends the game" in end.text and "rematch" in end.text
    text = "\n".join(line.strip() for line in end.text.splitlines())
    assert "1. Ann $1,200\n1. Bob $1,200" in text, "who has the same has the same place"
    assert set(images(end)) == {"review.png", "sheet.png", "prices.png", "revenue.png"}
    files = [part.get_filename() for part in end.message.iter_attachments()]
    assert files == [f"{table.code}.18xx", "animation.gif"]
    assert "is ended" in (await ann.said("buy SV", to=ann.inbox[1])).text


async def test_notes_by_mail(drawing: MailHarness) -> None:
    await drawing.table("1830", NAMES)
    ann, bob = drawing.player("Ann"), drawing.player("Bob")
    await ann.email(), await bob.email()
    assert "1. the CA for 180" in (await ann.said("note the CA for 180")).text
    assert "is empty" in (await bob.said("notes")).text
    assert "1. the CA for 180" in (await ann.said("notes")).text
