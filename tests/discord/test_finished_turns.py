"""Lists of finished turns: a process may die at any step of finishing a card, and they read the same.

What is deleted here is deleted unheard, as while the bot is away: what Discord tells of is posted anew.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.discord.cards.card_refs import CardStore, TableCard
from bot.discord.cards.finished_turns import FinishedTurns, latest_lines
from bot.hub.table import TableView
from tests.discord.test_kills import die_after
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord, Message

LINES = ("Ann: buy SV", "Bob: buy CS", "Cid: pass")
NEXT = ("Bob", "Cid", "Ann")


def listed(running: RunningBot, fake: FakeDiscord) -> list[str]:
    """The messages of the thread that ask for nothing."""
    return [each.text for each in fake.visible_messages(running.thread) if each not in running.cards]


async def play(running: RunningBot, first: int, last: int) -> None:
    for line, name in zip(LINES[first:last], NEXT[first:last], strict=True):
        await running.play_lines(line)
        await running.wait_for_card(name)


def assert_each_is_said_once(turns: str) -> None:
    """Each of `LINES` is on a list of turns, and only once."""
    for said in ("Ann buys the SV", "Bob buys the CS", "Cid passes"):
        assert turns.count(said) == 1, turns


async def test_a_move_while_a_card_is_finished_is_said_once(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = FinishedTurns._list_turns

    async def find_late(self: FinishedTurns, view: TableView, card: TableCard, until: int) -> None:
        await self.service.submit(view.table.id, 1, ["buy CS"], None, "Bob is quick")
        await find(self, view, card, until)

    async with running.online():
        await running.start_game("Ann", "Bob", "Cid")
        monkeypatch.setattr(FinishedTurns, "_list_turns", find_late)
        await running.play_lines("Ann: buy SV")
        await running.wait_for_card("Cid")
        await play(running, 2, 3)
        await fake.wait_until(lambda: "Cid passes" in "".join(listed(running, fake)), "the list")
        assert_each_is_said_once("\n".join(listed(running, fake)[1:]))


@pytest.mark.parametrize(
    ("move", "step"), [(0, "_edit"), (0, "_save"), (1, "_edit"), (1, "_save"), (1, "_remove")]
)
async def test_14_no_turn_is_missing_or_twice_after_a_kill(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch, move: int, step: str
) -> None:
    """Move 0: the card becomes the list. Move 1: the list gets a line, and the card goes."""
    with monkeypatch.context() as patch:
        async with running.online():
            await running.start_game("Ann", "Bob", "Cid")
            await play(running, 0, move)
            reached = die_after(patch, FinishedTurns, step)
            await running.play_lines(LINES[move])
            await asyncio.wait_for(reached.wait(), fake.default_timeout)
    async with running.online():
        await running.wait_for_card(NEXT[move])
        await play(running, move + 1, len(LINES))
        await fake.wait_until(lambda: len(fake.visible_messages(running.thread)) == 3, "what is left over")
        begins, turns = listed(running, fake)
    assert "The game begins" in begins
    assert_each_is_said_once(turns)


@pytest.mark.parametrize("gone", ["card", "old card", "list"])
async def test_what_stood_on_a_message_that_somebody_has_deleted_is_listed_with_the_next(
    started: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    """A card that is gone cannot become the list; an old one is queued with its line before that is seen. The
    list after one that is gone begins with its lines."""
    first = await started.wait_for_card("Ann")
    if gone == "list":
        await play(started, 0, 1)
    await fake.delete_message(first, is_heard=False)
    if gone == "old card":
        await play_with_old_cards(started, monkeypatch, 0, 1)
    await play(started, 0 if gone == "card" else 1, len(LINES))
    _, turns = listed(started, fake)
    assert_each_is_said_once(turns)
    assert turns.index("Ann buys") < turns.index("Bob buys") < turns.index("Cid passes")


async def test_the_turn_of_an_old_card_is_listed_where_a_later_card_is_finished_first(
    started: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("bot.discord.cards.finished_turns.OLD_MESSAGE_AGE", timedelta(0))
        patch.setattr(FinishedTurns, "queue", lambda *_: None)  # its turn does not come yet
        await started.play_lines(LINES[0])
        await wait_for_queue(started, 1)
    await play(started, 1, len(LINES))
    await wait_for_queue(started)
    _, turns = listed(started, fake)
    assert_each_is_said_once(turns)


async def test_the_turn_of_a_card_that_was_passed_on_is_listed_where_a_later_card_is_finished_first(
    started: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has become the card of Bob; when he is notified by another, it waits in the queue."""
    await started.wait_for_delivery()
    started.hold_pings(600.0)
    await play(started, 0, 1)
    started.hold_pings(0.0)
    with monkeypatch.context() as patch:
        patch.setattr(FinishedTurns, "queue", lambda *_: None)  # its turn does not come yet
        await started.end_hold_off()
        await wait_for_queue(started, 1)
        await started.play_lines(LINES[1])
        await fake.wait_until(lambda: "Bob buys" in "".join(listed(started, fake)), "the list")
    await play(started, 2, len(LINES))
    await wait_for_queue(started)
    turns = listed(started, fake)[-1]
    assert_each_is_said_once(turns)


async def test_the_turn_of_a_deleted_card_is_listed_after_other_news(
    started: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another message ends the list, and loses nothing of it."""
    await fake.delete_message(await started.wait_for_card("Ann"), is_heard=False)
    await play_with_old_cards(started, monkeypatch, 0, 1)
    await fake.run_command("Ann", started.thread, "table pause")
    await fake.run_command("Ann", started.thread, "table resume")
    await started.wait_for_delivery()
    await play(started, 1, len(LINES))
    turns = "\n".join(listed(started, fake))
    assert_each_is_said_once(turns)


async def test_a_list_and_a_card_that_somebody_has_deleted_are_written_again_later(
    started: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card is old, so its line waits in the queue, and there is neither a list for it nor its message."""
    first = await started.wait_for_card("Ann")
    await play(started, 0, 1)
    await fake.delete_message(first, is_heard=False)
    await fake.delete_message(await started.wait_for_card("Bob"), is_heard=False)
    await play_with_old_cards(started, monkeypatch, 1, 2)
    await play(started, 2, len(LINES))
    turns = listed(started, fake)[-1]
    assert_each_is_said_once(turns)


async def test_the_last_card_of_a_game_is_finished_when_discord_allows_it(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing happens any more that would try it again, and a process that is started anew does too."""

    async def left_at_the_end() -> Message:
        await running.start_game("Ann", "Bob")
        card = await running.wait_for_card("Ann")
        refused = [
            fake.rest.inject_fault(method, "channels/.*/messages/", 403, times=99)
            for method in ("DELETE", "PATCH")
        ]
        await running.submit_lines("Ann", "end yes")
        await fake.wait_until(lambda: any(each.times < 99 for each in refused), "an attempt")
        await running.wait_for_delivery()
        assert fake.controls(card)
        return card

    async with running.online():
        left = await left_at_the_end()
    fake.rest.injected_faults.clear()
    async with running.online():
        await fake.wait_until(lambda: not fake.controls(left), "its end by the next process")
        monkeypatch.setattr("bot.discord.cards.finished_turns.AGAIN", 0.05)
        left = await left_at_the_end()
        fake.rest.injected_faults.clear()
        await fake.wait_until(lambda: not fake.controls(left), "its end by the same process")


async def test_the_outcome_of_a_poll_that_somebody_has_deleted_is_listed(
    started: RunningBot, fake: FakeDiscord
) -> None:
    first = await started.wait_for_card("Ann")
    await play(started, 0, 2)
    await fake.delete_message(first, is_heard=False)  # the list too, so that there is none for it
    await fake.run_command("Ann", started.thread, "undo")
    await fake.wait_until(lambda: started.votes, "the poll")
    await fake.delete_message(started.votes[0], is_heard=False)
    assert "Nothing changes" in (await started.submit_lines("Bob", "decline vote")).text
    await started.wait_for_card("Cid")
    await play(started, 2, 3)
    (turns,) = [each for each in listed(started, fake) if "Cid passes" in each]
    assert turns.count("Bob declines") == turns.count("Cid passes") == 1, turns


def test_of_more_turns_than_a_list_has_room_for_the_last_are_on_it() -> None:
    """After an outage, say; the first line says how many are missing."""
    lines = [f"✓ {number}: {'word ' * 70}" for number in range(30)]
    told, *kept = latest_lines(lines)
    assert kept == lines[-len(kept) :] and told == f"… and {30 - len(kept)} earlier turns (`/show log`)"
    assert 3000 < len("\n".join([told, *kept])) < 4000 and latest_lines(lines[:5]) == lines[:5]


async def wait_for_queue(running: RunningBot, cards: int = 0) -> None:
    """Every queued card is finished, or so many are queued."""
    service = running.service
    table = (await service.queries.find_table(running.table_code)).id
    async with asyncio.timeout(running.fake.default_timeout):
        while True:
            if sum(each.is_queued for each in await CardStore(service.store).of_table(table)) == cards:
                return
            await asyncio.sleep(0.01)


async def play_with_old_cards(running: RunningBot, patch: pytest.MonkeyPatch, start: int, end: int) -> None:
    """Play these lines while every card counts as old, so that it is finished by the queue."""
    with patch.context() as aged:
        aged.setattr("bot.discord.cards.finished_turns.OLD_MESSAGE_AGE", timedelta(0))
        await play(running, start, end)
        await wait_for_queue(running)


async def test_an_undone_move_keeps_no_mark_of_a_finished_turn(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """A redo gives it back."""

    def all_listed() -> str:
        return "\n".join(listed(running, fake))

    async with running.online():
        await running.start_game("Ann", "Bob", "Cid")
        await running.play_lines("Ann: buy SV")
        await running.wait_for_card("Bob")
        await fake.wait_until(lambda: "✓ Ann buys the SV for $20." in all_listed(), "the turn on the list")
        await fake.run_command("Ann", running.thread, "undo")
        await running.wait_for_card("Ann")
        undone = "↶ Ann buys the SV for $20. Bob has the priority deal. (undone)"
        await fake.wait_until(lambda: undone in all_listed(), "the mark")
        assert "✓ Ann buys the SV" not in all_listed()
        assert "Done" in (await running.submit_lines("Ann", "redo")).text
        await fake.wait_until(lambda: "✓ Ann buys the SV for $20." in all_listed(), "the turn again")
        assert "(undone)" not in all_listed()


async def test_each_vote_on_two_polls_is_listed_once(started: RunningBot, fake: FakeDiscord) -> None:
    await started.submit_lines("Ann", "pace 24h")
    await started.submit_lines("Ann", "robot Ann")
    await fake.wait_until(lambda: len(started.votes) == 2, "both polls")
    await started.submit_lines("Bob", "accept vote")
    await started.submit_lines("Bob", "decline vote")
    await started.wait_for_delivery()
    await fake.wait_until(lambda: "Bob declines" in "".join(listed(started, fake)), "the outcome")
    shown = "\n".join(listed(started, fake)).splitlines()
    assert shown.count("Bob declines: Ann would like a robot to play on for them.") == 1
    assert [each.startswith("Bob accepts: Ann proposes another pace") for each in shown].count(True) == 1
