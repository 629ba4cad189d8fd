"""Lists of finished turns: a process may die at any step of finishing a card, and they read the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.discord.finished_turns import FinishedTurns
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord

LINES = ("Ann: buy SV", "Bob: buy CS", "Cid: pass")
NEXT = ("Bob", "Cid", "Ann")


def listed(running: RunningBot, fake: FakeDiscord) -> list[str]:
    """The messages of the thread that ask for nothing."""
    return [each.text for each in fake.visible_messages(running.thread) if each not in running.cards]


async def play(running: RunningBot, first: int, last: int) -> None:
    for line, name in zip(LINES[first:last], NEXT[first:last], strict=True):
        await running.play_lines(line)
        await running.wait_for_card(name)


def die_after(patch: pytest.MonkeyPatch, step: str) -> asyncio.Event:
    """From now on a step has its effect and never ends; the event says that it was reached."""
    reached, method = asyncio.Event(), getattr(FinishedTurns, step)

    async def dying(*arguments: Any, **options: Any) -> None:
        await method(*arguments, **options)
        reached.set()
        await asyncio.Event().wait()

    patch.setattr(FinishedTurns, step, dying)
    return reached


@pytest.mark.parametrize(
    ("move", "step"), [(0, "_edit"), (0, "_save"), (1, "_edit"), (1, "_save"), (1, "_remove")]
)
async def test_14_no_turn_is_missing_or_twice_after_a_kill(
    running: RunningBot, fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch, move: int, step: str
) -> None:
    """Move 0: the card becomes the list. Move 1: the list gets a line, and the card goes."""
    monkeypatch.setattr("bot.discord.delivery.SHUTDOWN_GRACE", 0.1)
    with monkeypatch.context() as patch:
        async with running.online():
            await running.start_game("Ann", "Bob", "Cid")
            await play(running, 0, move)
            reached = die_after(patch, step)
            await running.play_lines(LINES[move])
            await asyncio.wait_for(reached.wait(), fake.default_timeout)
    await running.expire_leases()
    async with running.online():
        await running.wait_for_card(NEXT[move])
        await play(running, move + 1, len(LINES))
        await fake.wait_until(lambda: len(fake.visible_messages(running.thread)) == 3, "what is left over")
        begins, turns = listed(running, fake)
    assert "The game begins" in begins
    for said in ("Ann buys the SV", "Bob buys the CS", "Cid passes"):
        assert turns.count(said) == 1, turns


async def test_the_turn_of_a_card_that_somebody_has_deleted_is_listed_with_the_next(
    running: RunningBot, fake: FakeDiscord
) -> None:
    """Its message cannot become the list, so that the next card that is finished has its line too."""
    async with running.online():
        await running.start_game("Ann", "Bob", "Cid")
        await fake.delete_message(await running.wait_for_card("Ann"))
        await play(running, 0, len(LINES))
        _, turns = listed(running, fake)
    for said in ("Ann buys the SV", "Bob buys the CS", "Cid passes"):
        assert turns.count(said) == 1, turns
