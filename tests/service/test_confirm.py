"""A line that cannot be taken back lightly is confirmed, in one place for all transports."""

from pathlib import Path

import pytest

import engine
from bot.hub.request import Completed, ConfirmationRequired, confirmed_lines
from bot.service import Service
from bot.terminal.console import Console
from engine.game_text.history import GameHistory
from storage import open_store
from tests.service.conftest import ServiceHarness
from tests.t1830.scenarios import run_scenario
from tests.t1830.test_25_end import HOPELESS


def hopeless_position() -> engine.State:
    return run_scenario(f"{HOPELESS}= turn Ann PRR")


async def test_a_bankruptcy_is_confirmed_before_it_is_played(empty: ServiceHarness) -> None:
    info = await empty.service.lobby.import_game(GameHistory(hopeless_position()), name="Found")
    asked = await empty.service.submit(info.id, 0, ["bankrupt"], None, "a")
    assert isinstance(asked, ConfirmationRequired) and asked.line == "bankrupt yes"
    assert asked.reason == "You go bankrupt, and the game ends."
    assert (await empty.service.queries.table_info(info.id)).status == "running"
    done = await empty.service.submit(info.id, 0, [asked.line], None, "b")
    assert isinstance(done, Completed) and done.game_over and done.played[0].line == "bankrupt"


@pytest.mark.parametrize("transport", ["clock", "robot"])
async def test_what_nobody_writes_counts_as_confirmed(empty: ServiceHarness, transport: str) -> None:
    info = await empty.service.lobby.import_game(GameHistory(hopeless_position()), name="Found")
    done = await empty.service.submit(
        info.id, 0, ["bankrupt"], None, "a", transport=transport, confirmed=True
    )
    assert isinstance(done, Completed) and done.game_over


async def test_the_terminal_asks_before_it_ends_a_game(tmp_path: Path) -> None:
    async with await open_store(tmp_path / "railpost.db") as store:
        service = Service(store)
        console = Console(service, tmp_path)
        info = await service.lobby.import_game(GameHistory(hopeless_position()), name="Found")
        await console.handle_line(f"table use {info.code}")
        asked = await console.handle_line("Ann: bankrupt")
        assert "Enter `bankrupt yes` to confirm." in asked.text
        assert (await service.queries.table_info(info.id)).status == "running"
        assert "wins with" in (await console.handle_line("Ann: bankrupt yes")).text


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["resign yes"], (("resign",), True)),
        (["sell 2 PRR", "bankrupt YES"], (("sell 2 PRR", "bankrupt"), True)),
        (["yes"], (("yes",), False)),
        (["pass"], (("pass",), False)),
        ([], ((), False)),
    ],
)
def test_yes_behind_the_last_line(lines: list[str], expected: tuple[tuple[str, ...], bool]) -> None:
    assert confirmed_lines(lines) == expected
