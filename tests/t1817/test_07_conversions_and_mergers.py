"""Merger rounds: their order, conversions and mergers (1817 §7, §7.1)."""

from __future__ import annotations

import pytest

from engine import decision, play, prompt
from engine.kernel import game_of
from engine.language.notation import parse
from tests.t1817.scenarios import (
    MONEY,
    SITE,
    both_conventions,
    company_lines,
    run_scenario,
    scenario_error,
)

WT_2 = company_lines("WT", 2, 100, "Ann 2", cash=200, token="F19", trains="2")
SR_2 = company_lines("SR", 2, 60, "Bob 2", cash=50, token="G18", trains="2")
WT_5 = company_lines("WT", 5, 100, "Ann 2", cash=200, token="F19", trains="2")
SR_5 = company_lines("SR", 5, 70, "Bob 2", cash=50, token="G18", trains="2")
MERGER = "@ round merger WT\n"
SMALL = MONEY + WT_2 + SR_2 + MERGER
LARGE = MONEY + WT_5 + SR_5 + MERGER
WANTED = "Ann: act\nBob: pass\n"
"""Ann will have a company convert or merge."""

# -- 1817 §7, the order of the round ---------------------------------------------------------------

ALL_KINDS = (
    MONEY
    + company_lines("WT", 5, 100, "Ann 2", cash=300, token="F19")
    + company_lines("SR", 5, 90, "Bob 2", cash=300, token="G18")
    + company_lines("PW", 2, "acquisition 2", "Cid 2", token="H3")
    + company_lines("UR", 2, "acquisition 1", "Cid 2", token="B5")
    + company_lines("H", 2, "liquidation", "Cid 2", token="H9")
    + company_lines("R", 2, "liquidation", "Cid 2", token="D7")
)


def test_7_conversions_then_liquidations_then_acquisitions_then_friendly_sales() -> None:
    run_scenario(
        f"""{ALL_KINDS}{MERGER}
        Ann: pass
        Bob: pass
        = price R liquidation   # placed there last, it is sold first
        Ann: bid 10
        Bob: pass
        Ann: pass
        = price R none
        = token WT D7
        Ann: bid 10
        Bob: pass
        Ann: pass
        = price H none
        Ann: pass               # the gray ones in reverse operating order
        Bob: bid 10
        Bob: pass
        = price UR none
        = price PW acquisition 2
        Ann: pass
        Bob: bid 10
        Bob: pass
        = price PW none
        Bob: act                # at last friendly sales
        Ann: pass
        !Bob: offer WT | 1817 §7.2.3
        Bob: offer SR
        """
    )


def test_7_red_and_gray_companies_do_nothing() -> None:
    body = f"{ALL_KINDS}{MERGER}!Cid: act | 1817 §7\n"
    run_scenario(
        f"{body}Bob: act\nAnn: pass\n!Bob: merge PW | 1817 §7.1\n"
        "!Bob: merge H | 1817 §7.1\nBob: pass\n!Cid: bid 10 | 1817 §7.2.4"
    )
    assert decision(run_scenario(f"{body}= turn Ann")).awaited == ("p0", "p1")


def test_7_what_becomes_gray_in_the_round_is_not_put_up_and_does_nothing_more() -> None:
    """The WT converts and borrows itself into the gray area: it neither bids nor is sold in this round."""
    low = WT_5.replace("price WT 100", "price WT 45").replace("cash WT 200", "cash WT 0")
    gray = company_lines("PW", 2, "acquisition 2", "Cid 2", token="H3")
    body = (
        MONEY + low + gray + SR_5.replace("price SR 70", "price SR 40").replace("cash SR 50", "cash SR 400")
    )
    run_scenario(
        f"""{body}{MERGER}
        Ann: act
        Bob: pass
        Ann: convert
        Ann: pass
        Bob: pass
        Cid: pass
        Ann: loan 2
        Ann: pass
        = price WT acquisition 3
        Bob: pass               # growth
        !Ann: bid 10 | 1817 §7.2.4
        Bob: pass               # the PW; the WT is not put up after it
        = turn Bob
        !Bob: bid 10 | 1817 §6
        Bob: pass
        = round operating SR 2
        """
    )
    run_scenario(
        body.replace("price WT 45", "price WT acquisition 3") + "@ round sale PW\nBob: pass\nBob: bid 10"
    )


@pytest.mark.parametrize("discarded", ["2", "3"])
def test_7_trains_above_the_limit_go_to_the_open_market_by_choice_of_the_president(discarded: str) -> None:
    many = LARGE.replace("trains WT 2\n", "trains WT 2 2 3\n").replace("trains SR 2\n", "trains SR 2 2\n")
    left = "2 2 2 3" if discarded == "2" else "2 2 2 2"
    run_scenario(
        f"""{many.replace("@ trains bank 3 3 3", "@ trains bank 3 3")}{WANTED}
        Ann: merge SR
        Bob: accept
        !Ann: pass | 1817 §6.7
        Ann: discard {discarded}
        = trains pool {discarded}
        = trains WT {left}
        """
    )


def test_7_of_two_tokens_on_a_tile_one_goes_back_to_the_charter_for_another_round() -> None:
    both = SMALL.replace("token SR G18", "token SR F19").replace("@ round", "@ tile F19 15 2\n@ round")
    run_scenario(f"{both}{WANTED}Ann: merge SR\nBob: accept\n= token WT F19\n= markers WT 1")


def test_7_presidents_are_asked_at_once_and_where_none_will_act_the_step_is_over() -> None:
    state = run_scenario(f"{SMALL}= turn Ann WT")
    assert decision(state).asked == ("p0", "p1")
    state = run_scenario(f"{SMALL}Bob: pass\n= turn Ann\n!Bob: act | 1817 §7\nAnn: pass\n= turn Bob SR")
    assert "for sale" in prompt(state)
    run_scenario(f"{SMALL}Bob: pass\nAnn: pass\nAnn: pass\nBob: pass\n= round operating WT 2")


def test_7_who_has_answered_makes_the_question_of_the_others_no_other() -> None:
    """A card or email that asks a player whether they will act stays valid while others answer."""
    state = run_scenario(f"{SMALL}= turn Ann")
    asked = state.question_number
    for seat, line in (("p1", "act"), ("p0", "pass")):
        assert state.question_number == asked
        state = play(state, seat, parse(game_of(state), seat, line)).state
    assert state.question_number == asked + 1


def test_7_an_action_asks_again_who_had_passed() -> None:
    third = company_lines("PW", 2, 50, "Cid 2", cash=200, token="H3")
    body = MONEY + WT_2 + SR_2 + third + MERGER
    passing = "Bob: pass\nCid: pass\n"
    run_scenario(
        f"{body}Ann: act\n{passing}Ann: pass\n!Bob: convert | 1817 §7\n= turn Cid\n!Bob: merge PW | 1817 §7"
    )
    grown = "Ann: convert\nAnn: pass\nBob: pass\nCid: pass\nAnn: pass\n"
    run_scenario(
        f"{body}Ann: act\n{passing}{grown}!Ann: act | 1817 §7\n"
        "Bob: act\nCid: pass\nBob: merge PW\nCid: accept"
    )


THREE = MONEY + WT_2 + SR_2 + company_lines("PW", 2, 50, "Cid 2", cash=200, token="H3") + MERGER
"""The WT of Ann, the SR of Bob and the PW of Cid, to act in this order."""


def test_7_an_action_counts_as_the_answer_and_is_done_where_no_earlier_company_can_act() -> None:
    run_scenario(f"{THREE}Ann: convert\n= size WT 5")
    run_scenario(f"{THREE}Ann: merge SR\nBob: accept\n= price SR none")
    run_scenario(f"{THREE}Ann: pass\nBob: convert\n= size SR 5")
    run_scenario(f"{THREE}Cid: pass\nAnn: pass\nBob: merge PW as PW\nCid: accept\n= price SR none")


def test_7_an_action_of_a_later_company_is_kept_for_its_turn() -> None:
    kept = f"{THREE}Bob: convert\n= size SR 2\n!Bob: pass | 1817 §7\n"
    run_scenario(f"{kept}= turn Ann WT\nAnn: pass\nCid: pass\n= size SR 5")
    run_scenario(f"{kept}Ann: act\nCid: pass\n= turn Ann WT\nAnn: pass\n= size SR 5")
    grown = f"{kept}Ann: convert\n= size WT 5\nAnn: pass\nBob: pass\nCid: pass\nAnn: pass\n"
    run_scenario(f"{grown}= size SR 2\nCid: pass\n= size SR 5")


def test_7_an_action_that_has_become_impossible_is_not_done() -> None:
    taken = f"{THREE}Bob: merge PW\nCid: act\nAnn: merge PW\nCid: accept\n"
    run_scenario(f"{taken}= price PW none\n= size SR 2")


def test_7_an_action_that_the_company_could_not_take_in_its_turn_is_refused() -> None:
    run_scenario(
        f"{THREE}!Ann: merge UR | 1817 §7.1\n!Ann: offer WT | 1817 §7\n"
        "!Bob: merge SR | 1817 §7\n= turn Ann WT"
    )


def test_7_an_offer_counts_as_the_answer_to_a_friendly_sale() -> None:
    sale = THREE.replace("@ round merger WT", "@ round sale PW").replace("cash=200", "cash=900")
    run_scenario(f"{sale}!Bob: offer WT | 1817 §7.2.3\nCid: pass\nBob: offer SR\n= turn Cid")


def test_7_who_may_only_answer_in_advance_is_not_to_act() -> None:
    run_scenario(f"{THREE}= turn Ann\n= turn WT\n> until SR\n= turn Bob SR\nBob: convert\n= size SR 5")
    assert "found Ann" in scenario_error(f"{THREE}= turn Bob")


def test_7_a_friendly_sale_asks_again_too() -> None:
    third = company_lines("PW", 2, 50, "Cid 2", cash=900, token="H3")
    body = MONEY + WT_2 + SR_2 + third + "@ round sale PW\n"
    run_scenario(
        f"""{body}
        Ann: pass
        Bob: act
        Cid: pass
        Bob: offer SR
        Cid: pass
        Ann: pass
        = turn Ann              # nobody has bought it; but something was done
        Ann: act
        Ann: offer WT
        """
    )


# -- 1817 §7.1 -------------------------------------------------------------------------------------


def test_7_1_in_operating_order_and_who_is_later_may_still_be_merged_with() -> None:
    """The SR, which comes second, may merge with the WT, whose president has not declared anything."""
    run_scenario(
        f"{SMALL}Ann: act\nBob: act\n= turn Ann WT\n!Bob: convert | 1817 §7.1\n"
        "Ann: pass\n= turn Bob SR\n!Ann: convert | 1817 §7.1"
    )
    run_scenario(f"{SMALL}Ann: pass\nBob: act\nBob: merge WT\nAnn: accept\n= size SR 5\n= price WT none")


def test_7_1_the_order_is_that_of_the_beginning_of_the_round() -> None:
    """The WT falls by loans behind the SR, and is asked first about no sale for that."""
    third = company_lines("PW", 2, 90, "Cid 2", cash=500, token="H3")
    run_scenario(
        f"""{MONEY}{WT_2}{SR_2}{third}{MERGER}
        Ann: act
        Bob: pass
        Cid: pass
        Ann: convert
        Ann: pass
        Bob: pass
        Cid: pass
        Ann: loan 4
        Ann: pass
        = price WT 65
        Bob: pass
        Cid: pass
        Ann: act                # friendly sales, from the lowest at the beginning of the round
        Bob: act
        Cid: act
        = turn Bob SR
        Bob: pass
        = turn Cid PW
        Cid: pass
        = turn Ann WT
        """
    )


def test_7_1_sizes_that_convert_and_merge() -> None:
    ten = WT_5.replace("size WT 5", "size WT 10").replace("owns Ann WT 2", "owns Ann WT 4")
    body = MONEY + WT_5 + SR_2 + MERGER
    run_scenario(f"{body}{WANTED}!Ann: merge SR | 1817 §7.1\nAnn: convert\n= size WT 10")
    run_scenario(f"{SMALL}{WANTED}Ann: convert\n= size WT 5")
    run_scenario(
        f"{MONEY}{ten}{SR_5}{MERGER}!Ann: act | 1817 §7\nBob: act\n!Bob: merge WT | 1817 §7.1\nBob: convert"
    )


def test_7_1_only_in_the_white_area() -> None:
    gray = SMALL.replace("price SR 60", "price SR acquisition 3")
    run_scenario(f"{gray}!Bob: act | 1817 §7\nAnn: act\n!Ann: merge SR | 1817 §7.1\nAnn: convert")
    assert "cannot merge in this round (1817 §7.1)" in scenario_error(f"{gray}Ann: act\nAnn: merge SR")


def test_7_1_both_presidents_agree() -> None:
    run_scenario(f"{SMALL}{WANTED}Ann: merge SR\n= size WT 2\nBob: decline\n= size WT 2\n= turn Ann WT")
    run_scenario(
        f"{SMALL}{WANTED}Ann: merge SR\n!Ann: merge SR | 1817 §7.1\nAnn: merge SR as SR\n= size WT 2"
    )
    run_scenario(
        f"{SMALL}{WANTED}Ann: merge SR\n!Cid: accept | 1817 §7.1\n"
        "!Ann: accept | 1817 §7.1\nBob: accept\n= size WT 5"
    )
    own = SMALL.replace("owns Bob SR", "owns Ann SR")
    run_scenario(f"{own}Ann: act\nAnn: merge SR\n= size WT 5")


@both_conventions
def test_7_1_2_the_company_whose_turn_it_is_may_be_named_as_the_survivor(options: tuple[str, ...]) -> None:
    asks = SMALL if options else f"{SMALL}{WANTED}"
    run_scenario(
        f"{asks}Ann: merge SR as WT\n!Ann: merge SR | 1817 §7.1\nBob: accept\n= price SR none",
        options=options,
    )


def test_7_1_no_connection_is_needed() -> None:
    """There is no track between Philadelphia and Boston."""
    far = SMALL.replace("token SR G18", "token SR C26")
    run_scenario(f"{far}{WANTED}Ann: merge SR\nBob: accept\n= token WT F19 C26")


def test_7_1_each_company_converts_or_merges_once_in_a_round() -> None:
    third = company_lines("PW", 5, 50, "Cid 2", cash=200, token="H3")
    body = MONEY + WT_2 + SR_2 + third + MERGER
    once = "Ann: act\nBob: pass\nCid: pass\n"
    trades = "Ann: pass\nBob: pass\nCid: pass\nAnn: pass\n"
    run_scenario(
        f"{body}{once}Ann: convert\n{trades}!Ann: act | 1817 §7\n"
        "Cid: act\nBob: pass\n!Cid: merge WT | 1817 §7.1\nCid: convert"
    )
    run_scenario(
        f"{body}{once}Ann: merge SR\nBob: accept\n{trades}!Ann: act | 1817 §7\n"
        "!Bob: act | 1817 §7\nCid: act\n!Cid: merge WT | 1817 §7.1"
    )
    survivor = "Ann: merge SR as SR\nBob: accept\n"
    run_scenario(
        f"{body}{once}{survivor}{trades}!Ann: act | 1817 §7\n"
        "Cid: act\n!Cid: merge SR | 1817 §7.1\nCid: convert"
    )


# -- 1817 §7.1.1 -----------------------------------------------------------------------------------

NO_TRADES = "Ann: pass\nBob: pass\nCid: pass\n"


def test_7_1_1_the_extra_shares_are_the_companys() -> None:
    run_scenario(
        f"{SMALL}{WANTED}Ann: convert\n= size WT 5\n= owns Ann WT 2\n= owns treasury WT 3\n= price WT 100"
    )
    large = LARGE.replace("owns Ann WT 2", "owns Ann WT 3\n@ owns pool WT 1\n@ owns Cid WT 1")
    run_scenario(
        f"{large}{WANTED}Ann: convert\n= size WT 10\n= owns Ann WT 3\n= owns pool WT 1\n= owns Cid WT 1\n"
        "= owns treasury WT 5\n= price WT 100\n= president WT Ann"
    )


def test_7_1_1_short_shares_stay_as_they_are() -> None:
    short = LARGE.replace("owns Ann WT 2", "owns Ann WT 3\n@ owns Cid WT -1\n@ owns pool WT 1")
    run_scenario(f"{short}{WANTED}Ann: convert\n= owns Cid WT -1\n= owns pool WT 1\n= owns treasury WT 7")


@pytest.mark.parametrize(
    ("size", "others", "bought"),
    [(2, 0, 1), (2, 6, 1), (2, 7, 0), (5, 0, 2), (5, 5, 2), (5, 6, 1), (5, 7, 0)],
)
def test_7_1_1_tokens_are_bought_up_to_eight(size: int, others: int, bought: int) -> None:
    """One token is on the map, `others` are on the charter."""
    body = SMALL if size == 2 else LARGE
    many = body.replace("trains WT 2", f"trains WT 2\n@ markers WT {others}")
    run_scenario(
        f"{many}{WANTED}Ann: convert\n{NO_TRADES}= markers WT {others}\nAnn: pass\n"
        f"= markers WT {others + bought}\n= cash WT {200 - 50 * bought}"
    )


def test_7_1_1_shares_are_dealt_in_then_loans_are_taken_then_tokens_are_bought() -> None:
    poor = SMALL.replace("cash WT 200", "cash WT 0")
    run_scenario(
        f"""{poor}{WANTED}
        Ann: convert
        !Ann: loan 1 | 1817 §7.1.4
        {NO_TRADES}
        !Ann: loan 6 | 1817 §1.2.5            # as many as it has shares
        Ann: loan 1
        = price WT 90
        = cash WT 100
        Ann: pass
        = cash WT 50
        = markers WT 1
        """
    )
    run_scenario(f"{poor}{WANTED}Ann: convert\nAnn: buy 1\nBob: pass\nCid: pass\nAnn: pass\n= cash WT 50")


@pytest.mark.parametrize(("size", "cash"), [(2, 40), (5, 90)])
def test_7_1_1_who_cannot_pay_its_tokens_is_liquidated_in_this_very_round(size: int, cash: int) -> None:
    body = (SMALL if size == 2 else LARGE).replace("cash WT 200", f"cash WT {cash}")
    run_scenario(
        f"{body}{WANTED}Ann: convert\n{NO_TRADES}Ann: pass\nBob: pass\n= price WT liquidation\n"
        f"= cash WT 0\n= turn Bob\nBob: bid 10\nBob: pass\n= price WT none"
    )


def test_7_1_1_the_last_to_be_placed_in_liquidation_is_sold_first() -> None:
    red = company_lines("R", 2, "liquidation", "Cid 2")
    body = SMALL.replace("cash WT 200", "cash WT 0").replace("@ round", f"{red}@ round")
    run_scenario(
        f"{body}{WANTED}Ann: convert\n{NO_TRADES}Ann: pass\nBob: pass\nBob: pass\n= price WT none\n"
        "= price R liquidation\nBob: pass\n= price R none"
    )
    run_scenario(
        f"{body}{WANTED}Ann: convert\n{NO_TRADES}Ann: pass\nBob: pass\nBob: bid 10\n= price R liquidation"
    )


# -- 1817 §7.1.2 -----------------------------------------------------------------------------------


def test_7_1_2_two_presidents() -> None:
    run_scenario(
        f"""{SMALL}{WANTED}
        Ann: merge SR
        Bob: accept
        = size WT 5
        = price WT 150          # $160, rounded down
        = president WT Ann
        = owns Ann WT 2         # one for her two, and one that she has to buy
        = cash Ann 350
        = owns Bob WT 1
        = cash Bob 500
        = owns treasury WT 2
        = cash WT 400           # $200, $50 and what was paid for the share
        = trains WT 2 2
        = token WT F19 G18
        = price SR none
        """
    )


def test_7_1_2_one_president_of_both() -> None:
    own = SMALL.replace("owns Bob SR", "owns Ann SR")
    run_scenario(
        f"{own}Ann: act\nAnn: merge SR\n= owns Ann WT 2\n= owns treasury WT 3\n= cash Ann 500\n"
        "= cash WT 250\n"
        "= president WT Ann"
    )


def test_7_1_2_the_president_who_began_it_has_to_be_able_to_pay_for_the_share() -> None:
    poor = SMALL.replace("cash Ann 500", "cash Ann 149")
    assert "would have to buy a share for $150" in scenario_error(f"{poor}{WANTED}Ann: merge SR")
    run_scenario(
        f"{poor}Ann: pass\nBob: act\nBob: merge WT\nAnn: accept\n= president SR Bob\n= owns Ann SR 1"
    )


def test_7_1_2_either_company_survives() -> None:
    run_scenario(
        f"{SMALL}{WANTED}Ann: merge SR as SR\nBob: accept\n= price SR 150\n= president SR Ann\n"
        "= price WT none\n"
        "= token SR F19 G18\n= cash SR 400"
    )
    run_scenario(f"{SMALL}{WANTED}!Ann: merge SR as PW | 1817 §7.1.2")
    run_scenario(f"{SMALL}!Ann: merge SR as SR | 1817 §7.1.2\nAnn: merge SR", options=(SITE,))


def test_7_1_2_both_charters_become_one() -> None:
    rich = SMALL.replace("trains SR 2", "trains SR 2\n@ loans SR 2\n@ markers SR 1\n@ private CM SR")
    rich = rich.replace("trains WT 2", "trains WT 2\n@ loans WT 1\n@ markers WT 1\n@ private ME WT")
    run_scenario(
        f"{rich}{WANTED}Ann: merge SR\nBob: accept\n= loans WT 3\n= markers WT 2\n= private CM WT\n"
        "= private ME WT\n= loans SR 0"
    )


def test_7_1_2_it_operates_behind_others_at_its_price_and_no_token_is_bought() -> None:
    same = company_lines("PW", 2, 150, "Cid 2", cash=0, token="H3", trains="2")
    body = MONEY + WT_2 + SR_2 + same + "@ round merger PW\n"
    run_scenario(
        f"{body}Ann: act\nBob: pass\nCid: pass\nAnn: merge SR\nBob: accept\n{NO_TRADES}Ann: pass\n"
        "= markers WT 0\n= cash WT 400\nCid: pass\nAnn: pass\n= round operating PW 2"
    )


def test_7_1_2_loans_may_be_taken_after_it() -> None:
    run_scenario(
        f"{SMALL}{WANTED}Ann: merge SR\nBob: accept\n"
        f"!Ann: loan 1 | 1817 §7.1.4\n{NO_TRADES}Ann: loan 5\n= price WT 90"
    )


def test_7_1_2_the_company_that_is_gone_may_be_started_again() -> None:
    done = f"Ann: merge SR\nBob: accept\n{NO_TRADES}Ann: pass\n> until stock\n"
    body = SMALL.replace("@ round merger WT", "@ round merger WT 2")
    run_scenario(f"{body}{WANTED}{done}= price SR none\n?Ann: pass\nBob: start SR H3 100")


# -- 1817 §7.1.3 -----------------------------------------------------------------------------------


def test_7_1_3_share_for_share_and_no_new_ones() -> None:
    large = LARGE.replace("owns Bob SR 2", "owns Bob SR 3\n@ owns pool SR 1\n@ owns Cid SR 1")
    large = large.replace("owns Ann WT 2", "owns Ann WT 2\n@ owns pool WT 2")
    run_scenario(
        f"""{large}{WANTED}
        Ann: merge SR
        Bob: accept
        = size WT 10
        = price WT 80           # half of $170, rounded down
        = owns Ann WT 2
        = owns Bob WT 3
        = owns Cid WT 1
        = owns pool WT 3
        = owns treasury WT 1
        = president WT Bob      # the president with more shares
        = cash WT 250
        = trains WT 2 2
        = price SR none
        """
    )


@both_conventions
def test_7_1_3_with_as_many_shares_the_president_who_began_it_stays(options: tuple[str, ...]) -> None:
    run_scenario(
        f"{LARGE}?Ann: act\n?Bob: pass\nAnn: merge SR\nBob: accept\n= size WT 10\n= president WT Ann\n"
        "= owns Ann WT 2\n= owns Bob WT 2",
        options=options,
    )
    run_scenario(f"{LARGE}{WANTED}Ann: merge SR as SR\nBob: accept\n= president SR Ann")
    run_scenario(f"{LARGE}Ann: pass\nBob: act\nBob: merge WT\nAnn: accept\n= president SR Bob")


def test_7_1_3_the_largest_holder_presides_also_one_who_has_presided_over_neither() -> None:
    """1817 §7.1.3 says "the president with the most shares"; by 1817 §1 the largest holder is president."""
    body = LARGE.replace("owns Ann WT 2", "owns Ann WT 2\n@ owns Cid WT 2\n@ president WT Ann")
    body = body.replace("owns Bob SR 2", "owns Bob SR 2\n@ owns Cid SR 2\n@ president SR Bob")
    run_scenario(f"{body}{WANTED}Ann: merge SR\nBob: accept\n= owns Cid WT 4\n= president WT Cid")


def test_7_1_3_short_shares_are_of_the_survivor_and_close_with_its_shares() -> None:
    body = LARGE.replace("owns Ann WT 2", "owns Ann WT 2\n@ owns Cid WT -1\n@ owns pool WT 1")
    body = body.replace("owns Bob SR 2", "owns Bob SR 2\n@ owns Cid SR 2\n@ president SR Bob")
    run_scenario(
        f"{body}{WANTED}Ann: merge SR\nBob: accept\n= owns Cid WT 1\n= owns pool WT 1\n= owns treasury WT 4"
    )


def test_7_1_3_more_than_five_short_shares_may_be_left_and_no_further_are_sold() -> None:
    body = LARGE.replace("owns Ann WT 2", "owns Ann WT 2\n@ owns Cid WT -3\n@ owns pool WT 3")
    body = body.replace("owns Bob SR 2", "owns Bob SR 2\n@ owns Cid SR -3\n@ owns pool SR 3")
    body = body.replace("@ round merger WT", "@ phase 4\n@ round merger WT 2").replace("@ phase 3\n", "")
    body = body.replace("@ trains bank 3 3 3", "@ trains bank 4 4").replace(
        "@ trains SR 2\n", "@ trains SR 3\n"
    )
    body = body.replace("@ trains WT 2\n", "@ trains WT 3\n")
    merged = f"{WANTED}Ann: merge SR\nBob: accept\n= owns Cid WT -6\n= owns pool WT 6\n{NO_TRADES}Ann: pass\n"
    rest = "= round stock Ann\nAnn: pass\nBob: pass\n"
    run_scenario(f"{body}{merged}{rest}!Cid: short WT | 1817 §5.3\nCid: buy WT from pool\n= owns Cid WT -5")


def test_7_1_3_somebody_has_to_hold_the_presidents_certificate() -> None:
    """Each is short of a share of the other's company: one of ten would be left to either."""
    body = LARGE.replace("owns Ann WT 2", "owns Ann WT 2\n@ owns Bob WT -1")
    body = body.replace("owns Bob SR 2", "owns Bob SR 2\n@ owns Ann SR -1")
    assert "president's certificate (1817 §7.1.3)" in scenario_error(f"{body}{WANTED}Ann: merge SR")


def test_7_1_3_loans_and_tokens_come_along_and_none_is_bought() -> None:
    body = LARGE.replace("trains WT 2", "trains WT 2\n@ loans WT 5\n@ markers WT 1")
    body = body.replace("trains SR 2", "trains SR 2\n@ loans SR 4\n@ markers SR 1")
    run_scenario(
        f"{body}{WANTED}Ann: merge SR\nBob: accept\n= loans WT 9\n"
        f"= markers WT 2\n{NO_TRADES}!Ann: loan 2 | 1817 §1.2.5\n"
        "Ann: loan 1\n= cash WT 350\n= markers WT 2"
    )


# -- 1817 §7.1.4 -----------------------------------------------------------------------------------


def test_7_1_4_the_president_buys_from_the_treasury_as_much_as_he_may() -> None:
    run_scenario(
        f"""{SMALL}{WANTED}
        Ann: convert
        !Ann: buy 2 | 1817 §5.1             # three of five are the most
        !Ann: sell 1 | 1817 §7.1.4
        Ann: buy 1
        = cash WT 300
        = cash Ann 400
        !Ann: buy 1 | 1817 §7.1.4
        Bob: pass
        """
    )
    pool = LARGE.replace("owns Ann WT 2", "owns Ann WT 2\n@ owns pool WT 3")
    run_scenario(
        f"{pool}{WANTED}Ann: convert\n!Ann: buy 6 | 1817 §5.4\n"
        "Ann: buy 3\nAnn: buy 1\n= owns pool WT 3\n= owns Ann WT 6"
    )
    run_scenario(
        f"{LARGE.replace('cash Ann 500', 'cash Ann 250')}{WANTED}Ann: convert\n"
        "!Ann: buy 3 | 1817 §5.4\nAnn: buy 2"
    )


def test_7_1_4_then_each_other_buys_one_or_sells_any_number_once_from_the_presidents_left() -> None:
    body = LARGE.replace("owns Ann WT 2", "owns Ann WT 2\n@ owns Cid WT 2\n@ president WT Ann")
    run_scenario(
        f"""{body}{WANTED}
        Ann: convert
        Ann: pass
        = turn Bob WT
        !Cid: buy 1
        !Bob: buy 2 | 1817 §7.1.4
        !Bob: sell 1 | 1817 §7.1.4
        !Bob: short WT | 1817 §7.1.4
        Bob: buy 1
        = owns Bob WT 1
        = cash Bob 400
        = turn Cid WT           # one purchase, and no sale after it
        Cid: sell 2
        = owns pool WT 2
        = cash Cid 700
        = price WT 100
        !Cid: buy 1
        = turn Ann WT
        Ann: loan 1
        """
    )


def test_7_1_4_the_order_goes_around_from_the_president() -> None:
    trades = "= turn Bob SR\nBob: pass\n= turn Cid SR\nCid: pass\n= turn Ann SR\nAnn: buy 1\n= turn Bob SR"
    run_scenario(f"{SMALL}Ann: pass\nBob: act\nBob: convert\n{trades}\nBob: loan 1")


def test_7_1_4_players_may_pass_before_their_turn() -> None:
    """All players who could trade are asked at once; who wants nothing may pass before their turn."""
    state = run_scenario(
        f"{SMALL}{WANTED}Ann: convert\n= turn Ann\n!Bob: buy 1 | 1817 §7.1.4\n!Cid: buy 1 | 1817 §7.1.4"
    )
    assert decision(state).asked == ("p0", "p1", "p2") and decision(state).acting == ("p0",)
    early = f"{SMALL}{WANTED}Ann: convert\nBob: pass\n!Bob: pass | 1817 §7.1.4\nAnn: buy 1\n"
    run_scenario(f"{early}= turn Cid WT\nCid: buy 1\n= turn Ann WT\nAnn: loan 1")
    asked = run_scenario(f"{SMALL}{WANTED}Ann: convert\n= turn Ann").question_number
    assert run_scenario(f"{SMALL}{WANTED}Ann: convert\nCid: pass\n= turn Ann").question_number == asked
    run_scenario(f"{SMALL}Ann: convert\n!Bob: pass | 1817 §7.1.4\nAnn: pass\nBob: pass", options=(SITE,))


def test_7_1_4_not_from_the_open_market() -> None:
    """All shares that are not the president's are in the market: nobody can buy."""
    body = SMALL.replace("size SR 2", "size SR 5").replace("price SR 60", "price SR 60\n@ owns pool SR 3")
    full = body.replace("owns Ann WT 2", "owns Ann WT 2").replace("size WT 2", "size WT 5")
    full = full.replace("owns Ann WT 2", "owns Ann WT 2\n@ owns pool WT 3")
    run_scenario(
        f"{full}{WANTED}Ann: merge SR\nBob: accept\n= owns treasury WT 0\n"
        "= owns pool WT 6\n!Ann: buy 1 | 1817 §7.1.4\n"
        "= turn Bob"
    )


def test_7_1_4_within_the_certificate_limit() -> None:
    """Six players may hold 11 certificates: Bob holds them in other companies."""
    six = "Ann, Bob, Cid, Dot, Eve, Fay"
    others = "".join(
        company_lines(sym, 5, 60, f"Cid 2, Bob {n}", token=at)
        for sym, n, at in (("PW", 2, "H3"), ("UR", 2, "B5"), ("H", 2, "H9"), ("R", 2, "D7"), ("J", 2, "I12"))
    ).replace("owns Cid", "owns Cid")
    named = "".join(f"@ president {sym} Cid\n" for sym in ("PW", "UR", "H", "R", "J"))
    body = MONEY + WT_2 + others + named + "{more}" + MERGER
    some = "Ann: act\nCid: pass\nAnn: convert\nAnn: pass\n"
    eleven = company_lines("ME", 5, 60, "Bob 1, Cid 2", token="C8")
    run_scenario(f"{body.format(more='')}{some}Bob: buy 1\n= owns Bob WT 1", six)
    run_scenario(f"{body.format(more=eleven)}{some}!Bob: buy 1 | 1817 §7.1.4\n= turn Cid", six)


def test_7_1_4_a_short_share_is_closed_above_the_certificate_limit() -> None:
    seven = "Ann, Bob, Cid, Dot, Eve, Fay, Gus"
    others = "".join(
        company_lines(sym, 5, 60, "Cid 2, Bob 2", token=at) + f"@ president {sym} Cid\n"
        for sym, at in (("PW", "H3"), ("UR", "B5"), ("H", "H9"), ("R", "D7"), ("J", "I12"))
    )
    short = WT_5.replace("owns Ann WT 2", "owns Ann WT 3\n@ owns Bob WT -1\n@ owns pool WT 1")
    body = f"{MONEY}{short}{others}{MERGER}Ann: act\nCid: pass\nAnn: convert\nAnn: pass\n"
    run_scenario(f"{body}= limit 9\nBob: buy 1\n= owns Bob WT 0\n= cash Bob 400", seven)


def test_7_1_4_who_comes_to_hold_more_is_president_and_has_had_his_turn() -> None:
    body = LARGE.replace("owns Ann WT 2", "owns Ann WT 2\n@ owns Bob WT 2\n@ president WT Ann")
    run_scenario(
        f"{body}{WANTED}Ann: convert\nAnn: pass\nBob: buy 1\n= president WT Bob\n= turn Cid WT\nCid: pass\n"
        "= turn Bob WT\nBob: loan 1"
    )
    more = "Ann: convert\nAnn: pass\nBob: buy 1\n= president WT Bob\nBob: buy 1\n= owns Bob WT 4"
    run_scenario(f"{body}{more}", options=(SITE,))
