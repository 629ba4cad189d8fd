"""Answers that our game was given before the site asks for them; they are played there when it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.core.actions import DiscardTrain, ProtectPrice
from engine.core.events import AnyEvent, PriceProtected
from engine.core.state import Discard, PostMergerTrade, PriceProtection
from engine.kernel import awaited_seats

if TYPE_CHECKING:
    from engine.site_18xx.two_games import TwoGames

DISCARD_TURNS = 2
"""Within so many turns the site asks for a discard that our game has asked for at once."""


class HeldAnswers:
    """What is held: `discards` by company, `trade_passes` as (company, seat) of passes in the trade after a
    merger, and `protections`, by company the number of sales that were answered by a protection.

    `last_events`: the events of the line of our game that is exported now.
    """

    def __init__(self, games: TwoGames) -> None:
        self._games = games
        self.protections = Counter[str]()
        self.trade_passes: list[tuple[str, str]] = []
        self.discards: dict[str, list[tuple[str, DiscardTrain]]] = {}
        self._held_since = 0
        self.last_events: Sequence[AnyEvent] = ()

    def note_our_events(self, events: Sequence[AnyEvent]) -> None:
        """Note the protections of a line of our game, then play what the site asks for."""
        self.last_events = events
        self.play_trade_passes()
        self.protections.update(e.company for e in events if isinstance(e, PriceProtected))
        self.answer_protections()

    def note_site_events(self, events: Sequence[AnyEvent]) -> None:
        """Forget the protections that have been played on the site."""
        self.protections.subtract(e.company for e in events if isinstance(e, PriceProtected))

    def answer_protections(self) -> None:
        """Answer about price protection what was answered in our game.

        There it was asked earlier, if the sale was a forced one, or answered by a standing order.
        """
        ours = self._games.our_state.top
        our_sales = ours.pending_sales if isinstance(ours, PriceProtection) else ()
        while isinstance(top := self._games.site.top, PriceProtection):
            if len(top.pending_sales) <= len(our_sales):
                return
            company = top.pending_sales[0].company
            if self.protections[company] > 0:
                self._games.play(top.pending_sales[0].president, ProtectPrice(company))
            else:
                self._games.pass_for_next()

    def hold_trade_pass(self, company: str, seat: str) -> None:
        """Pass in the trade after a merger: in our game all may pass in advance."""
        self.trade_passes.append((company, seat))
        self.play_trade_passes()

    def play_trade_passes(self) -> None:
        """Play passes in the trade after a merger, once the site asks for them."""
        while isinstance(top := self._games.site.top, PostMergerTrade):
            asked = top.company, awaited_seats(self._games.site.game)[0]
            if asked not in self.trade_passes:
                return
            self.trade_passes.remove(asked)
            self._games.pass_for_next()

    def hold_discard(self, seat: str, action: DiscardTrain) -> None:
        """Discard a train, once the site asks for it."""
        assert action.company is not None
        self.discards.setdefault(action.company, []).append((seat, action))
        self._held_since = self._games.turn_count
        self.play_discards()

    def play_discards(self) -> None:
        """Play discards in the order in which the site asks for them."""
        while isinstance(top := self._games.site.top, Discard) and self.discards.get(top.company):
            seat, action = self.discards[top.company].pop(0)
            self._games.play(seat, action)

    def waits_for_discards(self) -> bool:
        """Whether the site will ask at the end of the turn for discards that are held."""
        recent = self._games.turn_count - self._held_since < DISCARD_TURNS
        return recent and any(self.discards.values())
