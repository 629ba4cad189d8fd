"""Values cached by position are correct until an event changes the position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import pytest

from bot.tools.simulation.simulate import simulate_game
from engine.core.events import AnyEvent
from engine.finance.ownership import companies_over_limit
from engine.game import Game
from engine.operating.emergency_purchase import must_buy_train

SITE = ("conventions 18xx.games",)


@pytest.mark.parametrize(
    ("title", "conventions"),
    [
        ("1830", SITE),
        ("1851", ()),
        ("1870", SITE),
        ("1817", ()),
        *[
            pytest.param(title, conventions, marks=pytest.mark.soak)
            for title, conventions in (("1830", ()), ("1870", ()), ("1817", SITE))
        ],
    ],
)
def test_cached_values_equal_recomputed_ones(
    title: str, conventions: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    emit, events_checked = Game.emit, Counter[str]()
    wrong: list[tuple[AnyEvent, object, object]] = []

    def checked(g: Game, event: AnyEvent) -> None:
        for seat in g.state.active_seats:
            companies_over_limit(g, seat)
        for company, co in g.state.companies.items():
            if co.floated and not co.closed:
                must_buy_train(g, company)
        emit(g, event)
        for key, value in list(g.cache.items()):
            function, *args = cast("tuple[Callable[..., object], Any]", key)
            if function(g, *args) != value:
                wrong.append((event, function, args))
            events_checked[type(event).__name__] += 1
        if g._network is not None and g._network is not Game(g.state, g.title).network:
            wrong.append((event, Game.network, ()))

    monkeypatch.setattr(Game, "emit", checked)
    simulate_game(title, 4, 5, conventions)
    assert not wrong
    assert events_checked["CashMoved"] > 10 and events_checked["QuestionAsked"] > 100
