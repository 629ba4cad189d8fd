"""1817: what a robot keeps in cash, so that it neither strands a company nor falls over a short sale."""

from __future__ import annotations

from bot.robots.opening import start_cash, start_need
from bot.robots.outlook import Outlook
from bot.robots.player import Robot
from engine import State, game_of
from engine.core.actions import BuyTrain, Pass, StartCompany, TakeLoans
from tests.t1817.scenarios import ANN, FIVE, MERGER, company_lines, run_scenario

SHORT = FIVE + company_lines("SR", 5, 80, "Bob 3, Ann -1, pool 1")


def position(body: str, cash: int) -> State:
    return run_scenario(body.replace("@ cash Ann 500", f"@ cash Ann {cash}") + f"{ANN}= cash Ann {cash}")


def test_no_company_is_started_without_cash_for_its_train() -> None:
    """A bid may be paid in privates, but trains may not."""
    for cash, may_start in ((20, False), (400, True)):
        state = position(FIVE, cash)
        o = Outlook(game_of(state), "p0")
        assert (start_cash(o) >= start_need(o)) == may_start
        judged = Robot().ranking(state, "p0")
        starts = [each for each in judged if isinstance(each.action, StartCompany) and each.worth > 0]
        assert bool(starts) == may_start


def test_who_has_sold_short_keeps_cash() -> None:
    o = Outlook(game_of(position(SHORT, 200)), "p0")
    assert o.short_reserve() == 60
    assert start_cash(o) == 140
    assert Outlook(game_of(position(FIVE, 200)), "p0").short_reserve() == 0


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
    assert all(each.worth <= 0 for each in judged if isinstance(each.action, BuyTrain | TakeLoans))
