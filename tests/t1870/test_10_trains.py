"""1870 §10: trains, and what is done for lack of one."""

from tests.t1870.scenarios import SITE, run_scenario, scenario_error

MP = """
@ cash Ann 400
@ owns Ann MP 6
@ price MP 100 0
@ owns Bob FW 6
@ owns Ann FW 4
@ price FW 90 1
@ private MRBC closed
@ tile C18 57 0
@ tile B19 57 0
"""
RICH = MP + "@ cash MP 900\n@ phase 3\n@ depot 4\n@ round operating MP\n"
POOR = MP + "@ cash MP 100\n@ phase 4\n@ depot 5\n@ round operating MP\n> until trains\n"


def test_10_1_with_a_legal_run_a_train_is_needed() -> None:
    run_scenario(RICH + "> until trains\n!Ann: done | 1870 §10.1\nAnn: buy train 4\nAnn: done")
    run_scenario(RICH.replace("@ tile B19 57 0\n", "") + "> until trains\nAnn: done")


def test_10_2_the_limit_stops_purchases_and_nothing_is_given_up_for_room() -> None:
    run_scenario(
        RICH.replace("@ tile B19 57 0\n", "")
        + "@ trains MP 3 3 3\n!Ann: buy train 4 | 1870 §10\n!Ann: discard 3 | 1870 §4.1"
    )


def test_10_2_1_trains_above_the_limit_go_to_the_open_market() -> None:
    body = RICH.replace("depot 4", "depot 5").replace("cash MP 900", "cash MP 950")
    run_scenario(
        body
        + (
            "@ trains FW 3 3 4\n> until trains\nAnn: buy train 5\n= turn Bob FW\n"
            "Bob: discard 4\n= trains pool 4"
        )
    )


def test_10_4_from_bank_open_market_and_companies() -> None:
    body = RICH + "@ trains pool 3\n@ trains FW 4\n> until trains\n"
    run_scenario(
        body
        + (
            "Ann: buy train 3 from pool\n= cash MP 720\nAnn: buy train 4 from FW for 1\n"
            "Bob: accept\n= trains FW none"
        )
    )


def test_10_4_1_the_bank_sells_in_order() -> None:
    run_scenario(RICH + "> until trains\n!Ann: buy train 5 | 1870 §10\nAnn: buy train 4")


def test_10_5_any_price_from_a_dollar_with_consent() -> None:
    run_scenario(
        RICH
        + (
            "@ trains FW 4\n> until trains\n!Ann: buy train 4 from FW for 0 | 1870 §10\n"
            "Ann: buy train 4 from FW for 900\nBob: decline\n= trains FW 4"
        )
    )


def test_10_6_the_president_adds_what_is_lacking_for_the_cheapest() -> None:
    run_scenario(POOR + "Ann: buy train 5\n= cash MP 0\n= cash Ann 50\n= trains MP 5")


SHORT = POOR.replace("cash Ann 400", "cash Ann 200")


def test_10_6_then_not_from_another_company() -> None:
    run_scenario(
        POOR.replace("> until trains\n", "@ trains FW 4\n> until trains\n")
        + "!Ann: buy train 4 from FW for 300 | 1870 §4.1\nAnn: buy train 4 from FW for 100\nBob: accept"
    )


SHORT = POOR.replace("cash Ann 400", "cash Ann 200")


def test_10_6_2_only_as_many_shares_as_are_needed() -> None:
    run_scenario(SHORT + "!Ann: sell 3 FW | 1870 §10.6.2\nAnn: sell 2 FW\nAnn: buy train 5\n= cash Ann 30")


SPREAD = (
    SHORT.replace("owns Ann MP 6", "owns Ann MP 5\n@ owns pool MP 5")
    .replace("price FW 90 1", "price FW 60 4")
    .replace("> until trains\n", "@ owns Bob IC 6\n@ owns Ann IC 2\n@ price IC 100 0\n> until trains\n")
)
"""$150 are missing; Ann has four FW at $60 and two IC at $100."""


def test_10_6_2_the_rest_is_judged_over_all_sales_of_the_purchase() -> None:
    """Two FW bring $120, no more FW may be sold then, and an IC would leave $70, more than a FW is worth."""
    run_scenario(SPREAD + "!Ann: sell 2 FW | 1870 §10.6.2\nAnn: sell 3 FW\nAnn: buy train 5\n= cash Ann 30")
    run_scenario(SPREAD + "Ann: sell 1 FW\nAnn: sell 1 IC\nAnn: buy train 5\n= cash Ann 10")
    run_scenario(SPREAD + "Ann: sell 1 IC\nAnn: sell 1 FW\nAnn: buy train 5\n= cash Ann 10")
    run_scenario(SPREAD + "Ann: sell 2 IC\nAnn: buy train 5\n= cash Ann 50")
    run_scenario(SPREAD + "Ann: sell 2 FW", options=(SITE,))


def test_10_6_2_as_much_as_the_lowest_share_may_be_left() -> None:
    """Two FW at $60 and one IC at $82 leave $60 of $142, and $61 of $141."""
    body = SPREAD.replace("price IC 100 0", "price IC 82 2")
    run_scenario(body.replace("cash Ann 200", "cash Ann 209") + "!Ann: sell 2 FW | 1870 §10.6.2")
    body = body.replace("cash Ann 200", "cash Ann 208")
    run_scenario(body + "Ann: sell 2 FW\nAnn: sell 1 IC\nAnn: buy train 5\n= cash Ann 60")


def test_10_6_2_the_refusal_names_sales_that_work() -> None:
    why = scenario_error(SPREAD + "Ann: sell 2 FW")
    assert "`sell 1 FW`, then `sell 1 IC` would do (1870 §10.6.2)." in why


def test_10_6_2_a_sale_is_refused_after_which_no_other_pays() -> None:
    """One FW would leave $90 to find, and no share to sell; nobody is bankrupt who could have paid."""
    only = SPREAD.replace("@ owns Ann IC 2\n", "")
    assert "`sell 3 FW` would do (1870 §10.6.2)." in scenario_error(only + "Ann: sell 1 FW")
    run_scenario(only + "!Ann: bankrupt | 1870 §13.1\nAnn: sell 3 FW\nAnn: buy train 5\n= cash Ann 30")
    poor = only.replace("cash Ann 200", "cash Ann 100")
    run_scenario(poor + "Ann: sell 1 FW\nAnn: bankrupt\n= over")


def test_10_6_2_exception_one_is_not_a_dead_end() -> None:
    """Ann holds 80 % of the IC, and has to sell two: with a FW sold first they leave $110."""
    body = SPREAD.replace("Bob IC 6", "Bob IC 2").replace("Ann IC 2", "Ann IC 8")
    run_scenario(body + "Ann: sell 1 FW\nAnn: sell 2 IC\nAnn: buy train 5\n= cash Ann 110")


def test_10_6_2_no_change_of_president_of_the_buyer() -> None:
    body = SHORT.replace("Ann MP 6", "Ann MP 4\n@ owns Bob MP 3").replace(
        "@ owns Ann FW 4", "@ owns Ann FW 0"
    )
    run_scenario(body + "!Ann: sell 2 MP | 1870 §10.6.2\nAnn: sell 1 MP")


def test_10_6_2_exception_one_down_to_60_percent() -> None:
    body = SHORT.replace("Ann MP 6", "Ann MP 8").replace("cash Ann 200", "cash Ann 300")
    run_scenario(body + "!Ann: sell 1 MP | 1870 §5.9\nAnn: sell 2 MP\n= cash Ann 480")


def test_10_6_2_exception_two_down_to_the_certificate_limit_past_the_money() -> None:
    """Ann holds 22 certificates that count, two above the limit; one share is enough for the train."""
    over = "".join(f"@ owns Ann {c} 6\n@ price {c} 100 0\n" for c in ("SP", "GMO", "TP"))
    body = POOR.replace("Ann FW 4", "Ann FW 2").replace("cash Ann 400", "cash Ann 300")
    body = body.replace("> until trains\n", over + "> until trains\n") + "= limit 20\n"
    sold = body + "Ann: sell 1 SP\n!Ann: buy train 5 | 1870 §10.6.2\n!Ann: sell 2 GMO | 1870 §10.6.2\n"
    run_scenario(sold + "Ann: sell 1 GMO\n!Ann: sell 1 TP | 1870 §10.6\nAnn: buy train 5\n= cash Ann 150")
    run_scenario(body + "Ann: sell 2 SP\nAnn: buy train 5")
    run_scenario(
        body.replace("cash Ann 300", "cash Ann 350") + "!Ann: sell 1 SP | 1870 §10.6\n"
        "Ann: buy train 5\n= cash Ann 0"
    )


def test_10_6_2_exception_two_is_not_a_dead_end() -> None:
    """Ann is over the limit and needs $150: one FW would come down to it, and end the sales of FW."""
    over = "".join(f"@ owns Ann {c} 5\n@ owns pool {c} 5\n@ price {c} 100 0\n" for c in ("SP", "GMO", "TP"))
    body = SPREAD.replace("@ owns Ann IC 2\n", "").replace("> until trains\n", over + "> until trains\n")
    assert "`sell 3 FW` would do (1870 §10.6.2)." in scenario_error(body + "= limit 20\nAnn: sell 1 FW")
    run_scenario(body + "Ann: sell 3 FW\nAnn: buy train 5")


def test_10_6_2_bankrupt_when_nothing_is_left() -> None:
    poor = SHORT.replace("@ owns Ann FW 4\n", "").replace("cash Ann 200", "cash Ann 2")
    run_scenario(poor + "!Ann: bankrupt | 1870 §13.1\nAnn: sell 4 MP\nAnn: buy train 5\n= cash Ann 12")
    lost = poor.replace("price MP 100 0", "price MP 60 1")
    run_scenario(lost + "Ann: sell 4 MP\nAnn: bankrupt\n= over")


def test_10_6_3_the_company_that_buys_may_be_closed_by_the_sale() -> None:
    body = (
        SHORT.replace("price MP 100 0", "price MP 20 7")
        .replace("@ owns Ann FW 4\n", "")
        .replace("cash Ann 200", "cash Ann 260")
    )
    run_scenario(body + "Ann: sell 4 MP\n= closed MP\n= cash Ann 0")


def test_10_7_the_last_train_may_be_sold() -> None:
    run_scenario(
        RICH
        + "@ trains FW 4\n> until trains\nAnn: buy train 4 from FW for 500\nBob: accept\n= trains FW none"
    )


def test_10_8_without_a_train_to_buy_the_price_only_falls() -> None:
    nothing = MP + "@ cash MP 9\n@ phase 8\n@ depot 12 0\n@ round operating MP\n> until stock\n"
    state = run_scenario(nothing + "= trains MP none")
    assert state.companies["MP"].trains == []


def test_10_6_2_on_the_site_he_may_come_down_to_60_percent_without_need() -> None:
    """Ann's $400 are enough for the train of $450 with the company's $100; she holds 80 % of the FW."""
    more = POOR.replace("Bob FW 6", "Bob FW 2").replace("Ann FW 4", "Ann FW 8")
    run_scenario(more + "!Ann: sell 1 FW\n!Ann: sell 3 FW | 1870 §10.6.2\nAnn: sell 2 FW", options=(SITE,))
    run_scenario(more + "!Ann: sell 2 FW | 1870 §10.6")
    run_scenario(POOR + "!Ann: sell 1 FW", options=(SITE,))


def test_10_6_2_on_the_site_half_of_a_certificate_where_the_money_lacks_the_whole() -> None:
    """Of a president who has no share beside it: $90 more than the money needs are no idle sale there."""
    only = "Cid FW 2\n@ president FW Ann"
    text = POOR.replace("Ann FW 4", "Ann FW 2").replace("Bob FW 6", only).replace("Ann 400", "Ann {}")
    run_scenario(text.format(439) + "Ann: sell 1 FW", options=(SITE,))
    run_scenario(text.format(440) + "!Ann: sell 1 FW", options=(SITE,))
    run_scenario(text.format(439) + "!Ann: sell 1 FW")
