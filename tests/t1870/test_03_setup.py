"""1870 §2, §3: components, seats, money."""

import pytest

from engine import (
    BANK,
    components_of,
    decision,
    hidden_treasuries,
    new_game,
    rename_player,
    title_of,
)
from engine.core.components import tile_faces
from tests.t1870.scenarios import SITE, run_scenario

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gil")


@pytest.mark.parametrize(("players", "cash"), [(2, 1050), (3, 700), (4, 525), (5, 420), (6, 350)])
def test_3_3_starting_capital_is_2100_shared(players: int, cash: int) -> None:
    state, _ = new_game("1870", NAMES[:players])
    assert [state.cash[seat] for seat in state.seats] == [cash] * players
    assert state.cash[BANK] == 12000 - cash * players
    assert decision(state).asked == ("p0",)


def test_seven_players_are_for_the_site_only() -> None:
    with pytest.raises(ValueError, match="2 to 6"):
        new_game("1870", NAMES)
    assert new_game("1870", NAMES, (SITE,)).state.cash["p6"] == 300


def test_2_4_trains() -> None:
    trains = {t.name: (t.price, t.count) for t in components_of("1870").trains}
    assert trains == {
        "2": (80, 7), "3": (180, 6), "4": (300, 5), "5": (450, 4),
        "6": (630, 3), "8": (800, 3), "10": (950, 2), "12": (1100, 6),
    }  # fmt: skip


def test_2_5_tiles_by_colour() -> None:
    counts: dict[str, int] = {}
    for tile, count in components_of("1870").tiles.items():
        assert count is not None
        color = tile_faces()[tile].color
        counts[color] = counts.get(color, 0) + count
    assert counts == {"yellow": 72, "green": 30, "brown": 30, "gray": 2}


def test_options_of_the_site_are_not_the_books() -> None:
    with pytest.raises(ValueError, match="station_wars"):
        title_of("1870", ("station_wars",))


FLOATED = """
@ owns Ann MP 6
@ price MP 100 0
@ cash MP 500
@ round stock Ann
"""


def test_3_4_treasuries_are_open_unless_the_table_hides_them() -> None:
    assert not hidden_treasuries(run_scenario(FLOATED + "= cash MP 500"))
    state = run_scenario(FLOATED + "= cash MP 500", options=("private_treasuries",))
    assert "MP" in hidden_treasuries(state) and "MP" in hidden_treasuries(state, "p1")
    assert "MP" not in hidden_treasuries(state, "p0")


def test_3_4_another_person_in_a_seat_sees_what_the_seat_sees() -> None:
    state = run_scenario(FLOATED + "= cash MP 500", options=("private_treasuries",))
    assert "MP" not in hidden_treasuries(rename_player(state, "p0", "Eve").state, "p0")
