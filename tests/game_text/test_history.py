"""Histories: the text with checkpoints, and the statistics by round."""

from __future__ import annotations

import pytest

import engine
from bot.tools.simulation.simulate import SimulatedGame, random_options, simulate_game
from engine.core.events import RoundStarted, TrainsRan
from engine.game_text import replay
from engine.game_text.history import history_script, round_statistics


def rounds_of(game: SimulatedGame) -> list[str]:
    """The rounds of a game in their order, the opening first."""
    events = [event for line in game.history_lines for event in line.events]
    return ["opening", *(e.round.partition(" of ")[0] for e in events if isinstance(e, RoundStarted))]


@pytest.fixture(scope="module", params=engine.title_names())
def game(request: pytest.FixtureRequest) -> SimulatedGame:
    played = simulate_game(request.param, 3, 3, random_options(request.param, 3, 3))
    assert played.failure is None
    return played


def test_the_text_replays_to_the_same_end_with_checkpoints_at_every_round(game: SimulatedGame) -> None:
    report = replay(game.text)
    assert report.ok and report.state == game.state and report.move_count == game.move_count
    assert report.history == game.history
    script = history_script(report.history, "a comment").splitlines()
    assert script == ["# a comment", *game.text.splitlines()[1:]]
    assert report.checkpoint_count > 5 * len(rounds_of(game))


def test_statistics_end_with_net_worths_and_contain_every_run(game: SimulatedGame) -> None:
    heading, *values = round_statistics(game.history)
    rows = [dict(zip(heading, row, strict=True)) for row in values]
    assert [row["round"] for row in rows] == rounds_of(game)
    last, g = rows[-1], engine.game_of(game.state)
    for seat, dollars in engine.standings(game.state).items():
        assert int(last[game.state.name(seat)]) == dollars
    for company, co in game.state.companies.items():
        assert last[f"{company} price"] == (str(g.price(company)) if co.cell else "")
        ran = sum(
            e.revenue
            for m in game.history_lines
            for e in m.events
            if isinstance(e, TrainsRan) and e.company == company
        )
        assert sum(int(row[f"{company} revenue"] or 0) for row in rows) == ran
