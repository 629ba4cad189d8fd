"""Company sales: liquidations, acquisitions, friendly sales, and their ten steps (1817 §7.2)."""

from __future__ import annotations

import pytest

from engine import (
    choices,
    decision,
    free_cash,
    is_secret,
    narrate,
    parse,
    play,
    visible_to,
)
from tests.t1817.scenarios import MONEY, SITE, company_lines, run_scenario, scenario_error

WT = company_lines("WT", 5, 100, "Ann 2", cash=300, token="F19", trains="2")
UR = company_lines("UR", 5, 90, "Cid 2", cash=300, token="B5", trains="2")


def put_up(kind: int | str, *others: str, trains: str = "none") -> str:
    """For sale, by the kind of sale."""
    if isinstance(kind, int):
        return offered(kind, *others, trains=trains)
    return sale(kind, *others, trains=trains)


def sale(price: int | str, *others: str, size: int = 2, owners: str = "Bob 2", **more: int | str) -> str:
    """The SR in Baltimore, Bob's, is for sale; Ann's WT and Cid's UR could buy it."""
    target = company_lines("SR", size, price, owners, token="G18", **more)
    return MONEY + WT + UR + target + "".join(others) + "@ round sale SR\n"


def offered(price: int = 60, *others: str, size: int = 2, owners: str = "Bob 2", **more: int | str) -> str:
    """The same, and Bob has put it up for a friendly sale."""
    answers = "Bob: act\nCid: pass\nAnn: pass\n"
    return f"{sale(price, *others, size=size, owners=owners, **more)}{answers}Bob: offer SR\n"


RED, GRAY = "liquidation", "acquisition 2"

# -- 1817 §7.2 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RED, GRAY, 60])
def test_7_2_a_sale_is_to_a_company_and_gives_trains_tokens_and_privates(kind: int | str) -> None:
    body = put_up(kind, "@ private CM SR\n@ markers SR 1\n", trains="2 2")
    run_scenario(
        f"{body}Cid: pass\nAnn: bid 120\nAnn: pass\n= trains WT 2 2 2\n= token WT F19 G18\n= markers WT 2\n"
        "= private CM WT\n= price SR none"
    )


def test_7_2_a_player_without_a_company_buys_nothing() -> None:
    run_scenario(
        f"{sale(GRAY).replace('owns Cid UR', 'owns Ann UR')}!Cid: bid 10 | 1817 §7.2.4\n"
        "!Bob: bid 10 | 1817 §7.2.4\n= turn Ann"
    )


def test_7_2_treasury_and_loans_go_along_but_for_liquidations() -> None:
    bought = "Cid: pass\nAnn: bid 120\n= loans WT 1\n= cash WT {}\n"
    run_scenario(sale(GRAY, cash=40, loans=1) + bought.format(220))
    # One share in the treasury of five: $60 for it.
    five = offered(60, size=5, owners="Bob 3, Cid 1", cash=40, loans=1)
    run_scenario(f"{five}Cid: pass\nAnn: bid 300\n= loans WT 1\n= cash WT 100")
    run_scenario(f"{sale(RED, cash=40, loans=1)}Cid: pass\nAnn: bid 120\n= loans WT 0\n= cash WT 180")


def test_7_2_what_is_sold_may_be_started_again() -> None:
    body = sale(GRAY).replace("@ round sale SR", "@ round sale SR 2")
    run_scenario(f"{body}Cid: pass\nAnn: bid 10\nAnn: pass\n= price SR none\nCid: pass\nAnn: pass\n"
          "= round stock Ann\nAnn: start SR H3 100")  # fmt: skip


# -- 1817 §7.2.1 -----------------------------------------------------------------------------------


def test_7_2_1_a_liquidated_company_is_always_sold_and_ceases_to_exist() -> None:
    run_scenario(f"{sale(RED)}Cid: pass\nAnn: pass\n= price SR none\n= size SR none\n= president SR none")


def test_7_2_1_a_surplus_is_the_shareholders_and_a_deficit_the_presidents() -> None:
    owners = "Bob 3, Ann 1, Cid 1"
    rich = sale(RED, size=5, owners=owners, cash=130, loans=1)
    run_scenario(f"{rich}Cid: bid 100\nAnn: pass\nCid: pass\n= cash Bob 578\n= cash Ann 526\n= cash Cid 526")
    poor = sale(RED, size=5, owners=owners, cash=30, loans=2)
    run_scenario(f"{poor}Cid: bid 100\nAnn: pass\nCid: pass\n= cash Bob 430\n= cash Ann 500\n= cash Cid 500")


def test_7_2_1_a_company_that_bids_ties_up_no_players_cash() -> None:
    state = run_scenario(f"{sale(RED)}Cid: bid 100\n= turn Ann")
    assert free_cash(state) == {seat: state.cash[seat] for seat in state.seats}


# -- 1817 §7.2.2 -----------------------------------------------------------------------------------


def test_7_2_2_for_as_little_as_10_dollars_with_all_that_it_has() -> None:
    run_scenario(
        f"{sale(GRAY, cash=70, loans=1)}!Cid: bid 5 | 1817 §7.2.4\n"
        "Cid: bid 10\nAnn: pass\nCid: pass\n= cash UR 360\n"
        "= loans UR 1"
    )


def test_7_2_2_the_buyer_can_pay_and_take_on_or_redeem_the_loans() -> None:
    """The UR has five loans: those of the SR have to be redeemed, with the cash that comes with it."""
    full = sale(GRAY, cash=150, loans=2).replace("trains UR 2", "trains UR 2\n@ loans UR 5")
    run_scenario(
        f"{full}!Cid: bid 260 | 1817 §7.2.4\nCid: bid 250\n"
        "Ann: pass\n= loans UR 5\n= cash UR 0\n= price SR none"
    )
    # One of them may be kept by who has four.
    four = full.replace("loans UR 5", "loans UR 4")
    run_scenario(
        f"{four}!Cid: bid 360 | 1817 §7.2.4\nCid: bid 350\n"
        "Ann: pass\n= loans UR 5\n= cash UR 0\n= price UR 80"
    )


def test_7_2_2_without_an_offer_it_goes_on_as_before() -> None:
    run_scenario(
        f"{sale(GRAY, cash=70, loans=1, trains='2')}Cid: pass\nAnn: pass\n= price SR acquisition 2\n"
        "= cash SR 70\n"
        "= loans SR 1\n= trains SR 2\n= president SR Bob"
    )


# -- 1817 §7.2.3 -----------------------------------------------------------------------------------


def test_7_2_3_the_president_of_a_white_company_offers_it() -> None:
    run_scenario(
        f"{sale(60)}Bob: act\nCid: pass\nAnn: pass\n!Ann: bid 120 | 1817 §7.1\n"
        "!Bob: offer UR | 1817 §7.2.3\nBob: offer SR\n"
        "Cid: bid 120"
    )
    run_scenario(f"{sale(60)}Bob: pass\nCid: pass\nAnn: pass\n= round operating WT 2\n= president SR Bob")


def test_7_2_3_the_least_is_its_market_value() -> None:
    run_scenario(f"{offered(60)}!Cid: bid 110 | 1817 §7.2.4\nCid: bid 120")
    run_scenario(f"{offered(50, size=5)}!Cid: bid 240 | 1817 §7.2.4\nCid: bid 250")
    # A bid is a multiple of $10: $225 are not reached by less than $230.
    run_scenario(f"{offered(45, size=5)}!Cid: bid 220 | 1817 §7.2.4\nCid: bid 230")


def test_7_2_3_its_treasury_shares_are_sold_at_the_price_for_the_buyer() -> None:
    """Three at $50: with them the UR can bid $150 more than it has."""
    body = (
        offered(50, size=5)
        .replace("cash UR 300", "cash UR 100")
        .replace("price UR 90", "price UR 90\n@ loans UR 5")
    )
    run_scenario(f"{body}!Cid: bid 260 | 1817 §7.2.4\nCid: bid 250\nAnn: pass\n= cash UR 0\n= cash Bob 600")


def test_7_2_3_what_nobody_bids_for_goes_on_and_no_shares_are_sold() -> None:
    run_scenario(
        f"{offered(50, size=5, cash=10)}Cid: pass\nAnn: pass\n= cash SR 10\n= owns treasury SR 3\n"
        "= owns pool SR 0\n"
        "= price SR 50\n= president SR Bob"
    )


def test_7_2_3_the_president_cannot_change_his_mind() -> None:
    run_scenario(
        f"{offered(60)}!Bob: pass | 1817 §7.2.4\nCid: bid 120\n"
        "!Bob: pass | 1817 §7.2.4\nAnn: pass\nCid: pass\n= price SR none"
    )


# -- 1817 §7.2.4 -----------------------------------------------------------------------------------

REVERSED = (
    MONEY
    + company_lines("WT", 5, 100, "Ann 2", cash=900, token="F19")
    + company_lines("UR", 2, "acquisition 3", "Cid 2", token="B5")
    + company_lines("SR", 2, "acquisition 2", "Bob 2", token="G18")
    + company_lines("PW", 2, "acquisition 2", "Bob 2", token="H3")
    + company_lines("H", 2, 50, "Bob 2", token="H9", loans=2)
    + company_lines("R", 2, 60, "Cid 2", token="D7", loans=2)
)


def test_7_2_4_in_reverse_operating_order() -> None:
    """The PW came to its space after the SR, so it operates after it, and is sold before it."""
    order = REVERSED + "@ round sale PW\n"
    run_scenario(f"{order}Ann: bid 10\nAnn: pass\n= price PW none\nAnn: bid 10\nAnn: pass\n= price SR none\n"
          "Ann: bid 10\nAnn: pass\n= price UR none\nBob: act\nCid: act\nAnn: pass\n= turn Bob H\n"
              "Bob: pass\n= turn Cid R")  # fmt: skip


def test_7_2_4_who_has_become_gray_by_a_purchase_is_not_sold_and_buys_no_more() -> None:
    """The UR keeps two loans of the SR, which take it from $45 to a gray space."""
    other = company_lines("PW", 2, 50, "Bob 2", token="H3")
    body = sale(GRAY, other, loans=2).replace("price UR 90", "price UR 45")
    run_scenario(
        f"{body}Cid: bid 10\nAnn: pass\nCid: pass\nCid: pass\n"
        "= price UR acquisition 3\n!Cid: act | 1817 §7\nBob: act\n"
        "Ann: pass\nBob: offer PW\n!Cid: bid 100 | 1817 §7.2.4\nAnn: pass\nAnn: pass\n= round operating WT 2"
    )


def test_7_2_4_red_and_gray_companies_make_no_purchases() -> None:
    for kind in (RED, GRAY):
        body = sale(GRAY).replace("price UR 90", f"price UR {kind}").replace("round sale SR", "round sale UR")
        run_scenario(f"{body}!Cid: bid 10\nAnn: pass\n= turn Ann\n!Cid: bid 10")


def test_7_2_4_1_offered_always_or_with_the_presidents_leave() -> None:
    run_scenario(f"{sale(RED)}= turn Cid\n!Bob: pass | 1817 §7.2.4\nCid: bid 10")
    run_scenario(f"{sale(GRAY)}= turn Cid\n!Bob: pass | 1817 §7.2.4\nCid: bid 10")
    run_scenario(f"{sale(60)}= turn Bob\n!Cid: bid 120 | 1817 §7")


def test_7_2_4_2_cash_pays_the_loans_of_a_liquidated_company() -> None:
    """Nobody can pay with its $500, nor has to take its loans; they are the bank's again at once."""
    body = sale(RED, cash=500, loans=2).replace("trains UR 2", "trains UR 2\n@ loans UR 5")
    run_scenario(
        f"{body}= cash SR 0\n= loans SR 0\n!Cid: bid 310 | 1817 §7.2.4\n"
        "Cid: bid 300\nAnn: pass\n= loans UR 5\n= cash UR 0"
    )


@pytest.mark.parametrize(("kind", "least"), [(RED, 10), (GRAY, 10), (60, 120)])
def test_7_2_4_3_the_least_bid(kind: int | str, least: int) -> None:
    body = put_up(kind)
    assert f"${least} or more (1817 §7.2.4)" in scenario_error(f"{body}Cid: bid {least - 10}")
    run_scenario(f"{body}Cid: bid {least}")


def test_7_2_4_3_what_is_for_sale_may_pay_for_itself() -> None:
    """Its $200 and its three treasury shares at $50 are the buyer's before the bid is paid."""
    broke = (
        offered(50, size=5, cash=200).replace("cash UR 300", "cash UR 0").replace("cash WT 300", "cash WT 0")
    )
    broke = broke.replace("trains UR 2", "trains UR 2\n@ loans UR 5")
    run_scenario(f"{broke}!Cid: bid 360 | 1817 §7.2.4\nCid: bid 350\nAnn: pass\n= cash UR 0\n= cash Bob 640")


def test_7_2_4_4_from_the_left_of_the_president_around_the_table() -> None:
    own = company_lines("PW", 5, 80, "Bob 2", cash=300, token="H3")
    body = sale(GRAY, own)
    run_scenario(
        f"{body}!Ann: bid 10 | 1817 §7.2.4\n!Bob: bid 10 | 1817 §7.2.4\n"
        "Cid: bid 10\nAnn: bid 20\nBob: bid 30\nCid: pass\nAnn: bid 50\n"
        "!Cid: bid 60 | 1817 §7.2.4\nBob: pass\n= turn Ann\nAnn: pass\n= token WT F19 G18"
    )


def test_7_2_4_4_multiples_of_10_above_the_last() -> None:
    body = f"{sale(GRAY)}Cid: bid 20\n"
    assert "multiple of $10, $30 or more" in scenario_error(f"{body}Ann: bid 35")
    run_scenario(
        f"{body}!Ann: bid 20 | 1817 §7.2.4\n!Ann: bid 25 | 1817 §7.2.4\n"
        "Ann: bid 90\n!Cid: bid 95 | 1817 §7.2.4\nCid: bid 100"
    )


@pytest.mark.parametrize(("kind", "least"), [(RED, 10), (GRAY, 10), (60, 120)])
def test_7_2_4_4_the_president_of_what_is_sold_bids_10_above_the_last(kind: int | str, least: int) -> None:
    own = company_lines("PW", 5, 80, "Bob 2", cash=300, token="H3")
    body = put_up(kind, own)
    said = f"{body}Cid: bid {least + 50}\nAnn: pass\n"
    assert "at most $10 above" in scenario_error(f"{said}Bob: bid {least + 70}")
    run_scenario(
        f"{said}Bob: bid {least + 60}\nCid: bid {least + 100}\n!Bob: bid {least + 120}\n"
        f"Bob: bid {least + 110}"
    )
    run_scenario(f"{body}Cid: pass\nAnn: pass\n!Bob: bid {least + 10}\nBob: bid {least}\n= token PW H3 G18")
    offers = {c.path[0]: c.amounts for c in choices(run_scenario(f"{said}= turn Bob"), "p1")}
    assert offers["bid"] is None and offers["bid up to"] is not None


def test_7_2_4_4_the_president_may_still_leave_how_far_he_would_go() -> None:
    own = company_lines("PW", 5, 80, "Bob 2", cash=300, token="H3")
    body = f"{sale(GRAY, own)}Cid: bid 20\nAnn: pass\nBob: bid up to 100\n"
    run_scenario(
        f"{body}= turn Cid\n!Cid: bid 30 | 1817 §7.2.4\nCid: bid 90\nCid: bid 110\n= token UR B5 G18"
    )
    run_scenario(
        f"{sale(GRAY, own)}Cid: bid 20\nAnn: pass\n!Bob: bid up to 810 | 1817 §7.2.4\nBob: bid up to 800"
    )


def test_7_2_4_4_bidding_up_to_a_limit_goes_by_the_least_and_leaves_above_it() -> None:
    body = sale(GRAY)
    run_scenario(
        f"{body}Cid: bid up to 100\n= turn Ann\n!Ann: bid 10 | 1817 §7.2.4\n"
        "Ann: bid 50\nAnn: pass\n= token UR B5 G18\n"
        "= cash UR 240"
    )
    run_scenario(f"{body}Cid: bid up to 100\nAnn: bid 110\nAnn: pass\n= token WT F19 G18\n= cash WT 190")
    run_scenario(f"{body}Cid: bid up to 100\nAnn: bid up to 200\nAnn: pass\n= cash WT 200")


def test_7_2_4_4_whoever_owns_no_company_that_could_pay_is_not_asked() -> None:
    body = sale(GRAY).replace("cash UR 300", "cash UR 0").replace("trains UR 2", "trains UR 2\n@ loans UR 5")
    run_scenario(f"{body}= turn Ann\n!Cid: bid 10 | 1817 §7.2.4")
    some = sale(GRAY).replace("cash UR 300", "cash UR 30").replace("trains UR 2", "trains UR 2\n@ loans UR 5")
    run_scenario(
        f"{some}Cid: bid 10\n!Ann: bid 10 | 1817 §7.2.4\nAnn: bid 40\n= turn Ann\n!Cid: bid 50 | 1817 §7.2.4"
    )


def test_7_2_4_4_the_company_is_named_by_the_winner_alone_and_when_he_has_won() -> None:
    own = company_lines("PW", 5, 80, "Cid 2", cash=300, token="H3")
    poor = company_lines("H", 2, 70, "Cid 2", token="H9")
    body = sale(GRAY, own, poor)
    won = f"{body}!Cid: buyer PW | 1817 §7.2.4\nCid: bid 250\nAnn: pass\n"
    assert "cannot pay $250" in scenario_error(f"{won}Cid: buyer H")
    run_scenario(
        f"{won}!Cid: buyer WT | 1817 §7.2.4\n!Ann: buyer PW | 1817 §7.2.4\n"
        "Cid: buyer PW\n= token PW H3 G18\n= cash PW 50\n= cash UR 300"
    )
    run_scenario(f"{won}Cid: buyer UR\n= cash UR 50")


def test_7_2_4_5_without_a_bid_what_was_liquidated_leaves_the_game() -> None:
    body = sale(RED, "@ private CM SR\n", trains="2 2", markers=1)
    run_scenario(
        f"{body}Cid: pass\nAnn: pass\n= token SR none\n= markers SR 0\n= private CM closed\n"
        "= trains pool none\n"
        "= trains SR none\n= price SR none"
    )


def test_7_2_4_5_without_a_bid_others_go_on() -> None:
    run_scenario(f"{sale(GRAY)}Cid: pass\nAnn: pass\n= token SR G18\n= price SR acquisition 2")
    run_scenario(f"{offered(60)}Cid: pass\nAnn: pass\n= token SR G18\n= price SR 60")


def test_7_2_4_6_treasury_shares_bring_money_in_the_green_zone_only() -> None:
    sold = "Cid: bid {}\nAnn: pass\n= cash UR {}\n"
    run_scenario(offered(60, size=5, owners="Bob 3") + sold.format(300, 120))
    for kind in (GRAY, RED):
        run_scenario(sale(kind, size=5, owners="Bob 3") + sold.format(100, 200))


def test_7_2_4_6_trains_above_the_limit_are_given_up_before_loans_and_settling() -> None:
    body = sale(GRAY, trains="2 2 2 2")
    said = "Cid: bid 10\nAnn: pass\n!Cid: pass | 1817 §6.7\n= cash Bob 500\nCid: discard 2\n= trains pool 2\n"
    run_scenario(f"{body}{said}= trains UR 2 2 2 2\n= cash Bob 500\nCid: pass\n= cash Bob 510")
    # So too where nothing is asked about loans; afterwards others are asked what they offer.
    full = body.replace("trains UR 2", "trains UR 2\n@ loans UR 5").replace("cash UR 300", "cash UR 50")
    run_scenario(f"{full}{said}= cash Bob 510\n= turn Cid")
    run_scenario(f"{full}Cid: bid 10\nAnn: pass\n= cash Bob 510\nCid: discard 2", options=(SITE,))


def test_7_2_4_7_the_price_is_paid_with_loans_if_need_be() -> None:
    run_scenario(
        f"{sale(GRAY)}Cid: bid 420\nAnn: pass\n= cash UR 80\n= loans UR 2\n= price UR 70\nCid: loan 1\n"
        "= cash UR 180"
    )
    # At most as many as it may have, and only before others are repaid.
    run_scenario(
        f"{sale(GRAY)}!Cid: bid 810 | 1817 §7.2.4\nCid: bid 800\nAnn: pass\n= loans UR 5\n= cash UR 0"
    )


def test_7_2_4_7_there_are_seventy_loans_in_all() -> None:
    """All but one are taken, three of them by what is for sale: one is left to the buyer."""
    others = "".join(
        company_lines(sym, 10, 60, "Ann 4", loans=10, token=at)
        for sym, at in (("PW", "H3"), ("H", "H9"), ("R", "D7"), ("J", "I12"), ("ME", "C8"), ("WC", "I16"))
    )
    body = sale(GRAY, others, loans=1).replace("trains WT 2", "trains WT 2\n@ loans WT 5")
    more = company_lines("A&A", 5, 60, "Ann 2", loans=3, token="C14")
    body = body.replace("@ round", f"{more}@ round")
    run_scenario(f"{body}!Cid: bid 410 | 1817 §7.2.4\nCid: bid 400\nAnn: pass\n= loans UR 2\n= cash UR 0")


def test_7_2_4_7_loans_of_the_target_are_repaid_or_move_the_price() -> None:
    body = f"{sale(GRAY, loans=2, cash=50)}Cid: bid 10\nAnn: pass\n= loans UR 2\n"
    run_scenario(f"{body}Cid: pass\nCid: pass\n= loans UR 2\n= price UR 70\n= cash UR 340")
    run_scenario(f"{body}Cid: pass\nCid: repay 1\nCid: pass\n= loans UR 1\n= price UR 80\n= cash UR 240")
    run_scenario(
        f"{body}!Cid: repay 3 | 1817 §7.2.4\nCid: repay 2\n= loans UR 0\n= price UR 90\n= cash UR 140"
    )
    run_scenario(f"{body}Cid: repay 1\n!Cid: loan 1 | 1817 §7.2.4\n")


def test_7_2_4_7_the_buyers_own_loans_stay() -> None:
    body = sale(GRAY, loans=1).replace("trains UR 2", "trains UR 2\n@ loans UR 2")
    run_scenario(
        f"{body}Cid: bid 10\nAnn: pass\nCid: repay 1\n!Cid: repay 1 | 1817 §7\n= loans UR 2\n= price UR 90"
    )


def test_7_2_4_7_the_price_falls_no_further_than_the_leftmost_gray_space() -> None:
    body = sale(GRAY, loans=2).replace("price UR 90", "price UR 45")
    five = body.replace("size SR 2", "size SR 5").replace("loans SR 2", "loans SR 5")
    run_scenario(
        f"{five}Cid: bid 10\nAnn: pass\n?Cid: pass\n?Cid: pass\n= loans UR 5\n= price UR acquisition 1"
    )


def test_7_2_4_7_what_a_liquidated_company_brings_is_for_its_debts_and_others_bring_the_bank() -> None:
    run_scenario(f"{sale(RED, loans=2, cash=30)}Cid: bid 100\nAnn: pass\nCid: pass\n= cash Bob 430")
    run_scenario(f"{sale(GRAY)}Cid: bid 100\nAnn: pass\nCid: pass\n= cash Bob 600")


def test_7_2_4_8_the_president_pays_what_the_loans_are_short_of() -> None:
    run_scenario(f"{sale(RED, loans=2)}Cid: pass\nAnn: pass\n= cash Bob 300")
    run_scenario(f"{sale(RED, loans=2, cash=200)}Cid: pass\nAnn: pass\n= cash Bob 500")


def test_7_2_4_9_holders_and_short_holders_settle_rounding_down() -> None:
    owners = "Bob 3, Cid 2, Ann -1, pool 1"
    done = (
        "Cid: bid 370\nAnn: pass\n?Cid: pass\n= cash Bob {}\n= cash Cid {}\n= cash Ann {}\n"
        "= owns Ann SR 0\n= price SR none"
    )
    body = sale(GRAY, size=5, owners=owners)
    run_scenario(body + done.format(722, 648, 426))  # $370 / 5 = $74 a share
    run_scenario(offered(50, size=5, owners=owners) + done.format(722, 648, 426))
    # Of a liquidated one it is the surplus, $370 - $200 + $33 = $203: $40 a share.
    run_scenario(sale(RED, size=5, owners=owners, loans=2, cash=33) + done.format(620, 580, 460))


def test_7_2_4_9_ten_shares_are_a_tenth_each() -> None:
    owners = "Bob 4, Cid 2, Ann -2"
    body = sale(GRAY, size=10, owners=owners)
    run_scenario(f"{body}Cid: bid 290\nAnn: pass\n?Cid: pass\n= cash Bob 616\n= cash Cid 558\n= cash Ann 442")


def test_7_2_4_9_without_a_surplus_shares_are_simply_returned() -> None:
    body = sale(RED, size=5, owners="Bob 3, Ann 1, Cid -1", loans=2, cash=200)
    run_scenario(
        f"{body}Cid: pass\nAnn: pass\n= cash Bob 500\n= cash Ann 500\n= cash Cid 500\n= owns Cid SR 0\n"
        "= owns Ann SR 0"
    )


def test_7_2_4_10_everything_of_it_is_in_storage_again() -> None:
    body = sale(GRAY, size=5, owners="Bob 3, Ann -1, pool 1", markers=1)
    run_scenario(
        f"{body}Cid: bid 100\nAnn: pass\nCid: pass\n= owns Bob SR 0\n= owns Ann SR 0\n= owns pool SR 0\n"
        "= size SR none\n"
        "= markers SR 0\n= token SR none\n= price SR none\n= cash SR 0\n= loans SR 0"
    )


def test_7_2_4_on_the_site_a_company_that_cannot_bid_at_all_drops_out_without_a_line() -> None:
    run_scenario(f"{sale(GRAY)}Cid: bid 100\nAnn: pass\n?Cid: pass\n= price SR none", options=(SITE,))


# -- who is asked ----------------------------------------------------------------------------------


def test_all_bidders_are_asked_at_once_and_only_the_first_bids() -> None:
    state = run_scenario(
        f"{sale(GRAY)}= turn Cid\n!Bob: bid up to 50 | 1817 §7.2.4\n!Ann: bid 10 | 1817 §7.2.4"
    )
    assert decision(state).asked == ("p2", "p0")
    assert "Cid bids first" in scenario_error(f"{sale(GRAY)}Ann: bid 20")
    run_scenario(
        f"{sale(GRAY)}= turn Cid\n!Ann: bid 10 | 1817 §7.2.4\n!Cid: bid nothing | 1817 §7.2.4\nCid: bid 10",
        options=(SITE,),
    )
    assert decision(run_scenario(f"{sale(GRAY)}= turn Cid", options=(SITE,))).asked == ("p2",)


def test_orders_given_in_advance_are_carried_out_in_turn() -> None:
    body = sale(GRAY)
    run_scenario(
        f"{body}Ann: bid nothing\n= turn Cid\n!Ann: bid up to 90 | 1817 §7.2.4\nCid: bid 50\nCid: pass\n"
        "= token UR B5 G18\n= cash UR 250"
    )
    run_scenario(
        f"{body}Ann: bid up to 90\nCid: bid 50\n= turn Cid\nCid: pass\nAnn: pass\n= cash WT 240\n"
        "= price SR none"
    )
    # Nobody bids where the first does not: the least is enough.
    run_scenario(f"{body}Ann: bid up to 90\nCid: pass\nAnn: pass\n= cash WT 290")
    run_scenario(f"{body}Ann: bid nothing\nCid: bid nothing\n= price SR acquisition 2")
    run_scenario(
        f"{body}Ann: pass\n= turn Cid\n!Ann: pass | 1817 §7.2.4\nCid: pass\n= price SR acquisition 2"
    )
    run_scenario(
        f"{body}!Ann: bid up to 95 | 1817 §7.2.4\n"
        "!Ann: bid up to 810 | 1817 §7.2.4\nAnn: bid up to 800\nCid: bid up to 100\n"
        "Ann: pass\n= cash WT 200"
    )


def test_the_others_question_stands_while_one_answers() -> None:
    """Ann's email is good for what she is asked as long as the same company is for sale."""
    third = company_lines("PW", 5, 80, "Bob 2", cash=300, token="H3")
    state = run_scenario(f"{sale(GRAY, third)}= turn Cid")
    asked, seats = state.question_number, {"Cid": "p2", "Ann": "p0", "Bob": "p1"}
    for name, line in (("Bob", "bid up to 100"), ("Cid", "bid 20")):
        state = play(state, seats[name], parse(state, seats[name], line)).state
        assert state.question_number == asked and "p0" in decision(state).asked
    state = play(state, "p0", parse(state, "p0", "bid 40")).state
    assert state.question_number == asked + 1 and decision(state).asked == ("p2", "p0")


def test_hidden_orders_are_shown_to_nobody() -> None:
    state = run_scenario(f"{sale(GRAY)}= turn Cid")
    for line in ("bid up to 70", "bid nothing"):
        assert is_secret(line)
        played = play(state, "p0", parse(state, "p0", line))
        assert narrate(played.state, played.events) == []
        assert visible_to(played.state, "p2") == visible_to(state, "p2") and played.state != state
        assert visible_to(played.state, "p0") == played.state
