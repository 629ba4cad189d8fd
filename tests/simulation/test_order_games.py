"""Random games in which every seat leaves random orders: no order says what its owner could not."""

from __future__ import annotations

from collections import Counter

import pytest

from bot.tools.simulation.simulate import MAX_MOVES
from engine.title import SITE_CONVENTIONS
from tests.simulation.order_games import simulate_with_orders

GAMES = [("1817", 4, 1), ("1830", 3, 1), ("1851", 3, 3), ("1870", 4, 4)]


def test_every_seat_leaves_orders_and_all_kinds_of_them_speak() -> None:
    said = Counter[str]()
    for title, players, seed in GAMES:
        game = simulate_with_orders(title, players, seed, 160, check_every=4)
        assert game.orders > 10 and game.said.total() > 10 and game.by_hand > 20, title
        said += game.said
    assert {"AutoPass", "AutoBuy", "AutoRun", "AutoTurn", "AutoBid"} <= set(said), said


@pytest.mark.soak
@pytest.mark.parametrize("chosen", [(), (SITE_CONVENTIONS,)], ids=["rulebook", "site"])
@pytest.mark.parametrize("title", ["1817", "1830", "1851", "1870"])
@pytest.mark.parametrize("seed", range(8))
def test_whole_games_with_orders(title: str, seed: int, chosen: tuple[str, ...]) -> None:
    """To the end of the game, by the rulebook and by the conventions of the site."""
    game = simulate_with_orders(title, 3 + seed % 2, seed, MAX_MOVES, check_every=7, chosen=chosen)
    assert game.state.game_over is not None and game.said.total() >= 3
