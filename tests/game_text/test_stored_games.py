"""Whole games in text form, in `tests/games` and for 1851 in its folder: each replays exactly, checkpoint by
checkpoint.

They are random games (`railpost simulate --out`), chosen for the kinds of decision in them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine import components_of, optional_rules
from engine.game_text import read_script, replay
from engine.game_text.script import Checkpoint
from engine.title import SITE_CONVENTIONS
from tests.game_text.histories import GAMES, GAMES_1851, history_of, replayed
from tests.review.test_money import assert_sums

SHORTEST = min(GAMES, key=os.path.getsize)
COVERED = {
    "1830": {SITE_CONVENTIONS, "multiple_brown_from_ipo", "optional_6_train"},
    "1817": {SITE_CONVENTIONS, *optional_rules("1817")},
    "1870": {SITE_CONVENTIONS, "diesels", "finish_on_400", "historical_order", "non_blocking_tokens"},
}
"""By title the options that are played in some game."""


@pytest.mark.parametrize("path", [*GAMES, *GAMES_1851], ids=lambda path: path.stem)
def test_the_game_replays_to_its_recorded_end(path: Path) -> None:
    """And the parts of everybody's gain that a review tells of sum to it."""
    text = path.read_text(encoding="utf-8")
    report = replayed(path)
    assert report.failure is None
    assert report.state is not None and report.state.game_over
    told = [item.text for item in read_script(text).items if isinstance(item, Checkpoint)]
    assert report.checkpoint_count == len(told)
    assert told[-1] == "over"
    assert sum(words.startswith("score ") for words in told) == len(report.state.players)
    assert_sums(history_of(path))


def test_a_changed_checkpoint_does_not_hold() -> None:
    text = SHORTEST.read_text(encoding="utf-8")
    last = text.rindex("= cash bank ")
    report = replay(text[:last] + "= cash bank 1\n" + text[last:])
    assert report.failure is not None and report.failure.expected == "$1"


def test_a_changed_move_does_not_go_unnoticed() -> None:
    text = SHORTEST.read_text(encoding="utf-8")
    assert not replay(text.replace(": withhold\n", ": pay\n", 1)).ok


def test_the_games_cover_all_seats_conventions_options_and_ends() -> None:
    scripts = [read_script(path.read_text(encoding="utf-8")) for path in GAMES]
    assert len(scripts) >= 12
    for title in {script.start.title for script in scripts}:
        mine = [script.start for script in scripts if script.start.title == title]
        seats = components_of(title).players
        assert {len(start.players) for start in mine} >= set(range(seats["min"], seats["max"] + 1))
        assert () in {start.options for start in mine}
        assert {o for start in mine for o in start.options} >= COVERED[title]
    ends = [replayed(path).state for path in GAMES]
    bankrupt = [bool(state.game_over.bankrupt) for state in ends if state and state.game_over]
    assert True in bankrupt and bankrupt.count(False) >= len(bankrupt) / 2
