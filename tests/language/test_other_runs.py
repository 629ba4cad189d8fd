"""The runs that may be chosen instead of the best: on Discord a menu, elsewhere the answer to `runs`."""

from pathlib import Path

import pytest

import engine
from bot.email.pages.turn_pages import OTHER_RUNS, offered_lines
from bot.position.boards import runs_view
from tests.game_text.histories import GAMES, history_of
from tests.t1830.scenarios import run_scenario
from tests.t1830.test_18_track import running
from tests.t1830.test_20_routes import LONG
from tests.t1830.test_conventions import PLAYED_BY_SITE

EVERY = 11
"""Runs from one that is tried to the next."""
TO_RUN = running("PRR", LONG + "@ trains PRR 2 3", phase="3") + "> until run\n"


def test_stops_are_left_out_and_trains_stay_idle() -> None:
    state = run_scenario(TO_RUN, options=PLAYED_BY_SITE)
    assert sum(run.revenue for run in engine.best_run(state, "PRR")) == 80
    assert [run.label for run in engine.other_runs(state, "p0")] == [
        "Run for $60: 2 H10-H12, 3 H12-H16",
        "Run for $50: 3 H4-H10-H12",
        "Run for $30: 2 H10-H12",
    ]
    assert runs_view(state).splitlines()[:2] == [
        "The PRR can run one of these instead of its best, $80:",
        "  run 2 H10-H12, 3 H12-H16   # Run for $60",
    ]
    assert OTHER_RUNS in offered_lines(state, 0, engine.choices(state, "p0"))


def test_by_the_rulebook_none_earns_less() -> None:
    """1830 §20.3: a company has to run for the highest revenue."""
    state = run_scenario(TO_RUN)
    assert engine.other_runs(state, "p0") == []
    assert runs_view(state) == "No other routes can be run now."
    assert OTHER_RUNS not in offered_lines(state, 0, engine.choices(state, "p0"))


def test_nobody_runs_out_of_turn_or_outside_of_the_step() -> None:
    state = run_scenario(TO_RUN, options=PLAYED_BY_SITE)
    assert engine.other_runs(state, "p1") == []
    assert engine.other_runs(engine.play_line(state, "p0", "run best").state, "p0") == []


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.stem)
def test_every_other_run_can_be_played_and_earns_what_it_says(path: Path) -> None:
    history = history_of(path)
    state, number = engine.copy_state(history.start), 0
    for line in history.lines:
        number += line.line.startswith("run ")
        if line.line.startswith("run ") and number % EVERY == 1:
            best = engine.play_line(state, line.seat, "run best").line
            for run in engine.other_runs(state, line.seat):
                assert run.line != best
                played = engine.play_line(state, line.seat, run.line)
                (ran,) = (event for event in played.events if isinstance(event, engine.TrainsRan))
                assert run.label.startswith(f"Run for ${ran.revenue}:")
        for event in line.events:
            event.apply(state)
