"""The end of a game on Discord: everybody is pinged by a line that becomes the whole ending."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine
from bot.discord import places
from bot.discord.threads import LOST_THREAD
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import renamings
from bot.hub.request import Completed
from bot.pictures import workers
from bot.service import Service
from engine.game_text import replay
from engine.game_text.history import GameHistory
from storage import open_store
from tests.discord.test_presses import labels
from tests.fake_discord.running_bot import HangingPictures, OnePixelPictures, RunningBot
from tests.fake_discord.server import FakeDiscord, Message
from tests.game_text.histories import history_of
from tests.stores import run_sql

GAME = Path(__file__).parents[1] / "games/1830-2p-27-18xx.games.18xx"
PLAYERS = ("Ann", "Bob")


async def before_the_last_move(running: RunningBot) -> int:
    """A table in the channel at which one move is left to play; its id."""
    history = history_of(GAME)
    return await running.begin_with(GameHistory(history.start, history.lines[:-1]))


async def play_the_last_move(service: Service, table: int, request_id: str = "the last line") -> None:
    last = history_of(GAME).lines[-1]
    done = await service.submit(table, int(last.seat[1:]), [last.line], None, request_id)
    assert isinstance(done, Completed) and done.game_over


async def ending(running: RunningBot) -> Message:
    """The message of the ending, once it is whole."""
    fake = running.fake

    def there() -> list[Message]:
        seen = [
            m for place in (fake.find_channel("general"), *fake.threads) for m in fake.visible_messages(place)
        ]
        return [m for m in seen if "### " in m.text and "1. " in m.text and "Rematch" in labels(fake, m)]

    await fake.wait_until(there, "the ending")
    return there()[-1]


def has_no_place(service: Service, table: int) -> bool:
    view = service.queries.peek(table)
    return view is not None and not view.table.location


async def test_all_are_pinged_and_told_the_whole_ending(running: RunningBot, fake: FakeDiscord) -> None:
    table = await before_the_last_move(running)
    async with running.online() as service:
        await play_the_last_move(service, table)
        message = await ending(running)
        state = (await service.queries.view(table)).state
        assert state is not None and state.game_over
        worth = engine.standings(state)
        best = next(iter(worth))
        line = message.history[0].content
        assert line.endswith(
            f": 1830 is over, {state.name(best)} wins with ${worth[best]:,} · {running.table_code}"
        )
        for name in PLAYERS:
            assert fake.find_user(name).mention in line and message in fake.messages_pinging(name)
        assert f"### {state.name(best)} wins" in message.text and "The game is over" in message.text
        assert all(f"{state.name(seat)} ${dollars:,}" in message.text for seat, dollars in worth.items())
        assert "Best run: " in message.text and "Dearest share: " in message.text
        names = [file.filename for file in message.attachments]
        assert names == [
            "sheet.png", "prices.png", "revenue.png", "animation.gif", "review.png",
            f"{running.table_code}.18xx",
        ]  # fmt: skip
        assert all(fake.alt_texts(message))
        again = replay(message.attachments[-1].content.decode())
        assert again.state and engine.standings(again.state) == worth
        await running.wait_for_delivery()
        done = await fake.click("Ann", message, "Rematch")
        await fake.wait_until(lambda: "is open, as the last one was" in done.text, "the next table")
    fake.check_violations(pinged=PLAYERS)


async def test_a_game_that_goes_on_has_no_ending(running: RunningBot, fake: FakeDiscord) -> None:
    """The last move is taken back, and made again."""
    table = await before_the_last_move(running)
    async with running.online() as service:
        await play_the_last_move(service, table)
        first = await ending(running)
        await service.submit(table, int(history_of(GAME).lines[-1].seat[1:]), ["undo"], None, None)
        await running.wait_for_delivery()
        assert first.deleted
        await play_the_last_move(service, table, "once more")
        assert (await ending(running)).id != first.id


async def test_an_ending_that_may_not_be_deleted_is_deleted_later(
    running: RunningBot, fake: FakeDiscord
) -> None:
    table = await before_the_last_move(running)
    async with running.online() as service:
        await play_the_last_move(service, table)
        first = await ending(running)
        fault = fake.rest.inject_fault("DELETE", f"messages/{first.id}$", 403, times=100)
        await service.submit(table, int(history_of(GAME).lines[-1].seat[1:]), ["undo"], None, None)
        await running.wait_for_delivery()
        assert fault.times < 100 and not first.deleted
        fault.times = 0
        async with service.store.begin() as unit:
            await unit.outbox.enqueue(*renamings(await service.queries.table_info(table), "Bob", ["Robert"]))
        service.wake_subscribers()
        await fake.wait_until(lambda: first.deleted, "the deletion")


async def test_who_tidies_up_after_a_game_gets_no_thread_and_nobody_is_told(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another game in the same channel goes on, and its players are told, first of all."""
    table, general = await before_the_last_move(running), fake.find_channel("general")
    over, left, leave = running.table_code, list[str](), places.leave

    async def noted(service: Service, table: TableInfo, sentence: str) -> None:
        left.append(table.code)
        await leave(service, table, sentence)

    monkeypatch.setattr(places, "leave", noted)
    async with running.online() as service:
        await play_the_last_move(service, table)
        await ending(running)
        thread = await fake.open_thread(general, {"name": over})
        await service.lobby.set_location(table, {"thread": thread.id})
        await running.start_game(*PLAYERS)
        await running.wait_for_delivery()
        for channel in (thread, running.thread, general):
            await fake.vanish_channel(channel)

        def told() -> str:
            return "".join(m.text for name in PLAYERS for m in fake.visible_messages(fake.find_dm(name)))

        await fake.wait_until(lambda: f"{running.table_code} was deleted" in told(), "the news of the other")
        await running.wait_for_delivery()
        assert not fake.threads and over not in told() and left == [running.table_code, over]


@pytest.mark.parametrize("gone", ["general", "the thread that was made again"])
async def test_the_news_of_a_game_that_is_over_and_has_no_place_come_by_direct_message(
    running: RunningBot, fake: FakeDiscord, gone: str
) -> None:
    """Those of an undo and of the rematch, which takes over the place, reached nobody."""
    table = await before_the_last_move(running)
    async with running.online() as service:
        await play_the_last_move(service, table)
        await ending(running)
        thread = await fake.open_thread(fake.find_channel("general"), {"name": gone})
        await service.lobby.set_location(table, {"thread": thread.id, LOST_THREAD: True})
        await running.wait_for_delivery()
        await fake.vanish_channel(fake.find_channel(gone) if gone == "general" else thread)
        await fake.wait_until(lambda: has_no_place(service, table), "the table without a place")
        assert not fake.visible_messages(fake.find_dm("Ann"))
        await service.submit(table, 1, ["undo"], None, None)
        await fake.wait_until(
            lambda: any("Bob undoes pay." in m.text for m in fake.visible_messages(fake.find_dm("Ann"))),
            "the news of the undo",
        )


async def test_a_game_that_is_over_leaves_a_channel_that_is_gone_without_its_log(
    running: RunningBot, fake: FakeDiscord
) -> None:
    table = await before_the_last_move(running)
    async with running.online() as service:
        await play_the_last_move(service, table)
        await ending(running)
        await running.wait_for_delivery()
    async with await open_store(running.path) as store, store.begin() as unit:
        await run_sql(unit, f"UPDATE moves SET events = x'c1' WHERE table_id = {table}")
    async with running.online() as service:
        await fake.vanish_channel(fake.find_channel("general"))
        await fake.wait_until(lambda: has_no_place(service, table), "the table without a place")


async def test_pictures_that_are_drawn_late_are_added(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = running.pictures = HangingPictures()
    monkeypatch.setitem(workers.PATIENCE, "ending", 0.05)
    table = await before_the_last_move(running)
    async with running.online() as service:
        await play_the_last_move(service, table)
        message = await ending(running)
        assert not fake.shown_images(message)
        pictures.draws.set()
        await fake.wait_until(lambda: len(fake.shown_images(message)) == 5, "the pictures of the ending")
        assert "The game is over: " in message.text and "the game took " in message.text


async def test_an_ending_where_files_may_not_be_attached(running: RunningBot, fake: FakeDiscord) -> None:
    table = await before_the_last_move(running)
    async with running.online() as service:
        fake.find_channel("general").denied.add("ATTACH_FILES")
        await play_the_last_move(service, table)
        message = await ending(running)
        assert not message.attachments and "Best run: " in message.text
        assert [control.label for control in fake.controls(message)] == ["Rematch"]
        await fake.wait_until(
            lambda: any("may not attach" in m.text for m in fake.visible_messages("general")), "why"
        )


async def test_an_ending_waits_until_the_bot_may_write(
    running: RunningBot, fake: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    """The host reads once why it is not there."""
    table, general = await before_the_last_move(running), fake.find_channel("general")
    async with running.online() as service:
        general.denied.add("SEND_MESSAGES")
        await play_the_last_move(service, table)
        refused = "`over` of table"
        await fake.wait_until(lambda: refused in caplog.text, "the line of the log")
        await running.end_hold_off()
        await fake.wait_until(lambda: str(fake.rejected).count("50013") > 1, "a second attempt")
        general.denied.clear()
        await running.end_hold_off()
        await ending(running)
    assert caplog.text.count(refused) == 1
    fake.check_violations(ignoring=["50013"], pinged=PLAYERS)


async def test_an_ending_that_was_interrupted_is_completed(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process ends between the line and the whole; the next one completes it and pings nobody again."""
    monkeypatch.setattr("bot.discord.delivery.SHUTDOWN_GRACE", 0.1)
    table = await before_the_last_move(running)
    running.pictures = HangingPictures("chart")
    async with running.online() as service:
        await play_the_last_move(service, table)
        await fake.wait_until(
            lambda: any("is over" in m.content for m in fake.visible_messages("general")), "the line"
        )
    running.pictures = OnePixelPictures()
    async with running.online():
        message = await ending(running)
    assert message.attachments
    assert all(fake.messages_pinging(name)[-1] is message for name in PLAYERS)
    assert sum("is over" in m.history[0].content for m in fake.visible_messages("general") if m.history) == 1


async def test_an_ending_whose_line_somebody_has_deleted_is_posted_anew(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """Everybody was pinged already, so it is without a ping."""
    table = await before_the_last_move(running)
    running.pictures = pictures = HangingPictures("chart")
    async with running.online() as service:
        await play_the_last_move(service, table)

        def lines() -> list[Message]:
            return [each for each in fake.visible_messages("general") if "is over" in each.content]

        await fake.wait_until(lines, "the line")
        pings = len(fake.pings)
        await fake.delete_message(lines()[0])
        pictures.draws.set()
        message = await ending(running)
    assert message.attachments and len(fake.pings) == pings


async def test_a_game_that_is_ended_has_an_ending_too(pair: RunningBot, fake: FakeDiscord) -> None:
    await pair.play_lines(f"{PLAYERS[0]}: buy SV")
    await fake.run_command(PLAYERS[0], pair.thread, "table end")
    message = await ending(pair)
    assert "lead with" in message.text and "ends the game" in message.text
    assert message.attachments[-1].filename.endswith(".18xx")


async def test_charts_are_shown_at_any_time(pair: RunningBot, fake: FakeDiscord) -> None:
    name = PLAYERS[0]
    for kind in ("worth", "prices", "revenue"):
        shown = await fake.run_command(name, pair.thread, "show chart", kind=kind)
        assert [file.filename[: len(kind)] for file in fake.shown_images(shown.message)] == [kind]
        assert not shown.public_messages
    film = await fake.run_command(name, pair.thread, "show animation", public=True)
    assert all(file.filename.endswith(".gif") for file in film.message.attachments)
    assert "No company has a price yet." in (await fake.run_command(name, pair.thread, "show records")).text
