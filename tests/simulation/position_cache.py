"""Values cached by position are correct until an event changes the position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast
from unittest.mock import patch

from engine.core.events import AnyEvent, TokenMoved
from engine.finance.ownership import companies_over_limit
from engine.game import Game
from engine.operating.emergency_purchase import must_buy_train


@contextmanager
def cache_checked() -> Iterator[None]:
    """Compare all that is cached with what is found anew, after every event of a game that is played."""
    emit, events_checked = Game.emit, Counter[str]()
    wrong: list[tuple[AnyEvent, object, object]] = []

    def ask(g: Game) -> None:
        for seat in g.state.active_seats:
            companies_over_limit(g, seat)
        for company, co in g.state.companies.items():
            if co.floated and not co.closed:
                must_buy_train(g, company)

    def checked(g: Game, event: AnyEvent) -> None:
        if not isinstance(event, TokenMoved):  # the tile beneath it is laid already: no position yet
            ask(g)
        emit(g, event)
        for key, value in list(g.cache.items()):
            function, *args = cast("tuple[Callable[..., object], Any]", key)
            if function(g, *args) != value:
                wrong.append((event, function, args))
            events_checked[type(event).__name__] += 1
        if g._network is not None and g._network is not Game(g.state, g.title).network:
            wrong.append((event, Game.network, ()))

    with patch.object(Game, "emit", checked):
        yield
    assert not wrong
    assert events_checked["CashMoved"] > 10 and events_checked["QuestionAsked"] > 100
