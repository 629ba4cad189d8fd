"""A process may die after any step: the next one loses no card, and leaves none over."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.discord.cards.card_refs import CardStore
from bot.discord.delivery import DiscordDelivery
from bot.discord.places import DeletedMessages
from bot.discord.posting import Poster
from bot.hub.notifications.clock_messages import reminder_messages
from storage import SeatClock
from tests.fake_discord.running_bot import OnePixelPictures, RunningBot
from tests.fake_discord.server import FakeDiscord, Message


def die_after(patch: pytest.MonkeyPatch, part: type, step: str) -> asyncio.Event:
    """From now on a step has its effect and never ends; the event says that it was reached."""
    patch.setattr("bot.discord.delivery.SHUTDOWN_GRACE", 0.1)
    reached, method = asyncio.Event(), getattr(part, step)

    async def dying(*arguments: Any, **options: Any) -> None:
        await method(*arguments, **options)
        reached.set()
        await asyncio.Event().wait()

    patch.setattr(part, step, dying)
    return reached


async def begin(running: RunningBot) -> Message:
    """Begin a game of Ann and Bob; the card of Ann, once all is told."""
    await running.start_game("Ann", "Bob")
    await running.wait_for_delivery()
    return await running.wait_for_card("Ann")


async def test_14_10_after_a_start_only_tables_with_something_new_are_looked_at(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card of its lobby is older than the game, and nothing of it has to be brought up to date."""
    looked_at, are_all_done = list[int](), asyncio.Event()
    sync, sync_all = DiscordDelivery._sync_safely, DiscordDelivery._sync_all

    async def noted(self: DiscordDelivery, table_id: int) -> None:
        looked_at.append(table_id)
        await sync(self, table_id)

    async def noted_end(self: DiscordDelivery) -> None:
        await sync_all(self)
        are_all_done.set()

    async with running.online():
        await running.open_table("Bob")
        await fake.run_command("Ann", "general", "table start", order="Ann, Bob")
        await running.wait_for_card("Ann")
        await running.wait_for_delivery()
    monkeypatch.setattr(DiscordDelivery, "_sync_safely", noted)
    monkeypatch.setattr(DiscordDelivery, "_sync_all", noted_end)
    async with running.online():
        await are_all_done.wait()
    assert looked_at == []


async def test_14_a_card_that_was_posted_anew_is_the_only_one_after_a_kill(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing happens at the table: only what was stored before the message was posted tells of it."""
    async with running.online():
        await running.start_game("Ann", "Bob")
        await running.play_lines("Ann: pass", "Bob: bid CA 165")
        await running.wait_for_delivery()
        card = await running.wait_for_card("Ann")
        with monkeypatch.context() as patch:
            reached = die_after(patch, Poster, "post")
            await fake.send_text("Bob", running.thread, "Well played!")  # it comes down to the bottom
            await asyncio.wait_for(reached.wait(), fake.default_timeout)
        first, second = running.cards
        assert first is card
    async with running.online():
        await fake.wait_until(lambda: running.cards == [second], "the end of the first")


async def test_14_a_card_whose_edit_was_not_stored_is_up_to_date_after_a_kill(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has attached is forgotten before the edit, which looks like a card of the present."""
    async with running.online():
        card = await begin(running)
        assert isinstance(running.pictures, OnePixelPictures)
        running.pictures.ink = 1  # the pictures are others
        running.hold_pings(600.0)
        with monkeypatch.context() as patch:
            reached = die_after(patch, CardStore, "forget_files")
            await fake.click("Ann", card, "Pass")
            await asyncio.wait_for(reached.wait(), fake.default_timeout)
        assert "Ann to act" in card.text
    async with running.online(holdoff=600.0):
        assert await running.wait_for_card("Bob") is card


async def test_14_a_card_that_moves_to_direct_messages_is_there_once_after_a_kill(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bot may not write at the table any more, and somebody has deleted the card there."""

    def direct(name: str) -> list[Message]:
        return fake.messages_with_controls(fake.find_dm(name))

    async with running.online():
        card = await begin(running)
        fake.find_channel("general").denied |= {"SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"}
        with monkeypatch.context() as patch:
            reached = die_after(patch, Poster, "post")
            await fake.delete_message(card)
            await asyncio.wait_for(reached.wait(), fake.default_timeout)
        (moved,) = direct("Ann")
        fake.clock.advance(400)  # Discord knows no nonce any more
    async with running.online():
        await fake.click("Ann", moved, "Pass")
        await fake.wait_until(lambda: direct("Bob"), "the card of Bob")
        await running.wait_for_delivery()
        await fake.wait_until(lambda: not direct("Ann"), "the end of the card of Ann")
        await fake.click("Bob", direct("Bob")[0], "Pass")
        await fake.wait_until(lambda: direct("Ann"), "the next card of Ann")
    assert len(direct("Ann")) == 1 and not fake.problems


async def test_14_a_card_that_somebody_has_deleted_is_posted_anew_after_a_kill(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Discord tells of it once, and the process that has heard it dies."""
    async with running.online():
        card = await begin(running)
        with monkeypatch.context() as patch:
            reached = die_after(patch, DeletedMessages, "_forget")
            await fake.delete_message(card)
            await asyncio.wait_for(reached.wait(), fake.default_timeout)
    assert not running.cards
    async with running.online():
        await running.wait_for_card("Ann")


async def test_14_a_reminder_that_has_taken_the_place_of_another_is_the_only_one_after_a_kill(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def remind(name: str) -> None:
        service = running.service
        await service.clock.tick()  # so that the clock of the seat is stored
        view = await service.queries.view((await service.queries.find_table(running.table_code)).id)
        clock = SeatClock(
            table_id=view.table.id, seat=0, decision_id=view.pending[0].decision_id,
            since=service.store.now() - timedelta(hours=12),
        )  # fmt: skip
        async with service.store.begin() as unit:
            told = reminder_messages(view.table, clock, view.recipients[0], name, unit.now)
            await unit.outbox.enqueue(*told)
        service.wake_subscribers()

    def reminders() -> list[Message]:
        return [each for each in fake.visible_messages(running.thread) if "has waited for you" in each.text]

    async with running.online():
        await begin(running)
        await remind("day 1")
        await running.wait_for_delivery()
        (first,) = reminders()
        with monkeypatch.context() as patch:
            reached = die_after(patch, CardStore, "change")
            await remind("day 2")
            await asyncio.wait_for(reached.wait(), fake.default_timeout)
        assert len(reminders()) == 2
    async with running.online():
        await fake.wait_until(lambda: len(reminders()) == 1, "the end of the first")
        assert reminders() != [first]
