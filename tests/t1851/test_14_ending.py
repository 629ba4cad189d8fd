"""1851, Ending the Game: the bank, the standings."""

from tests.t1851.scenarios import RICH, run_scenario

TC = """
@ private L&O Bob
@ cash Ann {ann}
@ cash Bob 500
@ cash Cid 500
@ owns Ann TC 6
@ price TC 50 5
@ tile F12 202 2
@ tile E11 5 4
@ trains TC 2
"""


def test_the_bank_goes_on_paying_and_the_game_ends_with_the_round() -> None:
    body = (
        "@ phase 3\n"
        + TC.format(ann=7020)
        + "@ round operating TC\n= cash bank 20\nAnn: run best\nAnn: pay\n"
    )
    body += "= cash bank -30\n= left 0\n> until over\n= over\n"
    # $50 paid: 60 % to Ann, 40 % to the treasury; stock at 60; the L&O at face value.
    run_scenario(body + "= cash Ann 7050\n= score Ann 7410\n= score Bob 700\n= score Cid 500")


def test_with_the_round_not_with_its_set() -> None:
    body = (
        "@ phase 3\n"
        + TC.format(ann=7020)
        + "@ owns Bob SR 6\n@ price SR 40 6\n@ cash SR 0\n@ round operating TC\n"
    )
    run_scenario(body + "Ann: run best\nAnn: pay\n> until over\n= over")


def test_exactly_nothing_left_is_not_broken() -> None:
    body = (
        "@ phase 3\n"
        + TC.format(ann=6990)
        + "@ round operating TC 2\n= cash bank 50\nAnn: run best\nAnn: pay\n"
    )
    run_scenario(body + "= cash bank 0\n= left none\n> until stock\n= round stock")


def test_broken_in_a_stock_round_it_ends_with_the_next_operating_round() -> None:
    body = (
        "@ phase 3\n"
        + TC.format(ann=7000)
        + "@ round stock Ann\n= cash bank 40\nAnn: sell 1 TC\n= cash bank -10\n"
    )
    run_scenario(body + "= left 1\nAnn: done\nBob: pass\n> until operating\n= left 0\n> until over\n= over")


def test_a_position_in_which_the_end_is_in_sight() -> None:
    run_scenario("@ left 0\n" + TC.format(ann=7100) + "@ round operating TC\n> until over\n= over")
    run_scenario("@ left 1\n" + TC.format(ann=7100) + "@ round stock Ann\n> until over\n= over")


def test_open_privates_count_at_face_value_and_companies_for_nothing() -> None:
    body = (
        RICH + "@ private ET&WNC Ann\n@ owns Ann TC 5\n@ price TC 90 3\n@ cash TC 400\n@ trains TC 2\n"
        "@ round stock Ann\n"
    )
    run_scenario(body + "= score Ann 2030\n= score Bob 1500")
