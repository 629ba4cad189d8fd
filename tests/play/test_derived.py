"""What was derived from a position holds until an event says that things have moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import pytest

from bot.offline.simulate import simulated
from engine import titles
from engine.events import AnyEvent
from engine.game import Game
from engine.holdings import excess
from engine.operating.trains import must_buy


@pytest.mark.parametrize("conventions", [(), ("conventions 18xx.games",)])
@pytest.mark.parametrize("title", titles())
def test_what_is_kept_is_what_would_be_found_anew(
    title: str, conventions: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    emit, kept = Game.emit, Counter[str]()
    wrong: list[tuple[AnyEvent, object, object]] = []

    def checked(g: Game, event: AnyEvent) -> None:
        for seat in g.state.active:
            excess(g, seat)
        for company, co in g.state.companies.items():
            if co.floated and not co.closed:
                must_buy(g, company)
        emit(g, event)
        for mark, found in list(g.known.items()):
            work, *args = cast("tuple[Callable[..., object], Any]", mark)
            if work(g, *args) != found:
                wrong.append((event, work, args))
            kept[type(event).__name__] += 1
        if g._network is not None and g._network is not Game(g.state, g.title).network:
            wrong.append((event, Game.network, ()))

    monkeypatch.setattr(Game, "emit", checked)
    simulated(title, 4, 5, conventions)
    assert not wrong
    assert kept["CashMoved"] > 10 and kept["Asked"] > 100
