"""1870 §4: sequence of play and phases."""

import pytest

from engine import components_of
from tests.t1870.scenarios import run_scenario

PHASES = [
    ("1", None, 4, 1, "yellow"),
    ("2", "3", 4, 2, "green"),
    ("3", "4", 3, 2, "green"),
    ("4", "5", 2, 3, "brown"),
    ("5", "6", 2, 3, "gray"),
    ("6", "8", 2, 3, "gray"),
    ("7", "10", 2, 3, "gray"),
    ("8", "12", 2, 3, "gray"),
]


@pytest.mark.parametrize(("name", "on", "limit", "rounds", "color"), PHASES)
def test_4_2_phases(name: str, on: str | None, limit: int, rounds: int, color: str) -> None:
    phase = next(p for p in components_of("1870").phases if p.name == name)
    assert (phase.on, phase.train_limit, phase.operating_rounds) == (on, limit, rounds)
    assert phase.tile_colors[-1] == color


BUYER = """
@ owns Ann MP 6
@ price MP 100 0
@ cash MP 3000
@ owns Bob FW 6
@ price FW 90 1
"""


def test_4_2_2_the_first_3_train_begins_phase_2() -> None:
    run_scenario(
        BUYER + "@ depot 3 6\n@ phase 1\n@ round operating MP\n= phase 1\nAnn: buy train 3\n= phase 2"
    )


def test_4_2_3_the_first_4_train_ends_the_2_trains() -> None:
    run_scenario(
        BUYER
        + """
        @ trains FW 2 2 3
        @ trains pool 2
        @ depot 4 5
        @ phase 2
        @ round operating MP
        Ann: buy train 4
        = phase 3
        = trains FW 3
        = trains pool none
        """
    )


def test_4_2_4_the_first_5_train_closes_privates_and_leaves_their_tokens() -> None:
    run_scenario(
        BUYER
        + """
        @ private SCC MP
        @ private GSC FW
        @ cattle D5 MP
        @ port open M20 FW
        @ trains FW 3 3 4
        @ depot 5 4
        @ phase 3
        @ round operating MP
        Ann: buy train 5
        = phase 4
        = private SCC closed
        = private GSC closed
        = cattle D5 MP
        = port open M20 FW
        = turn Bob FW
        Bob: discard 3
        = trains FW 3 4
        = trains pool 3
        """
    )


def test_4_2_5_the_first_6_train_removes_the_tokens_and_the_3_trains() -> None:
    run_scenario(
        BUYER
        + """
        @ cattle D5 MP
        @ port closed M20 FW
        @ trains FW 3 4
        @ depot 6 3
        @ phase 4
        @ round operating MP
        Ann: buy train 6
        = phase 5
        = cattle none
        = port closed none
        = trains FW 4
        """
    )


@pytest.mark.parametrize(("train", "phase", "gone"), [("8", "6", "4"), ("10", "7", None), ("12", "8", "5")])
def test_4_2_6_to_8_later_phases(train: str, phase: str, gone: str | None) -> None:
    held = gone or "5"
    before = components_of("1870").phases[int(phase) - 2].name
    run_scenario(
        BUYER
        + f"@ trains FW {held}\n@ depot {train}\n@ phase {before}\n@ round operating MP\n"
        + f"Ann: buy train {train}\n= phase {phase}\n= trains FW {'none' if gone else held}"
    )


def test_4_1_operating_order_is_by_price_and_is_looked_at_anew() -> None:
    run_scenario(BUYER + "@ round operating MP\n= turn Ann MP\nAnn: done\n> until FW\n= turn Bob FW")


def test_4_a_new_number_of_rounds_counts_from_the_next_set() -> None:
    state = run_scenario(
        BUYER + "@ depot 3 6\n@ phase 1\n@ round operating MP\nAnn: buy train 3\n> until stock"
    )
    assert state.stack[0].__class__.__name__ == "StockRound"
