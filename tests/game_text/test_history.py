"""Histories: the text with checkpoints, and the statistics by round."""

from __future__ import annotations

import pytest

import engine
from bot.tools.simulation.simulate import SimulatedGame, simulate_game
from engine.core.events import TrainsRan
from engine.game_text import replay
from engine.game_text.history import history_script, round_starts, round_statistics


@pytest.fixture(scope="module", params=engine.title_names())
def game(request: pytest.FixtureRequest) -> SimulatedGame:
    played = simulate_game(request.param, 3, 3)
    assert played.failure is None
    return played


def test_the_text_replays_to_the_same_end_with_checkpoints_at_every_round(game: SimulatedGame) -> None:
    report = replay(history_script(game.history, "a comment"))
    assert report.ok and report.state == game.state
    assert report.history == game.history
    assert report.checkpoint_count > 5 * len(list(round_starts(game.history)))


def test_rounds_are_found_by_the_moves_that_lead_there(game: SimulatedGame) -> None:
    found = dict(round_starts(game.history))
    assert found["opening"] == 0
    for moves in list(found.values())[-4:]:
        # A round in which nobody is asked is passed in the move that leads to the next.
        passed = [name for name, here in found.items() if here == moves]
        assert engine.round_name(game.history.state_after(moves)) in (passed[-1], "over")


def test_statistics_end_with_net_worths_and_contain_every_run(game: SimulatedGame) -> None:
    heading, *values = round_statistics(game.history)
    rows = [dict(zip(heading, row, strict=True)) for row in values]
    assert [row["round"] for row in rows] == [name for name, _ in round_starts(game.history)]
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
