"""The changes since a player last looked, which pictures highlight."""

from __future__ import annotations

from bot.pictures.views import changed_hexes, repriced_companies
from engine import copy_state, new_game
from engine.core.state import CityToken
from tests.renderers.positions import financed


def test_tiles_tokens_mines_and_bridges_are_changes_of_a_map() -> None:
    before = financed()
    assert changed_hexes(before, copy_state(before)) == ()
    after = copy_state(before)
    after.tiles |= {"G12": ("8", 0), "H3": ("15", 1)}
    after.tokens["F19"] = []
    after.mine_hexes.append("G14")
    after.bridge_hexes.append("H9")
    assert changed_hexes(before, after) == ("F19", "G12", "G14", "H3", "H9")


def test_the_token_of_a_private_is_a_change_too() -> None:
    before = new_game("1870", ["Ann", "Bob", "Cid"]).state
    after = copy_state(before)
    after.city_tokens["GSC"] = CityToken("H17", "SSW", is_open=True)
    assert changed_hexes(before, after) == ("H17",)


def test_a_company_in_another_space_is_a_change_of_the_market() -> None:
    before = financed()
    after = copy_state(before)
    after.companies["WT"].cell = (0, 9)
    assert repriced_companies(before, after) == ("WT",)
