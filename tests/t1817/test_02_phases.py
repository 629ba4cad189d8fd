"""Phases and the sequence of rounds (1817 §2, §3)."""

from __future__ import annotations

import pytest

from engine import components_of, stop_revenue
from tests.t1817.scenarios import both_conventions, run_scenario
from tests.t1817.test_06_operating import FIRST, SR
from tests.t1817.test_06_track import company

Options = tuple[str, ...]
OWN = "@ round operating WT\n"
LINE = ("tile F19 57 1", "tile F17 9 1", "tile F15 9 1", "tile F13 57 1")


@pytest.mark.parametrize(
    ("phase", "limit", "sizes", "colors"),
    [
        ("2", 4, (2,), "yellow"),
        ("3", 4, (2, 5), "yellow green"),
        ("4", 3, (5,), "yellow green"),
        ("5", 3, (5, 10), "yellow green brown"),
        ("6", 2, (10,), "yellow green brown"),
        ("7", 2, (10,), "yellow green brown gray"),
        ("8", 2, (10,), "yellow green brown gray"),
    ],
)
def test_2_what_each_phase_allows(phase: str, limit: int, sizes: tuple[int, ...], colors: str) -> None:
    """The limits are tested with trains (1817 §6.7), starts (1817 §5.5) and track (1817 §6.3)."""
    facts = next(p for p in components_of("1817").phases if p.name == phase)
    assert (facts.train_limit, tuple(facts.ipo_sizes)) == (limit, sizes)
    assert set(facts.tile_colors) == set(colors.split())


@pytest.mark.parametrize(("before", "train"), [("2", "3"), *((str(n), str(n + 1)) for n in range(3, 8))])
def test_2_a_phase_starts_with_the_first_train_of_its_type(before: str, train: str) -> None:
    held = () if before == "2" else (f"trains WT {before}",)
    ready = company(*held, f"depot {train}", phase=before, cash=2000) + OWN
    run_scenario(f"{ready}> until trains\n= phase {before}\nAnn: buy train {train}\n= phase {train}")


def gone(phase: str, first: str, old: str, options: Options = ()) -> None:
    """The first train of a type takes an older one out of the game, wherever it is, for nothing."""
    kept = {"4": "3", "6": "5", "8": "7"}[first]
    body = company(f"trains WT {old}", f"trains pool {old}", f"depot {first}", phase=phase, cash=2000)
    body += SR + f"@ trains SR {old} {kept}\n" + OWN + "> until trains\n"
    price = {"4": 400, "6": 750, "8": 1100}[first]
    run_scenario(
        f"{body}Ann: buy train {first}\n= trains WT {first}\n= trains SR {kept}\n= trains pool none\n"
        f"= cash WT {2000 - price}\n= cash SR 100",
        options=options,
    )


@both_conventions
@pytest.mark.parametrize(("phase", "first", "old"), [("3", "4", "2"), ("5", "6", "3"), ("7", "8", "4")])
def test_2_obsolete_trains_are_eliminated_without_compensation(
    phase: str, first: str, old: str, options: Options
) -> None:
    gone(phase, first, old, options)


def test_2_trains_of_two_plus_run_once_more_and_leave_before_dividends() -> None:
    body = company(*LINE, "trains WT 2+ 3", "depot 4", phase="4", cash=500) + OWN
    run_scenario(body + "> until dividend\n= trains WT 3\n= cash WT 500\nAnn: pay")
    # Those of others run in their own turns.
    two = company("depot 4", phase="3", cash=500) + SR + "@ trains SR 2+ 2+\n" + OWN + "> until trains\n"
    run_scenario(
        two + "Ann: buy train 4\n= trains SR 2+ 2+\n> until SR\n= trains SR 2+ 2+\n> until merger\n"
        "= trains SR none\n= price SR liquidation"
    )


@both_conventions
def test_2_trains_of_two_plus_are_neither_bought_nor_sold_in_phase_4(options: Options) -> None:
    body = company("depot 4", phase="4", cash=900) + SR + "@ trains SR 2+\n" + OWN + "> until trains\n"
    run_scenario(
        body + "!Ann: buy train 2+ from SR for 50 | 1817 §6.7\n!Ann: buy train 2+ | 1817 §6.7\nAnn: done",
        options=options,
    )
    sold = company("depot 4", phase="3", cash=900) + SR + "@ trains SR 2+\n" + OWN + "> until trains\n"
    run_scenario(sold + "Ann: buy train 2+ from SR for 50\nBob: accept", options=options)


@both_conventions
def test_2_a_discarded_train_of_two_plus_cannot_be_bought_again(options: Options) -> None:
    """With the first 4 the SR has one train too many; whatever it gives up, no 2+ comes back."""
    body = company("depot 4", phase="3", cash=900) + SR + "@ trains SR 2+ 3 3 3\n" + OWN + "> until trains\n"
    run_scenario(
        body + "Ann: buy train 4\nBob: discard 2+\n!Ann: buy train 2+ from pool | 1817 §6.7\nAnn: done",
        options=options,
    )


def test_2_unsold_trains_of_two_plus_leave_with_phase_4() -> None:
    body = company("trains WT 2+", "trains pool 2+", phase="3", cash=900) + "@ depot 4\n" + OWN
    run_scenario(body + "> until trains\nAnn: buy train 4\n= trains pool none\n= trains WT 2+ 4")


def test_2_in_phase_8_nothing_is_sold_short_and_8_trains_never_run_out() -> None:
    body = company("trains WT 7", phase="8", cash=4000) + SR.replace("size SR 2", "size SR 10")
    body = body.replace("owns Bob SR 2", "owns Bob SR 2\n@ owns Cid SR -1\n@ owns pool SR 1\n@ cash Cid 900")
    run_scenario(
        body + "@ round stock Cid\n!Cid: short SR | 1817 §5.3\n"
        "!Cid: short WT | 1817 §5.3\nCid: pass\n= owns Cid SR -1"
    )
    state = run_scenario(
        body + OWN + "> until trains\nAnn: buy train 8\n= trains WT 7 8\n> until merger\n= phase 8"
    )
    assert state.depot["8"] is None


def test_2_gray_and_red_values_rise_with_the_phases() -> None:
    """Of Toronto there are three figures: the last is its highest."""
    facts = components_of("1817")
    shown = {"D9": (30, 40, 50, 60), "A20": (20, 30, 50, 60), "D1": (30, 50, 60, 80), "B13": (20, 30, 40, 40)}
    for hex, (first, second, third, fourth) in shown.items():
        found = [stop_revenue(facts, phase, facts.map.hexes[hex].nodes[0]) for phase in "2345678"]
        assert found == [first, second, second, third, third, fourth, fourth], hex


def test_3_stock_operating_merger_operating_merger_and_again() -> None:
    """Two companies with trains, so that every round has somebody to ask."""
    body = (
        company("trains WT 3", "trains bank 3 3 3 3 3 3 3 3", phase="3")
        + SR
        + "@ trains SR 3\n@ cash Cid 5\n"
    )
    run_scenario(
        f"""{body}
        @ round stock Ann
        = round stock Ann
        > until operating
        = round operating WT 1
        > until merger
        = round merger
        > until operating
        = round operating WT 2
        > until merger
        = round merger
        > until stock
        = round stock Ann
        """
    )


def test_3_the_auction_comes_first_and_the_first_train_is_a_2() -> None:
    run_scenario("= round opening\n= phase 2\nAnn: pass\nBob: pass\nCid: pass\n= round stock Ann")
    run_scenario(
        FIRST + "= round operating WT 1\n> until trains\n!Ann: buy train 3 | 1817 §6.7\nAnn: buy train 2"
    )


def test_3_the_fee_is_reset_with_each_operating_round() -> None:
    body = (
        company("loans WT 5", "interest 5", "trains WT 5", phase="5", cash=900) + SR + "@ trains SR 5\n" + OWN
    )
    run_scenario(
        body + "Ann: loan 2\n> until repay\n= interest 5\n> until merger\n> until operating\n= interest 10"
    )
