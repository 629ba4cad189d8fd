"""`/me export` and `/me erase`, and what becomes of the messages at a table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from bot.discord.delivery import DiscordDelivery
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import personal_messages, renamings
from bot.hub.notifications.notify import Recipient
from bot.hub.people import PrivacySettings, person_by_discord
from storage import OutboxMessage
from tests.discord.test_asked_again import asked_of_two
from tests.fake_discord.running_bot import OnePixelPictures, RunningBot
from tests.fake_discord.server import FakeDiscord, Message
from tests.privacy.test_erase import stored_rows


@pytest.fixture
def running(fake: FakeDiscord, tmp_path: Path, address: str) -> RunningBot:
    """Our client with a store of each kind, not connected yet."""
    return RunningBot(fake, tmp_path / "railpost.db", address=address)


async def test_a_person_gets_their_data_and_nobody_else_sees_it(
    started: RunningBot, fake: FakeDiscord
) -> None:
    answer = await fake.run_command("Bob", "general", "me export")
    assert answer.text == "Here is all that is stored about you." and not answer.public_messages
    (file,) = answer.private_messages[-1].attachments
    data = msgspec.json.decode(file.content)
    assert file.filename == "my-data.json" and [row["name"] for row in data["people"]] == ["Bob"]
    assert (await fake.run_command("Dan", "general", "me export")).text == "Nothing is stored about you."


async def test_a_person_is_deleted_and_cards_are_edited(started: RunningBot, fake: FakeDiscord) -> None:
    thread = started.thread
    await started.play_lines("Ann: buy SV")
    asked = await fake.run_command("Bob", "general", "me erase")
    assert "Should everything about you be deleted?" in asked.text and not asked.public_messages
    question = asked.private_messages[-1]
    await fake.click("Bob", question, "Delete everything")
    await fake.wait_until(lambda: question.text.startswith("Everything about you is deleted."), "the end")
    await fake.wait_until(lambda: "has left Railpost" in fake.last_message(thread).text, "the news")
    await started.wait_for_cards()
    await started.wait_for_delivery()
    shown = "\n".join(message.text for message in fake.visible_messages(thread))
    assert "Bob" not in shown.replace("Bob plays", "") and "Player 2" in shown
    marks = "Bob", str(fake.find_user("Bob").id)
    rows = await stored_rows(started.service.store)
    assert not [(table, text) for table, text in rows if any(mark in text for mark in marks)]
    assert (await fake.run_command("Bob", "general", "me export")).text == "Nothing is stored about you."


async def test_direct_messages_to_others_name_nobody_who_is_deleted(
    started: RunningBot, fake: FakeDiscord
) -> None:
    """News are text, and a question has buttons."""
    await fake.run_command("Ann", started.thread, "me settings", line="tell direct")
    asked = await started.submit_lines("Cid", "resign")
    await fake.click("Cid", asked.message, fake.controls(asked.message)[0].label)
    await started.wait_for_delivery()
    await fake.run_command("Dan", "general", "table replace", seat="Cid", table=started.table_code)
    await started.wait_for_delivery()

    def direct() -> str:
        return "\n".join(message.text for message in fake.visible_messages(fake.find_dm("Ann"), "Ann"))

    assert "Dan asks for the seat of Cid" in direct() and "Cid resigns." in direct()
    for name in ("Dan", "Cid"):
        question = await fake.run_command(name, "general", "me erase")
        await fake.click(name, question.private_messages[-1], "Delete everything")
        await started.wait_for_delivery()
    assert "somebody asks for the seat of Player 3" in direct() and "Player 3 resigns." in direct()
    assert "Cid" not in direct()
    (card,) = fake.messages_with_controls(fake.find_dm("Ann"))
    lines = [each.custom_id.rpartition(":")[2] for each in fake.controls(card)]
    assert lines == ["admit somebody", "refuse somebody"]


async def in_direct_messages(running: RunningBot, fake: FakeDiscord, *names: str) -> TableInfo:
    """A game that is shown in no channel."""
    service = running.service
    async with service.store.begin() as unit:
        people = [(await person_by_discord(unit, fake.find_user(name).id, name)).id for name in names]
    lobby = await service.lobby.create("1830", people[0], name="Friday")
    for person, name in zip(people, names, strict=True):
        await service.lobby.join(lobby.id, person, name)
    table = await service.lobby.start(lobby.id, by=people[0], order=names)
    await running.wait_for_delivery()
    return table


async def test_direct_messages_about_a_table_without_a_channel_name_nobody_who_is_deleted(
    running: RunningBot, fake: FakeDiscord
) -> None:
    async with running.online() as service:
        table = await in_direct_messages(running, fake, "Ann", "Bob")
        own = fake.find_dm("Ann")
        ann, bob = table.seated_players
        to_ann = Recipient(ann.person_id, 0, str(fake.find_user("Ann").id), None)
        async with service.store.begin() as unit:
            told = personal_messages(table, "seat_answer", to_ann, "Bob waits.", "told", unit.now)
            await unit.outbox.enqueue(*told)
        service.wake_subscribers()
        await running.wait_for_delivery()
        assert "Bob waits." in fake.last_message(own).text
        await service.personal_data.erase(bob.person_id)
        await running.wait_for_delivery()
        assert not [each.text for each in fake.visible_messages(own, "Ann") if "Bob" in each.text]


async def test_a_table_goes_on_while_names_are_taken_out_of_its_messages(
    started: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its public messages waited. A rate limit and a fault of Discord keep the name in no message."""

    def at_once(*_: object) -> datetime:
        return datetime.now(UTC)

    def shown() -> str:
        return "".join(message.text for message in fake.visible_messages(thread))

    monkeypatch.setattr(DiscordDelivery, "_retry_time", at_once)
    service, thread = started.service, started.thread
    (table,) = await service.queries.list_tables()
    cid = table.person_at(2)
    assert cid is not None
    await service.running.announce(table.id, "Cid says: hello", "say")
    await started.wait_for_delivery()
    (said,) = (m for m in fake.visible_messages(thread) if m.text.endswith("Cid says: hello"))
    async with fake.rest.hold_requests("GET", "/messages$") as hold:
        await service.personal_data.erase(cid)
        await fake.wait_until(lambda: hold.reached, "the history")
        await service.running.announce(table.id, "Ann says: who plays on?", "say")
        await fake.wait_until(lambda: "who plays on" in shown(), "the news")
        fake.rest.inject_fault("GET", "/messages$", 503)
        limited = fake.rest.inject_fault("PATCH", f"/messages/{said.id}$", 429, retry_after=60)
    await started.wait_for_delivery()
    assert not limited.times and said.text.endswith("Player 3 says: hello")
    assert "Cid" not in shown()


async def take_out(running: RunningBot, table: TableInfo, word: str, name: str) -> None:
    """Take a name out of the messages of a table."""
    async with running.service.store.begin() as unit:
        await unit.outbox.enqueue(*renamings(table, word, [name]))
    running.service.wake_subscribers()


async def test_a_message_is_read_again_before_its_name_is_taken_out(
    started: RunningBot, fake: FakeDiscord
) -> None:
    """It may have got another line since the channel was read; the thread may be archived."""
    service, thread = started.service, started.thread
    (table,) = await service.queries.list_tables()
    for text in ("Ann says: one", "Ann says: two"):
        await service.running.announce(table.id, text, "say")
        await started.wait_for_delivery()
    first, last = fake.visible_messages(thread)[-2:]
    for each in (first, last):
        each.content, each.components, each.flags = each.text, [], 0  # plain text, as pings are
    thread.archived_by_request = True
    async with fake.rest.hold_requests("PATCH", f"/messages/{last.id}$") as hold:
        await take_out(started, table, "Player 1", "Ann")
        await fake.wait_until(lambda: hold.reached, "the edit of the newest message")
        first.content += "\nBob says: three"
    await started.wait_for_delivery()
    assert last.content.endswith("Player 1 says: two")
    assert first.content.endswith("Player 1 says: one\nBob says: three")


async def test_names_are_taken_out_at_one_table_at_a_time(
    started: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other table waits, and what it shows is drawn anew once, not at each attempt."""
    retries, at = list[str](), datetime.now

    def at_once(_: object, queued: OutboxMessage, *__: object) -> datetime:
        retries.append(queued.idempotency_key)
        return at(UTC)

    monkeypatch.setattr(DiscordDelivery, "_retry_time", at_once)
    (first,) = await started.service.queries.list_tables()
    lobby = await started.open_table("Bob", name="Saturday")
    second = await started.service.queries.find_table(started.table_code)
    async with fake.rest.hold_requests("GET", "/messages$") as hold:
        await take_out(started, first, "Player 3", "Cid")
        await fake.wait_until(lambda: hold.reached, "the messages of the first table")
        begun = len(fake.rest.requests)
        await take_out(started, second, "Player 2", "Nobody")
        await fake.wait_until(lambda: len(retries) >= 3, "three attempts")
        assert hold.reached == 1
        redrawn = [path for _, path in fake.rest.requests[begun:] if path.endswith(f"/messages/{lobby.id}")]
        assert len(redrawn) == 1
    await started.wait_for_delivery()


async def test_a_card_stays_where_a_deleted_person_was_called_like_a_word_of_it(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """A card without pictures, in direct messages."""
    running.pictures = pictures = OnePixelPictures()
    pictures.fails = True
    async with running.online() as service:
        table = await in_direct_messages(running, fake, "Ann", "Bob")
        async with service.store.begin() as unit:
            await unit.outbox.enqueue(*renamings(table, "Player 2", ["Buy"]))
        service.wake_subscribers()
        await running.wait_for_delivery()
        (card,) = fake.messages_with_controls(fake.find_dm("Ann"))
        assert fake.controls(card)[0].label == "Buy the SV for $20"
    fake.check_violations(pinged=["Ann", "Bob"])


async def test_a_deputy_who_was_pinged_and_has_not_moved_is_deleted(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """Nothing at the table is theirs, so that its cards are not edited."""
    table, dan_id = await asked_of_two(running), fake.find_user("Dan").id
    async with running.online() as service:
        bob = (await service.queries.table_info(table)).player_at(1)
        async with service.store.begin() as unit:
            dan = await person_by_discord(unit, dan_id, "Dan")
        assert bob
        day = datetime.now(UTC) + timedelta(days=9)
        await service.settings.apply(bob.person_id, ["tell thread", f"away until {day:%Y-%m-%d} deputy Dan"])
        await service.running.pause(table, by=None)
        await service.running.resume(table, by=None)
        await fake.wait_until(lambda: fake.messages_pinging("Dan"), "a ping")
        await running.wait_for_delivery()
        await service.personal_data.erase(dan.id)
        await running.wait_for_delivery()
        rows = await stored_rows(service.store)
        assert not [(table, text) for table, text in rows if str(dan_id) in text]


@pytest.mark.parametrize("begins", [False, True], ids=["not begun", "in play"])
async def test_the_messages_of_a_table_that_is_over_name_nobody_who_is_deleted(
    online: RunningBot, fake: FakeDiscord, begins: bool
) -> None:
    """The lobby, and a line that begins with the name."""
    await online.open_table("Bob", name="Friday")
    if begins:
        await fake.run_command("Ann", "general", "table start")
    await fake.run_command("Ann", "general", "table end")
    await online.wait_for_delivery()
    asked = await fake.run_command("Ann", "general", "me erase")
    await fake.click("Ann", asked.private_messages[-1], "Delete everything")
    await online.wait_for_delivery()
    places = [fake.find_channel("general"), *fake.threads]
    shown = [m.text for place in places for m in fake.visible_messages(place, "Bob")]
    assert "Table" in shown[0] and not [text for text in shown if "Ann" in text]


async def test_a_table_renames_only_its_own_list_of_turns_in_a_channel(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """The other table may add a line to its list meanwhile, which would be lost."""
    general = fake.find_channel("general")
    general.denied.add("CREATE_PUBLIC_THREADS")
    async with running.online() as service:
        async with service.store.begin() as unit:
            people = [
                (await person_by_discord(unit, fake.find_user(each).id, each)).id for each in ("Bob", "Ann")
            ]
        place, tables = {"guild": fake.guild_id, "channel": general.id}, []
        for name in ("First", "Second"):
            table = await service.lobby.create("1830", people[0], name=name, location=place)
            for person, player in zip(people, ("Bob", "Ann"), strict=True):
                await service.lobby.join(table.id, person, player)
            tables.append(await service.lobby.start(table.id, by=people[0], order=("Bob", "Ann")))
            await running.wait_for_delivery()
            await service.submit(table.id, 0, ["buy SV"], None, name)
        said = "✓ Bob buys the SV"

        def listed(said: str) -> list[Message]:
            return [each for each in fake.visible_messages(general) if each.text.startswith(said)]

        await fake.wait_until(lambda: len(listed(said)) == 2, "both lists")
        await running.wait_for_delivery()
        async with service.store.begin() as unit:
            await unit.outbox.enqueue(*renamings(tables[0], "Player 1", ["Bob"]))
        service.wake_subscribers()
        await fake.wait_until(lambda: listed("✓ Player 1 buys the SV"), "the name that holds now")
        await running.wait_for_delivery()
        assert len(listed(said)) == 1


async def test_help_names_the_policy(running: RunningBot, fake: FakeDiscord) -> None:
    async with running.online() as service:
        assert "What is kept about you" not in (await fake.run_command("Ann", "general", "help")).text
        service.personal_data.settings = PrivacySettings("https://games.example.org/privacy")
        told = await fake.run_command("Ann", "general", "help")
        assert told.text.endswith("What is kept about you: https://games.example.org/privacy")
