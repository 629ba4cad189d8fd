"""The arena: seats rotate, results are kept and read again, intervals are those of Wilson."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.tools.arena.agreement import Agreement, Compared, measure
from bot.tools.arena.contestants import contestant
from bot.tools.arena.development import RoundStarts, development
from bot.tools.arena.development import table as development_table
from bot.tools.arena.greedy import Greedy, PassAndPay
from bot.tools.arena.match import GameSetup, SeatResult, score
from bot.tools.arena.other_version import OtherVersion, Table
from bot.tools.arena.results import append_results, interval, read_results, summaries
from engine import Action, decision, game_of, new_game, options, play
from engine.core.actions import BuyShares, BuyTrain, LayTile, Par, Pass
from engine.operating.run import best_run
from tests.scenarios import ScenarioRunner
from tests.site_18xx.recorded_games import GAMES


def rows(seed: int, winner: str) -> list[SeatResult]:
    """Rows of a game of two in which that player is the richer."""
    setup = GameSetup("1830", ("robot", "random"), (), seed)
    state = new_game("1830", ["Ann", "Bob"]).state
    state.cash[f"p{setup.seated().index(winner)}"] += 500
    return score(setup, state, 10)


def test_seats_rotate_from_game_to_game() -> None:
    setups = [GameSetup("1830", ("a", "b", "c"), (), seed) for seed in range(3)]
    assert [setup.seated() for setup in setups] == [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")]


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    append_results(path, rows(1, "robot"))
    append_results(path, rows(2, "random"))
    assert read_results(path) == rows(1, "robot") + rows(2, "random")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a file of this arena's results"):
        read_results(path)


def test_a_summary_counts_wins_places_and_bankruptcies() -> None:
    summary = next(s for s in summaries([*rows(1, "robot"), *rows(2, "random")]) if s.player == "robot")
    assert (summary.games, summary.wins.value, summary.place, summary.bankrupt.value) == (2, 0.5, 1.5, 0.0)
    assert summary.opponents == "random"


def test_a_tie_is_a_part_of_a_win() -> None:
    setup = GameSetup("1830", ("robot", "random"), (), 1)
    state = new_game("1830", ["Ann", "Bob"]).state
    assert [(row.win, row.place) for row in score(setup, state, 0)] == [(0.5, 1.5), (0.5, 1.5)]


def test_intervals_are_those_of_wilson() -> None:
    assert str(interval(8, 10)) == "80 % (49-94)"
    assert str(interval(0, 20)) == "0 % (0-16)"


@pytest.mark.parametrize("name", ["robt", "robot:fast", "robot:-1"])
def test_an_unknown_player_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="the players are random, simulate, greedy"):
        contestant(name, 1, 4)


run_scenario = ScenarioRunner("1830").run


def greedy_choice(body: str) -> Action:
    """What `greedy` does for the seat that is asked after a set-up."""
    state = run_scenario(body)
    return Greedy().choose_action(state, decision(state).awaited[0])


def test_greedy_floats_what_it_started_before_it_buys_elsewhere() -> None:
    setup = "@ round stock Ann\n@ cash Ann 400\n@ par PRR 67\n@ owns Ann PRR 2\n= cash Ann 400"
    assert greedy_choice(setup) == BuyShares("PRR", "ipo")


def test_greedy_starts_at_the_highest_price_that_it_can_float_alone() -> None:
    action = greedy_choice("@ round stock Ann\n@ cash Ann 450\n= cash Ann 450")
    assert isinstance(action, Par)
    assert action.price == 71


def test_greedy_buys_a_train_that_its_company_can_pay() -> None:
    setup = """
    @ owns Ann PRR 6
    @ par PRR 100
    @ trains PRR 2
    @ cash PRR 200
    @ tile H10 57 1
    @ round operating PRR
    > until train
    = trains PRR 2
    """
    assert greedy_choice(setup) == BuyTrain("2", "bank")


def test_greedy_lays_the_tile_after_which_its_company_earns_most() -> None:
    state = run_scenario("""
    @ owns Ann PRR 6
    @ par PRR 100
    @ trains PRR 2
    @ cash PRR 200
    @ round operating PRR
    = trains PRR 2
    """)
    earned = {}
    for lay in (option.action for option in options(state, "p0")):
        if isinstance(lay, LayTile):
            earned[lay] = best_run(game_of(play(state, "p0", lay).state), "PRR").revenue
    chosen = Greedy().choose_action(state, "p0")
    assert isinstance(chosen, LayTile)
    assert earned[chosen] == max(earned.values()) > best_run(game_of(state), "PRR").revenue


@pytest.mark.parametrize(("dollars", "lays"), [(500, True), (100, False)])
def test_greedy_keeps_the_money_for_the_first_train_of_its_company(dollars: int, lays: bool) -> None:
    setup = f"""
    @ owns Ann B&O 6
    @ par B&O 100
    @ cash B&O {dollars}
    @ round operating B&O
    = cash B&O {dollars}
    """
    assert isinstance(greedy_choice(setup), LayTile) == lays


def test_pass_and_pay_passes_before_it_buys() -> None:
    state = run_scenario("@ round stock Ann\n@ cash Ann 450\n= cash Ann 450")
    ranking = PassAndPay().ranking(state, "p0")
    assert ranking[0].action == Pass()
    assert len(ranking) == len(options(state, "p0"))


def test_companies_that_have_not_floated_are_counted_apart() -> None:
    setup = """
    @ owns Ann PRR 6
    @ par PRR 100
    @ trains PRR 2
    @ owns Ann NYC 2
    @ par NYC 100
    @ cash Ann 500
    @ round stock Ann
    = cash Ann 500
    """
    found = development(run_scenario(setup))
    assert (found.floated, found.stalled, found.trains) == (1, 1, 1)
    assert 0 < found.idle < 1


def test_the_rounds_of_a_game_are_watched_once_each() -> None:
    starts = RoundStarts()
    state = run_scenario("@ round stock Ann\n@ cash Ann 600\n= cash Ann 600")
    starts.watch(state)
    starts.watch(state)
    rows = list(development_table([starts], [*starts.by_round, "stock round 9"]))
    assert [row[:2] for row in rows] == [("stock round 2", "1")]


def test_forced_questions_are_counted_apart_from_free_ones() -> None:
    path = GAMES / "18xx.games/1830/played-29133.json.gz"
    if not path.exists():
        pytest.skip("the recorded games are not beside the checkout")
    compared = Compared(PassAndPay(), Agreement(), Agreement())
    for _ in measure(path, [compared]):
        pass
    assert compared.forced.top1 == compared.forced.questions > 0
    assert compared.free.uniform1 < compared.free.questions


def test_a_player_of_a_checkout_plays_over_a_pipe() -> None:
    table = Table("1830", ("Ann", "Bob", "Cid"), (), 3)
    state, _ = new_game(table.title, table.names, table.options, table.seed)
    here = contestant("greedy", 5, 3)
    other = OtherVersion(f"{Path(__file__).parents[2]}@greedy", table, 5)
    for _ in range(4):
        seat = decision(state).awaited[0]
        action = other.choose_action(state, seat)
        assert action == here.choose_action(state, seat)
        other.saw(state, seat, action)
        state = play(state, seat, action).state
    other.close()


def test_a_checkout_that_is_none_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no checkout of Railpost"):
        OtherVersion(f"{tmp_path}@greedy", Table("1830", ("Ann", "Bob", "Cid"), (), 3), 5)
