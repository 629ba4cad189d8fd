"""Histories: the text with checkpoints, and the statistics by round."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import engine
from engine.core.events import RoundStarted, TrainsRan
from engine.game_text import GameHistory
from engine.game_text.history import history_script, round_statistics
from tests.game_text.histories import GAMES, GAMES_1851, end_of, history_of, replayed

STORED = (*GAMES, *GAMES_1851)
PATHS = [
    min(
        (path for path in (*GAMES, *GAMES_1851) if f"title {title}\n" in path.read_text()),
        key=os.path.getsize,
    )
    for title in engine.title_names()
]
"""Of each title the shortest game."""


def rounds_of(history: GameHistory) -> list[str]:
    """The rounds of a game in their order, the opening first."""
    events = [event for line in history.lines for event in line.events]
    return ["opening", *(e.round.partition(" of ")[0] for e in events if isinstance(e, RoundStarted))]


@pytest.mark.parametrize("path", PATHS, ids=engine.title_names())
def test_the_text_replays_to_the_same_end_with_checkpoints_at_every_round(path: Path) -> None:
    report = replayed(path)
    assert report.ok and report.history is not None and report.state == end_of(report.history)
    assert report.move_count == len(report.history.lines)
    script = history_script(report.history, "a comment").splitlines()
    assert script == ["# a comment", *path.read_text(encoding="utf-8").splitlines()[1:]]
    assert report.checkpoint_count > 4 * len(rounds_of(report.history))


@pytest.mark.parametrize("path", PATHS, ids=engine.title_names())
def test_statistics_end_with_net_worths_and_contain_every_run(path: Path) -> None:
    history, state = history_of(path), end_of(history_of(path))
    heading, *values = round_statistics(history.start, (line.events for line in history.lines))
    rows = [dict(zip(heading, row, strict=True)) for row in values]
    assert [row["round"] for row in rows] == rounds_of(history)
    last, g = rows[-1], engine.game_of(state)
    for seat, dollars in engine.standings(state).items():
        assert int(last[state.name(seat)]) == dollars
    for company, co in state.companies.items():
        assert last[f"{company} price"] == (str(g.price(company)) if co.cell else "")
        ran = sum(
            e.revenue
            for m in history.lines
            for e in m.events
            if isinstance(e, TrainsRan) and e.company == company
        )
        assert sum(int(row[f"{company} revenue"] or 0) for row in rows) == ran
