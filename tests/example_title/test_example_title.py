"""18EX, the title of `docs/adding-a-title.md`: its files are those of the guide, and it can be played."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.tools.simulation.simulate import simulate_game
from engine import titles
from engine.game_text import replay
from tests.example_title.composition import COMPONENTS, OPTIONS, compose
from tests.scenarios import ScenarioRunner

ROOT = Path(__file__).parents[2]
GUIDE_TEXT = (ROOT / "docs" / "adding-a-title.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"`(tests/example_title/[\w.]+)`:\n\n```\w+\n(.*?)```", re.S)

RUNNER = ScenarioRunner("18EX")
STARTED = """
@ owns Ann RED 5
@ president RED Ann
@ par RED 100
@ price RED 100
@ cash Ann 300
"""


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """18EX is a title during each test, and none for other tests."""
    titles.register("18EX", compose, OPTIONS)
    yield
    del titles.COMPOSERS["18EX"], titles.OPTIONS["18EX"]


def test_the_files_are_those_of_the_guide() -> None:
    blocks = dict(BLOCK.findall(GUIDE_TEXT))
    shown = {"components.json", "composition.py"}
    assert {Path(path).name for path in blocks} == shown
    for path, text in blocks.items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, path


def test_the_short_game_of_the_guide_holds() -> None:
    (text,) = re.findall(r"```\n(title 18EX.*?)```", GUIDE_TEXT, re.S)
    assert replay(text).failure is None


def test_the_script_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    del titles.COMPOSERS["18EX"], titles.OPTIONS["18EX"]
    for block in re.findall(r"```python\n(from (?:engine import titles|bot\.tools).*?)```", GUIDE_TEXT, re.S):
        exec(block, {})
    assert capsys.readouterr().out == "The game ends after stock round 8.\n"


def test_every_company_lays_a_tile_at_its_home() -> None:
    lines = [line.split() for seed in range(4) for _, line in simulate_game("18EX", 3, seed).lines]
    laid = {words[2] for words in lines if words[0] == "lay"}
    assert {company.home.hex for company in COMPONENTS.companies if company.home} <= laid


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("options", [(), ("coast_to_coast",)])
def test_random_games_come_to_their_end(players: int, options: tuple[str, ...]) -> None:
    game = simulate_game("18EX", players, 1, options, check_every=20)
    assert game.failure is None
    assert game.state.game_over is not None


def test_a_company_that_has_not_operated_is_not_sold() -> None:
    body = f"{STARTED}@ new RED\n@ round stock Ann\nAnn: sell 1 RED\n"
    assert "has not operated yet, so its shares may not be sold (18EX §3)." in RUNNER.error(body)


def test_two_titles_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="already a title 18EX"):
        titles.register("18EX", compose, OPTIONS)
