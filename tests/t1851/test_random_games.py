"""Random games of 1851: what its options add, and whole games in text form, kept in `games` beside this."""

from __future__ import annotations

from bot.tools.simulation.simulate import simulate_game
from engine.game_text import read_script, replay
from tests.game_text.histories import GAMES_1851


def test_with_claims_every_third_step_checked() -> None:
    game = simulate_game("1851", 3, 33, ("claims", "johnson_city_falling"), check_every=3)
    assert game.failure is None
    assert game.state.game_over


def test_a_script_has_its_deal() -> None:
    game = simulate_game("1851", 4, 9, max_moves=40)
    report = replay(game.text)
    assert report.ok, report.failure
    assert report.state == game.state
    assert game.text.count("\n@ private ") == 4


def test_the_games_cover_all_seats_and_options() -> None:
    starts = [read_script(path.read_text(encoding="utf-8")).start for path in GAMES_1851]
    assert {len(start.players) for start in starts} == {3, 4, 5}
    assert {o for start in starts for o in start.options} == {"claims", "johnson_city_falling"}
