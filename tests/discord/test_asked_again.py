"""Players whom one question asks together, and who are asked alone afterwards, are pinged anew."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from bot.discord.cards.card_refs import CardStore
from bot.discord.places import ask_anew
from engine.game_text.history import GameHistory
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord, Message
from tests.t1817.scenarios import run_scenario
from tests.t1817.test_07_conversions_and_mergers import SMALL


async def asked_of_two(running: RunningBot) -> int:
    """1817 §7: a table at which Ann and Bob are asked together whether they act."""
    return await running.begin_with(GameHistory(run_scenario(f"{SMALL}= phase 3\n")))


async def test_a_question_asked_of_two_swallows_no_later_ping(running: RunningBot, fake: FakeDiscord) -> None:
    """Ann says that she acts, and has to act when Bob has passed."""
    table, channel = await asked_of_two(running), fake.find_channel("general")

    def pings(name: str) -> list[int]:
        return [m.id for m in fake.visible_messages(channel) if name in {each.name for each in m.pinged}]

    async with running.online() as service:
        await service.running.pause(table, by=None)
        await service.running.resume(table, by=None)
        await fake.wait_until(lambda: pings("Ann") and pings("Bob"), "the question to both")
        before = pings("Ann")
        await service.submit(table, 0, ["act"], None, "a")
        await service.submit(table, 1, ["pass"], None, "b")
        await fake.wait_until(lambda: pings("Ann") != before, "a ping when Ann has to act alone")


async def test_the_one_card_of_both_pings_whom_their_own_notifications_ping(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """Whosever notification comes first."""
    table = await asked_of_two(running)
    async with running.online() as service:
        for in_private, other in (("Bob", "Ann"), ("Ann", "Bob")):
            await service.settings.apply(await running.person(in_private), ["tell direct"])
            await service.running.pause(table, by=None)
            await running.wait_for_delivery()
            before = len(fake.pings)
            await service.running.resume(table, by=None)
            await running.wait_for_delivery()
            pings = [(each.user.name, each.message.channel.name) for each in fake.pings[before:]]
            assert sorted(pings) == sorted([(in_private, in_private), (other, "general")])
            await service.settings.apply(await running.person(in_private), ["tell default"])


async def test_the_one_card_of_both_pings_a_new_deputy(running: RunningBot, fake: FakeDiscord) -> None:
    """A ping for the player of the seat was taken for one of the deputy."""
    table, channel = await asked_of_two(running), fake.find_channel("general")

    async with running.online() as service:
        bob = await running.person("Bob")
        await running.person("Dan")
        await service.settings.apply(bob, ["tell thread"])
        await service.running.pause(table, by=None)
        await service.running.resume(table, by=None)
        await running.wait_for_delivery()
        assert [each.user.name for each in fake.pings] == ["Ann", "Bob"]
        day = datetime.now(UTC) + timedelta(days=9)
        await service.settings.apply(bob, [f"away until {day:%Y-%m-%d} deputy Dan"])
        await fake.wait_until(lambda: fake.messages_pinging("Dan"), "a ping")
        await fake.wait_until(lambda: len(fake.messages_with_controls(channel)) == 1, "one card")
        await running.wait_for_delivery()
        async with service.cache.locked(table) as live:
            await ask_anew(service, live)
        service.wake_subscribers()
        await running.wait_for_delivery()
        there = [each.user.name for each in fake.pings if each.message.channel is channel]
        assert sorted(there) == ["Ann", "Bob", "Dan"]


async def test_a_deputy_of_two_is_mentioned_once(running: RunningBot, fake: FakeDiscord) -> None:
    table, channel = await asked_of_two(running), fake.find_channel("general")
    async with running.online() as service:
        await running.person("Dan")
        day = datetime.now(UTC) + timedelta(days=9)
        for name in ("Ann", "Bob"):
            line = f"away until {day:%Y-%m-%d} deputy Dan"
            await service.settings.apply(await running.person(name), [line])
        await service.running.pause(table, by=None)
        await service.running.resume(table, by=None)
        await fake.wait_until(lambda: fake.messages_pinging("Dan"), "a ping")
        await running.wait_for_delivery()
        (card,) = fake.messages_with_controls(channel)
        mention = f"<@{fake.find_user('Dan').id}>"
        assert [each.content.count(mention) for each in card.history if mention in each.content] == [1]
        assert card.text.count(mention) == 1 and [each.name for each in card.pinged] == ["Dan"]


async def test_the_one_card_of_both_takes_the_place_of_a_card_of_one(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """Ann, who was asked alone, had two cards when she was asked with Bob."""
    table, channel = await asked_of_two(running), fake.find_channel("general")
    async with running.online() as service:
        await service.running.pause(table, by=None)
        await service.running.resume(table, by=None)
        await running.wait_for_delivery()
        (first,) = fake.messages_with_controls(channel)
        cards, ann = CardStore(service.store), (await service.queries.table_info(table)).player_at(0)
        asked = await cards.get(table, "asked")
        assert asked and ann
        alone = msgspec.structs.replace(asked.ref, seat=0, person_id=ann.person_id, pinged=[0])
        await cards.change(table, asked._replace(slot="turn:0", ref=alone), remove=["asked"])
        async with service.cache.locked(table) as live:
            await ask_anew(service, live)
        service.wake_subscribers()
        await fake.wait_until(lambda: fake.messages_with_controls(channel) != [first], "the card of both")
        await fake.wait_until(lambda: len(fake.messages_with_controls(channel)) == 1, "the end of the first")
        assert not fake.controls(first)


async def test_a_poll_pings_who_wants_it_in_the_thread(started: RunningBot, fake: FakeDiscord) -> None:
    await started.service.settings.apply(await started.person("Cid"), ["tell direct"])
    await fake.run_command("Bob", started.thread, "table end")
    await started.wait_for_delivery()
    (vote,) = started.votes
    assert [each.name for each in vote.pinged] == ["Ann"] and "⏳ Cid" in vote.text
    assert "a vote" in fake.messages_pinging("Cid")[-1].history[0].content


async def test_the_first_card_is_there_while_its_notification_waits(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """It notifies nobody; the one that does takes its place when the hold-off ends."""
    async with running.online(holdoff=600.0):
        await running.start_game("Ann", "Bob", "Cid")
        (silent,) = running.cards
        assert not silent.pinged and fake.shown_images(silent)
        await running.end_hold_off()
        await fake.wait_until(lambda: any(m.pinged for m in running.cards), "the notification")
        card = await running.wait_for_card("Ann")
        assert {each.name for each in card.pinged} == {"Ann"}


async def test_a_card_that_may_be_posted_nowhere_while_its_notification_waits_logs_no_traceback(
    running: RunningBot, fake: FakeDiscord, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card of the former turn is too old to be passed on."""
    caplog.set_level("INFO", "bot.discord")
    monkeypatch.setattr("bot.discord.cards.card_keeper.OLD_MESSAGE_AGE", timedelta(0))
    async with running.online():
        await running.start_game("Ann", "Bob", "Cid")
        await running.wait_for_delivery()
        running.hold_pings(600.0)
        fake.find_channel("general").denied |= {"SEND_MESSAGES", "SEND_MESSAGES_IN_THREADS"}
        await running.submit(0, "pass")
        await fake.wait_until(lambda: "could not be brought up to date" in caplog.text, "the refusal")
    assert not [each for each in caplog.records if each.exc_info]


async def test_who_acts_before_the_notification_gets_none(running: RunningBot, fake: FakeDiscord) -> None:
    async with running.online(holdoff=600.0):
        await running.start_game("Ann", "Bob", "Cid")
        await running.play_lines("Ann: buy SV")
        await running.wait_for_card("Bob")
        await running.end_hold_off()
        await fake.wait_until(lambda: any(m.pinged for m in running.cards), "the notification")
        pinged = [each.name for m in fake.visible_messages(running.thread) for each in m.pinged]
        assert "Ann" not in pinged and pinged.count("Bob") == 1


async def test_chat_brings_down_the_card_of_who_plays_live_once_for_each_decision(
    started: RunningBot, fake: FakeDiscord
) -> None:
    """Silently, with its pictures; the one above goes."""
    await started.play_lines("Ann: pass", "Bob: pass", "Cid: bid CA 165")
    await started.wait_for_delivery()
    above = await started.wait_for_card("Ann")
    assert fake.shown_images(above)
    await fake.send_text("Bob", started.thread, "Well played!")
    await fake.wait_until(lambda: started.cards and started.cards[-1].id != above.id, "the fresh card")
    below = await started.wait_for_card("Ann")
    assert below.id > above.id and not below.pinged and fake.shown_images(below)
    assert "buy the SV" in below.text and above not in fake.visible_messages(started.thread)
    await fake.send_text("Bob", started.thread, "And again.")
    await started.wait_for_delivery()
    assert (await started.wait_for_card("Ann")).id == below.id, "once"
    await fake.click("Ann", below, "Pass")
    await started.wait_for_card("Bob")


async def test_chat_brings_down_the_cards_of_all_tables_of_a_channel(
    running: RunningBot, fake: FakeDiscord
) -> None:
    async with running.online() as service:
        channel = fake.find_channel("general")
        place = {"guild": fake.guild_id, "channel": channel.id, "thread": channel.id}
        people = {name: await running.person(name) for name in ("Ann", "Bob")}
        for _ in range(2):
            table = await service.lobby.create("1830", people["Ann"], location=place)
            for name, person in people.items():
                await service.lobby.join(table.id, person, name)
            await service.lobby.start(table.id, by=people["Ann"], order=("Ann", "Bob"))
            for number, line in enumerate(("pass", "bid CA 165")):
                await service.submit(table.id, number, [line], None, None)
        await running.wait_for_delivery()

        def cards() -> list[Message]:
            shown = fake.messages_with_controls(channel)
            return [each for each in shown if "Ann to act" in each.text and "move 3" in each.text]

        await fake.wait_until(lambda: len(cards()) == 2, "a card of each table")
        said = await fake.send_text("Bob", channel, "Well played!")
        await fake.wait_until(lambda: [each.id > said.id for each in cards()] == [True, True], "fresh cards")


async def test_who_has_not_acted_lately_gets_no_fresh_card(started: RunningBot, fake: FakeDiscord) -> None:
    card = await started.wait_for_card("Ann")
    await fake.send_text("Bob", started.thread, "Go on!")
    await started.play_lines("Ann: pass")
    assert started.service is started.service and (await started.wait_for_card("Bob")).id >= card.id


async def begin_with_an_order_that_ends(started: RunningBot, fake: FakeDiscord) -> None:
    """The opening is played. Bob is told by direct message, and his order ends at his first turn."""
    await started.play_opening()
    await started.play_lines("Ann: par B&O 67")
    await started.service.settings.apply(await started.person("Bob"), ["tell direct"])
    await started.submit_lines("Bob", "auto buy BO up to 60")


async def test_an_order_that_ends_where_a_turn_begins_pings_once_in_direct_messages(
    started: RunningBot, fake: FakeDiscord
) -> None:
    await begin_with_an_order_that_ends(started, fake)
    before = len(fake.pings)
    await started.play_lines("Ann: pass")
    await started.wait_for_delivery()
    (card,) = fake.visible_messages(fake.find_dm("Bob"))
    assert "Bob to act" in card.text and "Your order `auto buy B&O up to 60` has ended." in card.text
    (ping,) = [each for each in fake.pings[before:] if each.user.name == "Bob"]
    assert ping.message is card
    await started.submit_lines("Bob", "pass")
    ended = "Your order `auto buy B&O up to 60` has ended."
    await fake.wait_until(lambda: ended in card.text and not fake.controls(card), "the finished card")


async def test_who_takes_a_move_back_is_not_pinged_in_direct_messages(
    started: RunningBot, fake: FakeDiscord
) -> None:
    await started.service.settings.apply(await started.person("Ann"), ["tell direct"])
    await started.play_lines("Ann: pass")
    before = len(fake.pings)
    await fake.run_command("Ann", started.thread, "undo")
    await started.wait_for_delivery()
    (card,) = fake.messages_with_controls(fake.find_dm("Ann"))
    assert "Ann to act" in card.text
    assert not [each for each in fake.pings[before:] if each.user.name == "Ann" and not each.silent]


async def test_an_order_that_has_ended_is_told_though_the_turn_is_over_before_it_is_told(
    started: RunningBot, fake: FakeDiscord
) -> None:
    await begin_with_an_order_that_ends(started, fake)
    started.hold_pings(600.0)
    await started.play_lines("Ann: pass", "Bob: pass")
    await started.end_hold_off()
    await started.wait_for_delivery()
    (told,) = fake.visible_messages(fake.find_dm("Bob"))
    assert "Your order `auto buy B&O up to 60` has ended." in told.text and not fake.controls(told)


async def test_who_is_asked_again_before_they_are_told_gets_one_direct_message(
    started: RunningBot, fake: FakeDiscord
) -> None:
    """The first notification has news of their order, so that the second has not taken its place."""
    await begin_with_an_order_that_ends(started, fake)
    before = len(fake.pings)
    started.hold_pings(600.0)
    await started.play_lines("Ann: pass", "Bob: pass", "Cid: par NYC 67", "Ann: pass")
    await started.end_hold_off()
    await started.wait_for_delivery()
    (card,) = fake.visible_messages(fake.find_dm("Bob"))
    assert "Bob to act" in card.text and "Your order `auto buy B&O up to 60` has ended." in card.text
    assert [each.user.name for each in fake.pings[before:]].count("Bob") == 1
