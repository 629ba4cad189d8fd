"""`/me settings` and `/me turns` with the real client, and what the clock says on Discord."""

from __future__ import annotations

from datetime import timedelta

from bot.features.digest.feature import enqueue_digest
from bot.features.settings.feature import settings_controls, without_word
from bot.hub.loading import load_recipient
from bot.hub.notifications.clock_messages import reminder_messages
from bot.hub.notifications.notify import Recipient
from bot.hub.notifications.preferences import PersonSettings, changed_settings
from bot.position.controls import Ask, Choose, Say
from storage import SeatClock
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord, Message
from tests.pace.test_preferences import NOW


async def test_settings_by_the_card(started: RunningBot, fake: FakeDiscord) -> None:
    shown = await fake.run_command("Ann", "general", "me settings")
    assert "zone UTC" in shown.text and "tell default" in shown.text
    card = shown.private_messages[-1]
    await fake.select("Ann", card, "Where you are told", "By direct message")
    await fake.wait_until(lambda: "tell direct" in card.text, "the setting")
    await fake.fill_in("Ann", card, "Quiet hours…", {"Quiet hours": "22:00-07:00"})
    await fake.wait_until(lambda: "quiet 22:00-07:00" in card.text, "the quiet hours")
    await fake.fill_in("Ann", card, "Time zone…", {"Time zone": "Berlin"})
    await fake.wait_until(lambda: "`Berlin` is not the name of a time zone" in card.text, "the error")
    assert "write one such as `Europe/Berlin`" in card.text and "zone UTC" in card.text


async def test_settings_by_a_line(started: RunningBot, fake: FakeDiscord) -> None:
    done = await fake.run_command(
        "Ann", "general", "me settings", line="zone Europe/Berlin; away until 2999-01-01"
    )
    assert "more than a year away" in done.text
    done = await fake.run_command(
        "Ann", "general", "me settings", line="settings zone Europe/Berlin; next on"
    )
    assert "zone Europe/Berlin" in done.text and "next on" in done.text
    done = await fake.run_command("Ann", "general", "me settings", line="tell mail")
    assert "You have no confirmed email address" in done.text


async def test_turns_can_be_answered_from_the_list(started: RunningBot, fake: FakeDiscord) -> None:
    shown = await fake.run_command("Ann", "general", "me turns")
    assert "You to act: buy the SV for $20" in shown.text
    card = shown.private_messages[-1]
    await fake.fill_in("Ann", card, f"Answer at {started.table_code}…", {"Line": "buy SV"})
    await started.wait_for_card("Bob")
    assert await started.played_lines() == ["buy SV"]


WAITED = "The table has waited for you"


async def test_reminders_and_digests(started: RunningBot, fake: FakeDiscord) -> None:
    """A reminder pings in the thread, unless the decision is made; a digest is a direct message."""
    service = started.service
    await started.wait_for_card("Ann")
    (table,) = await service.queries.list_tables()
    view = await service.queries.view(table.id)
    await service.clock.tick()  # so that the clock of the seat is stored
    now = service.store.now()
    since = now - timedelta(hours=12)
    end = now + timedelta(hours=12)
    clocks, people = list[SeatClock](), list[Recipient]()
    async with service.store.begin() as unit:
        for seat, name in ((0, "Ann"), (1, "Bob")):
            person = await unit.people.find_by_identity("discord", str(fake.find_user(name).id))
            assert person is not None
            recipient = await load_recipient(unit, person.id, seat)
            clock = SeatClock(
                table_id=table.id, seat=seat, decision_id=view.pending[0].decision_id, since=since,
                allowance_end=end, time_up=end,
            )  # fmt: skip
            clocks.append(clock)
            people.append(recipient)
            await unit.outbox.enqueue(*reminder_messages(view.table, clock, recipient, "half", now))
        ann = await unit.people.find_by_identity("discord", str(fake.find_user("Ann").id))
        assert ann is not None
    await service.settings.apply(ann.id, ["digest 08:00"])
    async with service.store.begin() as unit:
        await enqueue_digest(unit, ann.id, unit.now)
    service.wake_subscribers()
    await fake.wait_until(lambda: fake.visible_messages(fake.find_dm("Ann")), "the digest")
    digest = fake.visible_messages(fake.find_dm("Ann"))[-1]
    assert "You to act: buy the SV for $20" in digest.text

    def reminders() -> list[Message]:
        found = fake.visible_messages(started.thread)
        return [each for each in found if WAITED in each.text]

    def reminded() -> bool:
        return any(WAITED in message.text for message in fake.messages_pinging("Ann"))

    await fake.wait_until(reminded, "the reminder")
    assert fake.messages_pinging("Bob") == [], "the table does not wait for Bob"
    for number in range(3):
        async with service.store.begin() as unit:
            await unit.outbox.enqueue(
                *reminder_messages(view.table, clocks[0], people[0], f"day {number}", now)
            )
        service.wake_subscribers()
        await started.wait_for_delivery()
    await fake.wait_until(lambda: len(reminders()) == 1, "the newest in the place of the one before")
    async with service.store.begin() as unit:
        await unit.outbox.enqueue(*reminder_messages(view.table, clocks[0], people[0], "own", now, {"user"}))
    service.wake_subscribers()
    await started.wait_for_delivery()
    own = fake.visible_messages(fake.find_dm("Ann"))[-1]
    assert WAITED in own.text and "You to act: buy the SV" in own.text
    await started.play_lines("Ann: buy SV")
    await fake.wait_until(lambda: not reminders(), "no reminder of what is done")


def test_every_control_of_the_settings_is_a_line_that_is_read() -> None:
    lines = list[str]()
    for now in (["next on", "away until 2999-01-01"], ["quiet off"]):
        for control in settings_controls(now):
            match control:
                case Choose():
                    lines += [option.line for option in control.options]
                case Ask():
                    lines.append(f"{control.start}{control.example.partition(',')[0]}")
                case Say():
                    lines.append(control.line)
    assert len(set(lines)) > 20
    for line in lines:
        for part in line.split(";"):
            changed_settings(PersonSettings(), without_word(part), NOW)
