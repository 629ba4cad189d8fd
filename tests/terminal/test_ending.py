"""The end of a game in the terminal: winner, records, the paths of the game, its charts and its animation."""

from __future__ import annotations

from pathlib import Path

from bot.service import Service
from bot.terminal.console import Console
from engine.game_text.history import GameHistory
from storage import open_store
from tests.fake_discord.running_bot import OnePixelPictures
from tests.game_text.histories import history_of

GAME = Path(__file__).parents[1] / "games/1830-2p-27-18xx.games.18xx"


async def test_the_end_and_charts_at_any_time(tmp_path: Path) -> None:
    history = history_of(GAME)
    before = GameHistory(history.start, history.lines[:-1])
    last = history.lines[-1]
    async with await open_store(tmp_path / "railpost.db") as store:
        service = Service(store)
        console = Console(service, tmp_path, OnePixelPictures())
        table = await service.lobby.import_game(before, name="Found")
        await console.handle_line(f"table use {table.code}")
        chart = await console.handle_line("show chart prices")
        assert "Share prices" in chart.text and (tmp_path / f"pictures/{table.code}-prices.png").exists()
        assert "Best run: " in (await console.handle_line("records")).text
        name = history.start.players[int(last.seat[1:])]
        end = await console.handle_line(f"{name}: {last.line}")
        assert "wins with $" in end.text and "Dearest share: " in end.text
        named = [line for line in end.text.splitlines() if line.startswith(("Picture", "File"))]
        paths = [Path(line.partition(": ")[2]) for line in named]
        assert [path.name.removeprefix(f"{table.code}-") for path in paths] == [
            f"{table.code}.18xx", "sheet.png", "prices.png", "revenue.png", "animation.gif",
            "review.png",
        ]  # fmt: skip
        assert all(path.exists() for path in paths)
        assert end.text.count("The game is over: ") == 1
        assert "wins with $" not in (await console.handle_line("status")).text


async def test_a_game_that_is_ended_has_an_ending_too(tmp_path: Path) -> None:
    async with await open_store(tmp_path / "railpost.db") as store:
        console = Console(Service(store), tmp_path)
        await console.handle_line("table new 1830 Ann, Bob")
        await console.handle_line("table start")
        asked = await console.handle_line("table end")
        assert asked.text.endswith("Enter `table end yes` to confirm.")
        end = await console.handle_line("table end yes")
        assert "Ann and Bob lead with $1,200." in end.text and "File: " in end.text
        late = await console.handle_line("buy SV")
        assert late.text.endswith(" is ended."), "and no player has to be named for that"
