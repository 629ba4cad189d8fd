"""1870 §12, §15: privates of companies, and what each can do."""

import pytest

from engine.core.state import OperatingTurn
from engine.kernel import game_of
from engine.private_companies.city_tokens import beneficiary
from tests.t1870.scenarios import SITE, SOLD, run_scenario

MP = """
@ cash Ann 100
@ owns Ann MP 6
@ price MP 100 0
@ cash MP 500
@ owns Bob FW 6
@ price FW 90 1
@ cash FW 500
"""
PHASE1 = MP + "@ phase 1\n@ depot 2 7\n"
PHASE2 = MP + "@ phase 2\n@ depot 3\n"


def test_12_of_any_player_who_agrees() -> None:
    body = PHASE2 + "@ private SCC Bob\n@ round operating MP\n"
    run_scenario(body + "Ann: buy private SCC for 50\nBob: decline\n= private SCC Bob")
    run_scenario(body + "Ann: buy private SCC for 50\nBob: accept\n= private SCC MP")


def test_12_not_in_phase_1_but_for_the_bridge() -> None:
    run_scenario(PHASE1 + "@ private SCC Ann\n@ round operating MP\n!Ann: buy private SCC for 50 | 1870 §4.2")
    body = PHASE1 + "@ private MRBC Ann\n@ round operating MP\n"
    run_scenario(
        body + "!Ann: buy private MRBC for 41 | 1870 §12.1\n"
        "!Ann: buy private MRBC for 19 | 1870 §12.1\nAnn: buy private MRBC for 40"
    )
    other = (
        body.replace("owns Ann MP", "owns Ann IC")
        .replace("price MP", "price IC")
        .replace("cash MP", "cash IC")
    )
    run_scenario(other.replace("operating MP", "operating IC") + "!Ann: buy private MRBC for 40 | 1870 §4.2")


def test_12_3_income_goes_to_the_company() -> None:
    run_scenario(PHASE2 + "@ private Katy MP\n@ round stock Ann\n> until operating\n= cash MP 520")


def test_12_3_not_to_the_open_market() -> None:
    run_scenario(
        PHASE2 + "@ private Katy pool\n@ round stock Ann\n> until operating\n= cash MP 500\n= cash Ann 100"
    )


def test_15_2_the_river_is_closed_while_a_player_owns_the_bridge() -> None:
    body = PHASE1 + "@ private MRBC Bob\n@ round operating MP\n"
    run_scenario(body + "!Ann: lay 57 C18 0 | 1870 §15.2\n!Ann: lay 5 C18 3 | 1870 §15.2\nAnn: lay 5 C18 0")
    run_scenario(body.replace("private MRBC Bob", "private MRBC closed") + "Ann: lay 57 C18 0")


def test_15_2_an_upgrade_may_not_cross_it_either() -> None:
    body = PHASE2 + "@ private MRBC Bob\n@ tile C18 5 0\n@ round operating MP\n"
    run_scenario(body + "!Ann: lay 14 C18 0 | 1870 §15.2")
    run_scenario(body.replace("private MRBC Bob", "private MRBC FW") + "Ann: lay 14 C18 0")


def test_15_2_the_bridge_makes_one_river_hex_40_dollars_cheaper() -> None:
    body = PHASE2 + "@ private MRBC MP\n@ tile C18 57 0\n@ round operating MP\n"
    run_scenario(
        body
        + (
            "!Ann: lay 7 B21 1 using MRBC | 1870 §15.2\nAnn: lay 4 D17 0 using MRBC\n= cash MP 500\n"
            "!Ann: lay 8 E18 0 using MRBC | 1870 §15.2"
        )
    )


def test_15_2_in_the_first_turn_the_home_is_free_and_on_top_of_two() -> None:
    body = PHASE1.replace("MP", "SSW") + "@ new SSW\n@ private MRBC Ann\n@ round operating SSW\n"
    run_scenario(
        body
        + """
        Ann: buy private MRBC for 40
        Ann: lay 57 H17 1 using MRBC
        = cash SSW 460
        Ann: lay 9 H15 1
        Ann: lay 9 H19 1
        !Ann: lay 9 H21 1 | 1870 §4.1
        """
    )


@pytest.mark.parametrize("options", ((), (SITE,)), ids=("rulebook", "site"))
def test_15_2_the_home_beyond_the_discount_is_free_too(options: tuple[str, ...]) -> None:
    body = PHASE1.replace("MP", "SSW") + "@ new SSW\n@ private MRBC Ann\n@ round operating SSW\n"
    run_scenario(
        body + "Ann: buy private MRBC for 40\nAnn: lay 57 H17 1 using MRBC\n= cash SSW 460", options=options
    )


def test_15_2_no_upgrade_of_the_home_in_the_same_turn_on_the_site() -> None:
    body = PHASE2.replace("MP", "SSW") + "@ new SSW\n@ private MRBC Ann\n@ round operating SSW\n"
    laid = body + "Ann: buy private MRBC for 40\nAnn: lay 57 H17 1 using MRBC\n"
    run_scenario(laid + "Ann: lay 14 H17 1")
    run_scenario(laid + "!Ann: lay 14 H17 1 | 1870 §4.1\nAnn: lay 9 H15 1\nAnn: lay 9 H19 1", options=(SITE,))


def test_15_2_the_bridge_is_built_while_the_company_is_at_its_track() -> None:
    body = (
        PHASE2 + "@ private MRBC MP\n@ tile C18 57 0\n@ tile B19 57 0\n@ trains MP 2\n@ round operating MP\n"
    )
    for options in ((), (SITE,)):
        run_scenario(body + "> until dividend\n!Ann: lay 4 D17 0 using MRBC | 1870 §4.1", options=options)


@pytest.mark.parametrize(("cash", "asked"), [(20, True), (19, False)])
def test_15_2_the_site_asks_who_could_pay_for_the_bridge_in_phase_1(cash: int, asked: bool) -> None:
    """Also when it is another company's by now, and never for the sake of a cheaper private."""
    sold = "@ owns Bob MP 4\n@ owns Cid SSW 6\n@ price SSW 72 4\n@ private MRBC SSW\n@ private GRSC Bob\n"
    body = PHASE1.replace("cash MP 500", f"cash MP {cash}").replace("cash FW 500", "cash FW 0") + sold
    tracks = "@ trains MP 2\n@ tile C18 57 0\n@ tile B19 57 0\n@ round operating MP\n"
    at = body.replace("depot 2 7", "depot 2 6") + tracks + "Ann: done\n> until dividend\n"
    turn = run_scenario(at + "Ann: pay\n", options=(SITE,)).top
    assert (isinstance(turn, OperatingTurn) and turn.step == "privates") is asked


def test_15_2_cattle_once_west_of_the_mississippi() -> None:
    body = PHASE2 + "@ private SCC MP\n@ round operating MP\n"
    run_scenario(
        body
        + (
            "!Ann: cattle C18 | 1870 §15.2\n!Ann: cattle H17 | 1870 §15.2\nAnn: cattle D5\n= cattle D5 MP\n"
            "!Ann: cattle B9 | 1870 §15.2\n= private SCC MP"
        )
    )


def test_15_2_a_port_on_the_coast_or_the_lower_river() -> None:
    body = PHASE2 + "@ private GSC MP\n@ round operating MP\n"
    run_scenario(
        body + "!Ann: port open C18 | 1870 §15.2\nAnn: port open H17\n"
        "= port open H17 MP\n= private GSC MP\n!Ann: port open N7 | 1870 §15.2"
    )


def test_15_2_a_closed_port_closes_the_private() -> None:
    body = PHASE2 + "@ private GSC MP\n@ round operating MP\n"
    run_scenario(body + "Ann: port closed N7\n= port closed N7 MP\n= private GSC closed")
    run_scenario(
        body + "Ann: port open N7\nAnn: close port\n= port closed N7 MP\n"
        "= private GSC closed\n!Ann: close port | 1870 §15.2"
    )


def test_15_2_whoever_buys_the_private_has_its_token() -> None:
    body = PHASE2 + "@ private GSC FW\n@ port open H17 MP\n@ round operating MP\n"
    state = run_scenario(body + "= port open H17 MP")
    assert beneficiary(game_of(state), "GSC") == "FW"


def test_15_2_only_its_own_company_in_its_own_turn() -> None:
    run_scenario(
        PHASE2 + "@ private SCC FW\n@ round operating MP\n"
        "!Ann: cattle D5 | 1870 §15.2\n!Bob: cattle D5 | 1870 §4.1"
    )


@pytest.mark.parametrize(
    ("private", "income"), [("GRSC", 5), ("MRBC", 10), ("SCC", 10), ("GSC", 15), ("Katy", 20)]
)
def test_15_1_income_of_each(private: str, income: int) -> None:
    run_scenario(
        PHASE2 + f"@ private {private} Ann\n@ round stock Ann\n> until operating\n= cash Ann {100 + income}"
    )


def test_15_2_the_katy_brings_a_share() -> None:
    run_scenario(SOLD + "= owns Cid MKT 1\n= private Katy Cid")
