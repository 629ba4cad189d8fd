"""A review on the command line, as a page, and as a picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.__main__ import app_for
from bot.cli.review import tell
from bot.features.review.feature import review_part
from bot.features.review.review import Review
from bot.features.review.texts import review_page
from engine import components_of
from engine.game_text import GameHistory
from engine.game_text.history import history_script
from renderers import review_png
from renderers.charts.chart import SIZE
from tests.game_text.histories import history_of

GAMES = Path(__file__).parents[1] / "games"
GAME, SHORT = GAMES / "1830-3p-9.18xx", GAMES / "1817-6p-8902-18xx.games-modern_trains-short_squeeze.18xx"


def test_a_part_is_named_by_its_beginning() -> None:
    assert review_part("") == "money" and review_part("Tu") == "turns"
    with pytest.raises(ValueError, match="A review has no part luck"):
        review_part("luck")


def test_names_are_texts_in_a_page() -> None:
    history = history_of(GAME)
    history.start.players[0] = "<b>Ann</b>"
    page = review_page(Review(GameHistory(history.start, history.lines[:20])), [])
    assert "<b>Ann" not in page and "&lt;b&gt;Ann" in page


def test_the_command_prints_a_review_and_writes_a_page_that_needs_nothing_else(tmp_path: Path) -> None:
    history, begun = history_of(GAME), tmp_path / "begun.18xx"
    begun.write_text(history_script(GameHistory(history.start, history.lines[:200])))
    command = app_for(["review"])
    printed = CliRunner().invoke(command, ["review", str(begun)])
    assert printed.exit_code == 0 and "Turning points" in printed.output
    written = CliRunner().invoke(command, ["review", str(SHORT), "--out", str(tmp_path / "new")])
    assert written.exit_code == 0, written.output
    page = (tmp_path / "new" / "1817-6p-8902-18xx-review.html").read_text()
    assert page.startswith("<!doctype html>")
    assert all(source.startswith("data:image/webp;base64,") for source in re.findall(r'src="([^"]*)', page))
    assert not re.search(r"https?:|<link|@import|<iframe", page)
    assert page.count("<script>") == 1 and "width=device-width" in page
    assert page.count("<figure id=") == 5, "the turning points"
    for heading in ("Where the money came from", "Turning points", "grew", "Routes", "Trains", "opinion"):
        assert heading in page
    missing = CliRunner().invoke(command, ["review", str(tmp_path / "none.18xx")])
    assert missing.exit_code == 1 and "Traceback" not in missing.output


def test_the_picture_says_what_it_shows() -> None:
    statistics = [["round", "Ann", "Bob"], ["opening", "600", "600"], ["stock round 1", "650", "580"]]
    bars = [("Ann", [("Dividends", 80), ("Sales", -30)]), ("Bob", [("Sales", -20)])]
    picture = review_png("1817", [_wide(row) for row in statistics], [("stock round 1", "1")], bars)
    assert "Ann $50: dividends $80, sales -$30" in picture.alt and "Bob -$20" in picture.alt
    assert picture.png[:4] == b"\x89PNG" and picture.width == SIZE[0]


def _wide(row: list[str]) -> list[str]:
    """A row of statistics with the empty columns of all companies."""
    return [*row, *[""] * 2 * len(components_of("1817").companies)]


def test_a_review_says_what_it_does_to_whoever_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell("Reading the game")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    tell("Asking the robot")
    assert capsys.readouterr().err == "Asking the robot …\n"
