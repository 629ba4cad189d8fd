"""1830 §24: enforced purchases and insolvency."""

from engine.core.state import OperatingTurn
from tests.t1830.scenarios import Options, both_conventions, run_scenario, scenario_error

# The PRR has a route and no train; Ann is its president and holds 30 % of the NYC too.
NEED = """
@ cash Ann {ann}
@ cash Bob 500
@ cash PRR {prr}
@ owns Ann PRR {own}
@ par PRR 100
@ owns Ann NYC 3
@ owns Bob NYC 2
@ par NYC 90
@ tile H10 57 1
{more}
@ round operating PRR
> until train
"""


def need(ann: int = 0, prr: int = 0, own: int = 6, more: str = "") -> str:
    return NEED.format(ann=ann, prr=prr, own=own, more=more)


def test_24_the_president_makes_up_the_deficiency() -> None:
    run_scenario(
        need(ann=100, prr=30) + "!Ann: done | 1830 §20.2\nAnn: buy train 2\n"
        "= cash PRR 0\n= cash Ann 50\n= trains PRR 2"
    )


def test_24_the_cheapest_train_that_the_bank_has() -> None:
    pool = "@ phase 4\n@ depot 4 3\n@ trains pool 3"
    run_scenario(
        need(ann=500, prr=100, more=pool) + "!Ann: buy train 4 | 1830 §24\n"
        "Ann: buy train 3 from pool\n= cash Ann 420"
    )
    run_scenario(need(ann=500, prr=300, more=pool) + "Ann: buy train 4\n= cash Ann 500\n= cash PRR 0")


def test_24_not_for_a_company_that_can_pay_by_itself() -> None:
    pool = "@ phase 4\n@ depot 4 3\n@ trains pool 3"
    run_scenario(
        need(ann=500, prr=200, more=pool) + "!Ann: buy train 4 | 1830 §17\n!Ann: sell 1 NYC | 1830 §24\n"
        "Ann: buy train 3 from pool"
    )


def test_24_no_help_for_additional_trains() -> None:
    helped = need(ann=500, prr=30) + "Ann: buy train 2\n= cash Ann 450\n"
    run_scenario(helped + "= round stock Ann")
    run_scenario(
        need(ann=500, prr=30, more="@ trains PRR 2\n@ owns Ann CO 6\n@ par CO 67\n@ trains CO 2")
        + "!Ann: buy train 2 | 1830 §17"
    )
    run_scenario(
        need(ann=500, prr=39, more="@ trains PRR 2").replace("> until train\n", "")
        + "!Ann: token H10 | 1830 §19"
    )


def test_24_no_help_without_a_route() -> None:
    lonely = need(ann=500, prr=30).replace("@ tile H10 57 1\n", "").replace("> until train\n", "")
    run_scenario(lonely + "!Ann: buy train 2 | 1830 §17\n= trains PRR none")


def test_24_1_the_companys_money_goes_first() -> None:
    run_scenario(need(ann=100, prr=79) + "Ann: buy train 2\n= cash PRR 0\n= cash Ann 99")


def test_24_2_the_presidents_cash_before_his_stock() -> None:
    run_scenario(
        need(ann=80) + "!Ann: sell 1 NYC | 1830 §24\n!Ann: sell 1 PRR | 1830 §24\n"
        "!Ann: bankrupt | 1830 §24.6\nAnn: buy train 2\n= cash Ann 0"
    )


@both_conventions
def test_24_2_with_his_cash_no_more_than_face_value_for_another_companys_train(options: Options) -> None:
    other = "@ owns Ann CO 6\n@ par CO 67\n@ trains CO 2 2"
    run_scenario(
        need(ann=300, more=other) + "!Ann: buy train 2 from CO for 81 | 1830 §24.2\n"
        "Ann: buy train 2 from CO for 80",
        options=options,
    )
    run_scenario(
        need(ann=300, more=other) + "Ann: buy train 2 from CO for 1\n= cash Ann 299\n= cash CO 1",
        options=options,
    )


def test_24_2_the_companys_own_money_may_pay_more() -> None:
    other = "@ owns Ann CO 6\n@ par CO 67\n@ trains CO 2 2"
    run_scenario(
        need(ann=300, prr=200, more=other) + "!Ann: buy train 2 from CO for 201 | 1830 §17\n"
        "Ann: buy train 2 from CO for 200"
    )


@both_conventions
def test_24_3_stock_is_sold_at_once_for_what_is_missing(options: Options) -> None:
    run_scenario(
        need(ann=10).replace("Ann NYC 3", "Ann NYC 4")
        + f"""
        !Ann: buy train 2 | 1830 §24
        !Ann: sell 2 NYC | 1830 §24.3
        Ann: sell 1 NYC
        = cash Ann 100
        = price NYC 82 2
        = owns pool NYC 1
        !Ann: sell 1 NYC | 1830 §24{".3" if options else ""}
        Ann: buy train 2
        = cash Ann 20
        """,
        options=options,
    )


def test_24_3_by_the_usual_rules_for_sales() -> None:
    full = need(more="@ owns Cid NYC 0\n@ owns pool NYC 5")
    assert "pool" in scenario_error(full + "Ann: sell 1 NYC")
    alone = need(own=5, more="@ owns Bob PRR 1\n@ phase 4\n@ trains PRR none").replace("NYC 2", "NYC 1")
    assert "president's certificate" in scenario_error(alone + "Ann: sell 2 NYC")


def test_24_3_not_so_that_the_company_concerned_changes_its_president() -> None:
    rival = need(own=4, more="@ owns Bob PRR 3\n@ phase 4")
    assert "presidency" in scenario_error(rival + "Ann: sell 2 PRR")
    run_scenario(rival + "Ann: sell 1 PRR\n= president PRR Ann\n!Ann: sell 1 PRR | 1830 §24.3")


def test_24_3_another_presidency_may_change() -> None:
    run_scenario(
        need(more="@ phase 4") + "= president NYC Ann\nAnn: sell 2 NYC\n= president NYC Bob\n= cash Ann 180"
    )


def test_24_3_the_president_may_sell_a_private_to_a_player() -> None:
    private = need(ann=10, more="@ private CS Ann")
    run_scenario(
        private + "Ann: sell private CS to Bob for 100\nBob: accept\n= private CS Bob\n"
        "= cash Ann 110\nAnn: buy train 2"
    )
    run_scenario(
        private + "Ann: sell private CS to Bob for 100\nBob: decline\nAnn: sell 1 NYC\n"
        "Ann: buy train 2\n= private CS Ann"
    )
    run_scenario(need(ann=80, more="@ private CS Ann") + "!Ann: sell private CS to Bob for 100 | 1830 §24.3")


def test_23_1_24_3_the_sale_of_a_private_moves_the_turn_on_to_the_forced_purchase() -> None:
    early = need(ann=10, more="@ private CS Ann").replace("> until train\n", "")
    offer = early + "Ann: sell private CS to Bob for 100\n"
    sold = run_scenario(offer + "Bob: accept\n!Ann: lay 57 H12 1 | 1830 §17")
    assert isinstance(sold.top, OperatingTurn) and sold.top.step == "trains"
    run_scenario(offer + "Bob: accept\nAnn: buy train 2\n= cash Ann 30")
    declined = run_scenario(offer + "Bob: decline")
    assert isinstance(declined.top, OperatingTurn) and declined.top.step == "track"


def test_24_4_a_train_of_his_other_company_is_no_duty() -> None:
    other = "@ owns Ann CO 6\n@ par CO 67\n@ trains CO 2 2"
    run_scenario(need(ann=300, more=other) + "Ann: buy train 2\n= trains CO 2 2\n= cash Ann 220")


def test_24_5_a_change_of_control_takes_place_at_once() -> None:
    """The NYC operates later in the same round, by its new president."""
    text = need(more="@ phase 4\n@ owns Cid NYC 1\n@ owns pool NYC 1\n@ cash Bob 999").replace(
        "@ cash Bob 500\n", ""
    )
    run_scenario(
        text + "Ann: sell 2 NYC\nAnn: sell 1 NYC\nAnn: sell 1 PRR\n= president NYC Bob\n"
        "Ann: buy train 4\n> until NYC\n= turn Bob NYC"
    )


def test_24_6_bankrupt_only_when_nothing_more_may_be_sold() -> None:
    hopeless = need(more="@ phase 6\n@ depot 6 2")
    run_scenario(
        hopeless + "!Ann: buy train 6 | 1830 §24\n!Ann: bankrupt | 1830 §24.6\n"
        "Ann: sell 3 NYC\n!Ann: bankrupt | 1830 §24.6\n!Ann: sell 5 PRR | 1830 §13"
    )


def test_24_6_a_president_who_cannot_pay_is_bankrupt() -> None:
    poor = need(own=5, more="@ phase 6\n@ depot 6 2\n@ owns pool PRR 5")
    run_scenario(
        poor
        + """
        !Ann: sell 1 PRR | 1830 §12.2
        !Ann: bankrupt | 1830 §24.6
        Ann: sell 3 NYC
        = cash Ann 270
        Ann: bankrupt
        = over
        = cash Ann 0
        = score Ann 450
        """
    )


def test_24_2_another_presidents_train_with_his_consent() -> None:
    other = "@ owns Bob CO 6\n@ par CO 67\n@ trains CO 2 2"
    offer = (
        need(ann=100, more=other) + "!Ann: buy train 2 from CO for 81 | 1830 §24.2\n"
        "Ann: buy train 2 from CO for 80\n"
    )
    run_scenario(offer + "Bob: accept\n= cash Ann 20\n= cash CO 80\n= trains PRR 2")
    run_scenario(offer + "Bob: decline\n!Ann: done | 1830 §20.2\nAnn: buy train 2\n= trains CO 2 2")
    run_scenario(
        need(ann=100, prr=5, more=other) + "Ann: buy train 2 from CO for 5\nBob: accept\n= cash Ann 100"
    )


def test_24_3_each_sale_brings_the_price_of_its_time() -> None:
    first = "Ann: sell 1 NYC\n= cash Ann 90\n= price NYC 82\n"
    second = "Ann: sell 1 NYC\n= cash Ann 172\n= president NYC Bob"
    run_scenario(need(more="@ phase 4\n@ depot 4 3") + first + second)
