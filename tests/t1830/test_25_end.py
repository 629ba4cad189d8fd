"""1830 §25: the end of the game."""

from tests.t1830.scenarios import Options, both_conventions, run_scenario
from tests.t1830.test_20_routes import LINE

PAYING = (
    """
@ cash bank {bank}
@ owns Ann PRR 6
@ owns Bob PRR 4
@ par PRR 67
@ price PRR 67 7
@ trains PRR 3
"""
    + LINE
)

HOPELESS = """
@ cash Ann 100
@ cash Bob 300
@ cash NYC 444
@ owns Ann PRR 5
@ owns pool PRR 5
@ par PRR 100
@ owns Bob NYC 6
@ par NYC 67
@ private SV Bob
@ private CS Ann
@ phase 4
@ tile H10 57 1
@ round operating PRR
> until train
"""
"""Ann has to buy a train for the PRR, and cannot pay for it."""


def test_25_bankruptcy_ends_the_game_at_once() -> None:
    """The NYC has not yet operated; it loses its turn."""
    run_scenario(
        HOPELESS
        + """
        Ann: bankrupt
        = over
        = price NYC 67 5
        = score Ann 450
        = score Bob 722
        = score Cid 0
        !Bob: pass | 1830 §25
        """
    )


def test_25_a_bankrupt_scores_the_stock_he_may_not_sell() -> None:
    run_scenario(
        """
        @ owns Ann PRR 4
        @ owns pool PRR 5
        @ par PRR 100
        @ owns Ann NYC 2
        @ owns Bob NYC 4
        @ par NYC 90
        @ phase 4
        @ tile H10 57 1
        @ round operating PRR
        > until train
        Ann: sell 2 NYC
        = cash Ann 180
        Ann: bankrupt
        = score Ann 360
        """
    )


def test_25_the_set_of_operating_rounds_is_finished() -> None:
    run_scenario(
        PAYING.format(bank=10)
        + """
        @ phase 5
        @ cash PRR 500
        @ round operating PRR
        = left none
        > until dividend
        Ann: pay
        = cash bank -40
        = left 2
        Ann: done
        = round operating PRR 2
        = left 1
        > until operating
        = round operating PRR 3
        = left 0
        > until dividend
        Ann: pay
        Ann: done
        = over
        = cash Ann 60
        """
    )


def test_25_in_a_stock_round_the_next_set_is_played_too() -> None:
    run_scenario(
        PAYING.format(bank=50)
        + """
        @ phase 4
        @ round stock Bob
        Bob: sell 1 PRR
        = cash Bob 67
        = cash bank -17
        Bob: done
        > until operating
        = round operating PRR 1
        > until operating
        = round operating PRR 2
        > until over
        """
    )


def test_25_the_stock_round_in_which_it_breaks_is_played_out() -> None:
    run_scenario(
        PAYING.format(bank=50) + "@ cash Cid 100\n@ phase 4\n@ round stock Bob\nBob: sell 1 PRR\n"
        "Bob: done\n= left 2\nCid: buy PRR from pool\n= cash Cid 40"
    )


@both_conventions
def test_25_exactly_nothing_left_is_not_broken(options: Options) -> None:
    rest = "@ phase 3\n@ round operating PRR 2\n> until dividend\nAnn: pay\n"
    run_scenario(
        PAYING.format(bank=50) + rest + "= cash bank 0\n= round stock Ann\n= left none", options=options
    )
    run_scenario(PAYING.format(bank=49) + rest + "= cash bank -1\n= over", options=options)


def test_25_a_broken_bank_stays_broken() -> None:
    run_scenario(
        PAYING.format(bank=40)
        + "@ phase 3\n@ cash PRR 200\n@ depot 3 3\n@ round operating PRR 1\n> until dividend\nAnn: pay\n"
        + "Ann: buy train 3\n= cash bank 170\n> until over"
    )


def test_25_what_the_bank_cannot_pay_counts_all_the_same() -> None:
    run_scenario(
        PAYING.format(bank=20)
        + "@ phase 3\n@ round operating PRR 2\n> until dividend\nAnn: pay\n?Ann: done\n= over\n"
        + "= cash Ann 30\n= cash Bob 20\n= score Ann 438\n= score Bob 292"
    )


def test_25_company_assets_score_nothing() -> None:
    run_scenario(
        PAYING.format(bank=9000) + "@ cash PRR 999\n@ phase 3\n@ round stock Ann\n"
        "= score Ann 402\n= score Bob 268"
    )
