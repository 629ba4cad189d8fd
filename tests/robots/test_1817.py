"""1817: what a robot keeps in cash, so that it neither strands a company nor falls over a short sale."""

from __future__ import annotations

import pytest

from bot.features.robots.forecast import Forecast
from bot.features.robots.opening import start_cash, start_need
from bot.features.robots.planning import to_plan
from bot.features.robots.robot import LEAST_EFFORT, Robot
from engine import OperatingRound, State, decision, game_of, new_game, options, play
from engine.core.actions import (
    BuyTrain,
    Convert,
    Merge,
    Pass,
    PayDividend,
    RunTrains,
    StartCompany,
    TakeLoans,
    WillAct,
)
from tests.t1817.scenarios import ANN, FIVE, MERGER, MONEY, company_lines, run_scenario

SHORT = FIVE + company_lines("SR", 5, 80, "Bob 3, Ann -1, pool 1")


def position(body: str, cash: int) -> State:
    return run_scenario(body.replace("@ cash Ann 500", f"@ cash Ann {cash}") + f"{ANN}= cash Ann {cash}")


def test_no_company_is_started_without_cash_for_its_train() -> None:
    """A bid may be paid in privates, but trains may not."""
    for cash, may_start in ((20, False), (400, True)):
        state = position(FIVE, cash)
        o = Forecast(game_of(state), "p0")
        assert (start_cash(o) >= start_need(o)) == may_start
        judged = Robot().ranking(state, "p0")
        starts = [each for each in judged if isinstance(each.action, StartCompany) and each.value > 0]
        assert bool(starts) == may_start


def test_who_has_sold_short_keeps_cash() -> None:
    o = Forecast(game_of(position(SHORT, 200)), "p0")
    assert o.short_reserve() == 60
    assert start_cash(o) == 140
    assert Forecast(game_of(position(FIVE, 200)), "p0").short_reserve() == 0


def test_the_opening_starts_companies_with_privates_for_much_of_their_price() -> None:
    """Four robots start seven companies or more; with cash alone they started five."""
    state = new_game("1817", ["Ann", "Bob", "Cid", "Dan"]).state
    robots = {seat: Robot(i + 1, LEAST_EFFORT) for i, seat in enumerate(state.seats)}
    while not isinstance(state.stack[0], OperatingRound):
        seat = decision(state).acting[0]
        state = play(state, seat, robots[seat].choose_action(state, seat)).state
    started = [company for company, co in state.companies.items() if co.president]
    paid_in = [private for private, owner in state.private_owners.items() if owner in started]
    assert len(started) >= 7 and len(paid_in) >= len(started)


TURN = (
    MERGER
    + """
@ round operating WT
Ann: pass
"""
)


def test_a_company_whose_train_runs_nowhere_buys_no_second_one() -> None:
    state = run_scenario(TURN + "= cash WT 200")
    judged = Robot().ranking(state, "p0")
    assert judged[0].action == Pass()
    assert all(each.value <= 0 for each in judged if isinstance(each.action, BuyTrain | TakeLoans))


IN_DEBT = """
@ phase 3
@ cash Ann 100
@ size WT 5
@ price WT {price}
@ owns Ann WT 3
@ loans WT {loans}
@ interest 15
@ cash WT {cash}
@ token WT F19
@ tile F21 8 1
@ tile F19 57 1
@ trains WT 2
@ trains bank 3 3 3
@ round operating WT
"""


def at_step(step: str, price: int, loans: int, cash: int, more: str = "") -> State:
    """WT's turn with that step, reached by passing, running its trains and paying."""
    before, turn = IN_DEBT.format(price=price, loans=loans, cash=cash).split("@ round")
    state = run_scenario(f"{before}{more}@ round{turn}= cash WT {cash}")
    while (top := state.top) and getattr(top, "step", step) != step:
        seat = decision(state).awaited[0]
        done = [
            each.action for each in options(state, seat) if isinstance(each.action, RunTrains | PayDividend)
        ]
        state = play(state, seat, done[0] if done else Pass()).state
    return state


@pytest.mark.parametrize(("loans", "may_pay"), [(5, False), (4, True)])
def test_a_company_that_may_take_no_more_loans_keeps_its_interest(loans: int, may_pay: bool) -> None:
    """1817 §6.8: interest that a company cannot pay puts it into liquidation."""
    state = at_step("dividend", 110, loans, 60)
    paid = next(each for each in Robot().ranking(state, "p0") if isinstance(each.action, PayDividend))
    assert (paid.value > 0) == may_pay


@pytest.mark.parametrize(("price", "pays"), [(40, False), (110, True)])
def test_a_loan_into_liquidation_pays_no_interest(price: int, pays: bool) -> None:
    state = run_scenario(IN_DEBT.format(price=price, loans=2, cash=0) + "= cash WT 0")
    assert Forecast(game_of(state), "p0").pays_interest("WT", 0) == pays


@pytest.mark.parametrize(("cash", "may_spend"), [(51, False), (52, True)])
def test_a_company_spends_no_interest_on_a_train_of_its_president(cash: int, may_spend: bool) -> None:
    """1817 §6.8: the treasury holds $75 and $76 after the dividend, and $75 are due."""
    second = company_lines("SR", 5, 80, "Ann 3") + "\n@ trains SR 3 3\n"
    state = at_step("trains", 110, 5, cash, second)
    deals = [each for each in Robot().ranking(state, "p0") if isinstance(each.action, BuyTrain)]
    best = next(each for each in deals if each.action == BuyTrain("3", "SR", 1))
    assert (best.value > 0) == may_spend


@pytest.mark.parametrize(("money", "converts"), [(500, True), (0, False)])
def test_a_company_converts_only_where_somebody_buys_its_shares(money: int, converts: bool) -> None:
    """1817 §7.1.4. The token costs $50, and a president alone with 40 % gets less than before."""
    body = MERGER.replace("500", str(money)) + "@ phase 3\n@ trains bank 3 3 3\n@ round merger WT\n"
    state = run_scenario(f"{body}Ann: act\n= cash WT 200")
    judged = Robot().ranking(state, "p0")
    assert (judged[0].action == Convert()) == converts


@pytest.mark.parametrize(("others", "converts"), [(500, False), (0, True)])
def test_no_company_converts_where_its_new_shares_bring_others_more(others: int, converts: bool) -> None:
    """1817 §7.1.4. A share at $60 is worth more than $200; Ann has the money for two of them."""
    money = f"Ann 150\n@ cash Bob {others}\n@ cash Cid {others}"
    body = IN_DEBT.format(price=60, loans=0, cash=0).split("@ round")[0]
    body = body.replace("Ann 100", money).replace("trains WT 2", "trains WT 3")
    state = run_scenario(f"{body}@ round merger WT\nAnn: act\n= cash WT 0")
    assert (Robot().choose_action(state, "p0") == Convert()) == converts


@pytest.mark.parametrize(("train", "merges"), [("", True), ("@ trains SR 2\n", False)])
def test_a_company_without_a_train_is_merged_with_one_that_has_one(train: str, merges: bool) -> None:
    """1817 §7.1.2. Both are Ann's; with a train each they are worth no more as one."""
    small = company_lines("WT", 2, 60, "Ann 2", token="F19", trains="2", cash=20)
    small += company_lines("SR", 2, 60, "Ann 2", token="G18", cash=20) + train
    state = run_scenario(f"{MONEY}{small}@ round merger WT\n= cash WT 20")
    assert (Robot().choose_action(state, "p0") == WillAct()) == merges
    asked = play(state, "p0", WillAct()).state
    assert (Robot().choose_action(asked, "p0") == Merge("SR")) == merges


def test_a_company_in_debt_gives_its_last_train_to_no_other_company_of_its_president() -> None:
    """1817 §7.2.4: its president would have to pay its loans."""
    worths = []
    for loans in (0, 4):
        second = company_lines("SR", 5, 80, "Ann 3") + f"\n@ trains SR 3\n@ cash SR 0\n@ loans SR {loans}\n"
        judged = Robot().ranking(at_step("trains", 110, 0, 300, second), "p0")
        worths += [each.value for each in judged if each.action == BuyTrain("3", "SR", 1)]
    assert worths[0] - worths[1] > 300


def test_judgements_decide_alone_where_companies_take_loans() -> None:
    state = at_step("trains", 110, 0, 300)
    assert to_plan(state, Robot().ranking(state, "p0")) == []
