"""Faults of Discord, of threads, of pictures and of our own process."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp.client_reqrep import ConnectionKey

from bot.__main__ import run_transport
from bot.discord import client as shipped
from bot.discord.cards.card_keeper import CardKeeper
from bot.discord.cards.card_refs import CardStore
from bot.discord.threads import card_link
from bot.hub.notifications.messages import turn_collapse_key
from bot.pictures import workers
from bot.service import Service
from storage import StoreError, open_store
from tests.end_to_end.fork_server import COMMAND, ForkedProcess, ForkServer
from tests.fake_discord.models import FORUM
from tests.fake_discord.running_bot import (
    HangingPictures,
    OnePixelPictures,
    RunningBot,
    bot_process,
    discord_settings,
    expire_leases,
)
from tests.fake_discord.server import FakeDiscord, Message
from tests.stores import run_sql

ROOT = Path(__file__).parent.parent.parent


# -- restarts --------------------------------------------------------------------------------


async def test_everything_works_after_a_restart(running: RunningBot, fake: FakeDiscord) -> None:
    async with running.online():
        await running.start_game("Ann", "Bob", "Cid")
        first = (await running.wait_for_card("Ann")).snapshot()
        await running.play_lines("Ann: pass")
        bob = await running.wait_for_card("Bob")
        form = await fake.select("Bob", bob, "Bid: 5 ways", "Bid for the MH, $115 or more…")
    pings = len(fake.pings)
    async with running.online():
        sent = await fake.submit_modal("Bob", form.modal, {"Dollars": "115"})  # a form opened before
        await running.wait_for_card("Cid")
        assert not sent.text and len(fake.pings) == pings + 1
    async with running.online():
        cid = await running.wait_for_card("Cid")
        chosen = await fake.select("Cid", cid, "Bid: 5 ways", "Bid for the CA, $165 or more…")  # a select
        await fake.submit_modal("Cid", chosen.modal, {"Dollars": "165"})
        await running.wait_for_card("Ann")
    async with running.online():
        assert "Done." in (await running.submit_lines("Ann", "buy SV")).text  # a slash command
        stale = await fake.click("Ann", first, "Pass")  # an old card
        await fake.wait_until(lambda: stale.private_messages, "an answer")
        assert "no longer open" in stale.text
        await fake.click("Bob", await running.wait_for_card("Bob"), "Pass")  # and a button
        await running.wait_for_card("Cid")
        assert await running.played_lines() == ["pass", "bid MH 115", "bid CA 165", "buy SV", "pass"]
    fake.check_violations(pinged=["Ann", "Bob", "Cid"])


async def test_moves_while_the_bot_was_offline_are_delivered(running: RunningBot, fake: FakeDiscord) -> None:
    async with running.online():
        await running.start_game("Ann", "Bob", "Cid")
    async with await open_store(running.path) as store:
        service = Service(store)
        table = (await service.queries.list_tables())[0].id
        await service.submit(table, 0, ["buy SV"], None, None)
        await service.submit(table, 1, ["pass"], None, None)
    async with running.online():
        await running.wait_for_card("Cid")
        assert len(running.cards) == 1 and not fake.messages_pinging("Bob")
    fake.check_violations(pinged=["Ann", "Cid"])


# -- the connection --------------------------------------------------------------------------


async def test_lost_connections_and_outages(started: RunningBot, fake: FakeDiscord) -> None:
    card = await started.wait_for_card("Ann")
    fake.gateway.drop_connections()
    await fake.click("Ann", card, "Pass")  # nobody was connected: it comes with the resume
    await started.wait_for_card("Bob")
    assert fake.gateway.resumed and await started.played_lines() == ["pass"]
    await fake.gateway.request_reconnect()
    await fake.wait_until(lambda: fake.gateway.resumed >= 2, "a second resume")
    fake.gateway.refuse_connections = True
    fake.gateway.drop_connections()
    service = started.service
    await fake.wait_until(lambda: service.connections["discord"].state == "away", "`discord: away`")
    await started.submit(1, "pass")
    await started.wait_for_card("Cid")  # sending needs no gateway
    fake.gateway.refuse_connections = False
    await fake.wait_until(lambda: fake.gateway.connected, "the connection")
    await fake.wait_until(lambda: service.connections["discord"].state == "connected", "`attached`")
    await fake.click("Cid", await started.wait_for_card("Cid"), "Pass")
    await started.wait_for_card("Ann")
    fake.check_violations()


async def test_a_client_that_breaks_is_replaced(pair: RunningBot, fake: FakeDiscord) -> None:
    before = fake.gateway.identified
    await fake.gateway.dispatch("INTERACTION_CREATE", {"id": "1"})  # kills the library's reader
    await fake.wait_until(lambda: fake.gateway.identified > before, "another client")
    await fake.click("Ann", await pair.wait_for_card("Ann"), "Pass")
    await pair.wait_for_card("Bob")


async def test_a_session_that_ends_while_cards_are_brought_up_to_date_logs_no_traceback(
    running: RunningBot, fake: FakeDiscord, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delivery ends before the connection that it uses."""
    monkeypatch.setattr("bot.discord.delivery.SHUTDOWN_GRACE", 0.1)
    async with running.online() as service:
        await running.start_game("Ann", "Bob")
        before = fake.gateway.identified
        async with fake.rest.hold_requests("POST", "channels/.*/messages$") as hold:
            await running.submit(0, "pass")
            await fake.wait_until(lambda: hold.reached, "the card that is being posted")
            caplog.clear()
            await fake.gateway.close_connections(4014)  # ends the client, and not only its connection
            await fake.wait_until(lambda: fake.gateway.identified > before, "another client")
        await expire_leases(service.store)
        service.wake_subscribers()
        await running.wait_for_card("Bob")
    told = [each for each in caplog.records if each.exc_info and each.name.startswith("bot.")]
    assert not told, caplog.text


async def test_rate_limits_and_server_errors(running: RunningBot, fake: FakeDiscord) -> None:
    async with running.online():
        await running.start_game("Ann", "Bob", "Cid")
        fake.rest.buckets["POST /channels/{channel}/messages"] = (1, 0.1)
        fake.rest.inject_fault("POST", "messages$", 502)
        fake.rest.inject_fault("POST", "messages$", 429, retry_after=0.1)
        for name in ("Ann", "Bob", "Cid"):
            await running.play_lines(f"{name}: pass")
        await running.wait_for_card("Ann")
        fake.rest.inject_fault("POST", "messages$", 0, after=True)  # sent, and the answer lost
        await running.play_lines("Ann: buy SV")
        card = await running.wait_for_card("Bob")
        assert fake.messages_pinging("Bob")[-1] is card and len(fake.messages_pinging("Bob")) == len(
            {*fake.messages_pinging("Bob")}
        )
    assert not fake.problems, "nothing was sent twice"
    assert fake.slowest_ack < 1


@contextlib.asynccontextmanager
async def served(running: RunningBot) -> AsyncIterator[Service]:
    """The service with Discord alone, whether it gets a session or not."""
    with running.fake.attached():
        async with await open_store(running.path) as store:
            service = Service(store, pictures=OnePixelPictures())
            task = asyncio.create_task(run_transport("discord", service, running.settings, is_only=True))
            yield service
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_a_revoked_token_is_tried_again(
    running: RunningBot,
    fake: FakeDiscord,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A refusal may pass: the service stays, also with Discord alone, and no IDENTIFY is wasted."""
    monkeypatch.setattr("bot.discord.client.FIRST_REFUSED_DELAY", 0.01)
    monkeypatch.setattr("bot.discord.client.MAX_REFUSED_DELAY", 0.02)
    async with served(running) as service:
        await fake.wait_until(lambda: fake.gateway.connected, "our client")
        token, fake.token = fake.token, "another"
        await fake.gateway.close_connections(4004)
        away = ("away", "Discord does not accept RAILPOST_DISCORD_TOKEN")

        def state() -> tuple[str, str]:
            found = service.connections.get("discord")
            return (found.state, found.detail) if found else ("", "")

        await fake.wait_until(lambda: state() == away, "`discord: away`")
        fake.token = token
        await fake.wait_until(lambda: state()[0] == "connected", "the next attempt")
    told = [each.getMessage() for each in caplog.records if each.name == "for the operator"]
    assert told and told[0].startswith(f"{away[1]}; trying again in ")


async def test_discord_that_is_away_at_the_start_is_said_to_be_away(
    running: RunningBot, fake: FakeDiscord
) -> None:
    fake.rest.inject_fault("GET", "/users/@me$", 403)
    async with served(running) as service:
        await fake.wait_until(lambda: "discord" in service.connections, "`discord: away`")
        assert service.connections["discord"].state == "away"
        await fake.wait_until(lambda: service.connections["discord"].state == "connected", "`attached`")


def test_a_connection_that_fails_is_said_without_names_of_the_library() -> None:
    key = ConnectionKey("discord.com", 443, True, True, None, None, None)
    refused = OSError(errno.ECONNREFUSED, "Connect call failed ('127.0.0.1', 443)")
    unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    told = [shipped._error_summary(aiohttp.ClientConnectorError(key, error)) for error in (refused, unknown)]
    assert told == [
        "discord.com cannot be reached: Connection refused",
        "discord.com cannot be reached: Name or service not known",
    ]


async def test_no_session_is_started_beyond_the_limit(running: RunningBot, fake: FakeDiscord) -> None:
    fake.session_starts = (0, 50)
    async with served(running):
        asked = ("GET", "/gateway/bot")
        await fake.wait_until(lambda: fake.rest.requests.count(asked) >= 2, "another look")
        assert not fake.gateway.identified
        fake.session_starts = (1, 0)
        await fake.wait_until(lambda: fake.gateway.identified, "our client")


async def test_a_fault_of_the_store_ends_no_session(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delivery goes on by itself, and presses are answered all the time."""
    monkeypatch.setattr("bot.discord.delivery.FIRST_PAUSE", 0.01)
    async with running.online() as service:
        await running.start_game("Ann", "Bob")
        sessions, begin, failures = fake.gateway.identified, service.store.begin, 0

        def failing(**options: Any) -> Any:
            nonlocal failures
            failures += 1
            if failures % 2:
                raise StoreError("The disk is full.")
            return begin(**options)

        async def another_fault() -> None:
            before = failures
            service.wake_subscribers()
            await fake.wait_until(lambda: failures > before, "a fault")

        monkeypatch.setattr(service.store, "begin", failing)
        await running.submit(0, "pass")
        for _ in range(3):
            await another_fault()
        shown = await fake.run_command("Bob", running.thread, "show market")
        assert fake.shown_images(shown.message)
        monkeypatch.setattr(service.store, "begin", begin)
        await expire_leases(service.store)
        service.wake_subscribers()
        await fake.click("Bob", await running.wait_for_card("Bob"), "Pass")
        await running.wait_for_card("Ann")
        assert fake.gateway.identified == sessions


async def test_a_press_that_comes_too_late_logs_no_traceback(
    running: RunningBot, fake: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    async with running.online():
        await running.start_game("Ann", "Bob")
        card = await running.wait_for_card("Ann")
        async with fake.rest.hold_requests("POST", "/callback$") as hold:
            press = asyncio.create_task(fake.click("Ann", card, "Pass"))
            await fake.wait_until(lambda: hold.reached, "the acknowledgement")
            fake.clock.advance(4)
            typed = fake.autocomplete("Ann", running.thread, "do", option="line")
            suggestions = asyncio.create_task(typed)
            await fake.wait_until(lambda: hold.reached == 2, "the suggestions")
            fake.clock.advance(4)
        await press
        with pytest.raises(AssertionError, match="Loading options"):
            await suggestions
        await fake.wait_until(lambda: len(fake.rejected) == 2, "the refusals")
        assert fake.rejected[-1].code == 10062 and await running.played_lines() == []
        await fake.click("Ann", await running.wait_for_card("Ann"), "Pass")
        await running.wait_for_card("Bob")
    assert "Traceback" not in caplog.text and not [r for r in caplog.records if r.levelname == "ERROR"]


# -- threads, permissions, pictures ----------------------------------------------------------


@pytest.mark.parametrize(("status", "after"), [(502, True), (0, True), (0, False)])
async def test_a_press_whose_acknowledgement_is_lost_counts(
    started: RunningBot, fake: FakeDiscord, status: int, after: bool
) -> None:
    """It is acknowledged again, which Discord refuses where the first has arrived."""
    card = await started.wait_for_card("Ann")
    fake.rest.inject_fault("POST", "/callback", status, after=after)
    await fake.click("Ann", card, "Pass")
    await started.wait_for_card("Bob")
    fake.rest.inject_fault("POST", "/callback", status, after=after)
    done = await started.submit_lines("Bob", "pass")
    assert done.text.startswith("Done.") and len(done.responses) == 1
    assert await started.played_lines() == ["pass", "pass"]


async def test_a_press_that_is_not_answered_when_the_service_ends_logs_no_traceback(
    running: RunningBot, fake: FakeDiscord, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, is_over = asyncio.Event(), asyncio.Event()
    caplog.set_level("INFO", "bot.discord")

    async def slow(*_: object, **__: object) -> None:
        asked.set()
        await is_over.wait()
        raise RuntimeError("Session is closed")

    async with running.online() as service:
        await running.start_game("Ann", "Bob")
        monkeypatch.setattr(service, "ask", slow)
        press = asyncio.create_task(fake.run_command("Ann", running.thread, "show log"))
        await asked.wait()
    is_over.set()
    await fake.wait_until(lambda: "the connection is closed" in caplog.text, "the line of the log")
    assert not [each for each in caplog.records if each.levelname == "ERROR"], caplog.text
    press.cancel()


async def test_an_archived_thread_is_unarchived(pair: RunningBot, fake: FakeDiscord) -> None:
    thread = pair.thread
    old = await pair.wait_for_card("Ann")
    thread.archived_by_request = True
    await pair.submit(0, "buy SV")
    await pair.wait_for_card("Bob")
    assert not fake.controls(old) and not thread.archived
    fake.check_violations(ignoring=["50083"])


async def test_an_answer_in_a_thread_that_is_archived_meanwhile(pair: RunningBot, fake: FakeDiscord) -> None:
    async with fake.rest.hold_requests("PATCH", "@original") as hold:
        asked = asyncio.create_task(fake.run_command("Ann", pair.thread, "table who"))
        await fake.wait_until(lambda: hold.reached, "the answer")
        pair.thread.archived_by_request = True
        hold.released.set()
        assert "Ann" in (await asked).text
    assert not pair.thread.archived


async def test_a_deleted_thread_is_replaced(pair: RunningBot, fake: FakeDiscord) -> None:
    """The next message finds it gone where nobody has heard of it."""
    lost = pair.thread
    lost.deleted = True
    await pair.submit(0, "buy SV")
    await fake.wait_until(lambda: fake.threads, "another thread")
    assert pair.thread is not lost
    await pair.wait_for_card("Bob")
    assert "Done." in (await pair.submit_lines("Bob", "pass")).text
    await pair.wait_for_card("Ann")


@pytest.mark.parametrize("status", [0, 500, 429])
async def test_a_thread_whose_creation_is_not_answered_is_the_only_one(
    pair: RunningBot, fake: FakeDiscord, status: int
) -> None:
    """Without the lobby card nothing else than its name tells that the thread exists."""
    pair.thread.deleted = True
    fault = fake.rest.inject_fault("POST", r"/channels/\d+/threads$", status, after=status != 429)
    await pair.submit(0, "buy SV")
    await fake.wait_until(lambda: fault.times == 0 and len(fake.threads) == 1, "one thread")
    await pair.wait_for_card("Bob")
    assert len(fake.threads) == 1


async def test_a_deleted_card_is_posted_anew_by_the_event(pair: RunningBot, fake: FakeDiscord) -> None:
    """It came back only after the next move."""
    card, pings = await pair.wait_for_card("Ann"), len(fake.pings)
    await fake.delete_message(card)
    await fake.wait_until(lambda: pair.cards and pair.cards[-1] is not card, "the card")
    assert len(fake.pings) == pings and len(pair.cards) == 1
    await fake.click("Ann", pair.cards[-1], "Pass")
    await pair.wait_for_card("Bob")


async def test_a_deleted_thread_is_made_again_once(pair: RunningBot, fake: FakeDiscord) -> None:
    """It came back with the next move, again and again. The second time its players are told by other
    ways."""
    lost = pair.thread
    await fake.vanish_channel(lost)
    await fake.wait_until(lambda: fake.threads and pair.cards, "another thread with the card")
    again = pair.thread
    assert again is not lost
    await pair.wait_for_delivery()
    await fake.vanish_channel(again)

    def direct() -> list[Message]:
        return fake.messages_with_controls(fake.find_dm("Ann"))

    await fake.wait_until(direct, "the card in direct messages")
    assert not fake.threads
    info = await pair.service.queries.find_table(pair.table_code)
    assert info.location == {} and await card_link(pair.service, info, 0) is None
    done = await fake.run_command("Bob", "general", "table move", table=pair.table_code)
    assert "is shown here from now on" in done.text
    await fake.wait_until(lambda: fake.threads and pair.cards, "the thread that is made on request")
    await fake.click("Ann", pair.cards[-1], "Pass")
    await pair.wait_for_card("Bob")


async def test_a_card_beside_a_thread_that_is_deleted_again_is_closed(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """It stands in the channel, because the bot may not write in the thread; it kept its controls."""
    general = fake.find_channel("general")
    async with running.online():
        await fake.vanish_channel(await running.start_game("Ann", "Bob"))
        await fake.wait_until(lambda: fake.threads and running.cards, "another thread with the card")
        general.denied.add("SEND_MESSAGES_IN_THREADS")
        await running.submit(0, "pass")
        await fake.wait_until(lambda: fake.messages_with_controls(general), "the card in the channel")
        await running.wait_for_delivery()
        await fake.vanish_channel(running.thread)
        await fake.wait_until(lambda: fake.messages_with_controls(fake.find_dm("Bob")), "the next card")
        await fake.wait_until(lambda: not fake.messages_with_controls(general), "the end of the former")


@pytest.mark.parametrize("way_on", ["`/table move` shows it", "`/table invite` invites others"])
async def test_a_channel_that_is_gone_takes_no_table_with_it(
    online: RunningBot, fake: FakeDiscord, way_on: str
) -> None:
    """Nor a lobby, whose host and players have no seats with numbers yet."""
    await (online.start_game("Ann", "Bob") if "move" in way_on else online.open_table("Bob"))
    await online.wait_for_delivery()
    await fake.vanish_channel(fake.find_channel("general"))

    def told(name: str) -> bool:
        seen = fake.visible_messages(fake.find_dm(name))
        return any(way_on in each.text for each in seen)

    await fake.wait_until(lambda: told("Ann") and told("Bob"), "the news")
    info = await online.service.queries.find_table(online.table_code)
    assert info.location == {}


async def test_a_table_that_cannot_be_read_keeps_no_other_in_a_channel_that_is_gone(
    running: RunningBot, fake: FakeDiscord
) -> None:
    async with running.online() as service:
        await running.start_game("Ann", "Cid")
        damaged = (await service.queries.find_table(running.table_code)).id
        await running.start_game("Ann", "Bob")
        await running.wait_for_delivery()
    async with await open_store(running.path) as store, store.begin() as unit:
        await run_sql(unit, f"UPDATE moves SET events = x'c1' WHERE table_id = {damaged}")
        await run_sql(unit, f"UPDATE table_snapshots SET state = x'c1' WHERE table_id = {damaged}")
    async with running.online():
        await fake.vanish_channel(fake.find_channel("general"))
        await fake.wait_until(lambda: fake.messages_with_controls(fake.find_dm("Ann")), "the card of Ann")


async def test_the_thread_in_which_a_table_was_opened_is_deleted(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """It is the channel of the table, in which there can be no thread of its own."""
    thread = await fake.open_thread(fake.find_channel("general"), {"name": "Talk"})
    async with running.online() as service:
        made = await fake.run_command("Ann", thread, "table new", title="1830")
        code = made.text.split("Table ", 1)[1].split(" ", 1)[0]
        await fake.wait_until(lambda: fake.messages_with_controls(thread), "the lobby card")
        await fake.click("Bob", fake.messages_with_controls(thread)[-1], "Join")
        await fake.run_command("Ann", thread, "table start", order="Ann, Bob")
        await fake.wait_until(lambda: "Ann to act" in fake.last_message(thread).text, "the card")
        await running.wait_for_delivery()
        await fake.vanish_channel(thread)
        await fake.wait_until(lambda: fake.messages_with_controls(fake.find_dm("Ann")), "the card of Ann")
        assert (await service.queries.find_table(code)).location == {}


@pytest.mark.parametrize(
    ("from_thread", "denied", "answer"),
    [
        (False, {"SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"}, "I may not write in <#{}>."),
        (True, {"SEND_MESSAGES", "CREATE_PUBLIC_THREADS"}, "I may not write in <#{}>."),
        (True, {"SEND_MESSAGES"}, "from now on. Its thread follows."),
        (False, {"CREATE_PUBLIC_THREADS"}, "from now on."),
    ],
)
async def test_a_table_is_moved_only_to_where_the_bot_may_write(
    pair: RunningBot, fake: FakeDiscord, from_thread: bool, denied: set[str], answer: str
) -> None:
    """From a thread it moves to the channel of that thread."""
    trains = fake.open_channel("trains")
    await fake.gateway.dispatch("CHANNEL_CREATE", trains.to_json())
    thread = await fake.open_thread(trains, {"name": "Talk"})
    trains.denied |= denied
    done = await fake.run_command(
        "Ann", thread if from_thread else trains, "table move", table=pair.table_code
    )
    if "may not" in answer:
        assert done.text.startswith(answer.format(trains.id))
        assert (await pair.service.queries.find_table(pair.table_code)).location["channel"] != trains.id
        return
    assert done.text.endswith(answer)

    def cards() -> list[Message]:
        shown = (trains, *(each for each in fake.threads if each.parent is trains))
        return [card for each in shown for card in fake.messages_with_controls(each)]

    await fake.wait_until(cards, "the card")


async def test_in_a_forum_a_table_is_moved_to_a_post(pair: RunningBot, fake: FakeDiscord) -> None:
    """No message stands beside posts, and a post has no threads."""
    forum = fake.open_channel("forum", kind=FORUM)
    await fake.gateway.dispatch("CHANNEL_CREATE", forum.to_json())
    post = await fake.open_thread(forum, {"name": "Our games"})
    done = await fake.run_command("Ann", post, "table move", table=pair.table_code)
    assert done.text.endswith("is shown here from now on.")
    await fake.wait_until(lambda: fake.messages_with_controls(post), "the card")


async def test_a_card_that_is_posted_anew_and_whose_answer_is_lost_is_the_only_one(
    pair: RunningBot, fake: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    card, table = (
        await pair.wait_for_card("Ann"),
        await pair.service.queries.find_table(pair.table_code),
    )
    fake.rest.inject_fault("POST", "messages$", 0, after=True)
    await fake.delete_message(card)
    await fake.wait_until(lambda: "could not be brought up to date" in caplog.text, "the lost answer")
    await pair.service.running.announce(table.id, "Bob says: hello", "say")
    assert "Bob says: hello" in (await pair.wait_for_card("Ann")).text
    fake.check_violations(ignoring=["10008"], pinged=["Ann"])


async def test_a_message_whose_answer_is_lost_is_gone_when_nothing_is_asked_any_more(
    pair: RunningBot, fake: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    """Bob acts before the line to him is tried again; so it stood there for ever."""
    fake.rest.inject_fault("POST", "messages$", 0, after=True)
    await pair.submit(0, "pass")
    await fake.wait_until(lambda: "was not sent" in caplog.text, "the lost answer")
    (lost,) = fake.messages_pinging("Bob")
    await pair.submit(1, "pass")
    await pair.wait_for_card("Ann")
    await fake.wait_until(lambda: lost not in fake.visible_messages(pair.thread), "its end")
    fake.check_violations(pinged=["Ann", "Bob"])


async def test_old_cards(started: RunningBot, fake: FakeDiscord) -> None:
    """Discord limits edits of old messages: a new card is sent, and the old one is closed later."""
    await started.play_opening()
    card, pings = await started.wait_for_card("Ann"), len(fake.pings)
    fake.old_edit_limit = (0, 0.05)
    fake.clock.advance(3700)
    await started.submit_lines("Ann", "par B&O 67")
    await fake.wait_until(lambda: len(started.cards) == 2, "a new card beside the old")
    assert len(fake.pings) == pings
    fake.old_edit_limit = None
    await started.play_lines("Ann: pass")
    await started.wait_for_card("Bob")
    assert not fake.controls(card)
    fake.check_violations(ignoring=["30046"], pinged=["Ann", "Bob", "Cid"])


@pytest.mark.parametrize("has_too_many", [False, True])
async def test_a_server_that_takes_no_threads(
    running: RunningBot, fake: FakeDiscord, has_too_many: bool
) -> None:
    """Its tables are played in the channel."""
    general = fake.find_channel("general")
    if has_too_many:
        fake.rest.inject_fault("POST", "threads$", 400, times=2)
    else:
        general.denied |= {"CREATE_PUBLIC_THREADS", "PIN_MESSAGES"}

    async def card_of(name: str) -> Message:
        def there() -> list[Message]:
            return [m for m in fake.messages_with_controls(general) if f"{name} to act" in m.text]

        await fake.wait_until(there, f"a card for {name}")
        return there()[0]

    async with running.online():
        lobby = await running.open_table("Bob")
        await fake.run_command("Ann", general, "table start", order="Ann, Bob")
        card = await card_of("Ann")
        texts = [each.text for each in fake.visible_messages(general)]
        assert any("The game begins" in each for each in texts) and not fake.controls(lobby)
        await fake.click("Ann", card, "Pass")
        await card_of("Bob")
    fake.check_violations(ignoring=[] if has_too_many else ["50013"])


@pytest.mark.parametrize("denied", [{"SEND_MESSAGES"}, {"SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"}])
async def test_a_channel_in_which_the_bot_may_not_write(
    running: RunningBot, fake: FakeDiscord, denied: set[str]
) -> None:
    """The card of a new table stands in the channel, not in a thread."""
    fake.find_channel("general").denied |= denied
    async with running.online() as service:
        done = await fake.run_command("Ann", "general", "table new", title="1830")
        assert "I may not write in <#" in done.text and not await service.queries.list_tables()
    fake.check_violations()


async def test_threads_are_kept_active(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.discord.threads.KEEP_ACTIVE_INTERVAL", 0.3)
    async with running.online():
        thread = await running.start_game("Ann", "Bob")
        await fake.wait_until(lambda: thread.auto_archive_minutes == 4320, "a changed time")
        thread.archived_by_request = True
        await fake.wait_until(lambda: not thread.archived, "a thread awake")
        await fake.click("Ann", await running.wait_for_card("Ann"), "Pass")
        await running.wait_for_card("Bob")
    fake.check_violations()


async def test_pictures_that_cannot_be_drawn(running: RunningBot, fake: FakeDiscord) -> None:
    assert isinstance(running.pictures, OnePixelPictures)
    running.pictures.fails = True
    async with running.online():
        await running.start_game("Ann", "Bob")
        card = await running.wait_for_card("Ann")
        assert not fake.shown_images(card) and "Nothing is laid yet." in card.text and "100" in card.text
        await fake.click("Ann", card, "Buy the SV for $20")
        await running.wait_for_card("Bob")
        assert not fake.controls(card)
    fake.check_violations()


async def test_in_the_hold_off_the_same_message_is_the_next_players_card(
    started: RunningBot, fake: FakeDiscord
) -> None:
    """A player who is there plays on at once; nobody is notified, and nothing new is posted."""
    thread = started.thread
    card = await started.wait_for_card("Ann")
    started.hold_pings(600.0)
    await fake.click("Ann", card, "Buy the SV for $20")
    assert await started.wait_for_card("Bob") is card and "Ann buys the SV" in card.text
    await fake.click("Bob", card, "Pass")
    assert await started.wait_for_card("Cid") is card
    await fake.run_command("Bob", started.thread, "undo")  # before anybody was disturbed
    assert await started.wait_for_card("Bob") is card
    await fake.click("Bob", card, "Pass")
    assert await started.wait_for_card("Cid") is card
    await fake.wait_until(lambda: "move 4" in thread.messages[-1].text, "the news of the undo")
    posted = len(thread.messages)
    assert not fake.messages_pinging("Bob") and not fake.messages_pinging("Cid")
    await started.end_hold_off()
    await fake.wait_until(lambda: fake.messages_pinging("Cid"), "the ping of who did not act")
    await fake.wait_until(lambda: not fake.controls(card), "the former card without controls")
    new = await started.wait_for_card("Cid")
    assert new in fake.messages_pinging("Cid") and not fake.messages_pinging("Bob")
    assert len(thread.messages) == posted + 1
    assert "Ann buys the SV" in card.text and "Bob passes" in card.text, "the list of finished turns"
    fake.check_violations(pinged=["Ann", "Cid"])


async def test_slow_pictures_delay_no_acknowledgement(running: RunningBot, fake: FakeDiscord) -> None:
    pictures = running.pictures = HangingPictures()
    async with running.online():
        pictures.draws.set()
        await running.start_game("Ann", "Bob")
        card = await running.wait_for_card("Ann")
        pictures.draws.clear()
        shown = asyncio.create_task(fake.run_command("Bob", running.thread, "show map"))
        await fake.click("Ann", card, "Pass")
        await fake.wait_until(lambda: not any(each.is_unanswered for each in fake.interactions), "answers")
        assert not shown.done()
        pictures.draws.set()
        assert fake.shown_images((await shown).message)
        await running.wait_for_card("Bob")
    fake.check_violations()


async def test_a_card_gets_its_pictures_when_a_worker_that_hung_has_drawn_them(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then it is text, with its controls; so is an answer."""
    pictures = running.pictures = HangingPictures()
    monkeypatch.setattr(workers, "PATIENCE", dict.fromkeys(workers.PATIENCE, 0.05))
    async with running.online():
        await running.start_game("Ann", "Bob")
        card = await running.wait_for_card("Ann")
        shown = await fake.run_command("Bob", running.thread, "show map")
        assert not fake.shown_images(card) and "Nothing is laid yet." in shown.text
        pictures.draws.set()
        await fake.wait_until(lambda: fake.shown_images(card), "the pictures of the card")
        assert await running.wait_for_card("Ann") is card and len(fake.messages_pinging("Ann")) == 1
    fake.check_violations()


async def test_a_private_card_waits_for_its_pictures_as_an_answer_does(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing brings it up to date afterwards."""
    pictures = running.pictures = HangingPictures()
    monkeypatch.setitem(workers.PATIENCE, "turn", 0.0)
    async with running.online():
        await running.start_game("Ann", "Bob")
        await running.wait_for_card("Ann")
        before = pictures.waiting
        shown = asyncio.create_task(fake.run_command("Ann", running.thread, "show card"))
        await fake.wait_until(lambda: pictures.waiting > before, "a picture that is asked for")
        pictures.draws.set()
        assert fake.shown_images((await shown).message)


async def test_a_thread_whose_table_was_damaged_before_its_place_was_stored_says_so(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """It is found by the name of its thread, which begins with its code; Ann has another table too."""
    async with running.online():
        await running.start_game("Ann", "Bob")
        other = running.thread
        thread, code = await running.start_game("Ann", "Cid"), running.table_code
        await running.wait_for_delivery()
    async with await open_store(running.path) as store, store.begin() as unit:
        table = await unit.tables.by_code(code)
        assert table is not None
        place = {name: at for name, at in table.location.items() if name != "thread"}
        await unit.tables.update(table.id, location=place)
        await run_sql(unit, f"UPDATE moves SET events = x'c1' WHERE table_id = {table.id}")
        await run_sql(unit, f"UPDATE table_snapshots SET state = x'c1' WHERE table_id = {table.id}")
    async with running.online():
        for command, options in (("do", {"line": "buy SV"}), ("show map", {}), ("undo", {})):
            told = await fake.run_command("Ann", thread, command, **options)
            await fake.wait_until(lambda told=told: told.text, "an answer")  # type: ignore[misc]
            assert told.text.startswith(f"Table {code} cannot be read, so nobody can play there now"), (
                told.text
            )
        assert "Done." in (await fake.run_command("Ann", other, "do", line="buy SV")).text
    fake.check_violations()


# -- killed ----------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def process(running: RunningBot, forks: ForkServer) -> AsyncIterator[ForkedProcess]:
    """Our service and client, connected, in a process of their own; it is killed at the end."""
    fake = running.fake
    before = fake.gateway.identified
    await running.expire_leases()
    async with bot_process(forks, fake, running.path.parent, lease=600) as process:
        await fake.wait_until(lambda: fake.gateway.identified > before and fake.commands, "the process")
        yield process


async def test_an_attempt_that_sent_nothing_takes_no_older_card_for_its_own(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """Ann is asked again while her last card stands; the process dies before it has sent the new one."""
    async with running.online() as service:
        await running.start_game("Ann", "Bob")
        older = await running.wait_for_card("Ann")
        table = (await service.queries.find_table(running.table_code)).id
    async with await open_store(running.path) as store:
        offline = Service(store)
        await offline.submit(table, 0, ["bid CS 45"], None, None)
        await offline.submit(table, 1, ["pass"], None, None)
        async with store.read() as unit:
            asked = await unit.outbox.pending_with_collapse_key(turn_collapse_key(table, 0, "table"))
        cards = CardStore(store)
        card = await cards.get(table, "turn:0")
        assert asked and card
        begun = msgspec.structs.replace(card.ref, posting=asked.idempotency_key)
        await cards.change(table, card._replace(ref=begun))
    pings = len(fake.pings)
    async with running.online():
        await fake.wait_until(lambda: len(fake.pings) > pings, "the notification")
        await fake.wait_until(lambda: not fake.controls(older), "the end of the older card")
        newer = await running.wait_for_card("Ann")
        assert newer.id != older.id and fake.pings[-1].user is fake.find_user("Ann")
    fake.check_violations()


async def test_a_fault_after_an_edit_leaves_no_ids_of_files_that_are_gone(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an edit has taken from a message is not named in the next one, also if the edit was not stored."""
    pictures = running.pictures
    assert isinstance(pictures, OnePixelPictures)
    save, saved = CardKeeper._save, 0

    async def failing(keeper: CardKeeper, *args: Any) -> None:
        nonlocal saved
        if pictures.ink:
            pictures.ink = 0
            raise StoreError("The disk is full.")
        await save(keeper, *args)
        saved += 1

    async with running.online() as service:
        await running.start_game("Ann", "Bob")
        card = await running.wait_for_card("Ann")
        running.hold_pings(3600)
        monkeypatch.setattr(CardKeeper, "_save", failing)
        pictures.ink = 1
        await fake.click("Ann", card, "Pass")
        async with asyncio.timeout(fake.default_timeout):
            while not saved:
                service.wake_subscribers()
                await asyncio.sleep(0.01)
        assert (await running.wait_for_card("Bob")).id == card.id
    fake.check_violations()


NEW_CARD, OLD_CARD = ("POST", "channels/.*/messages$"), ("PATCH", "channels/.*/messages/")
ACKNOWLEDGEMENT = ("POST", "/callback$")


@pytest.mark.parametrize(
    ("method", "path", "later"),
    [
        pytest.param(*NEW_CARD, False, id="new card is lost"),
        pytest.param(*NEW_CARD, True, id="new card arrives after all", marks=pytest.mark.soak),
        pytest.param(*OLD_CARD, False, id="edit of the old card is lost"),
        pytest.param(*OLD_CARD, True, id="edit of the old card arrives after all", marks=pytest.mark.soak),
        pytest.param(*ACKNOWLEDGEMENT, False, id="acknowledgement is lost", marks=pytest.mark.soak),
        pytest.param(*ACKNOWLEDGEMENT, True, id="acknowledgement arrives after all"),
    ],
)
async def test_killed_between_commit_and_sending(
    running: RunningBot, fake: FakeDiscord, forks: ForkServer, method: str, path: str, later: bool
) -> None:
    async with running.online():
        await running.start_game("Ann", "Bob", "Cid")
    async with process(running, forks) as first:
        card = await _card(fake, running, "Ann")
        async with fake.rest.hold_requests(method, path) as hold:
            press = asyncio.create_task(fake.click("Ann", card, "Buy the SV for $20"))
            await fake.wait_until(lambda: hold.reached, "the request that is held")
            first.kill()
            await first.wait()
            if not later:
                fake.rest.inject_fault(method, path, 0)
        fake.clock.advance(3)
        await press
    async with process(running, forks):
        if path == "/callback$":
            assert not fake.messages_pinging("Bob"), "what was not acknowledged was not done"
            await fake.click("Ann", card, "Buy the SV for $20")
        bob = await _card(fake, running, "Bob")
        await fake.wait_until(lambda: not fake.controls(card), "the old card without controls")
        await asyncio.sleep(0.3)
        assert fake.messages_pinging("Bob") == [bob]
        assert fake.messages_with_controls(running.thread) == [bob]
    async with await open_store(running.path) as store:
        service = Service(store)
        table = (await service.queries.list_tables())[0].id
        assert [row.line for row in await service.queries.log(table) if row.kind == "move"] == ["buy SV"]
    assert not fake.problems


async def test_killed_while_the_thread_is_created(
    running: RunningBot, fake: FakeDiscord, forks: ForkServer
) -> None:
    async with process(running, forks) as first:
        await running.open_table("Bob")
        async with fake.rest.hold_requests("POST", "threads$") as hold:
            await fake.run_command("Ann", "general", "table start", order="Ann, Bob")
            await fake.wait_until(lambda: hold.reached, "the request that is held")
            first.kill()
            await first.wait()
    async with process(running, forks):
        await _card(fake, running, "Ann")
        assert len(fake.threads) == 1
        assert (
            len(
                [
                    m
                    for m in fake.visible_messages(running.thread)
                    if "The game begins" in m.text and not m.pinged
                ]
            )
            == 1
        )
    assert not fake.problems


async def test_sigterm_ends_the_bot_cleanly(running: RunningBot, fake: FakeDiscord) -> None:
    """The real command, as an operating system runs it."""
    before = fake.gateway.identified
    given = discord_settings(fake) | {"RAILPOST_DATA": str(running.path.parent)}
    process = await asyncio.create_subprocess_exec(
        *COMMAND, cwd=ROOT, env=os.environ | given,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    await fake.wait_until(lambda: fake.gateway.identified > before and fake.commands, "the service")
    listed = await fake.run_command("Ann", "general", "table list")
    assert "no table yet" in listed.text
    process.terminate()
    async with asyncio.timeout(fake.default_timeout):
        said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    assert b"Traceback" not in said


async def _card(fake: FakeDiscord, running: RunningBot, name: str) -> Message:
    """The open card of a player, found on the screen."""
    mention = fake.find_user(name).mention

    def there() -> list[Message]:
        offering = [message for thread in fake.threads for message in fake.messages_with_controls(thread)]
        return [message for message in offering if message.text.startswith(mention)]

    await fake.wait_until(there, f"a card for {name}")
    return there()[-1]
