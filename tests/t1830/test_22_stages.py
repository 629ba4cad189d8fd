"""1830 §22: what the first train of each type changes."""

import pytest

from tests.t1830.scenarios import run_scenario
from tests.t1830.test_18_track import running

BUYING = "> until train\n"


def test_22_phase_2_four_trains_and_yellow_tiles() -> None:
    run_scenario(
        running("PRR", "@ trains PRR 2 2 2\n@ tile H10 57 1")
        + "!Ann: lay 14 H10 0 | 1830 §22\n"
        + BUYING
        + "Ann: buy train 2\n= trains PRR 2 2 2 2"
    )


def test_22_the_first_3_brings_green_tiles_and_private_sales_at_once() -> None:
    run_scenario(
        """
        @ owns Ann PRR 6
        @ par PRR 100
        @ cash PRR 1000
        @ owns Bob CO 6
        @ par CO 67
        @ cash CO 1000
        @ private CS Bob
        @ depot 3 5
        @ tile G7 1 1
        @ tile G5 9 0
        @ tile H4 57 0
        @ round operating PRR
        !Ann: buy private CS for 40 | 1830 §22
        > until train
        Ann: buy train 3
        = phase 3
        Ann: buy private CS for 40
        Bob: accept
        = private CS PRR
        Ann: done
        Bob: lay 14 H4 0
        """
    )


def test_22_the_first_4_removes_the_2s_and_leaves_three_trains() -> None:
    run_scenario(
        running(
            "PRR", "@ trains PRR 2\n@ trains CO 2 3 3 3\n@ owns Bob CO 6\n@ par CO 67\n@ depot 4 4", phase="3"
        )
        + BUYING
        + "Ann: buy train 4\n= phase 4\n= trains PRR 4\n= trains CO 3 3 3\n= turn Ann PRR"
    )
    run_scenario(
        running("PRR", "@ trains CO 3 3 3 3\n@ owns Bob CO 6\n@ par CO 67\n@ depot 4 4", phase="3")
        + BUYING
        + "Ann: buy train 4\n= turn Bob CO\nBob: discard 3\n= trains CO 3 3 3\n= trains pool 3"
    )


def test_22_2s_in_the_pool_go_too() -> None:
    run_scenario(
        running("PRR", "@ trains pool 2\n@ depot 4 4", phase="3")
        + BUYING
        + "Ann: buy train 4\n= trains pool none"
    )


def test_22_the_first_5_brings_brown_tiles_closes_privates_and_leaves_two_trains() -> None:
    run_scenario(
        """
        @ owns Ann PRR 6
        @ par PRR 100
        @ cash PRR 1000
        @ owns Bob CO 6
        @ par CO 67
        @ private CS Bob
        @ private SV PRR
        @ private BO Cid
        @ depot 5 3
        @ phase 4
        @ trains CO 3 4
        @ tile G5 9 0
        @ tile H4 14 0
        @ round operating PRR
        > until train
        Ann: buy train 5
        = phase 5
        = private CS closed
        = private SV closed
        = private BO closed
        Ann: done
        Bob: lay 63 H4 0
        """
    )


def test_22_the_first_6_removes_the_3s() -> None:
    run_scenario(
        running(
            "PRR",
            "@ trains PRR 5\n@ trains pool 3\n@ trains CO 3 4\n@ owns Bob CO 6\n@ par CO 67\n@ depot 6 2",
            phase="5",
        )
        + BUYING
        + "Ann: buy train 6\n= phase 6\n= trains CO 4\n= trains pool none"
    )


def test_22_the_first_diesel_removes_the_4s() -> None:
    run_scenario(
        running(
            "PRR",
            "@ trains CO 4 4\n@ owns Bob CO 6\n@ par CO 67\n@ trains pool 4\n@ depot 6 1",
            phase="6",
            cash=2000,
        )
        + BUYING
        + "Ann: buy train D\n= phase D\n= trains CO none\n= trains pool none\n= trains PRR D"
    )


def test_22_yellow_tiles_stay_available() -> None:
    run_scenario(running("PRR", "@ trains PRR 5", phase="5") + "Ann: lay 57 H10 1")


def test_22_one_operating_round_in_phase_2() -> None:
    run_scenario(
        "@ owns Ann PRR 6\n@ par PRR 100\n@ trains PRR 2\n@ round stock Ann\n> until operating\n"
        "> until PRR\nAnn: done\n= round stock Ann"
    )


@pytest.mark.parametrize(("depot", "phase", "number", "rounds"), [("3 5", "2", 1, 2), ("5 3", "4", 2, 3)])
def test_22_operating_rounds_after_the_next_stock_round(
    depot: str, phase: str, number: int, rounds: int
) -> None:
    """Two from a 3-train, three from a 5-train; the next round is the first of another set."""
    buying = running("PRR", f"@ depot {depot}", phase=phase) + BUYING
    run_scenario(
        buying.replace("round operating PRR", f"round operating PRR {number}")
        + f"Ann: buy train {depot[0]}\nAnn: done\n= round stock Ann\n"
        + "".join(f"> until operating\n= round operating PRR {n}\n" for n in range(1, rounds + 1))
        + "> until operating\n= round operating PRR 1"
    )
