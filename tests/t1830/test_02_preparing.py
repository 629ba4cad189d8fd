"""1830 §2: the position before the first decision."""

import pytest

from tests.t1830.scenarios import run_scenario


@pytest.mark.parametrize(
    ("players", "cash"),
    [
        ("Ann, Bob", 1200),
        ("Ann, Bob, Cid", 800),
        ("Ann, Bob, Cid, Dan", 600),
        ("Ann, Bob, Cid, Dan, Eve", 480),
        ("Ann, Bob, Cid, Dan, Eve, Fay", 400),
    ],
)
def test_2_2400_dollars_are_shared_and_the_rest_is_the_banks(players: str, cash: int) -> None:
    everyone = "\n".join(f"= cash {name} {cash}" for name in players.split(", "))
    run_scenario(f"{everyone}\n= cash bank 9600\n= turn Ann\n= round opening", players)


def test_2_no_stock_is_in_the_pool_when_the_game_begins() -> None:
    run_scenario("= owns pool PRR 0\n= owns ipo PRR 10\n= owns ipo BO 10\n= trains pool none\n= phase 2")
