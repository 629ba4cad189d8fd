"""The computer player: it plays every title and number of players, always legally, and the same again."""

from __future__ import annotations

import pytest

from bot.features.robots.robot import LEAST_EFFORT, Robot
from engine import State, components_of, decision, new_game, options, play, title_names
from engine.core.actions import Accept, BidUpTo, Decline
from engine.core.state import Auction
from engine.kernel import game_of, refusal
from tests.scenarios import ScenarioRunner

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gil")
MOVES = 70
run_scenario = ScenarioRunner("1830").run


def play_on(state: State, robots: dict[str, Robot], moves: int) -> tuple[State, list[object]]:
    """Let the robots play so many moves; the first of those awaited acts."""
    played: list[object] = []
    for _ in range(moves):
        if state.game_over:
            break
        seat = decision(state).awaited[0]
        action = robots[seat].choose_action(state, seat)
        assert refusal(game_of(state), seat, action) is None
        played.append(action)
        state = play(state, seat, action).state
    return state, played


def table(title: str, players: int, conventions: tuple[str, ...] = ()) -> tuple[State, dict[str, Robot]]:
    state = new_game(title, NAMES[:players], conventions, seed=3).state
    return state, {seat: Robot(i + 1, LEAST_EFFORT) for i, seat in enumerate(state.seats)}


@pytest.mark.parametrize("title", title_names())
@pytest.mark.parametrize("conventions", [(), ("conventions 18xx.games",)], ids=["rulebook", "site"])
def test_robots_play_every_number_of_players(title: str, conventions: tuple[str, ...]) -> None:
    seats = components_of(title).players
    for players in range(seats["min"], seats["max"] + 1):
        state, robots = table(title, players, conventions)
        state, played = play_on(state, robots, MOVES)
        assert state.game_over or len(played) == MOVES


def test_the_same_seed_plays_the_same_moves() -> None:
    state, robots = table("1830", 4)
    again, robots_again = table("1830", 4)
    assert play_on(state, robots, MOVES) == play_on(again, robots_again, MOVES)


def test_a_ranking_has_all_plain_options_and_is_sorted() -> None:
    state, robots = table("1830", 4)
    state, _ = play_on(state, robots, 40)
    seat = decision(state).awaited[0]
    ranking = Robot().ranking(state, seat)
    plain = {option.action for option in options(state, seat) if option.amounts is None}
    assert plain <= {each.action for each in ranking}
    assert [each.value for each in ranking] == sorted((each.value for each in ranking), reverse=True)


def test_who_is_not_asked_has_no_ranking() -> None:
    state, _ = table("1830", 4)
    assert Robot().ranking(state, "p3") == []
    with pytest.raises(ValueError, match="Dan has nothing to decide"):
        Robot().choose(state, "p3")


def test_hidden_bid_limits_of_others_make_no_difference() -> None:
    state, robots = table("1817", 3)
    seat = decision(state).awaited[0]
    state = play(state, seat, robots[seat].choose_action(state, seat)).state
    assert isinstance(state.top, Auction)
    later = state.top.bidders[1]
    asked = state.top.bidders[0]
    assert later != asked
    hidden = (
        play(state, later, BidUpTo(state.top.high_bid + 5)).state if later in decision(state).asked else state
    )
    assert hidden != state
    assert Robot(7).ranking(hidden, asked) == Robot(7).ranking(state, asked)


OFFERED = "@ private SV Ann\n@ cash Bob 400\n@ round stock Bob\nBob: buy private SV from Ann for {price}\n"
"""A private of $20 that pays $5, and closes."""


def test_an_offer_that_is_made_again_is_declined_again() -> None:
    """The price is a dollar too low, which the temper of a robot must not outweigh."""
    state = run_scenario(OFFERED.format(price=37) + "= private SV Ann")
    for seed in range(1, 30):
        assert Robot(seed).choose_action(state, "p0") == Decline(), seed


def test_a_private_that_will_close_is_sold_for_twice_its_price() -> None:
    assert isinstance(Robot().choose_action(run_scenario(OFFERED.format(price=40)), "p0"), Accept)
