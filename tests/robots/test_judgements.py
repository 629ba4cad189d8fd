"""Judgements that every 18xx player knows, each in a position made for it."""

from __future__ import annotations

import pytest

from bot.features.robots.forecast import Forecast
from bot.features.robots.operating import protection
from bot.features.robots.robot import Robot
from bot.features.robots.scored import BANKRUPTCY
from bot.features.robots.starts import start_worth
from bot.features.robots.stock import _added_dump_risk
from bot.features.robots.trains import lost_train, own_loss, why_no_train
from engine import Action, Option, State, decision, game_of, options, play
from engine.core.actions import (
    BuyShares,
    BuyTrain,
    Decline,
    LayTile,
    Par,
    Pass,
    PayDividend,
    ProtectPrice,
    SellShares,
    WithholdDividend,
)  # fmt: skip
from engine.operating.run import has_route
from tests.scenarios import ScenarioRunner

run_scenario = ScenarioRunner("1830").run


def choice(body: str) -> Action:
    """What the robot does for the seat that is asked after a set-up, which a checkpoint follows."""
    state = run_scenario(body)
    return Robot().choose(state, decision(state).awaited[0]).action


def play_robot(state: State, moves: int) -> State:
    """Play so many moves of the robot."""
    for _ in range(moves):
        seat = decision(state).awaited[0]
        state = play(state, seat, Robot().choose(state, seat).action).state
    return state


def test_par_is_the_highest_at_which_the_seat_floats_alone() -> None:
    action = choice("@ round stock Ann\n@ cash Ann 480\n= cash Ann 480")
    assert isinstance(action, Par)
    assert action.price == 76


def test_a_start_is_worth_more_where_the_place_is_better() -> None:
    """New York and Cleveland have more around them than Altoona in the mountains."""
    o = Forecast(game_of(run_scenario("@ cash Ann 600\n@ round stock Ann\n= cash Ann 600")), "p0")
    starts = {c: start_worth(o, Par(c, 67), []).value for c in ("NYNH", "C&O", "PRR")}
    assert starts["NYNH"] > starts["C&O"] > starts["PRR"]


def test_track_at_its_home_counts_for_a_company_that_is_not_started() -> None:
    revenues = []
    for tile in ("", "@ tile H10 57 1\n"):
        state = run_scenario(f"@ cash Ann 600\n{tile}@ round stock Ann\n= cash Ann 600")
        o = Forecast(game_of(state), "p0")
        revenues.append([o.new_company_revenue(company, 700) for company in ("PRR", "NYC")])
    (before, other), (after, still) = revenues
    assert after > before
    assert still == other


def test_what_one_starts_is_floated() -> None:
    setup = "@ round stock Ann\n@ cash Ann 400\n@ par PRR 67\n@ owns Ann PRR 2\n= cash Ann 400"
    assert choice(setup) == BuyShares("PRR", "ipo")


def test_shares_of_a_company_bound_to_lose_its_trains_are_sold_before_the_fall() -> None:
    setup = """
    @ owns Bob PRR 5
    @ owns Ann PRR 3
    @ par PRR 100
    @ trains PRR 2
    @ phase 3
    @ depot 4 4
    @ round stock Ann
    @ cash Ann 0
    = cash PRR 0
    """
    assert choice(setup) in (SellShares("PRR", 2), SellShares("PRR", 3), SellShares("PRR", 1))


def test_a_forced_purchase_is_paid_with_shares_that_are_missed_least() -> None:
    setup = """
    @ cash Ann 0
    @ cash Bob 500
    @ cash PRR 0
    @ owns Ann PRR 6
    @ par PRR 100
    @ owns Ann NYC 3
    @ owns Bob NYC 2
    @ par NYC 90
    @ tile H10 57 1
    @ round operating PRR
    > until train
    = cash Ann 0
    """
    state = run_scenario(setup)
    state = play_robot(state, 3)
    assert state.game_over is None
    assert state.companies["PRR"].trains == ["2"]
    assert state.companies["PRR"].president == "p0"


def test_who_cannot_pay_goes_bankrupt_and_does_not_ask_others_for_trains_for_ever() -> None:
    setup = """
    @ cash Ann 0
    @ cash PRR 0
    @ owns Ann PRR 6
    @ par PRR 100
    @ owns Bob NYC 6
    @ par NYC 90
    @ trains NYC 5
    @ phase 5
    @ owns pool PRR 4
    @ tile H10 57 1
    @ round operating PRR
    > until train
    = cash Ann 0
    """
    state = run_scenario(setup)
    while state.game_over is None:
        state = play_robot(state, 1)
        assert not state.offers
    assert state.game_over.bankrupt == "p0"


def test_a_company_without_trains_buys_one() -> None:
    setup = """
    @ owns Ann PRR 6
    @ par PRR 100
    @ cash PRR 500
    @ tile H10 57 1
    @ round operating PRR
    = cash PRR 500
    """
    state = run_scenario(setup)
    state = play_robot(state, 3)
    assert state.companies["PRR"].trains


def test_a_company_with_money_buys_trains_for_the_track_to_come() -> None:
    setup = """
    @ owns Ann PRR 6
    @ par PRR 67
    @ cash PRR 600
    @ trains PRR 2
    @ tile H10 57 1
    @ depot 2 5
    @ round operating PRR
    > until train
    = cash PRR 630
    """
    state = run_scenario(setup)
    o = Forecast(game_of(state), "p0")
    assert o.revenue("PRR", ["2", "2"]) == o.revenue("PRR", ["2"]) > 0
    assert o.added_revenue("PRR", ["2"], "2", 1.0) < o.added_revenue("PRR", ["2"], "2", 4.0)
    assert Robot().choose(state, "p0").action == BuyTrain("2", "bank")


def test_a_company_without_a_route_pays_for_track_to_its_first_one() -> None:
    setup = """
    @ owns Ann CPR 6
    @ par CPR 67
    @ cash CPR 400
    @ trains CPR 4
    @ phase 4
    @ tile B20 3 5
    @ round operating CPR
    > until track
    = cash CPR 400
    """
    action = choice(setup)
    assert isinstance(action, LayTile)
    assert action.hex == "B18"


def test_no_company_is_started_that_others_would_have_to_float() -> None:
    """Two shares of the six that it takes: the other four would have to be bought by others."""
    action = choice("@ round stock Ann\n@ cash Ann 140\n@ cash Bob 0\n@ cash Cid 0\n= cash Ann 140")
    assert not isinstance(action, Par)


def test_a_pass_says_what_was_in_the_way() -> None:
    """Where nothing could be bought, the offer is not to blame."""
    poor = "@ owns Bob PRR 5\n@ owns Ann PRR 3\n@ par PRR 100\n@ round stock Ann\n@ cash Ann 0\n= cash Ann 0"
    reasons = {each.action: each.reason for each in Robot().ranking(run_scenario(poor), "p0")}
    assert reasons[Pass()] == "my shares are worth more than their price"
    turn = "@ owns Ann PRR 6\n@ par PRR 100\n@ cash PRR 0\n@ round operating PRR\n= cash PRR 0"
    o = Forecast(game_of(run_scenario(turn)), "p0")
    assert why_no_train(o, "PRR", []) == "the PRR has no money for another train"


def test_a_rival_who_has_to_buy_a_train_is_a_reason_to_buy_the_first_of_a_type() -> None:
    setup = """
    @ owns Ann PRR 6
    @ par PRR 100
    @ cash PRR 1000
    @ trains PRR 3
    @ owns Bob NYC 6
    @ par NYC 100
    @ trains NYC 2
    @ cash NYC {cash}
    @ phase 3
    @ depot 3 0
    @ round operating PRR
    = cash PRR 1000
    """
    worths = []
    for cash in (0, 1000):
        g = game_of(run_scenario(setup.format(cash=cash)))
        worths.append(own_loss(Forecast(g, "p0"), "PRR", "4"))
    assert worths[0] < worths[1]


NEXT_TO_HILLS = """
@ owns Ann NYNH 6
@ par NYNH 67
@ cash NYNH {cash}
@ trains NYNH 4
@ phase 4
@ tile F20 1 0
@ round operating NYNH
"""
"""Whatever tile the NYNH lays next costs $80. Its 4-train runs for $50."""


@pytest.mark.parametrize(("cash", "may_buy"), [(379, False), (380, True)])
def test_a_second_train_leaves_the_money_for_track(cash: int, may_buy: bool) -> None:
    """A 4-train costs $300. A tile a turn brings the company more than a train that runs nowhere."""
    state = run_scenario(NEXT_TO_HILLS.format(cash=cash - 50) + f"> until train\n= cash NYNH {cash}")
    assert Forecast(game_of(state), "p0").lay_cost("NYNH") == 80
    assert (Robot().choose_action(state, "p0") == BuyTrain("4", "bank")) == may_buy


@pytest.mark.parametrize(("cash", "keeps"), [(29, False), (30, True), (79, True), (80, False)])
def test_a_company_keeps_a_revenue_that_pays_its_next_tile(cash: int, keeps: bool) -> None:
    action = choice(NEXT_TO_HILLS.format(cash=cash) + f"> until dividend\n= cash NYNH {cash}")
    assert action == (WithholdDividend() if keeps else PayDividend())


def test_a_start_is_worth_less_by_what_shares_of_others_bring_for_the_money() -> None:
    """Four shares of the PRR are for sale at $71; $426 float another company, or pay for all four."""
    body = (
        "@ round stock Ann\n@ cash Ann 450\n@ par PRR 71\n@ owns Bob PRR 6\n@ trains PRR 5\n@ tile H10 57 1"
    )
    state = run_scenario(f"{body}\n= cash Ann 450")
    o, found = Forecast(game_of(state), "p0"), options(state, "p0")
    gain = o.share_gain("PRR", 71)
    assert gain > 0
    start = Par("NYC", 71)
    assert start_worth(o, start, []).value - start_worth(o, start, found).value == pytest.approx(4 * gain)


STARTING = """
@ cash Ann {cash}
@ owns Ann PRR 2
@ owns Bob PRR 6
@ par PRR 71
@ trains PRR 3
@ tile H10 57 1
@ round stock Ann
= cash Ann {cash}
"""


def test_shares_of_others_are_sold_for_a_company_that_brings_more() -> None:
    """$67 is the lowest par: $402 float a company. One share of the PRR brings what is lacking."""
    state = play_robot(run_scenario(STARTING.format(cash=350)), 2)
    assert state.companies["PRR"].shares["p0"] == 10
    started = [co for co in state.companies.values() if co.president == "p0"]
    assert [co.par for co in started] == [67]


def test_the_share_that_floats_a_company_of_another_is_bought() -> None:
    setup = "@ round stock Ann\n@ cash Ann 70\n@ par PRR 67\n@ owns Bob PRR {held}\n= cash Ann 70"
    last, early = (Robot().choose(run_scenario(setup.format(held=held)), "p0") for held in (5, 2))
    assert last.action == BuyShares("PRR", "ipo")
    assert last.value > 2 * early.value


@pytest.mark.parametrize(("sold", "risky"), [(5, False), (6, True)])
def test_only_a_company_that_has_floated_is_left_to_who_holds_most(sold: int, risky: bool) -> None:
    """The PRR has neither a train nor money, and Ann would hold 20 %."""
    setup = f"@ round stock Ann\n@ par PRR 67\n@ owns Ann PRR 1\n@ owns Bob PRR {sold - 1}\n= cash PRR 0"
    o = Forecast(game_of(run_scenario(setup)), "p0")
    assert (_added_dump_risk(o, "PRR", 10) > 0) == risky


def test_a_company_is_started_before_shares_are_bought_that_bring_less() -> None:
    assert isinstance(choice(STARTING.format(cash=500)), Par)


def test_no_shares_are_sold_for_a_start_that_they_do_not_pay() -> None:
    assert choice(STARTING.format(cash=200)) == BuyShares("PRR", "ipo")


def test_shares_of_a_company_whose_train_has_no_route_yet_are_kept() -> None:
    setup = STARTING.format(cash=0).replace("@ tile H10 57 1\n", "")
    state = run_scenario(setup)
    o = Forecast(game_of(state), "p0")
    assert o.revenue("PRR") == 0 < o.earnings("PRR")
    assert Robot().choose_action(state, "p0") == Pass()


@pytest.mark.parametrize(("president", "loses"), [(0, True), (500, False)])
def test_track_money_is_kept_for_a_train_that_has_to_be_bought(president: int, loses: bool) -> None:
    """A 2-train costs $80. With $60 left, a president without money would go bankrupt."""
    setup = f"@ cash Ann {president}\n@ cash PRR 100\n@ owns Ann PRR 2\n@ par PRR 67\n@ owns pool PRR 4\n"
    state = run_scenario(f"{setup}@ round operating PRR\n= cash PRR 100")
    o = Forecast(game_of(state), "p0")
    assert (lost_train(o, "PRR", 40) > 0) == loses
    assert not lost_train(o, "PRR", 20)


def test_a_company_of_1851_gets_five_shares_less_a_fee() -> None:
    """1851, Buying Stock: others may buy the five shares in its treasury."""
    state = ScenarioRunner("1851").run(
        "@ cash Ann 400\n@ cash Bob 0\n@ cash Cid 100\n@ round stock Ann\n= cash Cid 100"
    )
    o = Forecast(game_of(state), "p0")
    assert o.capital("GM&O", 75) == 5 * 75 - 100 + 0.5 * 100


def test_to_decline_is_weighed_whichever_option_stands_first() -> None:
    state = run_scenario("@ par PRR 67\n@ owns Bob PRR 6\n@ round stock Ann\n= cash PRR 0")
    both = [Option(ProtectPrice("PRR"), "Protect"), Option(Decline(), "Decline")]
    o = Forecast(game_of(state), "p0")
    first, last = (protection(o, order) for order in (both, both[::-1]))
    assert (
        {each.action for each in first} == {each.action for each in last} == {ProtectPrice("PRR"), Decline()}
    )


@pytest.mark.parametrize(("president", "lays"), [(0, False), (500, True)])
def test_no_first_route_is_laid_that_forces_a_train_nobody_can_pay(president: int, lays: bool) -> None:
    """1830 §20.2: a company without a route needs no train. The PRR has $50, and a 2-train costs $80."""
    setup = f"@ cash Ann {president}\n@ cash PRR 50\n@ owns Ann PRR 2\n@ par PRR 67\n@ owns pool PRR 5\n"
    state = run_scenario(f"{setup}@ round operating PRR\n= cash PRR 50")
    ranking = [each for each in Robot().ranking(state, "p0") if isinstance(each.action, LayTile)]
    routed = [each for each in ranking if has_route(game_of(play(state, "p0", each.action).state), "PRR")]
    assert routed
    assert all((each.value > BANKRUPTCY / 2) == lays for each in routed)
