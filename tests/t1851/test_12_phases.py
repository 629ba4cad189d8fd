"""1851, Phases: what the first train of each type changes."""

import pytest

from engine import new_game
from engine.core.events import PhaseStarted
from engine.kernel import game_of
from tests.t1851.scenarios import RICH, run_scenario

BUYER = (
    RICH
    + """
@ private L&O Ann
@ owns Ann TC 6
@ price TC 90 3
@ tile F12 202 2
@ tile E11 5 4
@ cash TC 900
@ owns Bob SR 6
@ price SR 82 3
"""
)


@pytest.mark.parametrize(
    ("depot", "train", "phase"),
    [("3 4", "3", "3"), ("4 3", "4", "4"), ("5 2", "5", "5"), ("6 2", "6", "6"), ("8 4", "8", "8")],
)
def test_the_first_train_of_a_type_starts_its_phase(depot: str, train: str, phase: str) -> None:
    before = {"3": "2", "4": "3", "5": "4", "6": "5", "8": "6"}[phase]
    body = BUYER.replace("@ private L&O Ann\n", "") if before in "56" else BUYER
    body = f"@ phase {before}\n{body}@ depot {depot}\n@ round operating TC\n"
    run_scenario(body + f"> until trains\n= phase {before}\nAnn: buy train {train}\n= phase {phase}")


def test_2_trains_go_with_the_first_4_train() -> None:
    body = "@ phase 3\n" + BUYER + "@ trains SR 2 3\n@ trains TC 2\n@ depot 4 3\n@ round operating TC\n"
    run_scenario(body + "Ann: run best\nAnn: withhold\nAnn: buy train 4\n= trains SR 3\n= trains TC 4")


def test_3_trains_go_with_the_first_6_train() -> None:
    body = "@ phase 5\n" + BUYER.replace("@ private L&O Ann\n", "") + "@ trains SR 3 4\n@ trains pool 3\n"
    run_scenario(
        body + "@ depot 6 2\n@ round operating TC\n> until trains\nAnn: buy train 6\n= trains SR 4\n"
        "= trains pool none"
    )


def test_4_trains_go_with_the_first_8_train() -> None:
    body = "@ phase 6\n" + BUYER.replace("@ private L&O Ann\n", "") + "@ trains SR 4 5\n"
    run_scenario(body + "@ depot 8 4\n@ round operating TC\n> until trains\nAnn: buy train 8\n= trains SR 5")


def test_privates_close_with_the_first_5_train() -> None:
    body = "@ phase 4\n" + BUYER + "@ depot 5 2\n@ round operating TC\n> until trains\n= private L&O Ann\n"
    run_scenario(body + "Ann: buy train 5\n= private L&O closed")


@pytest.mark.parametrize(("phase", "limit"), [("2", 4), ("3", 4), ("4", 3), ("5", 2), ("6", 2), ("8", 2)])
def test_train_limit(phase: str, limit: int) -> None:
    train = {"2": "2", "3": "3", "4": "4", "5": "4", "6": "4", "8": "8"}[phase]
    body = f"@ phase {phase}\n" + BUYER.replace("@ private L&O Ann\n", "").replace("TC 900", "TC 2500")
    owned = " ".join([train] * (limit - 1)) if phase not in "8" else "8"
    body = body.replace("Cid 1500", "Cid 500") + f"@ trains TC {owned}\n@ round operating TC\n"
    next_train = {"2": "2", "3": "3", "4": "4", "5": "5", "6": "6", "8": "8"}[phase]
    line = f"Ann: buy train {next_train}\n"
    run_scenario(body + "Ann: run best\nAnn: withhold\n" + line + "!" + line)


def test_more_operating_rounds_only_after_the_next_stock_round() -> None:
    body = (
        BUYER
        + "@ depot 3 4\n@ round operating TC\n> until trains\nAnn: buy train 3\n> until stock\n= phase 3\n"
    )
    run_scenario(
        body + "> until operating\n= round operating TC 1\n> until operating\n= round operating TC 2"
    )


def test_the_phase_counts_at_once_for_what_follows() -> None:
    body = (
        "@ phase 2\n"
        + BUYER
        + "@ cash SR 300\n@ tile F20 57 1\n@ depot 3 4\n@ round operating TC\n> until trains\n"
    )
    run_scenario(body + "Ann: buy train 3\n> until SR\nBob: lay 14 F20 1")


def test_a_phase_that_opens_a_city_changes_the_track_at_once() -> None:
    """Birmingham (J12) is run to from phase 4 on, also where nothing is laid when that begins."""
    g = game_of(new_game("1851", ["Ann", "Bob", "Cid"]).state)
    assert not any(g.network.faces["J12"].node_exits)
    g.emit(PhaseStarted("4"))
    assert any(g.network.faces["J12"].node_exits)
