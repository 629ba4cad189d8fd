"""What has changed since somebody looked last, as pictures mark it."""

from __future__ import annotations

from bot.figures import changed_hexes, changed_prices
from engine import copied, new_game
from engine.state import Improvement
from tests.renderers.positions import financed


def test_tiles_tokens_mines_and_bridges_are_changes_of_a_map() -> None:
    before = financed()
    assert changed_hexes(before, copied(before)) == ()
    after = copied(before)
    after.tiles |= {"G12": ("8", 0), "H3": ("15", 1)}
    after.tokens["F19"] = []
    after.mines.append("G14")
    after.bridges.append("H9")
    assert changed_hexes(before, after) == ("F19", "G12", "G14", "H3", "H9")


def test_the_token_of_a_private_is_a_change_too() -> None:
    before = new_game("1870", ["Ann", "Bob", "Cid"]).state
    after = copied(before)
    after.improvements["GSC"] = Improvement("H17", "SSW", open=True)
    assert changed_hexes(before, after) == ("H17",)


def test_a_company_in_another_space_is_a_change_of_the_market() -> None:
    before = financed()
    after = copied(before)
    after.companies["WT"].cell = (0, 9)
    assert changed_prices(before, after) == ("WT",)
