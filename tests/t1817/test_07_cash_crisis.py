"""Cash crises, bankruptcies that the game survives, and the end of a merger round (1817 §7.4, §7.5)."""

from __future__ import annotations

import pytest

from engine import decision
from engine.kernel import game_of
from tests.t1817.scenarios import MONEY, SITE, company_lines, run_scenario, scenario_error

FOUR = "Ann, Bob, Cid, Dot"


def ur(owners: str) -> str:
    return company_lines("UR", 5, 90, owners, cash=500, token="B5", trains="3")


UR = ur("Cid 2, Bob 1")


def money(ann: int = 10) -> str:
    return MONEY.replace("cash Ann 500", f"cash Ann {ann}").replace("trains bank 3 3 3", "trains bank 3 3")


def owing(*more: str, ann: int = 10, cash: int = 5) -> str:
    """Ann's WT owes $60 of interest, and can neither pay that nor borrow."""
    wt = company_lines("WT", 2, 100, "Ann 2", loans=2, cash=cash, token="F19", trains="2")
    return money(ann) + wt + UR + "".join(more) + "@ interest 30\n@ round operating WT\n> until crisis\n"


def sr(owners: str, price: int | str = 50, size: int = 5, **more: int | str) -> str:
    return company_lines("SR", size, price, owners, token="G18", trains="2", **more)


# -- who comes into it -----------------------------------------------------------------------------


def test_7_4_for_interest_that_his_company_cannot_pay() -> None:
    """It has $5 and she $10: $45 of the $60 are missing."""
    run_scenario(
        f"{owing(sr('Bob 2, Ann 1'))}= price WT liquidation\n= cash WT 0\n= cash Ann -45\nAnn: sell 1 SR\n"
        "= cash Ann 5"
    )
    run_scenario(
        f"{owing(ann=55).replace('> until crisis', '> until UR')}= cash Ann 0\n= price WT liquidation"
    )


def test_7_4_for_loans_of_a_liquidated_company() -> None:
    red = sr("Ann 2", "liquidation", 2, loans=2, cash=50)
    body = money() + red + ur("Cid 2, Ann 2") + "@ president UR Cid\n@ round sale SR\n"
    run_scenario(
        f"{body}Cid: pass\n= cash Ann -140\n= turn Ann\nAnn: sell 1 UR\n= cash Ann -50\nAnn: sell 1 UR\n"
        "= cash Ann 40"
    )


def test_7_4_for_the_dividend_of_a_share_sold_short() -> None:
    pays = company_lines("WT", 5, 100, "Bob 3, Ann -1", cash=0, token="E22.0", trains="2", loans=0)
    track = "@ tile F21 8 1\n@ tile F19 57 1\n"
    body = money(5) + pays + track + ur("Cid 2, Ann 1") + "@ round operating WT\n"
    run_scenario(
        f"{body}> until dividend\n= best WT 60\nBob: pay\n= cash Ann -7\n= turn Ann\nAnn: sell 1 UR\n"
        "= cash Ann 83"
    )


def test_7_4_for_the_settlement_of_a_share_sold_short() -> None:
    gray = sr("Bob 3, Ann -1", "acquisition 1")
    body = money(5) + gray + ur("Cid 2, Ann 1") + "@ round sale SR\n"
    run_scenario(f"{body}Cid: bid 100\n?Cid: pass\n?Cid: pass\n= cash Ann -15\nAnn: sell 1 UR\n= cash Ann 75")


# -- what is sold ----------------------------------------------------------------------------------


def test_7_4_one_share_at_a_time_until_there_is_enough() -> None:
    body = owing(sr("Bob 2, Ann 2", 40) + "@ president SR Bob\n")
    run_scenario(
        f"{body}!Ann: sell 2 SR | 1817 §7.4\nAnn: sell 1 SR\n= cash Ann -5\n"
        "!Ann: pass | 1817 §7.4\nAnn: sell 1 SR\n= cash Ann 35\n"
        "= turn Cid UR"
    )
    run_scenario(
        f"{body.replace('price SR 40', 'price SR 50')}Ann: sell 1 SR\n= cash Ann 5\n= owns Ann SR 1\n"
        "= turn Cid UR"
    )
    run_scenario(f"{body}Ann: sell 2 SR\n= cash Ann 35", options=(SITE,))


def test_7_4_nothing_else_can_be_done() -> None:
    body = owing(sr("Bob 2, Ann 2", 40) + "@ president SR Bob\n")
    for line in ("Ann: pass", "Ann: bankrupt", "Ann: loan 1", "Bob: pass", "Ann: short UR", "Ann: buy UR"):
        run_scenario(f"{body}!{line}")


def test_7_4_within_the_limits_of_sales() -> None:
    """No share of a 2-share company, of one in the gray area, or of a president's certificate (1817 §5.2)."""
    pair = company_lines("PW", 2, 50, "Ann 2", token="H3", trains="2")
    gray = company_lines("H", 5, "acquisition 3", "Bob 2, Ann 1", token="H9", trains="2")
    own = company_lines("R", 5, 50, "Ann 2", token="D7", trains="2")
    body = owing(pair, gray, own)
    assert "2-share company" in scenario_error(f"{body}Ann: sell 1 PW")
    assert "in acquisition" in scenario_error(f"{body}Ann: sell 1 H")
    run_scenario(f"{body}!Ann: sell 1 R | 1817 §5.2\nAnn: bankrupt")


def test_7_4_no_presidents_certificate_changes_hands() -> None:
    body = owing(sr("Ann 3, Bob 2", 40))
    run_scenario(
        f"{body}Ann: sell 1 SR\n= president SR Ann\n= cash Ann -5\n!Ann: sell 1 SR | 1817 §7.4\nAnn: bankrupt"
    )
    assert "No presidency may change" in scenario_error(f"{body}Ann: sell 1 SR\nAnn: sell 1 SR")


def test_7_4_bankrupt_only_after_all_sales_that_are_possible() -> None:
    body = owing(sr("Bob 2, Ann 2", 40) + "@ president SR Bob\n", cash=0, ann=0).replace(
        "price SR 40", "price SR 45"
    )
    low = body.replace("owns Ann SR 2", "owns Ann SR 1")
    assert "Sell first all" in scenario_error(f"{low}Ann: bankrupt")
    run_scenario(f"{low}Ann: sell 1 SR\n= cash Ann -15\nAnn: bankrupt\n= cash Ann 0\n= turn Cid UR")
    # On the site she need not sell what does not help.
    run_scenario(f"{low}Ann: bankrupt", options=(SITE,))
    run_scenario(f"{body}!Ann: bankrupt | 1817 §7.4", options=(SITE,))
    assert "fewer shares bring that" in scenario_error(
        f"{body.replace('price SR 45', 'price SR 60')}Ann: sell 2 SR", options=(SITE,)
    )


def test_7_4_several_at_once_from_the_left_of_whoever_acts() -> None:
    """Two are short of what pays: first the one at the president's left, then the other."""
    pays = company_lines("WT", 5, 100, "Bob 3, Ann -1, Cid -1", cash=0, token="E22.0", trains="2")
    track = "@ tile F21 8 1\n@ tile F19 57 1\n"
    other = ur("Bob 2, Ann 1, Cid 1")
    body = money(5).replace("cash Cid 500", "cash Cid 5") + pays + track + other + "@ round operating WT\n"
    run_scenario(
        f"{body}> until dividend\nBob: pay\n= cash Ann -7\n"
        "= cash Cid -7\n= turn Cid\n!Ann: sell 1 UR | 1817 §7.4\n"
        "Cid: sell 1 UR\n= turn Ann\nAnn: sell 1 UR\n= turn Bob"
    )


# -- bankruptcy ------------------------------------------------------------------------------------

GONE = owing(
    company_lines("SR", 5, 50, "Ann 2", cash=70, token="G18", trains="2"),
    company_lines("PW", 5, 40, "Bob 2, Ann 1, pool 1", token="H3", trains="2"),
    company_lines("H", 5, 60, "Bob 3, Ann -1", token="H9", trains="2"),
    "@ private CM Ann\n",
    cash=0,
    ann=0,
)
BANKRUPT = f"{GONE}Ann: sell 1 PW\nAnn: bankrupt\n"


def test_7_4_the_bankrupt_is_out_and_the_others_play_on() -> None:
    state = run_scenario(f"{BANKRUPT}= cash Ann 0\n= turn Cid\n!Ann: pass | 1817 §6")
    assert state.bankrupt_seats == ["p0"] and state.game_over is None
    assert "p0" not in decision(state).awaited


def test_7_4_stock_short_shares_and_privates_go_to_the_open_market() -> None:
    """No player can buy a private from there, so it is of use to nobody."""
    run_scenario(
        f"{BANKRUPT}= owns Ann SR 0\n= owns pool SR 2\n= owns Ann H 0\n= owns pool H -1\n= private CM closed"
    )
    run_scenario(f"{BANKRUPT}= private CM Ann", options=(SITE,))


def test_7_4_a_share_and_a_short_share_in_the_open_market_close_each_other() -> None:
    both = GONE.replace("owns Ann H -1", "owns Ann H -1\n@ owns pool H 1")
    run_scenario(f"{both}Ann: sell 1 PW\nAnn: bankrupt\n= owns pool H 0\n= owns Ann H 0")


def test_7_4_what_she_presided_over_is_liquidated_and_does_not_operate() -> None:
    """The SR would have had its turn still; so it has none."""
    run_scenario(
        f"{BANKRUPT}= president SR none\n= price SR liquidation\n= president WT none\n= price PW 40\n"
        "= turn Cid UR\n> until PW\n= round operating PW"
    )
    state = run_scenario(BANKRUPT)
    assert all(co not in ("SR",) for co in [getattr(frame, "company", None) for frame in state.stack])


def test_7_4_for_interest_all_her_money_goes_to_that_company() -> None:
    """The $40 of Ann's last sale pay loans when the WT is sold."""
    run_scenario(f"{BANKRUPT}= cash WT 40\n= cash SR 70\n= loans WT 2")
    assert game_of(run_scenario(f"{BANKRUPT}= turn Cid")).cash("WT") == 40
    run_scenario(f"{GONE}Ann: sell 1 PW\nAnn: bankrupt\n= cash WT 0", options=(SITE,))


def test_7_4_otherwise_it_goes_to_the_bank_and_the_loans_are_the_banks() -> None:
    red = sr("Ann 2", "liquidation", 2, loans=2, cash=50)
    body = money() + red + ur("Cid 2, Ann 1") + "@ round sale SR\n"
    state = run_scenario(
        f"{body}Cid: pass\nAnn: sell 1 UR\nAnn: bankrupt\n= cash Ann 0\n= loans SR 0\n= price SR none"
    )
    assert sum(state.cash.values()) == 0 and all(state.cash[who] >= 0 for who in state.cash if who != "bank")
    assert state.cash["UR"] == 500


def test_7_4_the_certificate_limit_is_that_of_who_is_left() -> None:
    four = GONE.replace("@ cash Cid 500", "@ cash Cid 500\n@ cash Dot 500")
    run_scenario(f"{four}= limit 16\nAnn: sell 1 PW\nAnn: bankrupt\n= limit 21", FOUR)
    run_scenario(f"{GONE}= limit 21\nAnn: sell 1 PW\nAnn: bankrupt\n= limit 21")


def test_7_4_a_company_without_a_president_is_sold_by_the_bank() -> None:
    """The auction begins at the left of the bankrupt, and the bank bears what the loans are short of."""
    run_scenario(
        f"""{BANKRUPT}
        > until auction
        = turn Bob
        Bob: pass
        Cid: pass
        = price SR none
        Bob: pass               # the WT: $40 and two loans
        Cid: pass
        = price WT none
        = cash Bob 500
        = cash Cid 500
        = loans WT 0
        """
    )


def test_7_4_the_auction_of_the_bank_begins_at_the_left_of_the_bankrupt() -> None:
    dot = company_lines("J", 5, 110, "Dot 2", cash=500, token="I12", trains="3")
    body = GONE.replace("@ cash Cid 500", "@ cash Cid 500\n@ cash Dot 500").replace(
        "@ interest", f"{dot}@ interest"
    )
    said = f"{body}Ann: sell 1 PW\nAnn: bankrupt\n> until auction\n"
    run_scenario(f"{said}= turn Bob\nBob: bid 10\n= turn Cid\nCid: bid 20\n= turn Dot", FOUR)


def test_7_4_with_several_bankrupt_the_nearest_to_the_left_who_is_not() -> None:
    """Ann and Bob are out; both their companies are put up to Cid first, then to Dot."""
    ruined = "".join(
        company_lines(sym, 2, price, f"{who} 2", loans=2, token=at, trains="2")
        for sym, price, who, at in (("WT", 110, "Ann", "F19"), ("SR", 100, "Bob", "G18"))
    )
    dot = company_lines("J", 5, 80, "Dot 2", cash=500, token="I12", trains="3")
    cash = "@ phase 3\n@ cash Ann 0\n@ cash Bob 0\n@ cash Cid 500\n@ cash Dot 500\n"
    body = f"{cash}{ruined}{ur('Cid 2')}{dot}@ interest 30\n@ round operating WT\n"
    out = f"{body}> until crisis\nAnn: bankrupt\n> until crisis\nBob: bankrupt\n> until auction\n"
    sold = "= turn Cid\n!Dot: bid 10 | 1817 §7.2.4\nCid: bid 10\nDot: pass\n?Cid: pass\n"
    run_scenario(f"{out}{sold}= price SR none\n{sold}= price WT none", FOUR)


def test_7_4_the_bank_closes_its_short_shares_from_the_treasury_at_the_start_of_a_stock_round() -> None:
    short = company_lines("SR", 5, 50, "Bob 2, pool -2, treasury 3", cash=10, token="G18", trains="2")
    body = MONEY + short + UR + "@ round merger UR 2\nCid: pass\nBob: pass\nBob: pass\nCid: pass\n"
    run_scenario(f"{body}= round stock Ann\n= owns pool SR 0\n= owns treasury SR 3\n= cash SR 110")


def test_7_4_it_goes_on_closing_them_as_the_treasury_has_shares_again() -> None:
    short = company_lines("SR", 5, 50, "Ann 1, Bob 2, Cid 3, pool -2", cash=90, token="G18", trains="2")
    body = f"{MONEY}{short}{UR}@ round merger UR 2\n"
    run_scenario(
        f"{body}> until stock\n= round stock Ann\n= owns pool SR -1\n= owns treasury SR 0\n= cash SR 140"
    )


def test_7_4_as_many_as_the_treasury_has_and_none_that_cannot_be_bought() -> None:
    short = (
        company_lines("SR", 5, 50, "Ann 1, Bob 2, Cid 3, pool -1", cash=10, token="G18", trains="2")
        + "@ president SR Cid\n"
    )
    walk = (
        "@ round merger UR 2\n?Cid: pass\n?Bob: pass\n?Bob: pass\n?Cid: pass\n?Bob: pass\n= round stock Ann\n"
    )
    run_scenario(f"{MONEY}{short}{UR}{walk}= owns pool SR -1\n= cash SR 10")
    gray = company_lines("SR", 5, "acquisition 1", "Bob 2, pool -2", cash=10, token="G18", trains="2")
    run_scenario(f"{MONEY}{gray}{UR}{walk}= owns pool SR -2\n= cash SR 10")


def test_7_4_a_president_ruined_by_a_sale_leaves_companies_that_are_sold_in_the_same_stage() -> None:
    """Ann cannot settle the SR's loans: the PW, hers too, is put up next although another is red."""
    body = (
        money(0)
        + company_lines("UR", 5, 110, "Cid 2", cash=900, token="B5", trains="3")
        + company_lines("PW", 5, 80, "Ann 2", token="H3", trains="2", cash=50)
        + company_lines("H", 2, "liquidation", "Bob 2", token="H9")
        + company_lines("SR", 2, "liquidation", "Ann 2", token="G18", loans=2)
        + "@ round sale SR\n"
    )
    run_scenario(
        f"{body}Cid: pass\nAnn: pass\nAnn: bankrupt\n= price PW liquidation\nCid: bid 100\nCid: pass\n"
        "= price PW none\n= token UR B5 H3\n= price H liquidation\nCid: pass\n= price H none"
    )


# -- 1817 §7.5 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "following"), [(1, "operating UR 2"), (2, "stock Ann")])
def test_7_5_then_comes_the_second_operating_round_or_a_stock_round(number: int, following: str) -> None:
    run_scenario(f"{MONEY}{UR}@ round merger UR {number}\nCid: pass\n= round {following}")
