"""A table goes on whatever Discord allows: permissions that are lost and come back, threads that are gone."""

from __future__ import annotations

import pytest

from tests.fake_discord.running_bot import OnePixelPictures, RunningBot
from tests.fake_discord.server import FakeDiscord, Message

PERMISSIONS = {
    "files": {"ATTACH_FILES"},
    "the channel": {"VIEW_CHANNEL"},
    "the thread": {"SEND_MESSAGES_IN_THREADS"},
    "what a game in its thread can do without": {
        "SEND_MESSAGES", "CREATE_PUBLIC_THREADS", "EMBED_LINKS", "READ_MESSAGE_HISTORY", "PIN_MESSAGES",
    },
}  # fmt: skip
PLAYERS = ("Ann", "Bob", "Cid")


async def card_anywhere(running: RunningBot, name: str) -> Message:
    """The card of a player that shows the current position: at the table or in their direct messages."""
    fake = running.fake
    table = await running.service.queries.find_table(running.table_code)

    def there() -> list[Message]:
        view = running.service.queries.peek(table.id) if running.service else None
        places = [*fake.threads, fake.find_channel("general"), fake.find_dm(name)]
        every = [message for place in places for message in fake.messages_with_controls(place)]
        mention = fake.find_user(name).mention
        return [m for m in every if view and m.text.startswith(mention) and f"move {view.seq}\n" in m.text]

    await fake.wait_until(there, f"a card for {name}")
    return there()[-1]


def said_files(running: RunningBot) -> list[Message]:
    seen = running.fake.visible_messages(running.thread)
    return [message for message in seen if "may not attach files here" in message.text]


async def only_one_card_is_left(running: RunningBot) -> None:
    fake = running.fake

    def controls() -> list[Message]:
        places = [*fake.threads, fake.find_channel("general"), *map(fake.find_dm, PLAYERS)]
        return [message for place in places for message in fake.messages_with_controls(place)]

    await fake.wait_until(lambda: len(controls()) == 1, "one card with controls")


@pytest.mark.parametrize("permissions", PERMISSIONS.values(), ids=PERMISSIONS)
async def test_a_permission_is_lost_and_returns(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch, permissions: set[str]
) -> None:
    monkeypatch.setattr("bot.discord.delivery.POLL_INTERVAL", 0.3)
    async with running.online():
        await running.start_game(*PLAYERS)
        general = fake.find_channel("general")
        await fake.click("Ann", await running.wait_for_card("Ann"), "Pass")
        await running.wait_for_card("Bob")
        general.denied |= permissions
        for name in ("Bob", "Cid", "Ann"):
            await fake.click(name, await card_anywhere(running, name), "Pass")
        await card_anywhere(running, "Bob")
        general.denied.clear()
        for name in ("Bob", "Cid"):
            await fake.click(name, await card_anywhere(running, name), "Pass")
        card = await card_anywhere(running, "Ann")
        assert card.channel is running.thread and fake.shown_images(card)
        await only_one_card_is_left(running)
        assert await running.played_lines() == ["pass"] * 6
    codes = {each.code for each in fake.rejected}
    assert codes <= {50001, 50013}, fake.rejected


async def test_the_same_card_loses_and_keeps_its_pictures(started: RunningBot, fake: FakeDiscord) -> None:
    """An edit keeps files by their ids; where a new one may not be attached, the board is text."""
    await started.play_opening()
    card = await started.wait_for_card("Ann", holding="par")
    *ids, _ = [each.id for each in card.attachments]  # the last is the map of the par price
    fake.find_channel("general").denied.add("ATTACH_FILES")
    await started.play_lines("Ann: par B&O 67")
    again = await started.wait_for_card("Ann", holding="or pass")
    assert again is card and [each.id for each in card.attachments] == ids, "nothing was uploaded"
    assert isinstance(started.pictures, OnePixelPictures)
    started.pictures.ink = 1
    await started.play_lines("Ann: buy B&O from ipo", "Bob: pass", "Cid: pass", "Ann: buy B&O from ipo")
    bob = await started.wait_for_card("Bob")
    assert not fake.shown_images(bob) and "Nothing is laid yet." in bob.text
    await fake.wait_until(lambda: said_files(started), "the remark")
    await started.play_lines("Bob: pass")
    assert not fake.shown_images(await started.wait_for_card("Cid"))
    fake.find_channel("general").denied.clear()
    await started.play_lines("Cid: pass")
    assert fake.shown_images(await started.wait_for_card("Ann"))
    assert len(said_files(started)) == 1, "it is said once"
    fake.check_violations(ignoring=["50013"])


async def test_edit_after_edit_keeps_the_files(started: RunningBot, fake: FakeDiscord) -> None:
    """What an edit has kept is recorded, so the next one uploads nothing of it either."""
    await started.play_opening()
    card = await started.wait_for_card("Ann", holding="par")
    *ids, _ = [each.id for each in card.attachments]
    for line, holding, maps in (("par B&O 67", "or pass", 0), ("undo", "par", 1)):
        assert "Done." in (await started.submit_lines("Ann", line)).text
        again = await started.wait_for_card("Ann", holding=holding)
        kept = [each.id for each in card.attachments]
        assert again is card and kept[: len(ids)] == ids and len(kept) == len(ids) + maps, line
    assert ids


async def test_files_refused_from_the_start(running: RunningBot, fake: FakeDiscord) -> None:
    fake.find_channel("general").denied.add("ATTACH_FILES")
    async with running.online():
        await running.start_game(*PLAYERS)
        card = await running.wait_for_card("Ann")
        assert fake.pings[-1].message is card, "the message that pinged has become the card"
        await running.play_opening()
        card = await running.wait_for_card("Ann", holding="par")
        assert not fake.shown_images(card)
        await fake.select("Ann", card, "Par: 6 ways", "Par the B&O at $67")
        assert await running.wait_for_card("Ann", holding="or pass") is card, "the card goes on"
        shown = await fake.run_command("Cid", running.thread, "show market")
        assert "67" in shown.text or fake.shown_images(shown.message)
    assert not any(each.status == 400 for each in fake.rejected)


async def test_a_card_is_posted_anew_where_files_are_refused(started: RunningBot, fake: FakeDiscord) -> None:
    await started.play_opening()
    card = await started.wait_for_card("Ann", holding="par")
    fake.find_channel("general").denied.add("ATTACH_FILES")
    await fake.delete_message(card)
    await started.play_lines("Ann: par B&O 67")
    again = await started.wait_for_card("Ann", holding="or pass")
    assert again is not card and not fake.shown_images(again)
    await fake.wait_until(lambda: said_files(started), "the remark")
    assert not any(each.status == 400 for each in fake.rejected)


async def test_an_edit_that_is_refused_makes_a_new_card(started: RunningBot, fake: FakeDiscord) -> None:
    await started.play_opening()
    card = await started.wait_for_card("Ann", holding="par")
    fake.rest.inject_fault("PATCH", f"messages/{card.id}$", 400)
    await started.play_lines("Ann: par B&O 67")
    again = await started.wait_for_card("Ann", holding="or pass")
    assert again is not card and not fake.controls(card)


async def test_an_old_card_is_finished_where_the_next_can_be_posted_nowhere(
    started: RunningBot, fake: FakeDiscord
) -> None:
    card = await started.wait_for_card("Ann")
    await started.wait_for_delivery()
    fake.find_channel("general").denied.update({"SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"})
    fake.users["Bob"].accepts_dms = False
    await fake.click("Ann", card, "Pass")
    await fake.wait_until(lambda: not fake.controls(card), "the card of Ann without controls")
    fake.check_violations(ignoring=["50013", "50278"])


async def test_a_locked_thread_moves_to_the_channel(started: RunningBot, fake: FakeDiscord) -> None:
    thread = started.thread
    await started.play_opening()
    await started.wait_for_card("Ann", holding="par")
    await fake.change_channel(thread, {"locked": True})
    done = await fake.run_command("Ann", "general", "do", line="par B&O 67", table=started.table_code)
    assert done.text.startswith("Done.")
    card = await card_anywhere(started, "Ann")
    assert card.channel is fake.find_channel("general")
    await fake.click("Ann", card, "Pass")
    assert (await card_anywhere(started, "Bob")).channel is fake.find_channel("general")
    await fake.change_channel(thread, {"locked": False})
    await fake.click("Bob", await card_anywhere(started, "Bob"), "Pass")
    assert (await card_anywhere(started, "Cid")).channel is thread


async def test_thread_and_channel_are_deleted(started: RunningBot, fake: FakeDiscord) -> None:
    """The game goes on in direct messages."""
    thread = started.thread
    await fake.vanish_channel(thread)
    await fake.vanish_channel(fake.find_channel("general"))
    await started.submit(0, "pass")
    for name in ("Bob", "Cid"):
        place = fake.find_dm(name)
        await fake.wait_until(lambda: fake.messages_with_controls(place), f"a card for {name}", 20)  # noqa: B023
        await fake.click(name, fake.messages_with_controls(place)[-1], "Pass")
    await fake.wait_until(lambda: fake.messages_with_controls(fake.find_dm("Ann")), "a card for Ann")
