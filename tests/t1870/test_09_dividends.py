"""1870 §9: dividends."""

import pytest

from engine.operating.dividends import half_rounded_up
from tests.t1870.scenarios import run_scenario
from tests.t1870.test_08_routes import MP

RUN = MP + (
    "@ trains MP 2\n@ owns Bob MP 1\n@ owns pool MP 1\n@ owns treasury MP 1\n@ cash Ann 5\n> until dividend\n"
)


def test_9_1_1_full() -> None:
    run_scenario(RUN + "Ann: pay\n= cash Ann 29\n= cash Bob 4\n= cash MP 8\n= price MP 110 0")


def test_9_1_2_half() -> None:
    run_scenario(RUN + "Ann: half\n= cash Ann 17\n= cash Bob 2\n= cash MP 24\n= price MP 100 0")


@pytest.mark.parametrize(("income", "paid"), [(50, 30), (40, 20), (10, 10), (190, 100)])
def test_9_1_2_rounded_in_favour_of_the_holders(income: int, paid: int) -> None:
    assert half_rounded_up(income, 10) == paid


def test_9_1_3_none() -> None:
    run_scenario(RUN + "Ann: withhold\n= cash Ann 5\n= cash MP 40\n= price MP 90 0")


def test_9_1_4_nothing_earned_moves_left() -> None:
    run_scenario(MP + "@ cash MP 300\n> until trains\n= price MP 90 0")
