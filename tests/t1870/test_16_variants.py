"""1870 §16: variants."""

import pytest

from engine import new_game, title_of
from engine.kernel import game_of
from engine.stock.company_start import historical_order, may_start
from tests.t1870.scenarios import SITE, SOLD, run_scenario
from tests.t1870.test_08_routes import MP as RUN

NEAR = RUN.replace("price MP 100 0", "price MP 375 0").replace("@ round operating MP\n", "@ trains MP 2\n")
NEAR += "@ owns Bob FW 6\n@ price FW 90 1\n@ round operating MP\n> until dividend\nAnn: pay\n"


def test_16_1_400_ends_the_game_after_the_companys_turn() -> None:
    run_scenario(NEAR + "> until over\n= over\n= price FW 90 1", options=("finish_on_400",))
    run_scenario(NEAR + "= price MP 400 0")


def test_16_1_at_the_end_of_a_stock_round_nobody_operates() -> None:
    body = (
        "@ owns Ann MP 6\n@ owns Bob MP 4\n@ price MP 375 1\n@ cash MP 100\n"
        "@ round stock Ann\n> until over\n= over"
    )
    run_scenario(body.replace("@ cash MP 100\n", ""), options=("finish_on_400",))


DIESEL = """
@ cash Ann 2000
@ owns Ann MP 6
@ price MP 100 0
@ cash MP 1500
@ owns Bob FW 6
@ price FW 90 1
@ private MRBC closed
@ trains FW 4 5
"""


def test_16_2_diesels_replace_the_later_trains() -> None:
    facts = title_of("1870", ("diesels",)).components
    assert [t.name for t in facts.trains] == ["2", "3", "4", "5", "6", "D"]
    assert [p.name for p in facts.phases] == ["1", "2", "3", "4", "5", "6"]
    assert facts.trains[3].rusts_on is None and facts.trains[4].rusts_on is None


def test_16_2_the_first_diesel_scraps_the_4_trains() -> None:
    body = DIESEL + "@ phase 5\n@ depot 6 2\n@ round operating MP\n"
    run_scenario(body + "Ann: buy train D\n= cash MP 400\n= phase 6\n= trains FW 5", options=("diesels",))


def test_16_2_trading_in_as_in_1830() -> None:
    body = DIESEL + "@ trains MP 5\n@ phase 5\n@ depot 6 2\n@ round operating MP\n"
    run_scenario(body + "Ann: buy train D trading 5\n= cash MP 700\n= trains MP D", options=("diesels",))


def test_16_2_trading_in_for_a_diesel_of_the_pool_on_the_site() -> None:
    own = DIESEL.replace("@ trains FW 4 5", "@ trains FW 5")
    body = own + "@ trains MP 5\n@ trains pool D\n@ phase {}\n@ round operating MP\n> until train\n"
    line = "Ann: buy train D from pool trading 5\n"
    run_scenario(body.format("D") + line + "= cash MP 700\n= trains MP D", options=(SITE, "diesels"))
    run_scenario(body.format("6") + "!" + line, options=("diesels",))


def test_16_2_red_areas_have_their_third_value() -> None:
    for options, phase in ((("diesels",), "6"), ((SITE, "diesels"), "D")):
        facts = title_of("1870", options).components
        revenue = facts.map.hexes["A22"].nodes[0].revenue
        assert isinstance(revenue, dict) and revenue[phase] == 60


ORDER = ["GMO", "IC", "MP", "SLSF", "ATSF", "SP", "MKT", "SSW", "TP", "FW"]
HISTORY = ("historical_order",)


def test_16_5_the_order_of_history() -> None:
    g = game_of(new_game("1870", ("Ann", "Bob"), HISTORY).state)
    assert historical_order(g) == ORDER
    assert [c for c in ORDER if may_start(g, c)] == ["GMO"]


def test_16_5_half_of_a_company_may_be_sold_before_its_turn() -> None:
    body = "@ cash Bob 500\n@ owns Ann MP 4\n@ owns Bob MP 1\n@ par MP 100\n@ round stock Bob\n"
    run_scenario(body + "!Bob: buy MP | 1870 §16.5", options=HISTORY)
    run_scenario(body + "Bob: buy MP")
    before = "@ owns Ann GMO 6\n@ price GMO 100 0\n@ owns Ann IC 6\n@ price IC 100 0\n"
    run_scenario(before + body + "Bob: buy MP\n= cash MP 1000", options=HISTORY)


def test_16_5_the_frisco_pays_20_until_it_is_started() -> None:
    body = SOLD + "= private Frisco Bob\n= cash SLSF 0\nAnn: pass\nBob: pass\nCid: pass\n= cash Bob 550\n"
    run_scenario(body, options=HISTORY)


@pytest.mark.parametrize("option", ["finish_on_400", "diesels", "historical_order", "non_blocking_tokens"])
def test_every_variant_begins(option: str) -> None:
    assert new_game("1870", ("Ann", "Bob"), (option,)).state.options == (option,)
