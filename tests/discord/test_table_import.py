"""`/table import`: a game from elsewhere, seats that are claimed by buttons, and play goes on."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import engine
from bot.tools.simulation.simulate import simulate_game
from engine.site_18xx.export import export_game
from engine.title import SITE_CONVENTIONS
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord

PEOPLE = ("Cleo", "Dina", "Emil")


def buttons_left(fake: FakeDiscord, count: int) -> bool:
    """Whether the channel has so many buttons."""
    return sum(len(fake.controls(each)) for each in fake.messages_with_controls("general")) == count


def asked_to_admit(fake: FakeDiscord, count: int) -> bool:
    """Whether so many have asked the host for a seat."""
    return len(fake.messages_with_controls(fake.find_dm("Cleo"))) == count


async def test_a_game_of_18xx_games_moves_in(tmp_path: Path) -> None:
    game = simulate_game("1830", 3, 6, (SITE_CONVENTIONS,), max_moves=40)
    content = json.dumps(export_game(game.history)).encode()
    async with FakeDiscord(PEOPLE) as fake:
        running = RunningBot(fake, tmp_path / "railpost.db")
        async with running.online() as service:
            done = await fake.run_command("Cleo", "general", "table import", file=("game.json", content))
            assert "The players claim their seats by its card." in done.text
            running.table_code = done.text.split("Table ", 1)[1].split(" ", 1)[0]
            await fake.wait_until(lambda: fake.messages_with_controls("general"), "the card")
            for seat, name in enumerate(PEOPLE):
                card = fake.messages_with_controls("general")[-1]
                done = await fake.click(name, card, f"The seat of {game.players[seat]}")
                if name != "Cleo":
                    assert "You have asked for the seat" in done.text
                    await fake.wait_until(partial(asked_to_admit, fake, seat), "the question to the host")
                    question = fake.messages_with_controls(fake.find_dm("Cleo"))[-1]
                    done = await fake.click("Cleo", question, "Admit")
                left = len(PEOPLE) - seat - 1
                await fake.wait_until(partial(buttons_left, fake, left), "the card without that seat")
            await fake.wait_until(lambda: running.cards, "the card of the player who is to act")
            table = await service.queries.find_table(running.table_code)
            view = await service.queries.view(table.id)
            assert view.state and view.state.stack == game.state.stack
            line = engine.legal_lines(view.state, f"p{view.pending[0].seat}")[0]
            await running.play_lines(f"{view.pending[0].name}: {line}")


async def test_a_file_that_is_no_game_is_answered_with_a_sentence(tmp_path: Path) -> None:
    async with FakeDiscord(PEOPLE) as fake:
        running = RunningBot(fake, tmp_path / "railpost.db")
        async with running.online() as service:
            done = await fake.run_command("Cleo", "general", "table import", file=("notes.txt", b"hello"))
            assert "neither a file of 18xx.games nor a game text" in done.text
            assert not await service.queries.list_tables()
