"""1830 §21: buying trains."""

import pytest

from engine import decision
from tests.t1830.scenarios import Options, both_conventions, run_scenario, scenario_error
from tests.t1830.test_18_track import running

ROUTE = "@ tile H10 57 1\n"
BUYING = "> until train\n"


def test_21_trains_are_bought_in_order_of_size() -> None:
    run_scenario(
        running("PRR", "@ depot 2 2")
        + BUYING
        + "!Ann: buy train 3 | 1830 §21\nAnn: buy train 2\n= depot 2 1\n!Ann: buy train 3 | 1830 §21"
    )
    sold_out = running("PRR", "@ depot 2 2") + BUYING + "Ann: buy train 2\nAnn: buy train 2\n"
    run_scenario(sold_out + "= depot 3 5\nAnn: buy train 3\n= phase 3\n= cash PRR 660")


@pytest.mark.parametrize(
    ("train", "count", "price"), [("2", 6, 80), ("3", 5, 180), ("4", 4, 300), ("5", 3, 450), ("6", 2, 630)]
)
def test_21_each_type_has_its_number_and_price(train: str, count: int, price: int) -> None:
    run_scenario(
        running("PRR", f"@ depot {train} {count}", phase="2" if train == "2" else str(int(train) - 1))
        + BUYING
        + f"Ann: buy train {train}\n= cash PRR {1000 - price}\n= trains PRR {train}"
    )
    assert f"there are {count}" in scenario_error(running("PRR", f"@ depot {train} {count + 1}", phase=train))


@pytest.mark.parametrize(("phase", "limit"), [("2", 4), ("3", 4), ("4", 3), ("5", 2), ("6", 2), ("D", 2)])
def test_21_train_limit(phase: str, limit: int) -> None:
    train = "5" if phase in ("6", "D") else phase
    below = f"@ trains PRR {' '.join([train] * (limit - 1))}\n"
    run_scenario(running("PRR", below, phase=phase, cash=3000) + BUYING + f"Ann: buy train {phase}")
    at = f"@ trains PRR {' '.join([train] * limit)}\n"
    run_scenario(running("PRR", at, phase=phase, cash=3000) + f"!Ann: buy train {phase} | 1830 §21")


def test_21_excess_trains_are_discarded_at_once() -> None:
    """The book's example: a 3 and a 4, then the first 5; one of the three goes."""
    run_scenario(
        running("PRR", "@ trains PRR 3 4\n@ depot 5 3", phase="4")
        + BUYING
        + """
        Ann: buy train 5
        = phase 5
        = turn Ann PRR
        !Ann: done | 1830 §21
        !Ann: buy train 5 | 1830 §21
        !Ann: discard 6 | 1830 §21
        Ann: discard 3
        = trains PRR 4 5
        = trains pool 3
        = cash PRR 550
        """
    )


def test_21_so_are_those_of_other_companies() -> None:
    run_scenario(
        running("PRR", "@ trains CO 3 3 4\n@ cash CO 7\n@ owns Bob CO 6\n@ par CO 67\n@ depot 5 3", phase="4")
        + BUYING
        + """
        Ann: buy train 5
        = turn Bob CO
        !Ann: done | 1830 §21
        !Ann: discard 3 of CO | 1830 §21
        Bob: discard 3
        = trains CO 3 4
        = cash CO 7             # nothing is paid for it
        = trains pool 3
        = turn Ann PRR
        """
    )


def test_21_discarded_trains_are_sold_again_at_face_value() -> None:
    run_scenario(
        running("PRR", "@ trains pool 3\n@ depot 5 2", phase="5")
        + BUYING
        + "Ann: buy train 3 from pool\n= cash PRR 820\n= trains pool none"
    )


@both_conventions
def test_21_between_companies_of_one_president_for_a_dollar_or_more(options: Options) -> None:
    two = running("PRR", "@ owns Ann CO 6\n@ par CO 67\n@ trains CO 2 2")
    run_scenario(
        two + BUYING + "!Ann: buy train 2 from CO for 0 | 1830 §21\n"
        "Ann: buy train 2 from CO for 1\n= trains PRR 2\n= cash CO 1",
        options=options,
    )
    run_scenario(
        two + BUYING + "!Ann: buy train 2 from CO for 1001 | 1830 §17\n"
        "Ann: buy train 2 from CO for 1000\n= cash CO 1000",
        options=options,
    )


@both_conventions
def test_21_between_companies_at_an_agreed_price(options: Options) -> None:
    two = running("PRR", "@ owns Bob CO 6\n@ par CO 67\n@ trains CO 2 2")
    offer = two + BUYING + "Ann: buy train 2 from CO for 500\n= trains PRR none\n= turn Bob\n"
    run_scenario(
        offer + "Bob: accept\n= trains PRR 2\n= trains CO 2\n= cash CO 500\n= cash PRR 500", options=options
    )
    run_scenario(offer + "Bob: decline\n= trains PRR none\n= cash PRR 1000", options=options)
    run_scenario(
        offer + "!Cid: accept | 1830 §17\n!Ann: accept | 1830 §17\n"
        "Ann: done\n!Bob: accept | 1830 §17\n= trains CO 2 2",
        options=options,
    )


def test_21_in_the_buyers_turn_only() -> None:
    two = running("PRR", "@ owns Bob CO 6\n@ par CO 67\n@ trains PRR 2 2\n@ cash CO 500")
    run_scenario(
        two + "!Bob: buy train 2 from PRR for 100 | 1830 §17\n> until CO\n> until train\n"
        "Bob: buy train 2 from PRR for 100\nAnn: accept\n= trains CO 2"
    )


def test_21_not_above_the_limit() -> None:
    two = running("PRR", "@ owns Ann CO 6\n@ par CO 67\n@ trains CO 2 2\n@ trains PRR 2 2 2 2")
    assert "4 trains, which is the limit" in scenario_error(two + "Ann: buy train 2 from CO for 1")


def test_21_diesels_after_the_first_6() -> None:
    run_scenario(
        running("PRR", "@ depot 6 2\n@ trains PRR 5", phase="5", cash=2000)
        + BUYING
        + "!Ann: buy train D | 1830 §21\nAnn: buy train 6\n= phase 6"
    )
    run_scenario(
        running("PRR", "@ depot 6 1", phase="6", cash=2000)
        + BUYING
        + "Ann: buy train D\n= cash PRR 900\n= depot 6 1"
    )


@both_conventions
@pytest.mark.parametrize("train", ["4", "5", "6"])
def test_21_a_trade_in_brings_300(train: str, options: Options) -> None:
    two = running("PRR", f"@ depot 6 1\n@ trains PRR {train} 5", phase="6")
    run_scenario(
        two
        + BUYING
        + f"!Ann: buy train D | 1830 §21\nAnn: buy train D trading {train}\n= cash PRR 200\n= trains PRR 5 D",
        options=options,
    )


def test_21_traded_5s_and_6s_are_sold_again() -> None:
    after = "Ann: buy train D trading 5\n= trains pool 5\nAnn: buy train 5 from pool\n= cash PRR 750"
    run_scenario(running("PRR", "@ depot 6 1\n@ trains PRR 5", phase="6", cash=2000) + BUYING + after)


def test_21_traded_4s_go_with_the_first_diesel() -> None:
    run_scenario(
        running("PRR", "@ depot 6 1\n@ trains PRR 4", phase="6")
        + BUYING
        + "Ann: buy train D trading 4\n= trains pool none"
    )


def test_21_nothing_else_is_traded_in() -> None:
    run_scenario(
        running("PRR", "@ depot 6 1\n@ trains PRR 5 6", phase="6", cash=2000)
        + BUYING
        + "!Ann: buy train 6 trading 5 | 1830 §21\n!Ann: buy train D trading 4 | 1830 §21"
    )


def test_21_any_number_of_trains_may_be_bought() -> None:
    run_scenario(
        running("PRR") + BUYING + "Ann: buy train 2\nAnn: buy train 2\nAnn: buy train 2\nAnn: buy train 2\n"
        "= trains PRR 2 2 2 2\n= depot 2 2"
    )


def test_21_an_offer_is_still_asked_while_somebody_else_discards() -> None:
    others = (
        "@ owns Bob NYC 6\n@ par NYC 67\n@ trains NYC 3\n@ owns Cid CO 6\n@ par CO 67\n@ trains CO 3 3 3 3\n"
    )
    offer = running("PRR", f"{others}@ depot 4 4", phase="3") + BUYING + "Ann: buy train 3 from NYC for 100\n"
    offer += "Ann: buy train 4\n"
    assert decision(run_scenario(offer)).awaited == ("p2", "p1")
    run_scenario(f"{offer}Cid: discard 3\nBob: accept\n= trains PRR 4 3")


def test_21_an_offer_that_can_no_longer_be_paid_is_not_accepted() -> None:
    other = "@ owns Bob CO 6\n@ par CO 67\n@ trains CO 2 2"
    offer = running("PRR", other, cash=100) + BUYING + "Ann: buy train 2 from CO for 100\nAnn: buy train 2\n"
    run_scenario(offer + "!Bob: accept | 1830 §17\n= trains CO 2 2\n= cash PRR 20")


def test_21_trains_that_go_do_not_count_towards_the_new_limit() -> None:
    other = "@ trains CO 2 2 3 3\n@ owns Bob CO 6\n@ par CO 67\n@ depot 4 4"
    run_scenario(
        running("PRR", other, phase="3") + BUYING + "Ann: buy train 4\n= trains CO 3 3\n= turn Ann PRR"
    )
