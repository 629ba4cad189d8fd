"""Operating rounds: their beginning, loans, the order of companies, trains, interest, repayment,
liquidation, the export (1817 §6, §6.1, §6.2, §6.7 to §6.11)."""

from __future__ import annotations

import pytest

from tests.t1817.scenarios import SITE, both_conventions, company_lines, run_scenario, scenario_error
from tests.t1817.test_06_running import COAST
from tests.t1817.test_06_track import company, turn

SR = """
@ size SR 2
@ price SR 60
@ owns Bob SR 2
@ cash SR 100
@ token SR G18
"""
STOCK = "@ round stock Ann\n> until operating\n"
OWN = "@ round operating WT\n"

Options = tuple[str, ...]


# -- 1817 §6 ---------------------------------------------------------------------------------------


def test_6_the_loan_fee_is_set_before_each_operating_round() -> None:
    six = company("loans WT 6", "trains WT 5", phase="5")
    run_scenario(f"{six}{SR}@ loans SR 2\n{STOCK}= interest 10")
    # What is taken or repaid in the round changes it with the next one only.
    later = f"{six}{SR}@ trains SR 5\n@ interest 5\n{OWN}Ann: loan 4\n= loans WT 10\n= interest 5\n"
    run_scenario(later + "> until merger\n= interest 5\n> until operating\n= interest 10")


def test_6_mail_is_paid_at_the_start_to_companies_with_a_train() -> None:
    for private, dollars in (("MINM", 10), ("MAIL", 15), ("MAJM", 20)):
        for trains in ("2", "2 2"):
            contract = company(f"private {private} WT", f"trains WT {trains}")
            run_scenario(f"{contract}{STOCK}= cash WT {200 + dollars}\n= round operating WT")
        run_scenario(f"{company(f'private {private} WT')}{STOCK}= cash WT 200\n= round operating WT")


def test_6_mail_is_paid_in_every_operating_round_before_anybody_operates() -> None:
    """The WT operates first; the SR has its $10 by then."""
    first = company("trains WT 2") + SR + "@ private MINM SR\n@ trains SR 2\n" + STOCK
    run_scenario(first + "= turn WT\n= cash SR 110\n> until operating\n= cash SR 120")


def test_6_mail_of_a_private_that_a_player_keeps_is_not_paid() -> None:
    run_scenario(company("private MAJM Ann", "trains WT 2") + STOCK + "= cash Ann 100\n= cash WT 200")


def test_6_companies_in_the_gray_area_operate_and_those_in_liquidation_do_not() -> None:
    gray = SR.replace("price SR 60", "price SR acquisition 1") + "@ trains SR 2\n"
    run_scenario(company("trains WT 2") + gray + OWN + "> until SR\n= round operating SR")
    red = SR.replace("price SR 60", "price SR liquidation") + "@ trains SR 2\n@ cash Cid 100\n"
    run_scenario(company("trains WT 2") + red + OWN + "> until merger\n= price SR liquidation\n= turn Ann")


def test_6_the_steps_of_a_turn_in_their_order() -> None:
    run_scenario(
        f"""{turn(*COAST, "trains WT 3", "markers WT 1", phase="3", cash=500)}
        !Ann: pay | 1817 §6.5
        !Ann: repay 1 | 1817 §6.5
        Ann: token E22.0
        !Ann: lay 9 F17 1 | 1817 §6
        Ann: run best
        !Ann: lay 9 F17 1 | 1817 §6
        Ann: pay
        !Ann: run best | 1817 §6
        Ann: buy train 3
        Ann: buy train 3
        !Ann: half | 1817 §6
        Ann: loan 1
        Ann: done
        !Ann: buy train 3 | 1817 §6
        Ann: repay 1
        Ann: done
        """
    )


# -- 1817 §6.1, loans ------------------------------------------------------------------------------


def test_6_1_loans_in_every_step_before_the_interest_and_after_the_repayment() -> None:
    body = turn(*COAST, "trains WT 3", "markers WT 1", phase="3")
    for step in ("track", "token", "run", "dividend", "trains", "repay"):
        run_scenario(f"{body}> until {step}\n= loans WT 0\nAnn: loan 2\n= loans WT 2")


def test_6_1_only_its_president_and_only_in_its_own_turn() -> None:
    body = company("trains WT 2") + SR + "@ trains SR 2\n" + OWN
    run_scenario(
        body + "!Bob: loan 1 | 1817 §6\n> until SR\n!Ann: loan 1 | 1817 §6\n"
        "Bob: loan 1\n= loans SR 1\n= loans WT 0"
    )


def test_6_1_a_refusal_says_how_many_loans_are_left() -> None:
    assert "The WT may take 1 more loan (" in scenario_error(turn("loans WT 1") + "Ann: loan 2")
    assert "The WT may take no more loans (" in scenario_error(turn("loans WT 2") + "Ann: loan 1")


def test_6_1_no_loans_between_interest_and_repayment() -> None:
    """A loan taken after the interest costs none of it, and ends the repayment."""
    body = turn("loans WT 1", "interest 10", "trains WT 2") + "> until repay\n= cash WT 190\n"
    run_scenario(body + "Ann: loan 1\n= cash WT 290\n!Ann: repay 1 | 1817 §7\nAnn: done")
    run_scenario(body + "Ann: repay 1\n= loans WT 0\nAnn: loan 2\n= loans WT 2\n= cash WT 290")


def test_6_1_not_beyond_the_leftmost_gray_space_nor_600() -> None:
    low = turn("trains WT 5", phase="5").replace("price WT 100", "price WT acquisition 2")
    run_scenario(low + "Ann: loan 3\n= price WT acquisition 1\n= loans WT 3")
    high = turn("loans WT 3", "trains WT 5", phase="5", cash=500).replace("price WT 100", "price WT 600")
    run_scenario(high + "> until repay\n= price WT 540\nAnn: repay 2\n= price WT 600\n= loans WT 1")


# -- 1817 §6.2 -------------------------------------------------------------------------------------


def test_6_2_in_descending_order_of_price() -> None:
    three = company("trains WT 2") + SR + "@ trains SR 2\n"
    three += "@ size PW 2\n@ price PW 135\n@ owns Cid PW 2\n@ token PW F13\n@ trains PW 2\n"
    order = "= turn PW\n> until WT\n= round operating WT\n> until SR\n= round operating SR\n"
    run_scenario(three + STOCK + order)


def test_6_2_at_one_price_the_token_that_came_first_is_first() -> None:
    """Both at $100, in this order; a token that moves there later is below."""
    same = SR.replace("price SR 60", "price SR 100") + "@ trains SR 2\n"
    run_scenario(company("trains WT 2") + same + STOCK + "= turn WT\n> until SR")
    run_scenario(
        "@ phase 2\n" + same + company("trains WT 2").replace("@ phase 2\n", "") + STOCK + "= turn SR"
    )
    moved = company("trains WT 2").replace("price WT 100", "price WT 110") + same + OWN
    run_scenario(moved + "Ann: loan 1\n= price WT 100\n> until merger\n> until operating\n= price WT 90")
    falls = company("trains WT 2", "loans WT 1").replace("price WT 100", "price WT 110")
    falls += SR.replace("price SR 60", "price SR 110") + "@ trains SR 2\n@ cash Cid 5\n" + OWN
    run_scenario(
        falls + "> until SR\n= price WT 100\n> until merger\n> until operating\n= price SR 100\n= turn WT"
    )


# -- 1817 §6.7 -------------------------------------------------------------------------------------


def test_6_7_several_trains_as_long_as_there_is_room_and_money() -> None:
    body = company("trains bank 3 3 3 3 3", phase="3", cash=1250) + OWN + "> until trains\n"
    run_scenario(
        body + "Ann: buy train 3\n" * 4 + "= trains WT 3 3 3 3\n= cash WT 250\n!Ann: buy train 3 | 1817 §6"
    )
    poor = company("trains bank 3 3", phase="3", cash=499) + OWN + "> until trains\nAnn: buy train 3\n"
    run_scenario(poor + "!Ann: buy train 3 | 1817 §6\nAnn: loan 1\nAnn: buy train 3\n= cash WT 99")


def test_6_7_at_the_limit_nothing_is_bought() -> None:
    other = SR + "@ trains SR 3\n"
    full = company("trains WT 3 3 3 3", "trains bank 3 3", phase="3", cash=900) + other + OWN
    run_scenario(
        full + "> until trains\n!Ann: buy train 3\n!Ann: buy train 3 from SR for 1 | 1817 §6", options=(SITE,)
    )
    run_scenario(full + "!Ann: buy train 3\n> until repay")
    at = company("trains WT 4 4 4", "trains pool 3", phase="4", cash=900) + other + OWN
    run_scenario(at + "!Ann: buy train 4 | 1817 §6.7\n!Ann: buy train 3 from pool | 1817 §6.7\n> until repay")


def test_6_7_a_phase_change_comes_before_the_next_purchase() -> None:
    """The first 5 starts phase 5 at once; the first 6 lowers the limit to two before more is bought."""
    body = company("trains WT 5", "trains bank 5", phase="5", cash=3000) + OWN + "> until trains\n"
    run_scenario(
        body + "Ann: buy train 5\n= phase 5\nAnn: buy train 6\n"
        "= phase 6\nAnn: discard 5\n!Ann: buy train 6 | 1817 §6"
    )


def test_6_7_new_trains_in_order_and_those_in_the_market_at_face_value() -> None:
    body = company("trains bank 3 3", "trains pool 2", phase="3", cash=900) + OWN + "> until trains\n"
    run_scenario(
        body
        + """
        !Ann: buy train 4
        Ann: buy train 2 from pool
        = cash WT 800
        !Ann: buy train 2 from pool | 1817 §6.7
        Ann: buy train 3
        Ann: buy train 3
        = cash WT 300
        !Ann: buy train 4
        Ann: loan 1
        Ann: buy train 4
        """
    )


@both_conventions
def test_6_7_between_companies_at_an_agreed_price(options: Options) -> None:
    body = company("trains bank 3 3", phase="3") + SR + "@ trains SR 3\n" + OWN + "> until trains\n"
    agreed = "Ann: buy train 3 from SR for 1\n= trains WT none\nBob: accept\n= trains WT 3\n= cash SR 101"
    run_scenario(body + agreed, options=options)
    run_scenario(
        body + "Ann: buy train 3 from SR for 200\nBob: decline\n= trains WT none\n= cash WT 200",
        options=options,
    )
    run_scenario(
        body + "!Ann: buy train 3 from SR for 0 | 1817 §6.7\n"
        "!Ann: buy train 3 from SR for 201 | 1817 §6\nAnn: done",
        options=options,
    )
    own = body.replace("owns Bob SR 2", "owns Ann SR 2")
    run_scenario(own + "Ann: buy train 3 from SR for 5\n= trains WT 3\n= cash SR 105", options=options)


def test_6_7_not_from_a_company_in_liquidation() -> None:
    body = company("trains bank 3 3", phase="3") + SR.replace("price SR 60", "price SR liquidation")
    run_scenario(
        body + "@ trains SR 3\n" + OWN + "> until trains\n"
        "!Ann: buy train 3 from SR for 10 | 1817 §6.7\nAnn: done"
    )
    gray = company("trains bank 3 3", phase="3") + SR.replace("price SR 60", "price SR acquisition 1")
    run_scenario(
        gray + "@ trains SR 3\n" + OWN + "> until trains\nAnn: buy train 3 from SR for 10\nBob: accept"
    )


def test_6_7_a_lower_limit_makes_all_companies_discard_at_once() -> None:
    """The first 4: three trains at most. What is discarded is for sale in the market."""
    body = company("trains WT 3 3 3", "trains bank 3", phase="3", cash=900) + SR
    body += "@ trains SR 3 3 3 3\n" + OWN + "> until trains\nAnn: buy train 3\n"
    run_scenario(
        body.replace("WT 3 3 3\n", "WT 3 3\n").replace("cash WT 900", "cash WT 1000")
        + """
        Ann: buy train 4
        = phase 4
        !Ann: done | 1817 §6.7
        ?Bob: discard 3                 # who is asked first does not matter here
        ?Ann: discard 3
        ?Bob: discard 3
        = trains pool 3 3
        = trains SR 3 3 3
        = trains WT 3 3 4
        = turn WT
        """
    )


def test_6_7_no_train_is_obligatory_and_the_president_adds_nothing() -> None:
    body = company("trains bank 3 3", phase="3", cash=90) + OWN + "> until trains\n"
    run_scenario(
        body + "!Ann: buy train 3 | 1817 §6\n!Ann: sell 1 WT | 1817 §6\n"
        "Ann: done\n= turn WT\n= trains WT none\n= cash Ann 100"
    )


# -- 1817 §6.8 -------------------------------------------------------------------------------------


def test_6_8_each_loan_costs_the_fee_after_trains_are_bought() -> None:
    body = turn("loans WT 4", "interest 15", "trains WT 5", phase="5")
    run_scenario(
        body + "= cash WT 200\n> until trains\n= cash WT 200\n> until repay\n= cash WT 140\n= loans WT 4"
    )


def test_6_8_loans_are_taken_where_the_money_is_short_and_cost_the_fee_too() -> None:
    """$20 on one loan with $5: one more loan, and $40 are due."""
    body = turn("loans WT 1", "interest 20", "trains WT 5", phase="5", cash=5)
    run_scenario(body + "> until repay\n= loans WT 2\n= cash WT 65\n= price WT 80")
    # At $70 a loan brings in $30: with seven there must be two more and then nine times $70.
    deep = turn("loans WT 7", "interest 70", "trains WT 5", phase="5", cash=430)
    run_scenario(deep + "> until repay\n= loans WT 9\n= cash WT 0\n= price WT 70")


MISSED = (
    company("loans WT 2", "interest 20", "trains WT 2", cash=5)
    + SR
    + "@ trains SR 2\n"
    + OWN
    + "> until SR\n= price WT liquidation\n"
)


def test_6_8_unpaid_interest_liquidates_and_the_president_pays_it() -> None:
    """The president takes the company's $5 and pays all of the $40."""
    run_scenario(MISSED + "= cash WT 0\n= cash Ann 65\n= loans WT 2\n= round operating SR")


def test_6_8_the_turn_of_a_company_that_could_not_pay_is_over() -> None:
    run_scenario(MISSED + "!Ann: loan 1 | 1817 §6\n!Ann: repay 1 | 1817 §6\n= round operating SR")


# -- 1817 §6.9 -------------------------------------------------------------------------------------


def test_6_9_any_number_of_loans_for_100_each() -> None:
    body = (
        turn("loans WT 4", "interest 5", "trains WT 5", phase="5", cash=320)
        + "> until repay\n= cash WT 300\n"
    )
    run_scenario(
        body + "!Ann: repay 4 | 1817 §6.9\nAnn: repay 2\n= cash WT 100\n"
        "= loans WT 2\n= price WT 110\nAnn: repay 1\n"
        "= cash WT 0\n= price WT 120\n!Ann: repay 1 | 1817 §6.9"
    )
    run_scenario(body + "Ann: done\n> until merger\n= loans WT 4")


def test_6_9_repayment_only_at_its_time() -> None:
    body = turn(*COAST, "loans WT 1", "markers WT 1", "trains WT 3", phase="3", cash=500)
    for step in ("track", "token", "run", "dividend"):
        run_scenario(f"{body}> until {step}\n!Ann: repay 1")
    run_scenario(f"{company('loans WT 1', 'trains WT 2')}@ round stock Ann\n!Ann: repay 1\nAnn: pass")


def test_6_9_then_loans_and_the_turn_is_over() -> None:
    body = company("loans WT 2", "interest 5", "trains WT 5", phase="5") + SR + "@ trains SR 5\n" + OWN
    run_scenario(
        body + "> until repay\nAnn: repay 1\nAnn: loan 3\n= loans WT 4\n"
        "!Ann: repay 1 | 1817 §6.9\nAnn: done\n= turn SR"
    )


# -- 1817 §6.10 ------------------------------------------------------------------------------------


@both_conventions
def test_6_10_a_company_without_a_train_at_the_end_of_its_turn_is_liquidated(options: Options) -> None:
    run_scenario(
        company() + SR + "@ trains SR 2\n" + OWN + "> until SR\n= price WT liquidation", options=options
    )
    bought = "> until trains\n= price WT 90\nAnn: buy train 2\n> until SR\n= price WT 90"
    run_scenario(company() + SR + "@ trains SR 2\n" + OWN + bought, options=options)


def test_6_10_who_sells_his_last_train_to_another_is_not_before_his_own_turn() -> None:
    body = company("trains WT 2") + SR.replace("price SR 60", "price SR 200") + "@ cash Cid 1\n"
    body += "@ round operating SR\n> until trains\nBob: buy train 2 from WT for 50\nAnn: accept\n"
    run_scenario(body + "> until WT\n= price WT 100\n> until merger\n= price WT liquidation")


# -- 1817 §6.11 ------------------------------------------------------------------------------------


@both_conventions
def test_6_11_the_next_train_leaves_at_the_end_of_each_operating_round(options: Options) -> None:
    body = company("trains WT 3", "trains bank 3 3 3", phase="3") + OWN
    run_scenario(body + "> until merger\n= trains bank 3 3\n> until stock\n= trains bank 3", options=options)


@both_conventions
def test_6_11_an_export_may_start_a_phase(options: Options) -> None:
    body = company("trains WT 3 3 3 3", "trains bank 3", phase="3") + OWN
    run_scenario(
        body + "> until merger\n= phase 3\n= trains bank 4 4 4 4 4 4 4 4\n> until discard\n"
        "= phase 4\nAnn: discard 3\n= trains pool 3",
        options=options,
    )


FIRST = """
Ann: pass
Bob: pass
Cid: pass
Ann: start WT F19 100
?Bob: pass
?Cid: pass
Bob: pass
Cid: pass
Ann: pass
"""


@both_conventions
def test_6_11_the_first_export_takes_all_2_trains(options: Options) -> None:
    first = FIRST + "> until trains\nAnn: buy train 2\n= cash WT 0\n"
    state = run_scenario(first + "> until merger\n= trains bank 2+ 2+ 2+ 2+", options=options)
    assert state.depot["2"] == 0
    state = run_scenario(first + "Ann: loan 1\nAnn: buy train 2\n= trains WT 2 2", options=options)
    assert state.depot["2"] != 0


@pytest.mark.parametrize("begin", ["operating WT 2", "merger WT", "stock Ann"])
def test_6_11_no_2_train_is_left_where_a_later_round_is_written(begin: str) -> None:
    body = company_lines("WT", 2, 100, "Ann 2", token="F19", trains="2") + f"@ round {begin}\n"
    run_scenario(f"{body}= phase 2\n= trains bank 2+ 2+ 2+ 2+")
    assert "every 2-train is gone" in scenario_error(f"@ depot 2\n{body}")


def test_6_11_the_trains_of_two_plus_go_one_by_one() -> None:
    run_scenario(
        FIRST + "> until trains\nAnn: buy train 2\n> until merger\n> until operating\n> until merger\n"
        "= trains bank 2+ 2+ 2+"
    )
