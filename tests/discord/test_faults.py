"""What goes wrong with Discord, with threads, with pictures, and with our own process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.config import SettingsError, read
from bot.discord import client as shipped
from bot.service import Service
from storage import open_store

from .fake import FakeDiscord, Message
from .party import Dots, Party

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord(["Ann", "Bob", "Cid"]) as server:
        yield server


@pytest.fixture
def party(fake: FakeDiscord, tmp_path: Path) -> Party:
    return Party(fake, tmp_path / "railpost.db")


# -- restarts --------------------------------------------------------------------------------


async def test_everything_works_after_a_restart(party: Party, fake: FakeDiscord) -> None:
    async with party.online():
        await party.begun("Ann", "Bob", "Cid")
        first = (await party.card_for("Ann")).snapshot()
        await party.play("Ann: pass")
        bob = await party.card_for("Bob")
        form = await fake.select("Bob", bob, "Bid: 5 ways", "Bid for the MH, $115 or more…")
    pings = len(fake.pings)
    async with party.online():
        sent = await fake.submit("Bob", form.modal, {"Dollars": "115"})  # a form opened before
        await party.card_for("Cid")
        assert not sent.text and len(fake.pings) == pings + 1
    async with party.online():
        cid = await party.card_for("Cid")
        chosen = await fake.select("Cid", cid, "Bid: 5 ways", "Bid for the CA, $165 or more…")  # a select
        await fake.submit("Cid", chosen.modal, {"Dollars": "165"})
        await party.card_for("Ann")
    async with party.online():
        assert "Done." in (await party.do("Ann", "buy SV")).text  # a slash command
        stale = await fake.click("Ann", first, "Pass")  # an old card
        await fake.until(lambda: stale.private, "an answer")
        assert "no longer open" in stale.text
        await fake.click("Bob", await party.card_for("Bob"), "Pass")  # and a button
        await party.card_for("Cid")
        assert await party.said() == ["pass", "bid MH 115", "bid CA 165", "buy SV", "pass"]
    fake.check(pinged=["Ann", "Bob", "Cid"])


async def test_what_happened_while_nobody_was_on_line_is_told(party: Party, fake: FakeDiscord) -> None:
    async with party.online():
        await party.begun("Ann", "Bob", "Cid")
    async with await open_store(party.path) as store:
        service = Service(store)
        table = (await service.tables())[0].id
        await service.say(table, 0, ["buy SV"], None, None)
        await service.say(table, 1, ["pass"], None, None)
    async with party.online():
        await party.card_for("Cid")
        assert len(party.cards) == 1 and not fake.pinged("Bob")
    fake.check(pinged=["Ann", "Cid"])


# -- the connection --------------------------------------------------------------------------


async def test_lost_lines_and_outages(party: Party, fake: FakeDiscord) -> None:
    async with party.online():
        await party.begun("Ann", "Bob", "Cid")
        card = await party.card_for("Ann")
        fake.gateway.drop()
        await fake.click("Ann", card, "Pass")  # nobody was connected: it comes with the resume
        await party.card_for("Bob")
        assert fake.gateway.resumed and await party.said() == ["pass"]
        await fake.gateway.reconnect()
        await fake.until(lambda: fake.gateway.resumed >= 2, "a second resume")
        fake.gateway.refuse_connections = True
        fake.gateway.drop()
        assert party.service
        table = (await party.service.find(party.code)).id
        await party.service.say(table, 1, ["pass"], None, None)
        await party.card_for("Cid")  # sending needs no gateway
        fake.gateway.refuse_connections = False
        await fake.until(lambda: fake.gateway.connected, "the connection", 30)
        await fake.click("Cid", await party.card_for("Cid"), "Pass")
        await party.card_for("Ann")
    fake.check(ack=5)


async def test_a_client_that_breaks_is_replaced(party: Party, fake: FakeDiscord) -> None:
    async with party.online():
        await party.begun("Ann", "Bob")
        before = fake.gateway.identified
        await fake.gateway.dispatch("INTERACTION_CREATE", {"id": "1"})  # kills the library's reader
        await fake.until(lambda: fake.gateway.identified > before, "another client", 20)
        await fake.click("Ann", await party.card_for("Ann"), "Pass")
        await party.card_for("Bob")


async def test_limits_and_errors_of_discord(party: Party, fake: FakeDiscord) -> None:
    async with party.online():
        await party.begun("Ann", "Bob", "Cid")
        fake.rest.buckets["POST /channels/{channel}/messages"] = (1, 0.5)
        fake.rest.fail("POST", "messages$", 429, retry_after=0.2)
        fake.rest.fail("POST", "messages$", 502)
        for name in ("Ann", "Bob", "Cid"):
            await party.play(f"{name}: pass")
        await party.card_for("Ann")
        fake.rest.fail("POST", "messages$", 0, after=True)  # sent, and the answer lost
        await party.play("Ann: buy SV")
        card = await party.card_for("Bob")
        assert fake.pinged("Bob")[-1] is card and len(fake.pinged("Bob")) == len({*fake.pinged("Bob")})
    assert not fake.faults, "nothing was sent twice"
    assert fake.slowest < 1


async def test_a_refused_token_is_one_sentence(party: Party, fake: FakeDiscord) -> None:
    fake.token = "another"
    given = {
        "RAILPOST_DISCORD_TOKEN": "wrong",
        "RAILPOST_DISCORD_API": fake.api_url,
        "RAILPOST_DISCORD_GATEWAY": fake.gateway_url,
    }
    with fake.attached():
        async with await open_store(party.path) as store:
            with pytest.raises(SettingsError, match="RAILPOST_DISCORD_TOKEN is not accepted"):
                await shipped.run(Service(store), read(given), Dots())


# -- threads, permissions, pictures ----------------------------------------------------------


async def test_a_thread_that_sleeps_is_woken(party: Party, fake: FakeDiscord) -> None:
    async with party.online() as service:
        thread = await party.begun("Ann", "Bob")
        old = await party.card_for("Ann")
        thread.put_away = True
        table = (await service.find(party.code)).id
        await service.say(table, 0, ["buy SV"], None, None)
        await party.card_for("Bob")
        assert not fake.controls(old) and not thread.archived
    fake.check(forgiven=["50083"])


async def test_a_thread_that_is_gone_is_made_anew(party: Party, fake: FakeDiscord) -> None:
    async with party.online() as service:
        lost = await party.begun("Ann", "Bob")
        await fake.lose(lost)
        table = (await service.find(party.code)).id
        await service.say(table, 0, ["buy SV"], None, None)
        await fake.until(lambda: fake.threads, "another thread")
        assert party.thread is not lost
        await party.card_for("Bob")
        assert "Done." in (await party.do("Bob", "pass")).text
        await party.card_for("Ann")


async def test_the_thread_goes_while_somebody_is_at_it(party: Party, fake: FakeDiscord) -> None:
    async with party.online() as service:
        lost = await party.begun("Ann", "Bob", "Cid")
        await party.play("Ann: bid BO 225", "Bob: buy SV", "Cid: buy CS", "Ann: buy DH", "Bob: buy MH")
        await party.play("Cid: buy CA")
        await party.card_for("Ann")
        await fake.lose(lost)
        table = (await service.find(party.code)).id
        await service.say(table, 0, ["par B&O 67"], None, None)
        await fake.until(lambda: fake.threads, "another thread")
        await fake.click("Ann", await party.card_for("Ann"), "Pass")
        await party.card_for("Bob")


async def test_a_card_that_was_deleted_comes_again_without_a_ping(party: Party, fake: FakeDiscord) -> None:
    async with party.online():
        await party.begun("Ann", "Bob", "Cid")
        await party.play("Ann: bid BO 225", "Bob: buy SV", "Cid: buy CS", "Ann: buy DH", "Bob: buy MH")
        await party.play("Cid: buy CA")
        card, pings = await party.card_for("Ann"), len(fake.pings)
        await fake.delete(card)
        await party.play("Ann: par B&O 67")
        again = await party.card_for("Ann")
        assert again is not card and len(fake.pings) == pings
    fake.check(forgiven=["10008"])


async def test_old_cards(party: Party, fake: FakeDiscord) -> None:
    """Discord lets nobody edit what is older than an hour: a new card comes, and the old one loses its
    controls later."""
    async with party.online():
        await party.begun("Ann", "Bob", "Cid")
        await party.play("Ann: bid BO 225", "Bob: buy SV", "Cid: buy CS", "Ann: buy DH", "Bob: buy MH")
        await party.play("Cid: buy CA")
        card, pings = await party.card_for("Ann"), len(fake.pings)
        fake.old_edits = (0, 0.05)
        fake.clock.advance(3700)
        await party.do("Ann", "par B&O 67")
        await fake.until(lambda: len(party.cards) == 2, "a new card beside the old")
        assert len(fake.pings) == pings
        fake.old_edits = None
        await party.play("Ann: pass")
        await party.card_for("Bob")
        assert not fake.controls(card)
    fake.check(forgiven=["30046"], pinged=["Ann", "Bob", "Cid"])


async def test_a_server_without_threads(party: Party, fake: FakeDiscord) -> None:
    general = fake.place("general")
    general.denied |= {"CREATE_PUBLIC_THREADS", "PIN_MESSAGES"}
    async with party.online():
        await party.lobby("Bob")
        await fake.slash("Ann", "general", "table start", order="Ann, Bob")
        await fake.until(lambda: any("It is for Ann" in m.text for m in fake.offering("general")), "a card")
        card = next(m for m in fake.offering("general") if "It is for Ann" in m.text)
        await fake.click("Ann", card, "Pass")
        await fake.until(lambda: any("It is for Bob" in m.text for m in fake.offering("general")), "a card")
    fake.check(forgiven=["50013"])


async def test_a_place_without_files_gets_cards_without_pictures(party: Party, fake: FakeDiscord) -> None:
    async with party.online():
        await party.begun("Ann", "Bob")
        fake.place("general").denied.add("ATTACH_FILES")
        await party.play("Ann: pass")
        card = await party.card_for("Bob")
        assert not fake.images(card)
    fake.check(forgiven=["50013"])


async def test_a_thread_where_nothing_may_be_written(party: Party, fake: FakeDiscord) -> None:
    async with party.online():
        thread = await party.begun("Ann", "Bob")
        thread.denied.add("SEND_MESSAGES_IN_THREADS")
        await party.play("Ann: pass")
        await fake.until(
            lambda: any("It is for Bob" in m.text for m in fake.offering("general")), "a card beside"
        )
        await fake.click("Bob", fake.offering("general")[-1], "Pass")
        await fake.until(lambda: any("It is for Ann" in m.text for m in fake.offering("general")), "the next")
    fake.check(forgiven=["50013"])


async def test_a_channel_where_nothing_may_be_written(party: Party, fake: FakeDiscord) -> None:
    fake.place("general").denied |= {"SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"}
    async with party.online() as service:
        done = await fake.slash("Ann", "general", "table new", title="1830")
        assert "may not write in this channel" in done.text and not await service.tables()
    fake.check()


async def test_threads_are_kept_awake(
    party: Party, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.discord.courier.AWAKE_EVERY", 0.3)
    async with party.online():
        thread = await party.begun("Ann", "Bob")
        await fake.until(lambda: thread.auto_archive == 4320, "a changed time")
        thread.put_away = True
        await fake.until(lambda: not thread.archived, "a thread awake")
        await fake.click("Ann", await party.card_for("Ann"), "Pass")
        await party.card_for("Bob")
    fake.check()


async def test_pictures_that_cannot_be_drawn(party: Party, fake: FakeDiscord) -> None:
    assert isinstance(party.pictures, Dots)
    party.pictures.broken = True
    async with party.online():
        await party.begun("Ann", "Bob")
        card = await party.card_for("Ann")
        assert not fake.images(card) and "The map is as printed." in card.text and "100" in card.text
        await fake.click("Ann", card, "Buy the SV for $20")
        await party.card_for("Bob")
        assert not fake.controls(card)
    fake.check()


async def test_the_ping_waits_and_the_controls_do_not(party: Party, fake: FakeDiscord) -> None:
    async with party.online(holdoff=2.0):
        await party.lobby("Bob")
        await fake.slash("Ann", "general", "table start", order="Ann, Bob")
        await fake.until(lambda: fake.threads, "the thread")
        card = await party.card_for("Ann")
        await fake.click("Ann", card, "Buy the SV for $20")
        await fake.until(lambda: not fake.controls(card), "the old card without controls", 1.5)
        assert not fake.pinged("Bob")
        await fake.slash("Ann", party.thread, "undo")  # before anybody was disturbed
        await party.card_for("Ann")
        await asyncio.sleep(2.2)
        assert not fake.pinged("Bob")
    fake.check(pinged=["Ann"])


async def test_slow_pictures_delay_no_acknowledgement(party: Party, fake: FakeDiscord) -> None:
    class Slow(Dots):
        async def _wanted(self, *args: object, **details: object):  # type: ignore[no-untyped-def]
            await asyncio.sleep(1.5)
            return await super()._wanted("map")

    party.pictures = Slow()
    async with party.online():
        await party.begun("Ann", "Bob")
        shown, *_ = await asyncio.gather(
            fake.slash("Bob", party.thread, "show map"),
            fake.click("Ann", await party.card_for("Ann"), "Pass"),
        )
        assert fake.images(shown.message)
        await party.card_for("Bob")
    fake.check(ack=0.5)


# -- killed ----------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def process(party: Party) -> AsyncIterator[asyncio.subprocess.Process]:
    """Our service and client in a process of their own, on line; killed at the end, if it still runs."""
    fake = party.fake
    before = fake.gateway.identified
    args = (str(party.path), fake.api_url, fake.gateway_url, fake.token, "2")
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.discord.process", *args, cwd=ROOT, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await fake.until(lambda: fake.gateway.identified > before and fake.commands, "the process", 30)
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            running.kill()
        await running.wait()


@pytest.mark.parametrize("later", [False, True], ids=["request is lost", "request arrives after all"])
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "channels/.*/messages$"), ("PATCH", "channels/.*/messages/"), ("POST", "/callback$")],
    ids=["new card", "old card", "acknowledgement"],
)
async def test_killed_between_commit_and_sending(
    party: Party, fake: FakeDiscord, method: str, path: str, later: bool
) -> None:
    async with party.online():
        await party.begun("Ann", "Bob", "Cid")
    async with process(party) as first:
        card = await _card(fake, party, "Ann")
        async with fake.rest.hold(method, path) as hold:
            press = asyncio.create_task(fake.click("Ann", card, "Buy the SV for $20"))
            await fake.until(lambda: hold.reached, "the request that is held")
            first.send_signal(signal.SIGKILL)
            await first.wait()
            if not later:
                fake.rest.fail(method, path, 0)
        await press
    async with process(party):
        if path == "/callback$":
            assert not fake.pinged("Bob"), "what was not acknowledged was not done"
            await fake.click("Ann", card, "Buy the SV for $20")
        bob = await _card(fake, party, "Bob")
        await fake.until(lambda: not fake.controls(card), "the old card without controls")
        await asyncio.sleep(0.3)
        assert fake.pinged("Bob") == [bob]
        assert fake.offering(party.thread) == [bob]
    async with await open_store(party.path) as store:
        service = Service(store)
        table = (await service.tables())[0].id
        assert [row.line for row in await service.log(table) if row.kind == "move"] == ["buy SV"]
    assert not fake.faults


async def test_killed_while_the_thread_is_made(party: Party, fake: FakeDiscord) -> None:
    async with process(party) as first:
        await party.lobby("Bob")
        async with fake.rest.hold("POST", "threads$") as hold:
            await fake.slash("Ann", "general", "table start", order="Ann, Bob")
            await fake.until(lambda: hold.reached, "the request that is held")
            first.send_signal(signal.SIGKILL)
            await first.wait()
    async with process(party):
        await _card(fake, party, "Ann")
        assert len(fake.threads) == 1
        assert (
            len([m for m in fake.visible(party.thread) if "The game begins" in m.text and not m.pinged]) == 1
        )
    assert not fake.faults


async def test_sigterm_ends_it_cleanly(party: Party, fake: FakeDiscord) -> None:
    """The shipped command, as an operating system runs it."""
    before = fake.gateway.identified
    given = {
        "RAILPOST_DATA": str(party.path.parent),
        "RAILPOST_DISCORD_TOKEN": fake.token,
        "RAILPOST_DISCORD_API": fake.api_url,
        "RAILPOST_DISCORD_GATEWAY": fake.gateway_url,
    }
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", cwd=ROOT, env=os.environ | given,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    await fake.until(lambda: fake.gateway.identified > before and fake.commands, "the service", 30)
    listed = await fake.slash("Ann", "general", "table list")
    assert "no table yet" in listed.text
    running.terminate()
    async with asyncio.timeout(15):
        said, _ = await running.communicate()
    assert running.returncode == 0, said.decode()
    assert b"Traceback" not in said


async def _card(fake: FakeDiscord, party: Party, name: str) -> Message:
    """A live card for somebody, by what is seen alone."""
    mention = fake.person(name).mention

    def there() -> list[Message]:
        offering = [message for thread in fake.threads for message in fake.offering(thread)]
        return [message for message in offering if message.text.startswith(mention)]

    await fake.until(there, f"a card for {name}", 20)
    return there()[-1]
