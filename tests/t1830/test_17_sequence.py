"""1830 §17: the order of a turn."""

from tests.t1830.scenarios import run_scenario

PRR = """
@ cash Ann 500
@ owns Ann PRR 6
@ par PRR 100
@ tile H10 57 1
@ tile H14 9 1
@ trains PRR 2
"""
RUNNING = PRR + "@ cash PRR 500\n@ round operating PRR\n"


def test_17_track_token_run_dividend_trains() -> None:
    run_scenario(
        RUNNING
        + """
        Ann: lay 57 H16 1
        Ann: token H10
        Ann: run best
        Ann: pay
        Ann: buy train 2
        Ann: done
        = round stock Ann
        = cash PRR 380
        """
    )


def test_17_what_is_past_does_not_come_again() -> None:
    run_scenario(
        RUNNING
        + """
        Ann: token H10
        !Ann: lay 57 H16 1 | 1830 §17
        Ann: run best
        !Ann: token H16 | 1830 §17
        !Ann: lay 57 H16 1 | 1830 §17
        !Ann: buy train 2 | 1830 §20.3
        Ann: withhold
        !Ann: run best | 1830 §17
        !Ann: pay | 1830 §17
        Ann: buy train 2
        !Ann: withhold | 1830 §17
        """
    )


def test_17_optional_steps_may_be_skipped() -> None:
    run_scenario(RUNNING + "Ann: run best\nAnn: pay\nAnn: done\n= cash PRR 500\n= markers PRR 3")


def test_17_revenue_pays_for_neither_track_nor_tokens_of_the_same_turn() -> None:
    """The train of the C&O keeps the turn open: it may be bought."""
    north = PRR.replace("H14 9 1", "H14 8 1") + "@ owns Ann CO 6\n@ par CO 67\n@ trains CO 2\n"
    run_scenario(north + "@ cash PRR 120\n@ round operating PRR\nAnn: lay 9 G15 0\n= cash PRR 0")
    run_scenario(
        north
        + """
        @ cash PRR 39
        @ round operating PRR
        !Ann: token H10 | 1830 §19
        !Ann: lay 9 G15 0 | 1830 §18
        > until dividend
        Ann: withhold
        = cash PRR 69
        !Ann: token H10 | 1830 §17
        !Ann: lay 57 H16 1 | 1830 §17
        """
    )


def test_17_there_is_no_credit() -> None:
    run_scenario(
        PRR + "@ cash PRR 79\n@ round operating PRR\n> until dividend\nAnn: pay\n"
        "= round stock Ann\n= trains PRR 2"
    )


def test_17_revenue_buys_trains_in_the_same_turn() -> None:
    run_scenario(
        PRR
        + "@ cash PRR 60\n@ round operating PRR\n> until dividend\nAnn: withhold\n"
        + "Ann: buy train 2\n= cash PRR 10\n= trains PRR 2 2"
    )


def test_17_privates_are_bought_at_any_time_of_the_turn() -> None:
    private = RUNNING.replace(
        "@ round", "@ phase 3\n@ private CS Ann\n@ private SV Ann\n@ private DH Ann\n@ round"
    )
    run_scenario(
        private
        + """
        Ann: buy private CS for 40
        Ann: lay 57 H16 1
        Ann: buy private SV for 40
        Ann: token H10
        Ann: run best
        Ann: pay
        Ann: buy private DH for 70
        = private DH PRR
        """
    )
