"""1870 §5.10, §5.11: redemption and reissue."""

import pytest

from bot.position.text_views import companies_table
from engine import held_back_cash, parse
from engine.kernel import RefusedError, game_of, new_game
from engine.stock.treasury_shares import reissue_par_price
from renderers.views import sheet_view
from tests.t1870.scenarios import SITE, run_scenario, scenario_error

MP = """
@ cash Ann 300
@ cash Bob 300
@ cash MP 500
@ owns Ann MP 5
@ owns Bob MP 3
@ price MP 100 0
@ round stock Ann
"""


def test_5_10_3_from_the_open_market_first() -> None:
    run_scenario(
        MP
        + """
        @ owns pool MP 2
        !Ann: redeem MP from Bob | 1870 §5.10
        Ann: redeem MP
        = owns treasury MP 1
        = owns pool MP 1
        = cash MP 400
        = price MP 100 0
        = turn Bob
        """
    )


def test_5_10_4_a_player_may_refuse() -> None:
    run_scenario(
        MP + "@ owns Cid MP 2\nAnn: redeem MP from Bob\nBob: decline\n= turn Ann\n= owns Bob MP 3\nAnn: pass"
    )


OPEN_OFFER = (
    MP
    + """
    @ owns Cid MP 2
    @ owns Ann SP 1
    @ owns Cid SP 5
    @ price SP 68
    @ owns Bob GMO 5
    @ price GMO 68
    Ann: redeem MP from Bob
    Ann: sell 1 SP
    = turn Ann
    """
)


def test_5_10_4_an_offer_that_cannot_be_accepted_any_more_keeps_no_turn_open() -> None:
    """After a sale and a purchase Ann can do nothing more, and no share is redeemed in that turn any more."""
    run_scenario(OPEN_OFFER + "Ann: buy GMO from ipo\n= turn Bob")


def test_a_text_may_have_the_pass_that_ended_such_a_turn() -> None:
    """As version 1.0.0 wrote it, or how the offer was answered; a pass of anybody's own is played."""
    bought = OPEN_OFFER + "Ann: buy GMO from ipo\n"
    for answer in ("Ann: pass", "Bob: decline", "Ann: decline 1"):
        assert run_scenario(f"{bought}{answer}\n= turn Bob") == run_scenario(bought)
    run_scenario(bought + "Ann: pass\nBob: pass\n= turn Cid")
    for line in ("Ann: sell 1 MP", "Cid: pass"):
        assert "is refused: Bob" in scenario_error(bought + line)
    assert "'pass' is refused: Cid" in scenario_error(bought + "Ann: pass\nBob: pass\nAnn: pass")


def test_5_10_5_and_one_who_agrees_is_paid_and_may_buy_again() -> None:
    run_scenario(
        MP
        + """
        @ owns Cid MP 1
        Ann: redeem MP from Bob
        Bob: accept
        = owns Bob MP 2
        = cash Bob 400
        = turn Bob
        Bob: buy MP
        """
    )


def test_5_10_1_on_the_site_only_while_the_president_holds_an_ordinary_share_or_another_as_much() -> None:
    seats = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")
    shares = "".join(f"@ owns {seat} MP {2 if seat == 'Ann' else 1}\n" for seat in seats)
    body = f"{shares}@ cash MP 500\n@ price MP 100 0\n@ round stock Ann\n"
    redeemed = "Ann: redeem MP from Bob\nBob: accept\n= cash MP 400"
    run_scenario(body + redeemed, ", ".join(seats))
    run_scenario(body + "@ cash Ann 100\n!Ann: redeem MP from Bob | 1870 §5.10", ", ".join(seats), (SITE,))
    for more in ("Ann MP 3", "Cid MP 2"):
        less = body.replace(f"@ owns {more[:3]} MP {int(more[-1]) - 1}", f"@ owns {more}\n@ president MP Ann")
        run_scenario(less + redeemed, ", ".join(seats), (SITE,))


def test_5_10_6_the_turn_is_used_and_the_priority_moves() -> None:
    run_scenario(MP + "@ owns pool MP 2\nAnn: redeem MP\n= turn Bob\n> until operating\n= priority Bob")


def test_5_10_2_six_shares_stay_out_and_four_are_held_at_most() -> None:
    run_scenario(
        "@ owns Ann MP 4\n@ owns pool MP 2\n@ price MP 50 3\n@ cash MP 500\n"
        "@ round stock Ann\n!Ann: redeem MP | 1870 §5.10"
    )
    run_scenario(
        MP.replace("Bob MP 3", "Bob MP 1") + "@ owns treasury MP 4\n!Ann: redeem MP from Ann | 1870 §5.10"
    )


def test_5_10_3_no_change_of_presidency() -> None:
    run_scenario(
        MP.replace("Ann MP 5", "Ann MP 4").replace("Bob MP 3", "Bob MP 4")
        + "@ president MP Ann\n!Ann: redeem MP from Ann | 1870 §5.10"
    )
    run_scenario(MP + "@ owns Cid MP 2\nAnn: redeem MP from Ann\n= owns Ann MP 4\n= cash Ann 400")


def test_5_10_7_once_a_stock_round() -> None:
    run_scenario(MP + "@ owns pool MP 2\nAnn: redeem MP\n> until Ann\n!Ann: redeem MP | 1870 §5.10")


def test_5_10_8_not_before_it_has_operated() -> None:
    run_scenario(MP + "@ owns pool MP 1\n@ new MP\n!Ann: redeem MP | 1870 §5.10")


def test_5_10_who_does_not_say_of_which_company_is_told_so() -> None:
    state = run_scenario(MP + "= turn Ann")
    with pytest.raises(RefusedError) as refused:
        parse(state, "p0", "redeem")
    unsaid = "The line does not say which company, and none fits now (1870 §5.3)."
    none = "The open market has no share of the MP; name a player (1870 §5.10)."
    assert str(refused.value) == f"{unsaid} {none}"


def test_5_10_10_dividends_on_redeemed_shares_go_to_the_company() -> None:
    run_scenario(
        MP.replace("@ round stock Ann\n", "")
        + """
        @ owns treasury MP 1
        @ owns pool MP 1
        @ trains MP 2
        @ tile C18 57 0
        @ tile B19 57 0
        @ private MRBC closed
        @ phase 2
        @ depot 3
        @ round operating MP
        > until dividend
        Ann: pay
        = cash MP 504
        = cash Ann 320
        """
    )


OUT = """
@ cash Ann 300
@ cash Bob 300
@ cash MP 100
@ owns Ann MP 5
@ owns Bob MP 2
@ owns treasury MP 3
@ par MP 76
"""


def test_5_11_what_is_earned_by_it_cannot_be_spent_before_the_round_is_over() -> None:
    body = OUT.replace("cash MP 100", "cash MP 60") + "@ price MP 140 1\n@ round stock Ann\n"
    run_scenario(
        body + "Ann: reissue MP\nBob: buy MP from ipo\n= cash MP 170\n"
        "> until Ann\n!Ann: redeem MP from Bob | 1870 §5.10"
    )


def test_5_3_1_5_11_the_money_is_shown_at_once_with_what_of_it_is_held_back() -> None:
    """Until the stock round is over; on the site nothing is held back (1870 §5.10.7)."""
    body = OUT.replace("cash MP 100", "cash MP 60") + "@ price MP 140 1\n@ round stock Ann\n"
    sold = body + "Ann: reissue MP\nBob: buy MP from ipo\n"
    state = run_scenario(sold + "= cash MP 170")
    assert held_back_cash(state) == {"MP": 110}
    companies = companies_table(state)
    assert companies is not None
    table = "\n".join(companies.lines())
    assert "$170 ($110 held back)" in table
    assert "MP at $140, $170 ($110 held back)" in sheet_view(state).alt
    assert held_back_cash(run_scenario(sold + "> until operating\n= cash MP 170")) == {}
    assert held_back_cash(run_scenario(sold, options=("conventions 18xx.games",))) == {}


def test_5_11_only_when_the_offering_is_sold_out_and_once_a_round() -> None:
    run_scenario(
        OUT.replace("Bob MP 2", "Bob MP 1") + "@ price MP 140 1\n@ round stock Ann\n"
        "!Ann: reissue MP | 1870 §5.11"
    )
    run_scenario(
        OUT + "@ price MP 140 1\n@ round stock Ann\nAnn: reissue MP\n"
        "> until Ann\n!Ann: reissue MP | 1870 §5.11"
    )


@pytest.mark.parametrize(
    ("price", "par"),
    [
        (90, 68),
        (100, 76),
        (110, 82),
        (120, 90),
        (140, 110),
        (160, 120),
        (200, 160),
        (225, 160),
        (250, 180),
        (400, 200),
    ],
)
def test_5_11_the_par_nearest_to_three_quarters(price: int, par: int) -> None:
    g = game_of(new_game("1870", ("Ann", "Bob")).state)
    row = [cell.price if cell else 0 for cell in g.components.market.rows[0]]
    g.company("MP").cell = (0, row.index(price))
    g.company("MP").par = 68
    assert reissue_par_price(g, "MP") == par
